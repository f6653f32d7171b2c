"""Send printed and displayed output to the sink of the calling code, with secrets masked.

The functions below wrap the original functions of streams and displays; the module `redirect`
installs them.
"""

import threading
from collections.abc import Callable
from functools import cache
from threading import RLock, Timer
from types import MethodType
from typing import Any
from weakref import WeakSet

from toolbench.redaction.known import remembered
from toolbench.runs.current_run import active_run, run_of_code
from toolbench.runs.output import (
    Redirection,
    RunOutput,
    redirection_here,
    redirection_of_code,
    sink_here,
)
from toolbench.runs.run import Run

# --- through a file descriptor ----------------------------------------------------
#
# A process that a tool starts writes to the descriptor that it inherits, and so does C code. A
# thread of ipykernel reads this output and writes it to the stream. Which run wrote it is unknown.

# Seconds without new output after which text that was held back is shown
PAUSE = 1.0


class DescriptorOutput:
    """The output of a stream's file descriptor, with the secrets of all runs masked.

    It is unknown which run wrote the output. Therefore, the secrets of every run in the cell are
    masked. Text that may be the beginning of a secret is held back. It is shown when more text
    comes, when the cell ends, or after a pause.
    """

    def __init__(self, write: Callable[[str], int]) -> None:
        """Create an output that passes each text, with its secrets masked, to *write*."""
        self._write = write
        self._stream = remembered.redactor_of_cell.stream()
        self._timer: Timer | None = None
        # Reentrant, because an object that is deleted while the lock is held may print too
        self._lock = RLock()
        _outputs.add(self)

    def write(self, text: str) -> None:
        """Add *text*, which was read from the descriptor."""
        with self._lock:
            self._stream.redactor = remembered.redactor_of_cell
            safe_text = self._stream.feed(text)
            if safe_text:
                self._write(safe_text)
            if self._timer is not None:
                self._timer.cancel()
                self._timer = None
            if self._stream.held:
                self._timer = Timer(PAUSE, self.flush)
                self._timer.daemon = True
                self._timer.start()

    def flush(self) -> None:
        """Show the text that is held back."""
        with self._lock:
            if rest := self._stream.flush():
                self._write(rest)


def flush_descriptors() -> None:
    """Show all text that is held back, and forget the short secrets of the cell that ends.

    Short secrets are not remembered longer, because they occur in too many other texts.
    """
    for output in list(_outputs):
        output.flush()
    remembered.end_cell()


_outputs: WeakSet[DescriptorOutput] = WeakSet()


# --- our functions in place of the original ones ----------------------------------

Wrap = Callable[[Any], Callable[..., Any]]


class Patches:
    """The attributes of modules, classes and objects that our functions replace temporarily.

    The original functions can be restored at any time, even while one of our functions runs.
    Attributes of `sys` are never replaced.
    """

    # C code of CPython uses `sys.stdout` without holding a reference. If that object were freed
    # during a `print`, the process would crash

    def __init__(self) -> None:
        """Create an empty list of patches."""
        # By the id of the owner, which is kept alive so that its id stays unique
        self._in_place: dict[tuple[int, str], tuple[Any, Any, Any, bool]] = {}

    def put(self, owner: Any, name: str, wrap: Wrap) -> None:
        """Replace the attribute *name* of *owner* with the result of `wrap(attribute)`.

        A second call changes nothing. If *owner* does not allow the change, nothing happens.
        """
        if (id(owner), name) in self._in_place:
            return
        real, is_own = getattr(owner, name), name in getattr(owner, "__dict__", ())
        patch = wrap(real)
        try:
            setattr(owner, name, patch)
        except (AttributeError, TypeError):
            return
        self._in_place[id(owner), name] = (owner, patch, real, is_own)

    def take_away(self, stays: Callable[[Any], bool] = lambda owner: False) -> None:
        """Restore the original functions, except where another package has replaced our function.

        Args:
            stays: A function that gets the owner of an attribute. If it returns True, our function
                stays in place for this owner.
        """
        patches = {}
        while self._in_place:
            key, entry = self._in_place.popitem()
            (_, name), (owner, patch, real, is_own) = key, entry
            if stays(owner):
                patches[key] = entry
                continue
            if getattr(owner, name, None) is not patch:
                # The other function calls ours, which calls the original
                continue
            if is_own:
                setattr(owner, name, real)
            else:
                delattr(owner, name)
        self._in_place.update(reversed(patches.items()))


def _runs_that_hide(redirection: Redirection | None) -> list[Run]:
    """Return the runs whose secrets must be masked before a sink gets the calling code's output.

    The innermost run comes first. The run that is the sink of *redirection*, and the runs around
    it, are left out, because they mask their secrets later.
    """
    run, runs = active_run(), list[Run]()
    # Checked first, because each print of a cell comes here
    if run is None:
        return runs
    of_sink, outer = None, None
    if redirection is not None:
        outer = redirection.run
        if isinstance(redirection.sink, RunOutput):
            of_sink = redirection.sink.run
    while isinstance(run, Run) and run is not outer and run is not of_sink:
        if run.secrets.redactor.secrets:
            runs.append(run)
        run = run.parent
    return runs


# --- printed --------------------------------------------------------------------------


def writing(write: Callable[[str], int], name: str) -> Callable[[str], int]:
    """Wrap *write* of the stream *name*, so that the text goes to the sink of the calling code."""

    def write_where_it_belongs(text: str) -> int:
        # The stream raises its own error
        if not isinstance(text, str):
            return write(text)
        size = len(text)
        # Only once, because one print needs it four times
        redirection = redirection_here()
        for run in _runs_that_hide(redirection):
            text = run.output.filtered(name, text)
        sink = None
        if redirection is not None:
            sink = redirection.sink
        if sink is not None:
            sink.write(name, text)
        elif text or not size:
            write(text)
        return size

    return write_where_it_belongs


