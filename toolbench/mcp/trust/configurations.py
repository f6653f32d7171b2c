"""Ask before the servers of a configuration file are connected, once for each content of an entry.

A file may come from somebody else: a cloned project brings its `.mcp.json`. So each entry of a file is
shown and approved before anything starts or leaves the machine. An entry is approved by its content:
programs, arguments, folders, addresses, the names of variables, and changes of tools. The approvals
are in the user's state directory, one file for each content, so that two processes lose none.
"""

import json
import logging
import os
import re
import shlex
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from hashlib import sha256
from itertools import islice
from pathlib import Path
from threading import current_thread, main_thread
from typing import Any

from platformdirs import user_state_path

from toolbench.errors import ConsentError
from toolbench.files import write_whole
from toolbench.mcp.config.placeholders import names_in, with_known, with_references
from toolbench.mcp.config.reader import load
from toolbench.mcp.config.server_entry import ServerEntry, UnapprovedEntry, located, places
from toolbench.redaction.detect import secrets_in, secrets_in_words
from toolbench.redaction.names import is_secret_argument
from toolbench.redaction.redactor import Redactor
from toolbench.runs.consent_question import one_line
from toolbench.runs.input_prompt import ask_in_cell, can_ask_in_cell
from toolbench.runs.kernel import has_kernel
from toolbench.runs.questions import YES_OR_NO, ConsentLabels, Question

# Servers in one question: nobody reads more
_MOST = 20
# Characters of a line that are shown at its beginning and at its end
_HEAD, _TAIL = 1_500, 500
# Characters of a line: a page would break it anywhere
_WIDEST = 100
_PLAIN_NAME = re.compile(r"[\w.-]{1,100}")
# A secret with other characters could be code that a mark would hide
_CREDENTIAL = re.compile(r"[\w.~+/=:@%!#*,-]+")
# The scheme is not a secret
_SCHEME = re.compile(r"^(bearer|basic|token)( +|$)", re.IGNORECASE)
_PATH_OR_ADDRESS = re.compile("[/:]")
_log = logging.getLogger(__name__)


def approved(entries: Mapping[str, ServerEntry], *, approve: bool) -> dict[str, ServerEntry]:
    """Return *entries* to connect: each is a person's own words, or has an approved content.

    The person is asked about entries of a file that were never approved here. What is returned is what
    was read and shown, not what the file holds by now.

    Args:
        entries: The entries of one configuration, by the names of the servers.
        approve: Whether the caller approves whatever they hold.

    Raises:
        ConsentError: If the person does not approve the entries, or no person can be asked.
    """
    contents = {
        name: _Content(_settled(entry))
        for name, entry in entries.items()
        if isinstance(entry, UnapprovedEntry)
    }
    if approve:
        wanted = contents
    else:
        wanted = {n: content for n, content in contents.items() if not _is_kept(content)}
        if wanted:
            _ask(wanted)
    for name, content in wanted.items():
        _keep(name, content)
    return {**entries, **{name: each.entry.approved() for name, each in contents.items()}}


def _settled(entry: UnapprovedEntry) -> UnapprovedEntry:
    """Return *entry* with the address to which its OpenAPI document in a file leads now."""
    settings = entry.server
    if not isinstance(settings, Mapping) or settings.get("base_url"):
        return entry
    document: Any = settings.get("openapi")
    if isinstance(document, str):
        if _is_url(document):
            return entry
        document = load(Path(located(document, entry.base)))
    try:
        url = str(document["servers"][0]["url"])
    except (LookupError, TypeError):
        return entry
    if _is_url(url):
        return replace(entry, server={**settings, "base_url": url})
    return entry


def _is_url(text: str) -> bool:
    return text.startswith(("http://", "https://"))


# --- what is approved -----------------------------------------------------------------


