"""Read the `envFile` of a server: a file of environment variables, as VS Code and Cursor have it."""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from io import StringIO
from pathlib import Path

from toolbench.errors import ServerError
from toolbench.mcp.config.placeholders import expand
from toolbench.mcp.config.workspace import places

# Bytes: such files have some lines
_MOST_BYTES = 1_000_000


@dataclass(frozen=True)
class EnvFile:
    """A file of environment variables, as it was when the configuration was read."""

    path: str
    variables: Mapping[str, str] = field(default_factory=dict, repr=False)
    """The variables as they stand in the file: a `${NAME}` in them is not replaced."""
    problem: str = ""
    """The reason why the file cannot be read; empty if it was read."""


def read_env_file(place: str, base: Path) -> EnvFile:
    """Return the environment file *place*, a path that may be relative to *base*."""
    from dotenv import dotenv_values  # noqa: PLC0415 - no page has it, and it starts no server

    path = place
    try:
        path = str(base / Path(expand(place, {**places(base), **os.environ})).expanduser())
        text = _text_in(Path(path))
    except OSError as error:
        problem = f"cannot be read: {error.strerror}. Create it, or remove 'envFile'"
    except (ServerError, ValueError, RuntimeError) as error:
        problem = f"cannot be read: {error}"
    else:
        variables = dotenv_values(stream=StringIO(text), interpolate=False)
        return EnvFile(path, {n: value for n, value in variables.items() if value is not None})
    return EnvFile(path, problem=f"the envFile {path!r} {problem.rstrip('.')}.")


def _text_in(path: Path) -> str:
    # Of a device or a pipe there may be no end
    if path.exists() and not path.is_file():
        msg = "it is not a file"
        raise ValueError(msg)
    if path.stat().st_size > _MOST_BYTES:
        msg = f"it has more than {_MOST_BYTES:,} bytes"
        raise ValueError(msg)
    return path.read_text(encoding="utf-8-sig")