class KernelWrite:
    """The function that replaces `write` in the class of a kernel's streams.

    IPython sets the `write` of the stream object for each cell, and resets it at the end of the
    cell. If our function were set on this object, IPython would remove it while a run continues.
    Therefore, our function replaces the `write` of the class. It is always called first, and then
    calls the `write` that IPython has set.
    """

    def __init__(self, real: Callable[[Any, str], int]) -> None:
        """Wrap *real*, the original `write` of the class."""
        self._real = real
        # The name of a stream's attribute with our function; a subclass of streams uses another one
        self._ours = f"_toolbench_write_{id(self)}"

    def __get__(self, stream: Any, kind: Any = None) -> Any:
        if stream is None:
            return self
        attributes = vars(stream)
        # Created once, because one print needs it four times
        ours = attributes.get(self._ours)
        if ours is None:
            ours = attributes[self._ours] = self._write_of(stream)
        return ours

    def __call__(self, stream: Any, text: Any) -> Any:
        """Write *text* to *stream*; a subclass calls this as a method of its base class."""
        return self.__get__(stream)(text)

    def __set__(self, stream: Any, write: Any) -> None:
        if write is vars(stream).get(self._ours):
            vars(stream).pop("write", None)
        else:
            vars(stream)["write"] = write

    def __delete__(self, stream: Any) -> None:
        vars(stream).pop("write", None)

    def _write_of(self, stream: Any) -> Callable[[Any], Any]:
        """Return a function that writes to the calling code's sink, or else to *stream*."""
        real, there = MethodType(self._real, stream), vars(stream)
        run_here, work_here = run_of_code.in_context.get, redirection_of_code.in_context.get
        thread_here = threading.get_ident

        def pass_on(text: Any) -> Any:
            write = there.get("write") or real
            return write(_SafeText(text) if isinstance(text, str) else text)

        write_where_it_belongs = writing(pass_on, stream.name)
        from_descriptor = DescriptorOutput(pass_on)

        def write_here(text: Any) -> Any:
            # IPython leaves out such frames
            __tracebackhide__ = True
            # The function that IPython set has called ours again
            if type(text) is _SafeText:
                return real(text)
            # A fast path for prints of the cell itself, as all cells print like this once a secret
            # is known
            if run_here() is None and thread_here() == _MAIN and work_here() is None:
                write = there.get("write")
                return real(text) if write is None else write(_SafeText(text))
            if threading.current_thread() is there.get("watch_fd_thread"):
                from_descriptor.write(text)
                return len(text)
            return write_where_it_belongs(text)

        return write_here


_MAIN = threading.main_thread().ident


class _SafeText(str):
    """A string in which secrets are already masked."""

    __slots__ = ()


# The interpreter caches attributes of a class
@cache
def writing_to_kernel(write: Callable[[Any, str], int]) -> KernelWrite:
    """Wrap *write*, a method of a class of kernel streams."""
    return KernelWrite(write)


def is_of_kernel(thing: Any) -> bool:
    """Tell whether *thing* is a kernel's stream or display publisher, or the class of one."""
    kind = thing if isinstance(thing, type) else type(thing)
    return kind.__module__.partition(".")[0] == "ipykernel"


def terminal(isatty: Callable[[], bool]) -> Callable[[], bool]:
    """Wrap *isatty* of a stream, so that it returns False for code whose output goes to a sink."""

    def is_terminal() -> bool:
        return sink_here() is None and isatty()

    return is_terminal


# --- displayed ------------------------------------------------------------------------


def publishing(publish: Callable[..., None]) -> Callable[..., None]:
    """Wrap *publish* of a display publisher: if there is a sink, it gets the mime bundle."""

    def publish_where_it_belongs(
        data: Any, metadata: Any = None, *args: Any, **options: Any
    ) -> None:
        sink = sink_here()
        for run in _runs_that_hide(redirection_here()):
            hide = run.secrets.redactor.value
            data, metadata, options = run.output.bundle(data), hide(metadata), hide(options)
        if sink is None:
            publish(data, metadata, *args, **options)
        else:
            sink.display(data, (options.get("transient") or {}).get("display_id"))

    return publish_where_it_belongs


def writing_result(write: Callable[..., None]) -> Callable[..., None]:
    """Wrap *write*, a display hook's `write_format_data`, which shows the result of a cell."""

    def write_result_without_secrets(data: Any, metadata: Any = None) -> None:
        for run in _runs_that_hide(redirection_here()):
            data, metadata = run.output.bundle(data), run.secrets.redactor.value(metadata)
        write(data, metadata)

    return write_result_without_secrets


def writing_payload(write: Callable[..., None]) -> Callable[..., None]:
    """Wrap *write*, a shell's `write_payload`, which for example sets the next cell's text."""

    def write_without_secrets(data: Any, *args: Any, **options: Any) -> None:
        for run in _runs_that_hide(redirection_here()):
            data = run.secrets.redactor.value(data)
        write(data, *args, **options)

    return write_without_secrets


def clearing(clear: Callable[..., None]) -> Callable[..., None]:
    """Wrap *clear*, a display publisher's `clear_output`: if there is a sink, it does nothing."""

    def clear_without_sink(*args: Any, **options: Any) -> None:
        if sink_here() is None:
            clear(*args, **options)

    return clear_without_sink
