"""The secrets that one run knows: of its arguments, its action and its conversation."""

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
        self.redactor = NO_SECRETS if secrets is None else secrets.redactor
        """Replaces all that is known so far."""
        if not secrecy.is_harmless(arguments):
            self._arguments, known = secrecy.hide(arguments)
            self.redactor = self.redactor.including(known)
        if secrecy.defaults:
            self.redactor = self.redactor.including(secrecy.defaults)
        if self.redactor.secrets:
            remembered.add(self.redactor.secrets)

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
        self.include(parent.redactor)

    def include(self, redactor: Redactor) -> None:
        """Know what *redactor* knows too."""
        if redactor.secrets:
            self._add(redactor.secrets)

    def _add(self, secrets: Iterable[str]) -> None:
        self.redactor = self.redactor.including(secrets)
        if self.redactor.secrets:
            remembered.add(self.redactor.secrets)
            begin, self._begin = self._begin, None
            if begin is not None:
                begin()

    def on_first(self, begin: Callable[[], None]) -> None:
        """Have *begin* called once there is a secret: at once if there is one."""
        if self.redactor.secrets:
            begin()
        else:
            self._begin = begin

    @property
    def arguments(self) -> dict[str, Any]:
        """The arguments as they may be shown."""
        if not self.redactor.secrets:
            return self._arguments
        masked: dict[str, Any] = self.redactor.value(self._arguments)
        return masked
