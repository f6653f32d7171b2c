"""Secrets that are filled in where a tool runs: `secret("TRACKER")` as the default of a parameter.

A `Secret` is only a name. Its value is looked up when the tool is called: in the keyring, in the
environment, and among the values that the user entered in this session (`secret_store`).
No description of a tool or its calls contains the value: no schema, form, record or file.
"""

import os
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any
from warnings import warn

from toolbench.errors import RegistrationError, SecretError
from toolbench.redaction.detect import keys_in
from toolbench.redaction.known import remembered
from toolbench.redaction.redactor import Redactor

SERVICE = "toolbench"
"""The service name of the secrets in the keyring, as in `keyring set toolbench TRACKER`."""
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


@dataclass(frozen=True)
class Secret:
    """The name of a secret that a tool needs; the value is looked up when the tool is called.

    Annotate a parameter of a function with a Secret, or use `secret("TRACKER")` as its default:

        @tool
        def search(query: str, token: Annotated[str, Secret("TRACKER")]) -> str: ...

    A class of executors declares its secrets in the attribute `secrets`. It reads their values when
    it is called, as in the example.

    Raises:
        RegistrationError: If *name* cannot be the name of an environment variable.

    Examples:
        >>> from toolbench import Secret, ToolExecutor
        >>> class SearchTracker(ToolExecutor):
        ...     secrets = {"token": Secret("TRACKER")}
        ...     def __call__(self, action, conversation=None):
        ...         token = self.secrets["token"].value()
        ...         return f"asked with a token of {len(token)} characters"
        >>> SearchTracker.secrets
        {'token': secret('TRACKER')}
    """

    name: str
    """The name in the keyring, and of the environment variable."""

    def __post_init__(self) -> None:
        name: Any = self.name
        is_name = isinstance(name, str) and _NAME.fullmatch(name) is not None
        if not is_name or any(keys_in(name)):
            # Not quoted: it may be the secret itself
            msg = (
                "A secret is given by its name, not by its value: the name of an environment "
                'variable, such as secret("TRACKER").'
            )
            raise RegistrationError(msg)

    def value(self) -> str:
        """Return the value from the keyring, the environment, or the user's answer in this session.

        This method never asks the user. The user is asked before a tool that declares this secret
        is called.

        Raises:
            SecretError: If there is no value in any of these places.
        """
        value = _given.get().get(self.name)
        if value is None:
            found = secret_store.find(self.name)
            if found is None:
                raise missing(self.name)
            value = found.value
        for read in _read.get():
            read.add(value)
        return value

    def __repr__(self) -> str:
        return f"secret({self.name!r})"

    def __get_pydantic_core_schema__(self, source: Any, handler: Any) -> Any:
        """Raise an error: a secret cannot be a field, because a model would be asked to fill it."""
        raise in_schema(self)


def secret(name: str) -> Any:
    """Return a default that fills a parameter of a tool with the secret *name*.

    The value is looked up at each call: first in the keyring, then in the environment variable
    *name*. To store it in the keyring, run `keyring set toolbench TRACKER` in a terminal; the
    extra `keyring` installs this command. If there is no value, the user is asked once. The answer
    is kept in memory for the session, or in the keyring if the user chooses that. If nobody can be
    asked (a served tool, nbconvert, a thread), the tool does not run, and the error says how to set
    the secret.

    The schema for models does not contain the parameter, so a model can neither see nor send it.
    The value is masked in forms, views, records, files and content for models, even if the tool
    returns it. Only your own code gets the unmasked result. In a test, set the environment
    variable, or pass a value to the plain function: `search.function("crash", token="x")`.

    Args:
        name: The name of the secret in the keyring, and the name of the environment variable.

    Returns:
        A `Secret`. The parameter may be a `str` or a `SecretStr`; because this function is declared
        to return `Any`, type checkers accept both.

    Raises:
        RegistrationError: If *name* cannot be the name of an environment variable.

    Examples:
        >>> from toolbench import secret, tool
        >>> @tool
        ... def search(query: str, token: str = secret("TRACKER")) -> str:
        ...     "Search the tracker."
        ...     return f"{len(token)} characters, not shown"
        >>> list(search.input_schema["properties"])
        ['query']
    """
    return Secret(name)


def in_schema(of: Secret) -> RegistrationError:
    """Return the error for *of*, a secret that is a field of a schema."""
    return RegistrationError(
        f"{of!r} cannot be a field of a schema, which a model would have to fill in: make it a parameter "
        "of a function with @tool, or declare it in the `secrets` of the executor."
    )


