"""The little of a conversation that a tool may know: where it works, where it keeps things, secrets."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pydantic import SecretBytes, SecretStr

from toolbench.core.masking import MASK as MASK
from toolbench.core.masking import Masking
from toolbench.errors import indefinite

SecretValue = str | bytes | int | float | SecretStr | SecretBytes


@dataclass(frozen=True)
class Workspace:
    """Where the tools of a conversation work."""

    working_dir: str


class Secrets(Mapping[str, SecretStr]):
    """Secrets by name; their values never show unless asked for one by one."""

    def __init__(self, values: Mapping[str, SecretValue] | None = None) -> None:
        """Keep *values*; plain strings, bytes and numbers are wrapped.

        Raises:
            TypeError: If a value is none of these.
        """
        self._values = {
            name: _wrapped(name, value) for name, value in (values or {}).items()
        }
        plain = (value.get_secret_value() for value in self._values.values())
        self._masking = Masking(plain)

    def __getitem__(self, name: str) -> SecretStr:
        return self._values[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def __repr__(self) -> str:
        return f"Secrets({', '.join(sorted(self._values))})"

    def mask(self, text: str) -> str:
        """Return *text* with every secret value in it replaced."""
        return self._masking.text(text)

    def mask_error(self, error: Exception) -> Exception:
        """Return *error*, or one in its place, that tells no secret; see `Masking.error`."""
        return self._masking.error(error)

    def mask_json(self, value: Any) -> Any:
        """Return *value*, JSON or any other, with every secret in it replaced."""
        return self._masking.anything(value)


def _wrapped(name: str, value: Any) -> SecretStr:
    if isinstance(value, SecretStr | SecretBytes):
        value = value.get_secret_value()
    match value:
        case str():
            return SecretStr(value)
        case bytes():
            return SecretStr(value.decode(errors="replace"))
        case int() | float() if not isinstance(value, bool):  # a PIN
            return SecretStr(str(value))
    msg = f"Secret {name!r} is text, not {indefinite(type(value).__name__)}."
    raise TypeError(msg)


class ConversationState:
    """What a tool's `create()` may read. Source: OpenHands SDK, `ConversationState`."""

    def __init__(
        self,
        working_dir: str | Path | None = None,
        *,
        persistence_dir: str | Path | None = None,
        secrets: Mapping[str, SecretValue] | None = None,
        workspace: Any = None,
    ) -> None:
        """Describe a conversation.

        Args:
            working_dir: Where tools work; the current directory if left out.
            persistence_dir: Where tools may keep files between sessions, if anywhere.
            secrets: Values that are masked in everything that comes out of a tool.
            workspace: An OpenHands workspace, or a directory, instead of *working_dir*.
        """
        if workspace is None:
            workspace = Workspace(str(working_dir or Path.cwd()))
        elif isinstance(workspace, str | Path):
            workspace = Workspace(str(workspace))
        self.workspace = workspace
        self.persistence_dir = None if persistence_dir is None else str(persistence_dir)
        self.secrets = Secrets(secrets)

    def __repr__(self) -> str:
        return (
            f"ConversationState({self.workspace.working_dir!r}, "
            f"persistence_dir={self.persistence_dir!r}, secrets={self.secrets!r})"
        )


@dataclass(frozen=True)
class Conversation:
    """What an executor is given beside the action."""

    state: ConversationState = field(default_factory=ConversationState)


def secrets_of(conversation: Any) -> Secrets | None:
    """Return the secrets of *conversation*, or of a state in its place; None if it has none.

    It may be somebody else's: what is no text there hides nothing.
    """
    secrets = getattr(getattr(conversation, "state", conversation), "secrets", None)
    if isinstance(secrets, Secrets):
        return secrets
    if not isinstance(secrets, Mapping):
        return None
    return Secrets({n: s for n, s in secrets.items() if isinstance(s, SecretValue)})
