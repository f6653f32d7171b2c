"""Replace `${NAME}` in a configuration by variables, and in the arguments of a call by secrets.

The variables are those of the environment, or those of the notebook (`LiveVariables`).
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, NamedTuple, TypeGuard

from pydantic import SecretStr

from toolbench.errors import ServerError

_REFERENCE = re.compile(r"\$\{(?:env:)?(?P<name>[A-Za-z_]\w*|/)(?::-(?P<default>[^}]*))?\}")
_SECRET = re.compile(r"\$\{(?P<name>[^{}]+)\}")
_ASKED_FOR = re.compile(r"\$\{(?P<kind>input|command|config):(?P<name>[^}]+)\}")


class Reference(NamedTuple):
    """A reference to a variable: `${NAME}`, `${env:NAME}` or `${NAME:-default}`."""

    name: str
    default: str | None
    text: str
    """The reference exactly as written."""


def reference(text: str) -> Reference | None:
    """Return *text* as a `Reference`; None if *text* is anything but one reference."""
    match = _REFERENCE.fullmatch(text)
    if match is None:
        return None
    return _read(match)


def with_references(text: str, replace: Callable[[Reference], str]) -> str:
    """Return *text* with each reference replaced by the result of *replace*."""
    return _REFERENCE.sub(lambda match: replace(_read(match)), text)


def _read(match: re.Match[str]) -> Reference:
    return Reference(match["name"], match["default"], match[0])


def expand(value: Any, variables: Mapping[str, str]) -> Any:
    """Replace each reference to a variable in the strings of *value*, a part of a configuration.

    A reference is `${NAME}`, `${env:NAME}` or `${NAME:-default}`. All other text stays unchanged.

    Raises:
        ServerError: If a variable is not set and has no default. Also if a reference, such as
            `${input:...}`, has a value that only an editor knows.
    """

    def value_of(reference: Reference) -> str:
        value = variables.get(reference.name)
        # An empty variable counts as not set, as in a shell
        if not value and reference.default is not None:
            return reference.default
        if value is None:
            msg = f"The configuration needs the environment variable {reference.name!r}: set it."
            raise ServerError(msg)
        return value

    def expanded(text: str) -> str:
        if placeholder := _ASKED_FOR.search(text):
            msg = (
                f"{placeholder[0]} is filled in by an editor such as VS Code, not here: replace it by "
                f"the value, or by ${{env:NAME}} with the name of a variable that is set here."
            )
            raise ServerError(msg)
        return with_references(text, value_of)

    return _mapped(value, expanded)


def with_known(value: Any, variables: Mapping[str, str]) -> Any:
    """Replace the references to *variables* in *value*, a part of a configuration.

    All other references are unchanged.
    """

    def known(one: Reference) -> str:
        return variables.get(one.name, one.text)

    return _mapped(value, lambda text: with_references(text, known))


def names_in(value: Any) -> list[str]:
    """Return the names of the variables that *value*, a part of a configuration, refers to."""
    names: list[str] = []

    def noted(text: str) -> str:
        for match in _REFERENCE.finditer(text):
            names.append(match["name"])
        return text

    _mapped(value, noted)
    return names


def with_secrets(value: Any, secrets: Mapping[str, SecretStr]) -> Any:
    """Replace each `${NAME}` in *value*, the arguments of a call, by the secret `NAME`.

    If *secrets* does not contain the name, `${NAME}` stays unchanged, even if there is an
    environment variable `NAME`. A `${NAME}` inside a secret also stays unchanged.
    """

    def secret(match: re.Match[str]) -> str:
        if match["name"] not in secrets:
            return match[0]
        return secrets[match["name"]].get_secret_value()

    return _mapped(value, lambda text: _SECRET.sub(secret, text))


def _mapped(value: Any, change: Callable[[str], str]) -> Any:
    """Return a copy of the JSON-like *value* with *change* applied to all strings except keys."""
    if isinstance(value, str):
        return change(value)
    if isinstance(value, Mapping):
        return {key: _mapped(item, change) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_mapped(item, change) for item in value]
    return value


# --- variables of a notebook ----------------------------------------------------------


class LiveVariables(Mapping[str, str | SecretStr]):
    """A mapping of notebook variables that returns the current value at each access.

    For example, a server that reconnects gets the current value of a token. If a variable has been
    deleted, its last known value is returned. A pickled copy is a plain dict with the values at the
    time of pickling.
    """

    def __init__(self, namespace: Mapping[str, Any], names: Iterable[str]) -> None:
        """Read the variables *names* of *namespace*; variables without a string are left out."""
        self._namespace = namespace
        self._names = tuple(dict.fromkeys(names))
        self._last: dict[str, str | SecretStr] = {}
        self._last = dict(self)

    def __getitem__(self, name: str) -> str | SecretStr:
        value = self._namespace.get(name)
        if name in self._names and is_text(value):
            self._last[name] = value
        return self._last[name]

    def __iter__(self) -> Iterator[str]:
        for name in self._names:
            if name in self._last or is_text(self._namespace.get(name)):
                yield name

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def __repr__(self) -> str:
        return f"LiveVariables({', '.join(self._names)})"

    # A worker has another namespace
    def __reduce__(self) -> Any:
        return dict, (dict(self),)


def is_text(value: Any) -> TypeGuard[str | SecretStr]:
    """Tell whether *value* is a nonempty string or `SecretStr`."""
    return isinstance(value, str | SecretStr) and len(value) > 0
