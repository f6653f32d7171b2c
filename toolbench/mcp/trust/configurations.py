"""Ask before the servers of a configuration file are connected, and again if an entry changes.

A file may come from a stranger, as the `.mcp.json` of a cloned project does. Each entry of a file
is therefore shown to the user, who must approve it before anything is started or sent. The user
approves the content of the entry: programs, arguments, folders, addresses and the names of
variables. `approvals` stores the approval.
"""

import json
import os
import re
import shlex
from collections.abc import Iterable, Iterator, Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

from toolbench.errors import ConsentError
from toolbench.mcp.config.placeholders import names_in, with_known, with_references
from toolbench.mcp.config.server_entry import ServerEntry, UnapprovedEntry, located, places
from toolbench.mcp.trust.approvals import ApprovedContents
from toolbench.redaction.detect import secrets_in, secrets_in_words
from toolbench.redaction.names import is_secret_argument
from toolbench.redaction.redactor import Redactor
from toolbench.runs.consent_question import one_line
from toolbench.runs.input_prompt import require_yes
from toolbench.runs.questions import YES_OR_NO, ConsentLabels, Question

# The most servers in one question: nobody would read more
_MOST = 20
# Characters of a line that are shown at its beginning and at its end
_HEAD, _TAIL = 1_500, 500
# The most characters of a line, because a page would break longer lines anywhere
_WIDEST = 100
_PLAIN_NAME = re.compile(r"[\w.-]{1,100}")
# A secret with other characters could be code, which must not be hidden
_CREDENTIAL = re.compile(r"[\w.~+/=:@%!#*,-]+")
# The scheme is not a secret
_SCHEME = re.compile(r"^(bearer|basic|token)( +|$)", re.IGNORECASE)
# As in `DBUS_SESSION_BUS_ADDRESS`
_PATH_OR_ADDRESS = re.compile("[/:]")
_NO_ASCII = re.compile(r"[^\x00-\x7f]")


def approved(entries: Mapping[str, ServerEntry], *, approve: bool) -> dict[str, ServerEntry]:
    """Ask the user to approve those *entries* that come from files, and return all entries.

    The user is not asked about an entry that was approved before. A returned entry is exactly the
    one that the user saw, even if the file has changed since it was read.

    Args:
        entries: The entries of one configuration, by the name of the server.
        approve: Whether to approve all entries without asking.

    Raises:
        ConsentError: If the user does not approve the entries, or cannot be asked.
    """
    ready = dict(entries)
    wanted: dict[str, _Content] = {}
    for name, entry in entries.items():
        if isinstance(entry, UnapprovedEntry):
            content = _Content(entry)
            ready[name] = entry.approved()
            if approve or not ApprovedContents().has(content.digest):
                wanted[name] = content
    if wanted and not approve:
        _ask(wanted)
    for name, content in wanted.items():
        lines = content.lines
        # A secret that could not be hidden must not be written to disk
        if content.unclear:
            lines = []
        file = str(content.entry.file)
        ApprovedContents().keep(content.digest, file=file, server=name, lines=lines)
    return ready


def _is_url(text: str) -> bool:
    return text.startswith(("http://", "https://"))


# --- what is approved -----------------------------------------------------------------


class _Part(NamedTuple):
    """A part of the content that the user approves, with credentials hidden."""

    name: str
    value: Any
    """The value that is hashed; it contains the words of a command as in the file."""
    line: str
    """The line that the user reads about this part; may be empty."""


