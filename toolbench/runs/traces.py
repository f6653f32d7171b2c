"""What an executor raised: a sentence for the model, a traceback for the person."""

import traceback
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from types import TracebackType

from toolbench.errors import ToolbenchError

_OURS = str(Path(__file__).parents[1])
_NAMED = 3  # errors of a group in its sentence


def sentence_of(error: BaseException) -> str:
    """Return *error* as one sentence a model can act on; a group names what is in it."""
    said = _sentence(error)
    if not isinstance(error, BaseExceptionGroup):
        return said
    inner = [_sentence(one) for one in islice(_leaves(error), _NAMED + 1)]
    named, more = inner[:_NAMED], ["..."] if len(inner) > _NAMED else []
    return f"{said}: {'; '.join([*named, *more])}"


def _leaves(error: BaseException) -> Iterator[BaseException]:
    if isinstance(error, BaseExceptionGroup):
        for one in error.exceptions:
            yield from _leaves(one)
    else:
        yield error


def _sentence(error: BaseException) -> str:
    try:
        said = str(error).strip()
    except Exception:  # noqa: BLE001 - an error of a tool's own may not even be able to say it
        said = ""
    if isinstance(error, ToolbenchError) and said:
        return said  # our own sentences need no class in front
    return f"{type(error).__name__}: {said}" if said else f"{type(error).__name__}."


def traceback_of(error: BaseException) -> str:
    """Return the traceback from the tool's own code on; what called it is of no use."""
    theirs = error.__traceback__
    while theirs is not None and _is_ours(theirs):
        theirs = theirs.tb_next
    shown = theirs or error.__traceback__
    return "".join(traceback.format_exception(type(error), error, shown))


def _is_ours(trace: TracebackType) -> bool:
    return trace.tb_frame.f_code.co_filename.startswith(_OURS)
