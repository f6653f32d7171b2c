"""A secret that is spread over several texts is found when the last piece comes."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from toolbench.redaction import MARK
from toolbench.redaction.redactor import Redactor
from toolbench.redaction.spread import Succession

SECRET = "hunter2-tHe_sEcret"


def hidden_in(texts):
    succession, values = Succession(), []
    for text in texts:
        values.append(text)
        for piece in succession.add(Redactor([SECRET]), text):
            values[-1 - piece.back] = piece.hidden_in(values[-1 - piece.back])
    return values


@given(
    st.lists(st.integers(1, len(SECRET) - 1), min_size=1, max_size=4, unique=True),
    st.text("ab ", max_size=30),
    st.text("ab ", max_size=30),
)
def test_wherever_it_is_cut(cuts, before, behind):
    """All of it is hidden, and all else stays."""
    places = [0, *sorted(cuts), len(SECRET)]
    parts = [SECRET[i:j] for i, j in pairwise(places)]
    parts[0], parts[-1] = before + parts[0], parts[-1] + behind
    texts = hidden_in(["first", *parts, "last"])
    assert (texts[0], texts[-1]) == ("first", "last")
    assert texts[1] == before + MARK
    assert texts[-2] == MARK + behind
    assert set(texts[2:-2]) <= {MARK}


def test_not_where_something_stands_between():
    """Pieces that are not next to each other are none."""
    texts = [f"{SECRET[:9]}.", SECRET[9:], SECRET[:9], "x", SECRET[9:]]
    assert hidden_in(texts) == texts
