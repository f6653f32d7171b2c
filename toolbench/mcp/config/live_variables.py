"""The variables of a notebook to which the configuration of a server refers."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, TypeGuard

from pydantic import SecretStr


class LiveVariables(Mapping[str, str | SecretStr]):
    """The texts in some variables of a namespace, as they are when they are read.

    A server that connects again gets the present value of a token; the last one, if the variable is
    gone. A pickled copy is a plain dict with the values at that time.
    """

    def __init__(self, namespace: Mapping[str, Any], names: Iterable[str]) -> None:
        """Read the variables *names* of *namespace*. One that holds no text is left out."""
        self._namespace = namespace
        self._names = tuple(dict.fromkeys(names))
        self._last: dict[str, str | SecretStr] = {}
        self._last = dict(self)

    def __getitem__(self, name: str) -> str | SecretStr:
        value = self._namespace.get(name) if name in self._names else None
        if is_text(value):
            self._last[name] = value
        return self._last[name]

    def __iter__(self) -> Iterator[str]:
        return (name for name in self._names if self._has(name))

    def _has(self, name: str) -> bool:
        return name in self._last or is_text(self._namespace.get(name))

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def __repr__(self) -> str:
        return f"LiveVariables({', '.join(self._names)})"

    # A worker has another namespace
    def __reduce__(self) -> Any:
        return dict, (dict(self),)


def is_text(value: Any) -> TypeGuard[str | SecretStr]:
    """Tell whether *value* is a text or a `SecretStr`, and is not empty."""
    return isinstance(value, str | SecretStr) and len(value) > 0
