"""Give a command the secrets that it names, as shell variables, and hide secrets in outputs."""

import re
from collections.abc import Mapping
from typing import Any

from pydantic import SecretStr

from toolbench.core.state import secrets_of
from toolbench.redaction.known import Secrets
from toolbench.redaction.redactor import Redactor
from toolbench.tools.failure_sentence import RunError

_NAME = re.compile("[A-Za-z_][A-Za-z0-9_]*")


class ShellSecrets:
    """The secrets of a shell: commands can name them, and outputs must not show them."""

    def __init__(self, secrets: Secrets) -> None:
        """Use *secrets*, and for each call also the secrets of its conversation."""
        self._own = secrets
        self.redactor = secrets.redactor
        """The redactor of the executor's own secrets and of the secrets of all conversations so far.

        Secrets of earlier conversations stay hidden, because the shell keeps its variables.
        """

    def named_in(self, command: str, conversation: Any) -> dict[str, str]:
        """Return the variables for *command*: each secret whose name is a word of *command*.

        Source: OpenHands SDK, `SecretRegistry.get_secrets_as_env_vars`.

        Raises:
            RunError: If a secret has a NUL character, because a variable cannot have one.
        """
        words = set(_NAME.findall(command))
        secrets = self._known(conversation).items()
        values = {n: s.get_secret_value() for n, s in secrets if n in words}
        for name, value in values.items():
            if "\0" in value:
                msg = f"The secret {name} has a NUL, which no shell variable can have."
                raise RunError(msg)
        return values

    def learn(self, conversation: Any) -> None:
        """Hide the secrets of *conversation* from now on."""
        values = {s.get_secret_value() for s in self._known(conversation).values()}
        if not values <= self.redactor.secrets | {""}:
            # a declared secret is hidden even if it is short
            self.redactor = Redactor(values | self.redactor.secrets, shortest=1)

    def _known(self, conversation: Any) -> Mapping[str, SecretStr]:
        return {**self._own, **(secrets_of(conversation) or {})}
