"""Read the `envFile` of a server: a file of environment variables, as VS Code and Cursor have it."""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from io import StringIO
from pathlib import Path

from toolbench.errors import ServerError
from toolbench.mcp.config.placeholders import expand, with_known
from toolbench.mcp.config.workspace import located, places

# Bytes: such files have some lines
_MOST_BYTES = 100_000


@dataclass(frozen=True)
class EnvFile:
    """A file of environment variables, as it was when the configuration was read."""

    path: str
    """The absolute path, in which references to the environment are not replaced."""
    variables: Mapping[str, str] = field(default_factory=dict, repr=False)
    """The variables as they stand in the file: a `${NAME}` in them is not replaced."""
    problem: str = ""
    """The reason why the file cannot be read; empty if it was read."""


def read_env_file(place: str, base: Path) -> EnvFile:
    """Return the environment file *place*, a path that may be relative to *base*."""
    # A value of the environment may be a secret, and the path is shown
    path = located(with_known(place, places(base)), base)
    try:
        text = _text_in(Path(located(expand(path, os.environ), base)))
        return EnvFile(path, _variables_in(text))
    except (ServerError, ValueError) as error:
        problem = str(error).rstrip(".")
    except OSError as error:
        problem = f"{error.strerror}. Create it, or remove 'envFile'"
    return EnvFile(path, problem=f"the envFile {path!r} cannot be read: {problem}.")


def _variables_in(text: str) -> dict[str, str]:
    from dotenv.parser import parse_stream  # noqa: PLC0415 - no page has it, and it starts no server

    variables = {}
    for each in parse_stream(StringIO(text)):
        if each.error:
            msg = f"line {each.original.line} is not NAME=VALUE. Write it so, or remove it"
            raise ValueError(msg)
        if each.key is not None and each.value is not None:
            variables[each.key] = each.value
    return variables


def _text_in(path: Path) -> str:
    # Of a device or a pipe there may be no end
    if path.exists() and not path.is_file():
        msg = "it is not a file"
        raise ValueError(msg)
    if path.stat().st_size > _MOST_BYTES:
        msg = f"it has more than {_MOST_BYTES:,} bytes"
        raise ValueError(msg)
    try:
        text = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        # The error would quote a part of the file
        text = "\0"
    if "\0" in text:
        msg = "it is not text in UTF-8"
        raise ValueError(msg)
    return text
