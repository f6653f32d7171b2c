import pickle

import pytest

from toolbench import Observation, errors
from toolbench.errors import (
    ArgumentsError,
    MissingExtraError,
    Problem,
    ToolbenchError,
    ToolFailedError,
    ended,
)

_MADE = {
    ArgumentsError: ArgumentsError(
        "add", [Problem(("a", 0), "is required"), Problem((), "is odd")]
    ),
    MissingExtraError: MissingExtraError("pandas"),
    ToolFailedError: ToolFailedError("add", Observation.from_text("no")),
}
_TREE = [
    kind
    for kind in vars(errors).values()
    if isinstance(kind, type) and issubclass(kind, ToolbenchError)
]


@pytest.mark.parametrize("kind", _TREE)
def test_travels_between_processes(kind):
    """Every error says the same, and knows the same, after it was pickled."""
    error = _MADE.get(kind) or kind("what happened")
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is kind
    assert str(again) == str(error)
    assert vars(again) == vars(error)


@pytest.mark.parametrize("text", ["So it is.", "Is it?", "It is!", "And so on…"])
def test_a_sentence_ends_once(text):
    """A full stop is added where nothing else ends it."""
    assert ended(text) == text
    assert ended("So it is") == "So it is."