class _Content:
    """The content of one entry that the user approves."""

    def __init__(self, entry: UnapprovedEntry) -> None:
        """Read the parts of *entry*."""
        self.entry = entry
        self.lines: list[str] = []
        """The lines that the user reads, one for each part; none contains a line break."""
        self.unclear = ""
        """The name of a secret that may be code, and so can be neither shown nor hidden."""
        references = [entry.command, entry.args, entry.env, entry.cwd, entry.url, entry.headers]
        names = set(names_in([*references, entry.auth, entry.settings]))
        if entry.transport == "stdio":
            names -= set(places(entry.base))
        # Variables that are set come first: any number of others must not push them out of the line
        variables = ", ".join(sorted(names, key=lambda name: (name not in os.environ, name)))
        # Earlier versions applied FastMCP's transforms: the hash of an approval has `changes`
        content: dict[str, Any] = {
            "transport": entry.transport,
            "variables": sorted(names),
            "changes": {},
        }
        for part in self._parts(variables):
            content[part.name] = part.value
            if part.line:
                self.lines.append(one_line(part.line))
        words = json.dumps(content, sort_keys=True, default=str)
        self.digest = sha256(words.encode()).hexdigest()
        """The hash of the content."""

    def _parts(self, variables: str) -> Iterator[_Part]:
        entry = self.entry
        if entry.transport == "stdio":
            return self._of_program(variables)
        if isinstance(entry.server, Mapping):
            return self._of_document(entry.server, variables)
        if entry.transport == "memory":
            return self._of_code()
        return self._of_address(entry.url, entry.headers, entry.auth, variables)

    def _of_program(self, variables: str) -> Iterator[_Part]:
        entry, known = self.entry, places(self.entry.base)
        folder = with_known(entry.cwd or str(Path.cwd()), known)
        words = with_known([entry.command, *entry.args], known)
        yield _Part("words", words, f"starts {shlex.join(self._shown_words(words, folder))}")
        place = located(folder, entry.base)
        yield _Part("folder", place, f"in the folder {place}")
        shown = {}
        for name, text in with_known(entry.env, known).items():
            shown[name] = self._setting(name, text, _secrets(name, text))
        if entry.env_file is not None:
            path = entry.env_file.path
            yield _Part("environment file", path, f"with the variables of the file {path}")
            # In this file, what looks like a reference is part of the value
            for name, text in entry.env_file.variables.items():
                if name not in shown:
                    found = _without_schemes(secrets_in(text, name))
                    shown[name] = self._setting(name, text, found)
        line = ""
        if shown:
            line = "with " + shlex.join(map("=".join, sorted(shown.items())))
        yield _Part("environment", shown, line)
        if variables:
            self.lines.append(one_line(f"passes on your variables {variables}"))

    def _of_code(self) -> Iterator[_Part]:
        code, folder = str(self.entry.server), Path.cwd()
        if code.partition(":")[0].endswith(".py"):
            folder = self.entry.base
        yield _Part("code", code, f"runs the Python code {code} in this process")
        yield _Part("folder", folder, f"from the folder {folder}")

    def _of_document(self, settings: Mapping[str, Any], variables: str) -> Iterator[_Part]:
        place, line = "in the file", "offers the OpenAPI document that was read with this file"
        if isinstance(settings.get("openapi"), str):
            place = _hidden("", settings["openapi"])
            line = f"reads the OpenAPI document {_ascii(place)}"
        yield _Part("document", place, line)
        address, headers = settings.get("base_url"), settings.get("headers")
        yield from self._of_address(address or "", headers or {}, None, variables, place)

    def _of_address(
        self, url: str, headers: Mapping[str, str], auth: Any, variables: str, document: str = ""
    ) -> Iterator[_Part]:
        url = _hidden("", str(url))
        address = _ascii(url or "the address that the document names")
        yield _Part("address", url, f"connects to {address}")
        headers, line = _hidden("", headers), ""
        if headers:
            line = "sends " + ", ".join(map(": ".join, headers.items()))
        yield _Part("headers", headers, line)
        line = ""
        if auth == "oauth":
            line = "signs in by oauth"
        elif isinstance(auth, Mapping):
            auth = _hidden("auth", auth)
            line = f"signs in by {json.dumps(auth, default=str)}"
            if issuer := auth.get("issuer"):
                address = f"{address} or {_ascii(str(issuer))}"
        elif auth:
            auth = _hidden("auth", auth)
            line = f"signs in by {auth}"
        yield _Part("auth", auth, line)
        if names_in(document):
            address = f"{address} or {_ascii(document)}"
        if variables:
            self.lines.append(one_line(f"SENDS YOUR VARIABLES {variables} to {address}"))

    def _shown_words(self, words: list[str], folder: str) -> list[str]:
        here = self.entry.base / with_references(
            folder, lambda reference: os.environ.get(reference.name) or reference.default or ""
        )
        # The program is not a secret
        shown = words[:1]
        secrets = list(secrets_in_words(map(_without_references, words)))
        for word, (_, found) in zip(words[1:], secrets[1:], strict=True):
            # `python token=server.py` starts that file
            if not os.path.exists(here / word):  # noqa: PTH110 - Path raises for a long word
                word = self._hidden_in_command("an argument", word, _without_schemes(found))
            shown.append(word)
        return shown

    def _setting(self, name: str, text: str, found: list[str]) -> str:
        """Return *text*, the value of a program's variable, with the secrets *found* hidden."""
        # `DBUS_SESSION_BUS_ADDRESS` names a program, though `session` is the name of a secret
        is_place = any(map(_PATH_OR_ADDRESS.search, found))
        if is_place and not is_secret_argument(name) and not _is_url(text):
            self.unclear = name
        return self._hidden_in_command(name, text, found)

    def _hidden_in_command(self, name: str, text: str, found: list[str]) -> str:
        """Return *text* with those secrets in *found* hidden that are only credentials."""
        credentials = []
        for secret in found:
            if _CREDENTIAL.fullmatch(secret):
                credentials.append(secret)
            elif secret in text:
                self.unclear = name
        return Redactor(credentials, shortest=1).text(text)


def _hidden(name: str, value: Any) -> Any:
    """Return *value*, which is sent to an address, with secrets hidden."""
    if isinstance(value, Mapping):
        return {str(key): _hidden(str(key), item) for key, item in value.items()}
    if isinstance(value, list):
        return [_hidden(name, item) for item in value]
    if isinstance(value, str):
        return Redactor(_secrets(name, value), shortest=1).text(value)
    return value


