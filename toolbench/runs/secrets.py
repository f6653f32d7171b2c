"""What must not be shown of a run: secret arguments, wherever they turn up again."""

from collections.abc import Mapping
from typing import Any

from toolbench.core.concealing import texts
from toolbench.core.masking import Masking
from toolbench.core.secrecy import Secrecy
from toolbench.core.state import Secrets

_SHORTEST = 4  # characters: hiding every "1" would hide too much


class Confidence:
    """The arguments of a call without its secrets, and the secrets to hide elsewhere."""

    def __init__(
        self,
        arguments: Mapping[str, Any],
        secrecy: Secrecy,
        secrets: Secrets | None = None,
    ) -> None:
        """Hide what *secrecy* calls secret in *arguments*, and the *secrets* of a conversation."""
        shown, kept = secrecy.hide(arguments)
        values = set(texts(list(kept.values())))
        values |= {secret.get_secret_value() for secret in (secrets or {}).values()}
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
