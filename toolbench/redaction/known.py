"""The secrets that one run has to hide: its own, and those of earlier runs and servers."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from toolbench.redaction.detection.secrecy import Secrecy
from toolbench.redaction.redactor import NO_SECRETS, Redactor
from toolbench.redaction.remembered_secrets import remembered
from toolbench.redaction.secrets import Secrets


class KnownSecrets:
    """The secrets of one run, to hide them from people, in logs and in files."""

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

        It includes earlier runs, since a tool or a server may repeat a secret that it got from them.
        """
        own, earlier, joined = self._joined
        if own is not self.own or earlier is not remembered.redactor:
            own, earlier = self.own, remembered.redactor
            joined = own.joined(earlier)
            self._joined = own, earlier, joined
        return joined

    def learn(self, action: Any, secrecy: Secrecy | None = None) -> None:
        """Add the secrets of *action*, which also has the defaults of arguments left out.

        Args:
            action: The action, or another object with secrets.
            secrecy: The rules for it, if it is not an action of this run.
        """
        secrecy = secrecy or self._secrecy
        if not secrecy.is_harmless(action):
            self._add(secrecy.secrets_in(action))

    def inherit(self, parent: "KnownSecrets") -> None:
        """Add the secrets of *parent*, the run that started this one and may pass them on."""
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
        """Call *begin* when the first secret is added, or at once if there is a secret already."""
        if self.redactor:
            begin()
        else:
            self._begin = begin

    @property
    def arguments(self) -> dict[str, Any]:
        """The arguments with their secrets hidden."""
        if not (redactor := self.redactor):
            return self._arguments
        masked: dict[str, Any] = redactor.value(self._arguments)
        return masked
