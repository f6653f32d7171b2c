"""Hide the secrets of a run in what it prints and displays, while it does."""

from collections.abc import Mapping
from threading import Event, RLock
from typing import Any

from toolbench.redaction.known import KnownSecrets
from toolbench.redaction.redactor import Stream


class OutputFilter:
    """Hides secrets in streams of text, each by itself, and in mime bundles."""

    def __init__(self, secrets: KnownSecrets, is_over: Event) -> None:
        """Hide *secrets*, also those that become known later.

        Once *is_over* is set nothing is held back any more: who knows whether more follows?
        """
        self._secrets = secrets
        self._is_over = is_over
        self._streams: dict[str, Stream] = {}
        # what is collected as garbage while it is held may print too
        self._lock = RLock()

    def text(self, stream: str, text: str) -> str:
        """Return what can be shown now of *text*, written to *stream*."""
        redactor = self._secrets.redactor
        if not redactor:
            return text
        with self._lock:
            known = self._streams.setdefault(stream, redactor.stream())
            known.redactor = redactor
            safe_text = known.feed(text)
            return safe_text + known.flush() if self._is_over.is_set() else safe_text

    def bundle(self, data: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return the mime bundle *data* as it may be shown."""
        redactor = self._secrets.redactor
        return redactor.bundle(data) if redactor else data

    def value(self, value: Any) -> Any:
        """Return *value*, which goes with what is displayed, as it may be shown."""
        return self._secrets.redactor.value(value)

    def rest(self, stream: str) -> str:
        """Return what was held back of *stream*: nothing follows."""
        with self._lock:
            known = self._streams.get(stream)
            return "" if known is None else known.flush()