def _secrets(name: str, text: str) -> list[str]:
    """Return the secrets in *text*, not counting references to variables."""
    return _without_schemes(secrets_in(_without_references(text), name))


def _without_schemes(secrets: Iterable[str]) -> list[str]:
    bare = []
    for secret in secrets:
        if word := _SCHEME.sub("", secret).strip():
            bare.append(word)
    return bare


def _without_references(text: str) -> str:
    return with_references(text, lambda reference: reference.default or "")


def _ascii(address: str) -> str:
    """Return *address* with non-ASCII characters as numbers, as they can imitate known hosts."""
    return _NO_ASCII.sub(lambda match: f"⟨U+{ord(match[0]):04X}⟩", address)


# --- the question ---------------------------------------------------------------------


def _ask(contents: Mapping[str, _Content]) -> None:
    """Ask the user to approve *contents*.

    Raises:
        ConsentError: If the user does not approve them, or cannot be asked.
    """
    file = str(next(iter(contents.values())).entry.file)
    head = f"The configuration {one_line(repr(file))}"
    how = (
        "To approve what it holds, add --approve to the line, or write "
        f"create_mcp_tools({file!r}, approve=True)."
    )
    if len(contents) > _MOST:
        msg = (
            f"{head} has {len(contents):,} servers that were never approved here, too many to read "
            f"in one question. Nothing was connected. Choose at most {_MOST} by name: "
            f"--only NAME,NAME, or only=[...] in Python. {how}"
        )
        raise ConsentError(msg)
    shown = whole = ""
    for name, content in contents.items():
        if content.unclear:
            msg = (
                f"{head} was not connected: the server {one_line(repr(name))} has a secret in "
                f"{one_line(content.unclear)} that could be code or a path, so it can be neither "
                "shown nor hidden. Put the secret into a variable of the environment and write "
                f"${{NAME}} in this file, not in an envFile, or read it yourself. {how}"
            )
            raise ConsentError(msg)
        lines = _lines_of(name, content)
        shown += _below_first(map(_cut, lines))
        whole += _below_first(lines)
    if shown == whole:
        whole = ""
    question = Question(
        f"{head} has servers that were never approved here:\n{shown}Your approval holds for this content only.",
        YES_OR_NO,
        consent=ConsentLabels(act="Connect these servers", refusal="Connect none"),
        whole=whole,
    )
    require_yes(
        question,
        refused=f"{head} was not connected: you declined.",
        unasked=(
            f"{head} was not connected: it has servers that were never approved here, and nobody "
            f"can be asked.\n{shown}{how}"
        ),
    )


def connection_question(name: str, entry: ServerEntry, source: str) -> Question:
    """Return a question that asks the user whether to connect the server *name*.

    The question shows the program that would be run, and the data that would be sent.

    Args:
        name: The name of the server.
        entry: The entry of the server. Secrets in it are hidden only if their names show that they
            are secrets. The caller must have hidden all other secrets.
        source: A line for the user about the server and its origin.

    Raises:
        ConsentError: If the entry has a secret that can be neither shown nor hidden.
    """
    content = _Content(UnapprovedEntry.of(Path(), entry))
    if content.unclear:
        msg = (
            f"Nothing was connected: {one_line(repr(name))} has a secret in "
            f"{one_line(content.unclear)} that could be code or a path, so it can be neither shown "
            "nor hidden. Write an entry of your own for it in mcp.json."
        )
        raise ConsentError(msg)
    lines = [f"{name}: {source}", *content.lines]
    shown, whole = _below_first(map(_cut, lines)), _below_first(lines)
    if shown == whole:
        whole = ""
    labels = ConsentLabels(act="Connect", refusal="Don't connect")
    return Question(shown.rstrip(), YES_OR_NO, consent=labels, whole=whole)


def _lines_of(name: str, content: _Content) -> list[str]:
    title = name
    if not _PLAIN_NAME.fullmatch(name):
        title = one_line(repr(name))
    lines = [f"{title}:", *content.lines]
    before = ApprovedContents().lines_before(file=str(content.entry.file), server=name)
    if before:
        lines.append("It has changed since you approved it. Then it had in place of this:")
        lines += [one_line(line) for line in before if line not in content.lines]
    return lines


def _cut(line: str) -> str:
    rest = len(line) - _HEAD - _TAIL
    if rest <= 0:
        return line
    return f"{line[:_HEAD]} ⟨… {rest:,} characters between …⟩ {line[-_TAIL:]}"


def _below_first(lines: Iterable[str]) -> str:
    """Join *lines*, all but the first indented; break long lines, and mark continuations."""
    first, *others = lines
    text = f"{first}\n"
    for line in others:
        text += f"    {line[:_WIDEST]}\n"
        for start in range(_WIDEST, len(line), _WIDEST):
            text += f"    | {line[start : start + _WIDEST]}\n"
    return text