@dataclass
class _Content:
    """What of one entry a person approves, with a mark in the place of each secret."""

    entry: UnapprovedEntry
    parts: dict[str, Any] = field(default_factory=dict)
    """JSON: the parts by name. Its words are as in the file: they are hashed, never kept."""
    words: list[str] = field(default_factory=list)
    """The program and its arguments, as they are shown."""
    unclear: str = ""
    """The name of a secret that could be code, so that it can be neither shown nor hidden."""

    def __post_init__(self) -> None:
        """Read the parts of the entry."""
        entry = self.entry
        settings: Mapping[str, Any] = {}
        if isinstance(entry.server, Mapping):
            settings = entry.server
        references = [entry.command, entry.args, entry.env, entry.cwd, entry.url, entry.headers]
        names = set(names_in([*references, entry.auth, settings]))
        if entry.transport == "stdio":
            names -= set(places(entry.base))
            parts = self._parts_of_program()
        elif settings:
            parts = self._parts_of_document(settings)
        elif entry.transport == "memory":
            parts = self._parts_of_code()
        else:
            auth = entry.auth
            if auth != "oauth":
                auth = _hidden("auth", auth)
            headers = _hidden("", entry.headers)
            parts = {"address": _hidden("", entry.url), "headers": headers, "auth": auth}
        # Of FastMCP's transforms, which earlier versions applied: the hash of an approval has `changes`
        common: dict[str, Any] = {
            "transport": entry.transport,
            "variables": sorted(names),
            "changes": {},
        }
        self.parts = {**parts, **common}

    def _parts_of_program(self) -> dict[str, Any]:
        entry, known = self.entry, places(self.entry.base)
        folder = with_known(entry.cwd or str(Path.cwd()), known)
        words = with_known([entry.command, *entry.args], known)
        parts: dict[str, Any] = {"folder": located(folder, entry.base), "words": words}
        self.words = self._shown_words(words, folder)
        shown = {}
        for name, text in with_known(entry.env, known).items():
            shown[name] = self._setting(name, text, _secrets(name, text))
        if entry.env_file is not None:
            parts["environment file"] = entry.env_file.path
            # What looks like a reference is a part of the value there
            for name, text in entry.env_file.variables.items():
                if name not in shown:
                    found = _without_schemes(secrets_in(text, name))
                    shown[name] = self._setting(name, text, found)
        parts["environment"] = dict(sorted(shown.items()))
        return parts

    def _parts_of_document(self, settings: Mapping[str, Any]) -> dict[str, Any]:
        document, place = settings.get("openapi"), ""
        if not isinstance(document, Mapping):
            place = str(document)
        if place and not _is_url(place):
            place = located(place, self.entry.base)
        return {
            "document": place,
            "address": _hidden("", str(settings.get("base_url") or "")),
            "headers": _hidden("", settings.get("headers") or {}),
        }

    def _parts_of_code(self) -> dict[str, Any]:
        code, folder = str(self.entry.server), Path.cwd()
        if code.partition(":")[0].endswith(".py"):
            folder = self.entry.base
        return {"code": code, "folder": str(folder)}

    @property
    def digest(self) -> str:
        """The hash of the content."""
        return sha256(json.dumps(self.parts, sort_keys=True).encode()).hexdigest()

    @property
    def lines(self) -> list[str]:
        """What a person reads about the content, a line for each part; no text of the file ends a line."""
        return [one_line(line) for line in self._lines()]

    def _lines(self) -> Iterator[str]:
        parts = self.parts
        # Those that are set: others, of any number, must not push them out of the line
        variables = ", ".join(sorted(parts["variables"], key=lambda name: name not in os.environ))
        if parts["transport"] == "stdio":
            yield f"starts {shlex.join(self.words)}"
            yield f"in the folder {parts['folder']}"
            if file := parts.get("environment file"):
                yield f"with the variables of the file {file}"
            if settings := parts["environment"]:
                yield "with " + shlex.join(f"{name}={text}" for name, text in settings.items())
            if variables:
                yield f"passes on your variables {variables}"
            return
        if "code" in parts:
            yield f"runs the Python code {parts['code']} in this process"
            yield f"from the folder {parts['folder']}"
            return
        yield from self._lines_of_address(variables)

    def _lines_of_address(self, variables: str) -> Iterator[str]:
        parts = self.parts
        if "document" in parts:
            yield f"reads the OpenAPI document {parts['document'] or 'in the file'}"
        address = _ascii(parts["address"] or "the address that the document names")
        yield f"connects to {address}"
        if headers := parts["headers"]:
            yield "sends " + ", ".join(f"{name}: {text}" for name, text in headers.items())
        auth = parts.get("auth")
        if isinstance(auth, dict):
            yield f"signs in by {json.dumps(auth)}"
            if issuer := auth.get("issuer"):
                address = f"{address} or {_ascii(str(issuer))}"
        elif auth:
            yield f"signs in by {auth}"
        if variables:
            yield f"SENDS YOUR VARIABLES {variables} to {address}"

    def _shown_words(self, words: list[str], folder: str) -> list[str]:
        here = self.entry.base / with_references(
            folder, lambda reference: os.environ.get(reference.name) or reference.default or ""
        )
        # The program is no secret
        shown = words[:1]
        secrets = secrets_in_words(map(_without_references, words))
        for word, (_, found) in islice(zip(words, secrets, strict=True), 1, None):
            # `python token=server.py` starts that file
            if _is_there(here / word):
                shown.append(word)
            else:
                credentials = _without_schemes(found)
                shown.append(self._hidden_in_command("an argument", word, credentials))
        return shown

    def _setting(self, name: str, text: str, found: list[str]) -> str:
        """Return *text*, the value of a variable that the program gets, with marks for the secrets *found*."""
        # `DBUS_SESSION_BUS_ADDRESS` names a program, though `session` is the name of a secret
        if not is_secret_argument(name) and not _is_url(text) and any(map(_is_place, found)):
            self.unclear = name
        return self._hidden_in_command(name, text, found)

    def _hidden_in_command(self, name: str, text: str, secrets: list[str]) -> str:
        """Return *text* with a mark for each of *secrets* that is only a credential."""
        there = [secret for secret in secrets if secret and secret in text]
        credentials = [secret for secret in there if _CREDENTIAL.fullmatch(secret)]
        if len(credentials) < len(there):
            self.unclear = name
        return Redactor(credentials, shortest=1).text(text)


