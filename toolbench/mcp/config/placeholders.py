"""Put values in the place of `${NAME}`: the environment in a configuration, secrets in a call."""

import re
from collections.abc import Callable, Mapping
from typing import Any

from pydantic import SecretStr

from toolbench.errors import ServerError

_REFERENCE = re.compile(
    r"\$\{(?:env:)?(?P<name>[A-Za-z_]\w*)(?::-(?P<default>[^}]*))?\}"
)
_SECRET = re.compile(r"\$\{(?P<name>[^{}]+)\}")
_ASKED_FOR = re.compile(r"\$\{(?P<kind>input|command|config):(?P<name>[^}]+)\}")


def expand(value: Any, variables: Mapping[str, str]) -> Any:
    """Return JSON-like *value*, of a configuration, with every reference in its strings replaced.

    A reference is `${NAME}`, `${env:NAME}` or `${NAME:-default}`. Anything that is no reference stays as it is.

    Raises:
        ServerError: If a variable is not set and has no default, or if an editor would have
            to ask a person for it.
    """
    return _mapped(value, lambda text: _expand_text(text, variables))


def with_secrets(value: Any, secrets: Mapping[str, SecretStr]) -> Any:
    """Return JSON-like *value*, the arguments of a call, with secrets for their references.

    `${NAME}` is one only if *secrets* has the name; nothing else is looked up, least of all
    the environment. What a secret holds is not looked through again.
    """

    def filled(text: str) -> str:
        return _SECRET.sub(
            lambda match: (
                secrets[match["name"]].get_secret_value()
                if match["name"] in secrets
                else match[0]
            ),
            text,
        )

    return _mapped(value, filled)


def _mapped(value: Any, change: Callable[[str], str]) -> Any:
    """Return JSON-like *value* with *change* made to its strings, names left as they are."""
    if isinstance(value, str):
        return change(value)
    if isinstance(value, Mapping):
        return {key: _mapped(item, change) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_mapped(item, change) for item in value]
    return value


def _expand_text(text: str, variables: Mapping[str, str]) -> str:
    if placeholder := _ASKED_FOR.search(text):
        msg = (
            f"{placeholder[0]} is filled in by an editor: put the value, or "
            f"${{env:NAME}} of a variable that is set here, in its place."
        )
        raise ServerError(msg)

    def value_of(match: re.Match[str]) -> str:
        name, default = match["name"], match["default"]
        variable = variables.get(name)
        if not variable and default is not None:  # as in a shell
            return default
        if variable is None:
            msg = f"The configuration needs the environment variable {name!r}: set it."
            raise ServerError(msg)
        return variable

    return _REFERENCE.sub(value_of, text)