def missing(name: str, of: str = "", why: str = "") -> SecretError:
    """Return the error to raise if the secret *name* has no value.

    Args:
        name: The name of the secret.
        of: The name of the tool that was not run, if it is known.
        why: Why the user did not enter a value, as a clause, such as `nobody can be asked here`.
    """
    begin, reason = "The", ""
    if of:
        begin = f"{of} was not run: the"
    if why:
        reason = f", and {why}"
    ways = f"Set the environment variable {name}"
    if keyring_here() is not None:
        ways += f", or store it with `keyring set {SERVICE} {name}`"
    return SecretError(f"{begin} secret {name} is missing{reason}. {ways}.")


def secrets_declared(executor: Any) -> dict[str, Secret]:
    """Return the secrets that *executor* declares, by parameter name."""
    declared = getattr(executor, "secrets", None)
    if not isinstance(declared, Mapping):
        return {}
    return {name: one for name, one in declared.items() if isinstance(one, Secret)}


# --- where the values are ----------------------------------------------------------------


_given: ContextVar[Mapping[str, str]] = ContextVar("toolbench_secrets", default={})  # noqa: B039
_read: ContextVar[tuple[set[str], ...]] = ContextVar("toolbench_secrets_read", default=())


@contextmanager
def given(values: Mapping[str, str], read: set[str] | None = None) -> Iterator[None]:
    """Provide the values of secrets to the tools that are called in the `with` block.

    Args:
        values: The values, by the names of the secrets.
        read: A set that collects the values that the tools read. Values that are read by tools that
            these tools call are included.
    """
    token, earlier = _given.set({**_given.get(), **values}), _read.get()
    if read is not None:
        _read.set((*earlier, read))
    try:
        yield
    finally:
        _given.reset(token)
        _read.set(earlier)


def values_of(secrets: Mapping[str, Secret]) -> dict[str, str]:
    """Return a mapping from the name of each of *secrets* to its value, for `given`.

    Raises:
        SecretError: If a secret has no value.
    """
    return {one.name: one.value() for one in secrets.values()}


@dataclass(frozen=True)
class FoundSecret:
    """The value of a secret, and the place in which it was found."""

    value: str = field(repr=False)
    place: str
    """The place, as the end of a sentence: `from the keyring`."""


class SecretStore:
    """The places that are searched for secrets; any thread may use it.

    Values that the user entered are kept in memory only.
    """

    def __init__(self) -> None:
        """Make a store without any answers of the user."""
        self._asked: dict[str, str] = {}

    def find(self, name: str) -> FoundSecret | None:
        """Find the value of the secret *name*, and mask it in all later output.

        Return None if there is no value.
        """
        for place, value in (
            ("from the keyring", _in_keyring(name)),
            (f"from the environment variable {name}", os.environ.get(name)),
            ("as you gave it in this session", self._asked.get(name)),
        ):
            if value:
                remembered.add([value])
                return FoundSecret(value, place)
        return None

    def keep(self, name: str, value: str) -> None:
        """Keep *value*, which the user entered, for the session."""
        self._asked[name] = value

    def forget(self) -> None:
        """Forget all values that the user entered."""
        self._asked.clear()


secret_store = SecretStore()
"""The store of this process."""


def keyring_here() -> Any:
    """Return the module `keyring`, if it is installed and can store passwords; else None."""
    try:
        # Only here: it looks for backends in all installed packages
        keyring = import_module("keyring")
        can_store = keyring.get_keyring().priority > 0
    except Exception:  # noqa: BLE001 - not installed, or a backend that cannot be made here
        return None
    if can_store:
        return keyring
    return None


def store_in_keyring(name: str, value: str) -> None:
    """Store the secret *name* in the keyring; warn if the keyring does not take it."""
    try:
        import_module("keyring").set_password(SERVICE, name, value)
    except Exception as error:  # noqa: BLE001 - each backend has errors of its own
        _warn_of_keyring(f"did not store {name}", error, [value])


def _in_keyring(name: str) -> str | None:
    keyring = keyring_here()
    if keyring is None:
        return None
    try:
        value: str | None = keyring.get_password(SERVICE, name)
    except Exception as error:  # noqa: BLE001 - as above
        _warn_of_keyring(f"was not read for {name}", error, [])
        return None
    return value


def _warn_of_keyring(what: str, error: Exception, values: list[str]) -> None:
    masked = remembered.redactor.joined(Redactor(values, shortest=1)).text(str(error))
    text = " ".join(masked.split()) or type(error).__name__
    warn(f"The keyring {what}: {text}", RuntimeWarning, stacklevel=3)