def _hidden(name: str, value: Any) -> Any:
    """Return *value*, a part of what is sent to an address, as JSON with marks for secrets."""
    if isinstance(value, Mapping):
        return {str(key): _hidden(str(key), item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_hidden(name, item) for item in value]
    if isinstance(value, str):
        return Redactor(_secrets(name, value), shortest=1).text(value)
    if isinstance(value, bool | int | float | None):
        return value
    return str(value)


def _secrets(name: str, text: str) -> list[str]:
    """Return the secrets that stand in *text* itself; a reference to a variable is none."""
    return _without_schemes(secrets_in(_without_references(text), name))


def _without_schemes(secrets: Iterable[str]) -> list[str]:
    bare = (_SCHEME.sub("", secret).strip() for secret in secrets)
    return [secret for secret in bare if secret]


def _without_references(text: str) -> str:
    return with_references(text, lambda reference: reference.default or "")


def _is_there(path: Path) -> bool:
    try:
        return path.exists()
    except (OSError, ValueError):
        # Too long, or with characters that no path has
        return False


def _is_place(secret: str) -> bool:
    """Tell whether *secret* may be a path or an address, as in `DBUS_SESSION_BUS_ADDRESS`."""
    return _PATH_OR_ADDRESS.search(secret) is not None


def _ascii(address: str) -> str:
    """Return *address* with other letters than ASCII by number: they can look like those of a known host."""
    return "".join(c if c.isascii() else f"⟨U+{ord(c):04X}⟩" for c in address)


def _cut(line: str) -> str:
    rest = len(line) - _HEAD - _TAIL
    if rest <= 0:
        return line
    return f"{line[:_HEAD]} ⟨… {rest:,} characters between …⟩ {line[-_TAIL:]}"


# --- the question ---------------------------------------------------------------------


def _ask(contents: Mapping[str, _Content]) -> None:
    """Ask the person to approve *contents*.

    Raises:
        ConsentError: If the person does not approve them, or no person can be asked.
    """
    file = str(next(iter(contents.values())).entry.file)
    head = f"The configuration {one_line(repr(file))}"
    how = (
        "To approve what it holds, add --approve to %mcp connect, or write "
        f"create_mcp_tools({file!r}, approve=True)."
    )
    if len(contents) > _MOST:
        msg = (
            f"{head} has {len(contents):,} servers that were never approved here, too many to read "
            f"in one question. Nothing was connected. Choose at most {_MOST} by name: "
            f"--only NAME,NAME, or only=[...] in Python. {how}"
        )
        raise ConsentError(msg)
    for name, content in contents.items():
        if content.unclear:
            msg = (
                f"{head} was not connected: the server {one_line(repr(name))} has a secret in "
                f"{one_line(content.unclear)} that could be code or a path, so it can be neither "
                "shown nor hidden. Put the secret into a variable of the environment and write "
                f"${{NAME}} in this file, not in an envFile, or read it yourself. {how}"
            )
            raise ConsentError(msg)
    shown = "".join(_text_of(_lines_of(n, c), _cut) for n, c in contents.items())
    whole = "".join(_text_of(_lines_of(n, c), str) for n, c in contents.items())
    question = Question(
        f"{head} has servers that were never approved here:\n{shown}A yes counts for this content.",
        YES_OR_NO,
        consent=ConsentLabels(act="Connect these servers", refusal="Connect none"),
        whole=whole if whole != shown else "",
    )
    require_yes(
        question,
        refused=f"{head} was not connected: you did not approve it.",
        unasked=(
            f"{head} was not connected: it has servers that were never approved here, and no person "
            f"can be asked.\n{shown}{how}"
        ),
    )


def require_yes(question: Question, *, refused: str, unasked: str) -> None:
    """Ask the user *question*, and return if the answer is yes.

    Raises:
        ConsentError: *refused* if the user says no, *unasked* if no person can be asked or answers.
    """
    if is_somebody_there():
        answer = question.meaning_of(ask_in_cell(question))
        if answer:
            return
        if answer.by_somebody:
            raise ConsentError(refused)
    raise ConsentError(unasked)


def is_somebody_there() -> bool:
    """Tell whether a person may answer: a pipe or a file in the place of a terminal is none."""
    if current_thread() is not main_thread():
        return False
    if has_kernel():
        return can_ask_in_cell()
    return sys.stdin is not None and not sys.stdin.closed and sys.stdin.isatty()


def _text_of(lines: list[str], cut: Callable[[str], str]) -> str:
    """Return *lines* below the first of them; none goes on in a line that looks like one of ours."""
    text = f"{cut(lines[0])}\n"
    for line in map(cut, lines[1:]):
        text += f"    {line[:_WIDEST]}\n"
        for start in range(_WIDEST, len(line), _WIDEST):
            text += f"    | {line[start : start + _WIDEST]}\n"
    return text


def _lines_of(name: str, content: _Content) -> list[str]:
    before = _kept_before(name, content)
    if _PLAIN_NAME.fullmatch(name):
        title = name
    else:
        title = one_line(repr(name))
    lines = [f"{title}:", *content.lines]
    if before is not None:
        lines.append("It has changed since you approved it. Then it had in place of this:")
        lines += [line for line in before if line not in content.lines]
    return lines


# --- the approvals --------------------------------------------------------------------


def _folder() -> Path:
    return user_state_path("toolbench") / "approved-configurations"


def _file(content: _Content) -> Path:
    return _folder() / f"{content.digest}.json"


def _is_kept(content: _Content) -> bool:
    kept = _read(_file(content))
    return kept is not None and kept.get("content") == content.digest


def _keep(name: str, content: _Content) -> None:
    # A secret that could not be hidden is not written down
    if content.unclear:
        lines = []
    else:
        lines = content.lines
    kept = {
        "content": content.digest,
        "file": str(content.entry.file),
        "server": name,
        "lines": lines,
    }
    try:
        _folder().mkdir(parents=True, exist_ok=True, mode=0o700)
        write_whole(_file(content), json.dumps(kept, indent=1))
    except OSError as error:
        _log.warning("The approval of %s was not kept: %s.", name, error.strerror)


def _kept_before(name: str, content: _Content) -> list[str] | None:
    """Return the lines of the newest approval of the server *name* in the same file; None if there is none."""
    kept = [
        (path.stat().st_mtime, kept.get("lines"))
        for path in _folder().glob("*.json")
        if (kept := _read(path)) is not None
        and (kept.get("file"), kept.get("server")) == (str(content.entry.file), name)
    ]
    newest = max(kept, key=lambda each: each[0], default=(0, None))[1]
    is_whole = isinstance(newest, list) and all(isinstance(line, str) for line in newest)
    if is_whole:
        return [one_line(line) for line in newest or ()]
    return None


def _read(path: Path) -> dict[str, Any] | None:
    try:
        kept = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return None
    if isinstance(kept, dict):
        return kept
    return None
