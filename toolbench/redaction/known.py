"""The secrets that one run has to hide: its own secrets, and those of earlier runs and servers.

They are hidden in the arguments and the record of the run, and in its output while the run lasts.
"""

from collections.abc import Callable, Iterable, Mapping
from contextvars import copy_context
from threading import Event, RLock, Timer
from time import monotonic
from typing import Any

from toolbench.redaction.detect import Secrecy
from toolbench.redaction.redactor import NO_SECRETS, Redactor, Stream
from toolbench.redaction.remembered_secrets import remembered
from toolbench.redaction.secrets import Secrets
from toolbench.threads import have_threads, leave_behind_in_forks


class KnownSecrets:
    """The secrets of one run, which views, logs and files must not show."""

    def __init__(
        self,
        arguments: Mapping[str, Any],
        secrecy: Secrecy,
        secrets: Secrets | None = None,
    ) -> None:
        """Find the secrets in *arguments* with *secrecy*; add the *secrets* of a conversation."""
        self._secrecy = secrecy
        self._begin: Callable[[], None] | None = None
        self._arguments = dict(arguments)
        self.own = NO_SECRETS if secrets is None else secrets.redactor
        """The redactor of the run's own secrets, which other runs may inherit."""
        if not secrecy.is_harmless(arguments):
            self._arguments, known = secrecy.hide(arguments)
            self.own = self.own.including(known)
        if secrecy.defaults:
            self.own = self.own.including(secrecy.defaults)
        if self.own.secrets:
            remembered.add(self.own.secrets)
        self._joined = NO_SECRETS, NO_SECRETS, NO_SECRETS

    @property
    def redactor(self) -> Redactor:
        """The redactor of all secrets known so far, for all views and records of the run.

        It includes the secrets of earlier runs, because a tool or a server may repeat them.
        """
        own, earlier, joined = self._joined
        if own is not self.own or earlier is not remembered.redactor:
            own, earlier = self.own, remembered.redactor
            joined = own.joined(earlier)
            self._joined = own, earlier, joined
        return joined

    def learn(self, action: Any, secrecy: Secrecy | None = None) -> None:
        """Add the secrets of *action*; an argument that was left out counts with its default.

        Args:
            action: The action, or another object with secrets.
            secrecy: The rules for *action*, if it is not an action of this run.
        """
        secrecy = secrecy or self._secrecy
        if not secrecy.is_harmless(action):
            self._add(secrecy.secrets_in(action))

    def judge_by(self, secrecy: Secrecy, arguments: Mapping[str, Any]) -> None:
        """Hide the secrets in *arguments* by *secrecy* too: their schema has changed."""
        self._secrecy = secrecy
        self._arguments, known = secrecy.hide(arguments)
        self._add([*known, *secrecy.defaults])

    def inherit(self, parent: "KnownSecrets") -> None:
        """Add the secrets of *parent*, the run that started this run and may have passed them to it."""
        self.include(parent.own)

    def include(self, redactor: Redactor) -> None:
        """Add the secrets of *redactor*."""
        if redactor.secrets:
            self._add(redactor.secrets)

    def _add(self, secrets: Iterable[str]) -> None:
        self.own = self.own.including(secrets)
        if self.own.secrets:
            remembered.add(self.own.secrets)
            begin, self._begin = self._begin, None
            if begin is not None:
                begin()

    def on_first(self, begin: Callable[[], None]) -> None:
        """Call *begin* when the first secret is added; at once if there is a secret already."""
        if self.redactor:
            begin()
        else:
            self._begin = begin

    def hide(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """Return *arguments*, other forms of arguments of the run, with a mark in place of each secret."""
        masked: dict[str, Any] = self.redactor.value(self._secrecy.hide(arguments)[0])
        return masked

    @property
    def arguments(self) -> dict[str, Any]:
        """The arguments of the run, with a mark in place of each secret."""
        if not (redactor := self.redactor):
            return self._arguments
        masked: dict[str, Any] = redactor.value(self._arguments)
        return masked


# Seconds in which the texts of a stream are gathered: they are searched, and passed on, as one
PAUSE = 0.05


class OutputFilter:
    """A filter that hides secrets in mime bundles and in streams of text.

    Each stream, such as `stdout`, is searched separately. A text after a pause is passed on at
    once; what follows soon after it, as the parts of a `print` do, is gathered and passed on
    together, in the order in which it came.
    """

    def __init__(self, secrets: KnownSecrets, is_over: Event) -> None:
        """Make a filter that hides *secrets*, also the secrets that are added to it later.

        Once *is_over* is set, no text is held back or gathered, since no more text may follow.
        """
        self._secrets = secrets
        self._is_over = is_over
        self._streams: dict[str, Stream] = {}
        # Texts of one stream that were not passed on yet, and the call that will pass them on
        self._gathered: list[str] = []
        self._place: tuple[Any, ...] = ()
        # When texts are passed on again
        self._next = 0.0
        self._timer: Timer | None = None
        # reentrant: an object deleted while it is held may print too
        self._lock = RLock()
        leave_behind_in_forks(self)

    def leave_behind(self) -> None:
        """In a forked process, leave what was gathered to the process that gathered it."""
        self._gathered, self._timer, self._lock = [], None, RLock()

    def write(self, stream: str, text: str, show: Callable[..., object], *target: Any) -> None:
        """Add *text* to *stream*; soon, call `show(stream, safe_text, *target)` with secrets hidden."""
        place = (stream, show, *target)
        with self._lock:
            if place != self._place:
                self.release()
                self._place = place
            self._gathered.append(text)
            if self._timer is not None:
                return
            pause = self._next - monotonic()
            if pause <= 0 or self._is_over.is_set() or not have_threads():
                self.release()
                return
            # In the context of the writer, which tells a kernel to which cell the text belongs
            timer = Timer(pause, copy_context().run, [self.release])
            timer.daemon = True
            try:
                timer.start()
            except RuntimeError:
                # The interpreter is about to end, or has too many threads
                self.release()
            else:
                self._timer = timer

    def release(self) -> None:
        """Pass on the gathered texts."""
        with self._lock:
            if self._timer is not None:
                self._timer.cancel()
                self._timer = None
            if not self._gathered:
                return
            text, self._gathered = "".join(self._gathered), []
            stream, show, *target = self._place
            if safe_text := self._safe_text(stream, text):
                show(stream, safe_text, *target)
            self._next = monotonic() + PAUSE

    def text(self, stream: str, text: str) -> str:
        """Add *text* to *stream*; return the text that can be shown now, with secrets hidden."""
        with self._lock:
            self.release()
            return self._safe_text(stream, text)

    def _safe_text(self, stream: str, text: str) -> str:
        redactor = self._secrets.redactor
        if not redactor:
            return text
        known = self._streams.setdefault(stream, redactor.stream())
        known.redactor = redactor
        safe_text = known.feed(text)
        return safe_text + known.flush() if self._is_over.is_set() else safe_text

    def bundle(self, data: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return the mime bundle *data* with secrets hidden."""
        self.release()
        redactor = self._secrets.redactor
        return redactor.bundle(data) if redactor else data

    def value(self, value: Any) -> Any:
        """Return *value*, such as the metadata of a display, with secrets hidden."""
        return self._secrets.redactor.value(value)

    def rest(self, stream: str) -> str:
        """Return the text of *stream* that is still held back; to be called when *stream* has ended."""
        with self._lock:
            self.release()
            known = self._streams.get(stream)
            return "" if known is None else known.flush()
