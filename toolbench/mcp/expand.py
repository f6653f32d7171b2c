"""Put the environment into a configuration: `${NAME}`, `${env:NAME}`, `${NAME:-default}`."""

import re
from collections.abc import Mapping
from typing import Any

from toolbench.errors import ServerError

_REFERENCE = re.compile(
    r"\$\{(?:env:)?(?P<name>[A-Za-z_]\w*)(?::-(?P<default>[^}]*))?\}"
)
_ASKED_FOR = re.compile(r"\$\{(?P<kind>input|command|config):(?P<name>[^}]+)\}")


def expand(value: Any, variables: Mapping[str, str]) -> Any:
    """Return JSON-like *value* with every reference in its strings replaced.

    Anything that is no reference stays as it is.

    Raises:
        ServerError: If a variable is not set and has no default, or if an editor would have
            to ask a person for it.
    """
    if isinstance(value, str):
        return _expand_text(value, variables)
    if isinstance(value, Mapping):
        return {key: expand(item, variables) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [expand(item, variables) for item in value]
    return value


def _expand_text(text: str, variables: Mapping[str, str]) -> str:
    if asked := _ASKED_FOR.search(text):
        msg = (
            f"{asked[0]} is filled in by an editor: put the value, or "
            f"${{env:NAME}} of a variable that is set here, in its place."
        )
        raise ServerError(msg)

    def value_of(match: re.Match[str]) -> str:
        name, default = match["name"], match["default"]
        found = variables.get(name)
        if not found and default is not None:  # as in a shell
            return default
        if found is None:
            msg = f"The configuration needs the environment variable {name!r}: set it."
            raise ServerError(msg)
        return found

    return _REFERENCE.sub(value_of, text)
