"""The secrets of a conversation as variables of the shell, for the commands that name them."""

import re
from collections.abc import Mapping
from typing import Any

from pydantic import SecretStr

from toolbench.core.state import secrets_of
from toolbench.redaction.redactor import Redactor
from toolbench.redaction.secrets import Secrets
from toolbench.tools.failure_sentence import RunError

_NAME = re.compile("[A-Za-z_][A-Za-z0-9_]*")


class ShellSecrets:
    """What commands may name of secrets, and has to be hidden in all the terminal says."""

    def __init__(self, secrets: Secrets) -> None:
        """Have *secrets* at hand, beside those of a conversation."""
        self._own = secrets
        self.redactor = secrets.redactor
        """Replaces these, and those of every conversation so far: the shell keeps its variables."""

    def named_in(self, command: str, conversation: Any) -> dict[str, str]:
        """Return the variables for *command*: every secret whose name is a word in it.

        Source: OpenHands SDK, `SecretRegistry.get_secrets_as_env_vars`.

        Raises:
            RunError: If a secret holds a NUL, which no variable can.
        """
        words = set(_NAME.findall(command))
        secrets = self._known(conversation).items()
        values = {n: s.get_secret_value() for n, s in secrets if n in words}
        for name, value in values.items():
            if "\0" in value:
                msg = (
                    f"The secret {name} holds a NUL, which no variable of a shell can."
                )
                raise RunError(msg)
        return values

    def learn(self, conversation: Any) -> None:
        """Hide the secrets of *conversation* from now on."""
        values = {s.get_secret_value() for s in self._known(conversation).values()}
        if not values <= self.redactor.secrets | {""}:
            # a declared secret is one, however short
            self.redactor = Redactor(values | self.redactor.secrets, shortest=1)

    def _known(self, conversation: Any) -> Mapping[str, SecretStr]:
        return {**self._own, **(secrets_of(conversation) or {})}
