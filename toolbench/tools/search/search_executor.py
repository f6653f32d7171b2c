"""Search a directory with ripgrep or, if it is not installed, by walking the directory tree."""

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from shutil import which
from threading import Lock
from time import monotonic
from typing import Any, NamedTuple

from toolbench.core.executor import ActionT, ObservationT, ToolExecutor
from toolbench.tools.failure_sentence import RunError, readable, run_error
from toolbench.tools.files.paths import working_dir_of
from toolbench.tools.files.regular_file import read_regular
from toolbench.tools.search.globs import Glob
from toolbench.values import clip
from toolbench.wording import counted

MOST_FILES = 100
"""The most files that a search returns."""
MOST_SECONDS = 60.0
"""The time limit of one search, in seconds."""
_OPTIONS = (
    "--no-config",
    "--null",
    "--path-separator=/",
    "--glob=!.git",
    # Of the rules only those that a directory shows: its .gitignore files
    "--no-require-git",
    "--no-ignore-dot",
    "--no-ignore-exclude",
    "--no-ignore-global",
    "--no-ignore-messages",
)
# `auto` takes PCRE2 for what the default engine does not know, such as a look-around
_OF_LINES = ("--files-with-matches", "--ignore-case", "--crlf", "--engine=auto")
# The kernel makes up their files: some never end, and some change by being read
_OF_KERNEL = ("proc", "sys", "dev")
# Bytes of a file that the plain walk reads, and of those in which a NUL makes it a binary file
_MOST_BYTES = 100_000_000
_SNIFFED = 8 * 1024
# Names in the remark
_NAMED = 5
# Where a message of ripgrep ends
_NEXT = re.compile(r"\n(?=rg: )")


class Found(NamedTuple):
    """The result of a search."""

    files: list[str]
    """The paths, most recently changed first.

    If there are more than `MOST_FILES`, the list has `MOST_FILES` + 1 paths.
    """
    remarks: list[str]
    """Remarks for the model about files that were not searched, each in brackets."""


def find_ripgrep() -> str | None:
    """Return the path of ripgrep, next to this Python or on the PATH; None if there is none."""
    return which("rg", path=str(Path(sys.executable).parent)) or which("rg")


