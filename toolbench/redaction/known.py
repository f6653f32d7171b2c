"""The secrets that this process knows, and must not show.

`Secrets` are those that the user declared for a conversation. `KnownSecrets` are those that one run
hides in its arguments, its record and its output. `remembered` collects the secrets of all runs and
servers of this process.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from threading import Lock
from typing import Any

from pydantic import SecretBytes, SecretStr

from toolbench.errors import indefinite
from toolbench.redaction.detect import Secrecy
from toolbench.redaction.redactor import NO_SECRETS, SHORTEST, WORD, Redactor
from toolbench.values import is_json, parts

# --- of a conversation ------------------------------------------------------------

SecretValue = str | bytes | int | float | SecretStr | SecretBytes

# Characters
_SHORTEST_KEY = 8


class Secrets(Mapping[str, SecretStr]):
    """A mapping of secrets by name. A repr does not show the values: use `get_secret_value`."""

    def __init__(self, values: Mapping[str, SecretValue] | None = None) -> None:
        """Make the mapping from *values*; strings, bytes and numbers become `SecretStr`.

        Raises:
            TypeError: If a value has another type.
        """
        self._values = {name: _wrapped(name, value) for name, value in (values or {}).items()}
        plain = (value.get_secret_value() for value in self._values.values())
        # a declared secret is hidden even if it is short
        self.redactor = Redactor(plain, shortest=1)
        """The redactor of the values."""

    def also_hide(self, others: Any) -> None:
        """Also hide the values of *others*, which tools cannot read.

        *others* are the secrets of a model, or None. Very short values are not hidden, because
        users often enter any plain word as the key of a model server that needs no key.
        """
        if isinstance(others, Secrets):
            values = (value.get_secret_value() for value in others.values())
            keys = Redactor(values, shortest=_SHORTEST_KEY)
            self.redactor = self.redactor.joined(keys)

    def __getitem__(self, name: str) -> SecretStr:
        return self._values[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def __repr__(self) -> str:
        return f"Secrets({', '.join(sorted(self._values))})"


def _wrapped(name: str, value: Any) -> SecretStr:
    if isinstance(value, SecretStr | SecretBytes):
        value = value.get_secret_value()
    match value:
        case str():
            return SecretStr(value)
        case bytes():
            return SecretStr(value.decode(errors="surrogateescape"))
        case int() | float() if not isinstance(value, bool):
            # A PIN
            return SecretStr(str(value))
    msg = f"Secret {name!r} is text, not {indefinite(type(value).__name__)}."
    raise TypeError(msg)


# --- of all runs and servers so far -----------------------------------------------

LIMIT = 500
"""At least this many of the newest secrets are remembered."""
# Characters
ROOM = 500_000


class RememberedSecrets:
    """The newest secrets of all runs and servers; any thread may use this list.

    Short secrets are remembered only until the cell ends, because they occur in too many other
    strings. During the cell, they are hidden in tracebacks and in the output of processes, because
    it is unknown to which run such a text belongs.
    """

    def __init__(self) -> None:
        """Make an empty list."""
        self._lock = Lock()
        self.forget()

    def forget(self) -> None:
        """Forget all secrets."""
        self._newest: list[str] = []
        self.redactor = NO_SECRETS
        """The redactor of all remembered secrets except the short ones."""
        self.redactor_of_cell = NO_SECRETS
        """The redactor of all remembered secrets, including the short ones of this cell."""

    def add(self, secrets: Iterable[str]) -> None:
        """Add *secrets*. If there are too many secrets, the oldest ones are dropped."""
        with self._lock:
            known = self.redactor_of_cell.secrets
            new = [s for s in secrets if s not in known and SHORTEST <= len(s) <= ROOM]
            if not new:
                return
            long = [s for s in new if len(s) >= WORD]
            has_short = len(long) < len(new) or self.redactor_of_cell is not self.redactor
            self._newest += long
            if len(self._newest) > 2 * LIMIT or sum(map(len, self._newest)) > 2 * ROOM:
                # Seldom, because all is built anew
                self._drop_oldest()
            else:
                self.redactor = self.redactor.including(long)
            if has_short:
                self.redactor_of_cell = self.redactor_of_cell.including(new)
            else:
                self.redactor_of_cell = self.redactor

    def _drop_oldest(self) -> None:
        del self._newest[:-LIMIT]
        while sum(map(len, self._newest)) > ROOM:
            del self._newest[0]
        self.redactor = Redactor(self._newest)

    def end_cell(self) -> None:
        """Forget the short secrets."""
        with self._lock:
            self.redactor_of_cell = self.redactor


remembered = RememberedSecrets()
"""The remembered secrets of this process."""


# Large arguments
_CONTAINERS = (dict, list)

# --- of one run -------------------------------------------------------------------


class KnownSecrets:
    """The secrets of one run, which views, logs and files must not show."""

    def __init__(
        self,
        arguments: Mapping[str, Any],
        secrecy: Secrecy,
        secrets: Secrets | None = None,
    ) -> None:
        """Find the secrets of a run.

        Args:
            arguments: The arguments of the run, which are searched for secrets.
            secrecy: The rules that decide which arguments are secrets.
            secrets: The secrets of the conversation, if the run belongs to one.
        """
        self._secrecy = secrecy
        # The code of a run may ask for secrets in several threads
        self._lock = Lock()
        self._begin: Callable[[], None] | None = None
        self._arguments = dict(arguments)
        self.own = NO_SECRETS if secrets is None else secrets.redactor
        """The redactor of the run's own secrets, which other runs may inherit."""
        if not secrecy.is_harmless(arguments):
            self._arguments, known = secrecy.hide(arguments)
            self.own = self.own.including(known)
        if secrecy.defaults:
            self.own = self.own.including(secrecy.defaults)
        if self.own.secrets:
            remembered.add(self.own.secrets)
        self._joined = NO_SECRETS, NO_SECRETS, NO_SECRETS

    @property
    def redactor(self) -> Redactor:
        """The redactor that hides all known secrets in views and records of the run.

        It also hides the secrets of earlier runs, because a tool or a server may repeat them.
        """
        own, earlier, joined = self._joined
        if own is not self.own or earlier is not remembered.redactor:
            own, earlier = self.own, remembered.redactor
            joined = earlier.joined(own)
            self._joined = own, earlier, joined
        return joined

    def learn(self, action: Any, secrecy: Secrecy | None = None) -> None:
        """Add the secrets of *action*, including defaults of arguments that were left out.

        Args:
            action: The action, or another object with secrets.
            secrecy: The rules that decide what is secret in *action*; by default, the rules for
                the arguments of this run.
        """
        if secrecy is None:
            secrecy = self._secrecy
        if not secrecy.is_harmless(action):
            self.include(Redactor(secrecy.secrets_in(self._unread(action))))

    def _unread(self, action: Any) -> Any:
        """Return the parts of *action* that must be searched for secrets.

        JSON is left out if it equals the argument that was sent, which was already searched.
        """
        inside = parts(action)
        if not isinstance(inside, dict):
            return action
        unread = {}
        for name, value in inside.items():
            sent = self._arguments.get(name)
            # Equal to what was sent, in which a secret would be a mark
            if type(value) in _CONTAINERS and is_json(value) and value == sent:
                continue
            unread[name] = value
        return unread

    def judge_by(self, secrecy: Secrecy, arguments: Mapping[str, Any]) -> None:
        """Search *arguments* again with the rules *secrecy*, because the schema has changed.

        Secrets that were found before stay hidden.
        """
        self._secrecy = secrecy
        self._arguments, known = secrecy.hide(arguments)
        self.include(Redactor([*known, *secrecy.defaults]))

    def include(self, redactor: Redactor) -> None:
        """Add the secrets of *redactor*, including short ones."""
        with self._lock:
            self.own = self.own.joined(redactor)
            if not self.own.secrets:
                return
            begin, self._begin = self._begin, None
        remembered.add(self.own.secrets)
        if begin is not None:
            begin()

    def on_first(self, begin: Callable[[], None]) -> None:
        """Call *begin* when the run has its first secret: now, if it already has one."""
        with self._lock:
            if not self.redactor:
                self._begin = begin
                return
        begin()

    def shown_name(self, name: Any) -> Any:
        """Return the argument name *name* as it may be shown: a secret inside the name is masked.

        A name that the tool declares is never masked, even if some password is the same word.
        """
        if self._secrecy.declares(name):
            return name
        return self.redactor.value(name)

    def argument(self, key: Any) -> Any:
        """Return the argument *key* of the run, with `<secret-hidden>` in place of each secret."""
        return self.redactor.value(self._arguments[key])

    @property
    def arguments(self) -> dict[str, Any]:
        """The arguments of the run, with `<secret-hidden>` for each secret in names and values."""
        redactor = self.redactor
        if not redactor:
            return self._arguments
        masked = dict[str, Any]()
        for name, value in self._arguments.items():
            masked[self.shown_name(name)] = redactor.value(value)
        return masked
