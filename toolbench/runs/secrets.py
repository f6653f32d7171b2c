"""What must not be shown of a run: secret arguments, wherever they turn up again."""

from collections.abc import Iterator, Mapping
from typing import Any

from pydantic import SecretBytes, SecretStr

from toolbench.core.masking import Masking
from toolbench.core.secrecy import HIDDEN, hide

_SHORTEST = 4  # characters: hiding every "1" would hide too much


class Confidence:
    """The arguments of a call without its secrets, and the secrets to hide elsewhere."""

    def __init__(
        self,
        arguments: Mapping[str, Any],
        schema: Mapping[str, Any],
        secrets: Mapping[str, Any] | None = None,
    ) -> None:
        """Hide what *schema* calls secret in *arguments*, and the *secrets* of a conversation."""
        shown = hide(arguments, schema)
        values = set(_hidden(arguments, shown))
        values |= {_plain(secret) for secret in (secrets or {}).values()}
        values = {value for value in values if len(value) >= _SHORTEST}
        self._masking = Masking(values) if values else None
        self.arguments: dict[str, Any] = self.hide(shown)
        """The arguments as they may be shown."""

    def hide(self, value: Any) -> Any:
        """Return *value*, JSON or an observation or any other, without the secrets."""
        return value if self._masking is None else self._masking.anything(value)

    def hide_text(self, text: str) -> str:
        """Return *text* without the secrets."""
        return text if self._masking is None else self._masking.text(text)


def _hidden(value: Any, shown: Any) -> Iterator[str]:
    """Give the texts in *value* that *shown*, the same made presentable, hides."""
    if shown == HIDDEN != value:
        yield from _texts(value)
    elif isinstance(value, Mapping):
        for name, item in value.items():
            yield from _hidden(item, shown.get(name))
    elif isinstance(value, list):
        for item, other in zip(value, shown, strict=True):
            yield from _hidden(item, other)


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, Mapping):
        value = list(value.values())
    if isinstance(value, list | tuple):
        for item in value:
            yield from _texts(item)
    elif isinstance(value, str | SecretStr | SecretBytes):
        yield _plain(value)


def _plain(value: Any) -> str:
    if isinstance(value, SecretStr | SecretBytes):
        value = value.get_secret_value()
    return value.decode(errors="replace") if isinstance(value, bytes) else str(value)
