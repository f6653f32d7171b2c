"""What an executor raised: a sentence for the model, a traceback for the person."""

import traceback
from pathlib import Path
from types import TracebackType

from toolbench.errors import ToolbenchError

_OURS = str(Path(__file__).parents[1])


def sentence_of(error: BaseException) -> str:
    """Return *error* as one sentence a model can act on."""
    said = str(error).strip()
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
