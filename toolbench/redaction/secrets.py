"""The secrets of a conversation, by their names."""

from collections.abc import Iterator, Mapping
from typing import Any

from pydantic import SecretBytes, SecretStr

from toolbench.errors import indefinite
from toolbench.redaction.redactor import Redactor

SecretValue = str | bytes | int | float | SecretStr | SecretBytes

# Characters
_SHORTEST_KEY = 8


class Secrets(Mapping[str, SecretStr]):
    """A mapping of secrets by name. A repr does not show the values: use `get_secret_value`."""

    def __init__(self, values: Mapping[str, SecretValue] | None = None) -> None:
        """Make the mapping from *values*; strings, bytes and numbers become `SecretStr`.

        Raises:
            TypeError: If a value has another type.
        """
        self._values = {name: _wrapped(name, value) for name, value in (values or {}).items()}
        plain = (value.get_secret_value() for value in self._values.values())
        # a declared secret is hidden even if it is short
        self.redactor = Redactor(plain, shortest=1)
        """The redactor of the values."""

    def also_hide(self, others: Any) -> None:
        """Hide also the values of *others*, the secrets of a model or None; tools cannot read these.

        Very short values are left out: for a server that needs no key, people often use a plain
        word.
        """
        if isinstance(others, Secrets):
            values = (value.get_secret_value() for value in others.values())
            keys = Redactor(values, shortest=_SHORTEST_KEY)
            self.redactor = self.redactor.joined(keys)

    def __getitem__(self, name: str) -> SecretStr:
        return self._values[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def __repr__(self) -> str:
        return f"Secrets({', '.join(sorted(self._values))})"


def _wrapped(name: str, value: Any) -> SecretStr:
    if isinstance(value, SecretStr | SecretBytes):
        value = value.get_secret_value()
    match value:
        case str():
            return SecretStr(value)
        case bytes():
            return SecretStr(value.decode(errors="surrogateescape"))
        case int() | float() if not isinstance(value, bool):
            # A PIN
            return SecretStr(str(value))
    msg = f"Secret {name!r} is text, not {indefinite(type(value).__name__)}."
    raise TypeError(msg)
