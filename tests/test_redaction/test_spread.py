"""A secret that is spread over several texts is found when the last piece comes."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from toolbench.redaction import MARK
from toolbench.redaction.redactor import Redactor
from toolbench.redaction.spread import Succession

SECRET = "hunter2-tHe_sEcret"


def shown(texts):
    succession, kept = Succession(), []
    for text in texts:
        kept.append(text)
        for piece in succession.add(Redactor([SECRET]), text):
            kept[-1 - piece.back] = piece.hidden_in(kept[-1 - piece.back])
    return kept


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
    kept = shown(["first", *parts, "last"])
    assert (kept[0], kept[-1]) == ("first", "last")
    assert kept[1] == before + MARK
    assert kept[-2] == MARK + behind
    assert set(kept[2:-2]) <= {MARK}


def test_not_where_something_stands_between():
    """Pieces that are not next to each other are none."""
    texts = [f"{SECRET[:9]}.", SECRET[9:], SECRET[:9], "x", SECRET[9:]]
    assert shown(texts) == texts
