"""The secrets of a conversation as variables of the shell, for the commands that name them."""

import re
from typing import Any

from toolbench.core.state import secrets_of
from toolbench.redaction.redactor import Redactor, Stream
from toolbench.redaction.secrets import Secrets
from toolbench.tools.failure_sentence import RunError

_NAME = re.compile("[A-Za-z_][A-Za-z0-9_]*")


class LentSecrets:
    """What the shell was given of secrets, and has to be hidden in all it says from then on."""

    def __init__(self, secrets: Secrets) -> None:
        """Have *secrets* at hand, beside those of a conversation."""
        self._secrets = secrets
        self._lent: set[str] = set()

    def named_in(self, command: str, conversation: Any) -> dict[str, str]:
        """Return the variables for *command*: every secret whose name is a word in it.

        Source: OpenHands SDK, `SecretRegistry.get_secrets_as_env_vars`.

        Raises:
            RunError: If a secret holds a NUL, which no variable can.
        """
        secrets = {**self._secrets, **(secrets_of(conversation) or {})}
        words = set(_NAME.findall(command))
        values = {n: s.get_secret_value() for n, s in secrets.items() if n in words}
        for name, value in values.items():
            if "\0" in value:
                msg = (
                    f"The secret {name} holds a NUL, which no variable of a shell can."
                )
                raise RunError(msg)
        self._lent |= set(values.values())
        return values

    def stream(self) -> Stream:
        """Return what replaces them in the output of one command."""
        return Redactor(self._lent).stream()
