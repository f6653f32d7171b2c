import pickle
import subprocess
import sys

import pytest

from toolbench import Observation, errors
from toolbench.errors import (
    ArgumentsError,
    MissingExtraError,
    Problem,
    ToolbenchError,
    ToolFailedError,
    ToolStoppedError,
    ended,
)

_EXAMPLES = {
    ArgumentsError: ArgumentsError(
        "add", [Problem(("a", 0), "is required"), Problem((), "is odd")]
    ),
    MissingExtraError: MissingExtraError("pandas"),
    ToolFailedError: ToolFailedError("add", Observation.from_text("no"), "In[1], line 2, in add"),
    ToolStoppedError: ToolStoppedError("add", Observation.from_text("no")),
}
_TREE = [
    kind
    for kind in vars(errors).values()
    if isinstance(kind, type) and issubclass(kind, ToolbenchError)
]


@pytest.mark.parametrize("kind", _TREE)
def test_travels_between_processes(kind):
    """Every error says the same, and knows the same, after it was pickled."""
    error = _EXAMPLES.get(kind) or kind("what happened")
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is kind
    assert str(again) == str(error)
    assert vars(again) == vars(error)


def test_travels_with_dask():
    """Dask's tblib pickles errors in another way; it does so in the whole process."""
    code = (
        "import pickle\n"
        "from tblib import pickling_support\n"
        "from toolbench.errors import ModelConnectionError\n"
        "pickling_support.install()\n"
        "print(pickle.loads(pickle.dumps(ModelConnectionError('what happened'))))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stdout == "what happened\n", done.stderr


@pytest.mark.parametrize(
    ("kind", "caught"),
    [
        (errors.ArgumentsError, ValueError),
        (errors.BodyError, ValueError),
        (errors.KindError, ValueError),
        (errors.KindError, LookupError),
        (errors.RegistrationError, ValueError),
        (errors.SchemaError, ValueError),
        (errors.ServerError, ConnectionError),
        (errors.ToolNotFoundError, KeyError),
        (errors.MissingExtraError, ImportError),
    ],
)
def test_is_what_people_catch(kind, caught):
    """Code that knows only Python's errors, or the reference SDK's, catches ours; the text stays."""
    error = _EXAMPLES.get(kind) or kind("what happened")
    with pytest.raises(caught) as raised:
        raise error
    assert kind in _EXAMPLES or str(raised.value) == "what happened"


@pytest.mark.parametrize("text", ["So it is.", "Is it?", "It is!", "And so on…"])
def test_a_sentence_ends_once(text):
    """A full stop is added where nothing else ends it."""
    assert ended(text) == text
    assert ended("So it is") == "So it is."


@pytest.mark.parametrize(
    ("path", "place"),
    [
        ((), ""),
        (("a", "b.c"), "a.b.c"),
        (("orders", 2, "buyer", "name"), "orders, item 3, buyer.name"),
        ((0, 1), "item 1, item 2"),
    ],
)
def test_a_form_counts_items_from_one(path, place):
    """A person counts so; code and models keep the positions of Python and JSON."""
    assert Problem(path, "is required").place == place
