"""Hide the secrets of a run in its printed and displayed output while it runs."""

from collections.abc import Mapping
from threading import Event, RLock
from typing import Any

from toolbench.redaction.known import KnownSecrets
from toolbench.redaction.redactor import Stream


class OutputFilter:
    """A filter that hides secrets in streams of text, each by itself, and in mime bundles."""

    def __init__(self, secrets: KnownSecrets, is_over: Event) -> None:
        """Hide *secrets*, also those that are added later.

        Once *is_over* is set, no text is held back, since no more text may follow.
        """
        self._secrets = secrets
        self._is_over = is_over
        self._streams: dict[str, Stream] = {}
        # what is collected as garbage while it is held may print too
        self._lock = RLock()

    def text(self, stream: str, text: str) -> str:
        """Return the safe part of *text*, written to *stream*, that can be shown now."""
        redactor = self._secrets.redactor
        if not redactor:
            return text
        with self._lock:
            known = self._streams.setdefault(stream, redactor.stream())
            known.redactor = redactor
            safe_text = known.feed(text)
            return safe_text + known.flush() if self._is_over.is_set() else safe_text

    def bundle(self, data: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return the mime bundle *data* with secrets hidden."""
        redactor = self._secrets.redactor
        return redactor.bundle(data) if redactor else data

    def value(self, value: Any) -> Any:
        """Return *value*, metadata of a display, with secrets hidden."""
        return self._secrets.redactor.value(value)

    def rest(self, stream: str) -> str:
        """Return the text held back of *stream*, at its end."""
        with self._lock:
            known = self._streams.get(stream)
            return "" if known is None else known.flush()
