"""The secrets that one run knows: its own, and those of the runs and servers before it."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from toolbench.redaction.detection.secrecy import Secrecy
from toolbench.redaction.redactor import NO_SECRETS, Redactor
from toolbench.redaction.remembered import remembered
from toolbench.redaction.secrets import Secrets


class KnownSecrets:
    """Hides the secrets of one run in whatever people, logs and files see of it."""

    def __init__(
        self,
        arguments: Mapping[str, Any],
        secrecy: Secrecy,
        secrets: Secrets | None = None,
    ) -> None:
        """Know what *secrecy* calls secret in *arguments*, and the *secrets* of a conversation."""
        self._secrecy = secrecy
        self._begin: Callable[[], None] | None = None
        self._arguments = dict(arguments)
        self.own = NO_SECRETS if secrets is None else secrets.redactor
        """Replaces the secrets of the run itself: those that it may hand on."""
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
        """Replaces all that is known so far, in whatever is shown and kept of the run.

        A tool or a server may say what an earlier run gave it.
        """
        own, earlier, joined = self._joined
        if own is not self.own or earlier is not remembered.redactor:
            own, earlier = self.own, remembered.redactor
            joined = own.joined(earlier)
            self._joined = own, earlier, joined
        return joined

    def learn(self, action: Any, secrecy: Secrecy | None = None) -> None:
        """Know the secrets of *action* too: it also holds the defaults of what was left out.

        Args:
            action: The action, or something else that has secrets.
            secrecy: What they are, if it is no action of this run.
        """
        secrecy = secrecy or self._secrecy
        if not secrecy.is_harmless(action):
            self._add(secrecy.secrets_in(action))

    def inherit(self, parent: "KnownSecrets") -> None:
        """Know the secrets of *parent* too, the run that asked for this one and may hand them on."""
        self.include(parent.own)

    def include(self, redactor: Redactor) -> None:
        """Know what *redactor* knows too."""
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
        """Have *begin* called once there is a secret: at once if there is one."""
        if self.redactor:
            begin()
        else:
            self._begin = begin

    @property
    def arguments(self) -> dict[str, Any]:
        """The arguments as they may be shown."""
        if not (redactor := self.redactor):
            return self._arguments
        masked: dict[str, Any] = redactor.value(self._arguments)
        return masked