class SearchExecutor(ToolExecutor[ActionT, ObservationT]):
    """The base class of the executors of glob and grep; calls can run at the same time."""

    def __init__(self, conv_state: Any = None, *, working_dir: str | Path | None = None) -> None:
        """Make an executor; a call without a path searches *working_dir*.

        If *working_dir* is None, such a call searches the working directory of *conv_state*. If
        both are None, it searches the current directory.
        """
        self.working_dir = working_dir_of(conv_state, working_dir)
        self._running: set[subprocess.Popen[bytes]] = set()
        self._lock = Lock()
        # An interrupt stops all searches that began before it
        self._interrupts = 0

    def is_parallel_safe(self) -> bool:
        """Return True: any number of calls can run at the same time. Source: OpenHands SDK."""
        return True

    def interrupt(self) -> None:
        """Stop the running searches."""
        with self._lock:
            self._interrupts += 1
            for process in self._running:
                process.kill()

    def place(self, path: str | None) -> Path:
        """Return the absolute path of *path*, with all links resolved.

        If *path* is None, return the path of the working directory.

        Raises:
            RunError: If *path* does not exist.
        """
        # Path's methods raise for ~nobody, and for a path that is too long
        candidate = self.working_dir / os.path.expanduser(path or ".")  # noqa: PTH111
        if not os.path.exists(candidate):  # noqa: PTH110
            begin = readable(str(self.working_dir))
            name = path
            if path is None:
                name = begin
            msg = (
                f"{name!r} is not a valid directory: there is no such path. Give an absolute one; "
                f"without a path the search begins in {begin!r}."
            )
            raise RunError(msg)
        return resolved(candidate)

    def find(self, base: Path, glob: Glob, line: str | None = None) -> Found:
        """Return the files below the directory *base* that match *glob*.

        Args:
            base: The directory or the single file to search, even if it is hidden or ignored by
                Git. The path must not have links.
            glob: The pattern that the path of each file, relative to *base*, must match.
            line: A regular expression. Only files in which a line matches it are returned. None
                means that the content of the files does not matter.

        Raises:
            RunError: If *line* is not a regular expression, or the search takes too long or is
                interrupted.
        """
        begun = self._interrupts
        program = find_ripgrep()
        if program is None:
            return self._by_walking(begun, base, glob, line)
        if base.is_file():
            folder, target = base.parent, f"./{base.name}"
            words = [program, *_OPTIONS, *_wanted(Glob(""), line), target]
            files, errors = self._run(begun, folder, *words)
            return Found([str(base)] * len(files), _of_errors(errors))
        options = [program, *_OPTIONS, *_options_in(base, glob)]
        wanted = _wanted(glob, line)
        searched: list[str] = []
        most = None
        if line is None:
            # ripgrep sorts them: the rest need not be looked at
            most = MOST_FILES + 1
        # Again where all that it shows is ignored, but it was asked for
        for also in ((), ("--no-ignore-parent",)):
            options += also
            files, errors = self._run(begun, base, *options, *wanted, "./")
            files = list(islice(filter(glob.matches, files), most))
            if files:
                break
            searched, _ = self._run(begun, base, *options, "--files", "./")
            if any(map(Glob("").matches, searched)):
                break
        remarks = _of_errors(errors)
        if not files:
            everything, _ = self._run(begun, base, *options, "--files", "--no-ignore", "./")
            ignored = set(filter(glob.matches, everything)).difference(searched)
            remarks = _of_ignored(ignored) + remarks
        if line is None:
            return Found([os.path.join(base, file) for file in files], remarks)  # noqa: PTH118 - keeps every byte
        return Found(_newest(base, files), remarks)

    def _run(self, begun: int, base: Path, *words: str) -> tuple[list[str], list[str]]:
        """Run ripgrep as the command line *words* in *base*; return its paths and messages."""
        with self._lock:
            if self._interrupts != begun:
                raise _interrupted()
            try:
                process = subprocess.Popen(  # noqa: S603 - no shell; what a model writes is no option
                    words,
                    cwd=base,
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.PIPE,
                )
            except OSError as error:
                raise run_error(error, "start ripgrep") from None
            self._running.add(process)
        with process:
            try:
                output, errors = process.communicate(timeout=MOST_SECONDS)
            except subprocess.TimeoutExpired:
                raise _too_long() from None
            finally:
                # Also at an interrupt of this thread
                process.kill()
                with self._lock:
                    self._running.discard(process)
        if self._interrupts != begun:
            raise _interrupted()
        # A name in a message may have line ends
        messages = list(filter(None, _NEXT.split(errors.decode(errors="replace").strip())))
        others = [message for message in messages if not message.startswith("rg: ./")]
        if process.returncode not in (0, 1) and others:
            raise _refused(words, others[0].splitlines())
        return _paths_in(output), messages

    def _by_walking(self, begun: int, base: Path, glob: Glob, line: str | None) -> Found:
        """Do the same as `find` without ripgrep; .gitignore files are not read."""
        end = monotonic() + MOST_SECONDS
        try:
            regex = re.compile(line or "", re.IGNORECASE)
        except (re.error, OverflowError, RecursionError) as error:
            raise _invalid(line or "", str(error)) from None
        if base.is_file():
            return Found([str(base)] * _has_line(str(base), regex), [])
        files = []
        for path in _walk(base, glob):
            if self._interrupts != begun:
                raise _interrupted()
            if monotonic() > end:
                raise _too_long()
            if line is None or _has_line(os.path.join(base, path), regex):  # noqa: PTH118 - keeps every byte
                files.append(path)
        remark = (
            "[ripgrep is not installed, so no .gitignore was read: ignored files are searched too.]"
        )
        return Found(_newest(base, files), [remark])


def resolved(path: Path) -> Path:
    """Return *path* as an absolute path with all links resolved. The path need not exist.

    Raises:
        RunError: If *path* is too long, has an invalid character, or has links that lead to each
            other in a circle.
    """
    try:
        return path.resolve()
    except (OSError, RuntimeError, ValueError) as error:
        name = readable(clip(str(path)))
        msg = f"{name} cannot be searched ({readable(clip(str(error)))}). Check the path."
        raise RunError(msg) from None


def report(found: Found, none: str, more: str) -> str:
    """Return the text of *found* for a model: one path per line, then the remarks.

    Args:
        found: The result of the search.
        none: The sentence to return instead of paths if no file was found.
        more: The sentence to add after the first paths if too many files were found.
    """
    lines = [readable(file) for file in found.files[:MOST_FILES]] or [none]
    if len(found.files) > MOST_FILES:
        lines.append(more)
    return "\n".join([*lines, *found.remarks])


