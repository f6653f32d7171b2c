"""Turn an executor's exception into a sentence for the model and a traceback for the user."""

import os
import sys
import traceback
from codecs import getincrementaldecoder
from collections.abc import Callable, Iterator
from contextlib import suppress
from itertools import islice, takewhile
from pathlib import Path
from types import FrameType
from typing import Any

from toolbench.display.caps import shorten
from toolbench.errors import ToolbenchError
from toolbench.runs.kernel import running_shell
from toolbench.values import sentence
from toolbench.wording import human_size

# With the separator, to exclude a neighbouring package such as `toolbench_of_mine`
_OURS = str(Path(__file__).parents[1]) + os.sep
# The modules through which the output of any code passes
_OUTPUT = tuple(str(Path(__file__).with_name(f"{name}.py")) for name in ("redirect", "screen"))
# The beginning of a message of CPython
_OTHER_THREAD = "SQLite objects created in a thread"
_OPEN_IT_THERE = (
    "Each run has its own thread: open the connection inside the tool, or with "
    "check_same_thread=False."
)
# Errors of a group that its sentence includes
_MAX_ERRORS = 3
# The exceptions that have a server's response, by their modules
_HTTP_ERRORS = {
    "httpx": "HTTPStatusError",
    "httpx2": "HTTPStatusError",
    "requests": "HTTPError",
}
# Characters of the response's body, and the bytes in which they are looked for
_BODY, _LOOKED_AT = 500, 8_000


def is_lack_of_memory(error: BaseException) -> bool:
    """Tell whether *error* means that memory ran out, even if Rust code raised it."""
    # pyo3's class of this name is not an Exception, and no module exports it
    return isinstance(error, MemoryError) or type(error).__name__ == "PanicException"


def sentence_of(error: BaseException, hide: Callable[[str], str] = str) -> str:
    """Return *error* as one sentence for the model.

    For an exception group, the sentence includes the errors in the group. If httpx or requests
    raised the error because of a response, the beginning of the response's body is added.

    Args:
        error: The error.
        hide: A function that returns a string with its secrets masked.
    """
    text = hide(_sentence(error))
    if not isinstance(error, BaseExceptionGroup):
        return text + _body_of(error, hide)
    inner = [
        hide(_sentence(one)) + _body_of(one, hide)
        for one in islice(_leaves(error), _MAX_ERRORS + 1)
    ]
    if len(inner) > _MAX_ERRORS:
        inner[_MAX_ERRORS] = "..."
    gap = ": "
    if "\n" in text:
        # After its notes
        gap = "\n"
    return f"{text}{gap}{'; '.join(inner)}"


def _body_of(error: BaseException, hide: Callable[[str], str]) -> str:
    """Return the beginning of the response's body as a line, for an error of httpx or requests.

    The line is empty if there is no body, or if the tool has not read the body, which may be a
    stream.
    """
    kinds = [getattr(sys.modules.get(module), name, None) for module, name in _HTTP_ERRORS.items()]
    if not isinstance(error, tuple(filter(None, kinds))):
        return ""
    response: Any = getattr(error, "response", None)
    # Both packages keep the body here once it is read; their public `content` would read the stream
    body = getattr(response, "_content", None)
    if not isinstance(body, bytes) or not body.strip():
        return ""
    text = "\0"
    # requests guesses latin-1, which fits all bytes
    for encoding in ("utf-8", response.encoding):
        with suppress(LookupError, TypeError, UnicodeDecodeError):
            text = getincrementaldecoder(encoding)().decode(body[:_LOOKED_AT])
            break
    if "\0" in text:
        kind = response.headers.get("content-type", "of an unknown type")
        return f"\nThe body of the response is not text: {kind}, {human_size(len(body))}."
    # Secrets are masked before the end is cut, because a part of a secret would not be recognized
    return f"\nThe body of the response: {shorten(hide(text).strip(), _BODY)}"


def _leaves(error: BaseException) -> Iterator[BaseException]:
    if isinstance(error, BaseExceptionGroup):
        for one in error.exceptions:
            yield from _leaves(one)
    else:
        yield error


def _sentence(error: BaseException) -> str:
    text = sentence(error).strip()
    if isinstance(error, ToolbenchError) and text:
        # Our own messages need no class name in front
        return text
    if not text and isinstance(error, MemoryError):
        text = "there is too little memory for this. Free some, and try again."
    if text.startswith(_OTHER_THREAD):
        text = f"{text} {_OPEN_IT_THERE}"
    if not text:
        return f"{type(error).__name__}."
    return f"{type(error).__name__}: {text}"


def without_traceback(error: KeyboardInterrupt, line: str) -> KeyboardInterrupt:
    """Return *error*, changed so that IPython shows only *line* instead of its traceback."""
    error._render_traceback_ = lambda: [line]  # type: ignore[attr-defined]
    return error


def line_of_interrupt(error: BaseException) -> str | None:
    """Return a line to show instead of the traceback of *error*; None if the traceback is useful.

    If *error* interrupted work inside toolbench, a traceback would not help. The line then names
    the line of the cell that was interrupted. In these cases, the traceback is useful:

    - *error* did not interrupt toolbench.
    - The user called a tool directly; toolbench hides its frames in such a call.
    - The user's code was interrupted while it printed.
    """
    if not isinstance(error, KeyboardInterrupt) or hasattr(error, "_render_traceback_"):
        return None
    frames = (frame for frame, _ in traceback.walk_tb(error.__traceback__))
    before_output = takewhile(lambda f: not _is_in(_OUTPUT, f), frames)
    if all("__tracebackhide__" in f.f_locals or not _is_in(_OURS, f) for f in before_output):
        return None
    place = place_of(error).removesuffix(", in <module>")
    if not place:
        return "KeyboardInterrupt: Stopped."
    return f"KeyboardInterrupt: Stopped at {place}."


def traceback_of(error: BaseException) -> str:
    """Return the traceback of *error*, without the outer frames that belong to toolbench."""
    theirs = error.__traceback__
    while theirs is not None and _is_in(_OURS, theirs.tb_frame):
        theirs = theirs.tb_next
    trace = theirs or error.__traceback__
    return "".join(traceback.format_exception(type(error), error, trace))


def place_of(error: BaseException) -> str:
    """Return the last line of a cell in the traceback of *error*: `In[12], line 7, in add_job`.

    If the traceback has no line of a cell, for example because a package defines the tool, the
    result is empty.
    """
    compiler = getattr(running_shell(), "compile", None)
    if compiler is None:
        return ""
    place = ""
    for frame, line in traceback.walk_tb(error.__traceback__):
        cell = compiler.format_code_name(frame.f_code.co_filename)
        if cell is not None:
            place = f"{cell[1]}, line {line}, in {frame.f_code.co_name}"
    return place


def _is_in(folder: str | tuple[str, ...], frame: FrameType) -> bool:
    return frame.f_code.co_filename.startswith(folder)