def _paths_in(output: bytes) -> list[str]:
    """Return the paths that ripgrep wrote, each with `./` before it and a NUL after it."""
    if not output:
        return []
    # Not path by path: there may be many thousands, of which few are shown
    return os.fsdecode(output).removeprefix("./").removesuffix("\0").split("\0./")


def _options_in(base: Path, glob: Glob) -> list[str]:
    options = []
    if glob.is_hidden:
        options.append("--hidden")
    if glob.depth is not None:
        options.append(f"--max-depth={glob.depth}")
    if base.parent == base:
        options += [f"--glob=!/{name}" for name in _OF_KERNEL]
    return options


def _wanted(glob: Glob, line: str | None) -> list[str]:
    """Return ripgrep's options to select files by *glob* and by the regular expression *line*."""
    words = []
    if glob.name is not None:
        # Unlike --glob, a type brings back no ignored file
        words += ["--type-add", f"wanted:{glob.name}", "--type=wanted"]
    if line is None:
        return [*words, "--files", "--sortr=modified"]
    return [*words, *_OF_LINES, "--regexp", line, "--"]


def _newest(base: Path, files: list[str]) -> list[str]:
    """Return the absolute paths of the newest *files*, newest first.

    At most `MOST_FILES` paths are shown. One more is returned if there are more.
    """
    times = []
    for file in files:
        path = os.path.join(base, file)  # noqa: PTH118 - keeps every byte
        try:
            times.append((-os.stat(path).st_mtime_ns, path))  # noqa: PTH116 - for each of many
        except OSError:
            # It was removed since it was found
            continue
    return [path for _, path in sorted(times)[: MOST_FILES + 1]]


def _walk(base: Path, glob: Glob) -> Iterator[str]:
    for directory, names, files in os.walk(base):
        inside = os.path.relpath(directory, base)
        kept = [name for name in names if name != ".git" and (glob.is_hidden or name[0] != ".")]
        if base.parent == base and inside == ".":
            kept = [name for name in kept if name not in _OF_KERNEL]
        names[:] = kept
        for name in files:
            path = os.path.normpath(os.path.join(inside, name))  # noqa: PTH118 - keeps every byte
            is_link = os.path.islink(os.path.join(directory, name))  # noqa: PTH114, PTH118
            if not is_link and glob.matches(path.replace(os.sep, "/")):
                yield path


def _has_line(path: str, regex: re.Pattern[str]) -> bool:
    try:
        data = read_regular(path, _MOST_BYTES)
    except OSError:
        return False
    if b"\0" in data[:_SNIFFED]:
        return False
    text = data.decode("utf-8-sig", "surrogateescape")
    return any(regex.search(line) for line in text.splitlines())


def _of_errors(errors: list[str]) -> list[str]:
    if not errors:
        return []
    first = readable(clip(errors[0].removeprefix("rg: ./")))
    return [f"[Could not be read: {counted(len(errors), 'path')}, such as {first}.]"]


def _of_ignored(ignored: set[str]) -> list[str]:
    if not ignored:
        return []
    names = ", ".join(map(readable, sorted(ignored)[:_NAMED]))
    return [
        f"[Not searched, because .gitignore excludes them: {counted(len(ignored), 'file')}, such "
        f"as {names}. To search an ignored folder, give it as path.]"
    ]


def _refused(words: tuple[str, ...], errors: list[str]) -> RunError:
    """Turn ripgrep's messages into an error; usually, the regular expression is not valid."""
    reasons = [line.removeprefix("error: ") for line in errors if line.startswith("error: ")]
    if reasons and reasons[0].endswith("not supported"):
        # PCRE2 has it, and says last what else is wrong
        reasons = [errors[-1].rpartition("PCRE2: ")[2]]
    if not reasons or "--regexp" not in words:
        return RunError(f"ripgrep failed: {clip(' '.join(errors))}.")
    return _invalid(words[words.index("--regexp") + 1], reasons[0])


def _invalid(pattern: str, reason: str) -> RunError:
    return RunError(
        f"{pattern!r} is not a valid regular expression: {reason}. Put a backslash before each of "
        "( ) [ ] { } * + ? to match it literally."
    )


def _interrupted() -> RunError:
    return RunError("The search was interrupted. Search a smaller directory, or again.")


def _too_long() -> RunError:
    return RunError(f"The search took more than {MOST_SECONDS:g} s. Search a smaller directory.")
