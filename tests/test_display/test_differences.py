"""What differs between two values: all of it, only that, and harmless as HTML."""

from hypothesis import given
from hypothesis import strategies as st

from toolbench.display.differences import NOTHING, differences, differences_html
from toolbench.evals.match import equal_json

LEAVES = st.none() | st.booleans() | st.integers(-2, 2) | st.sampled_from([0.5, 1.0, "", "a", "b"])
VALUES = st.recursive(
    LEAVES,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from("xyz"), inner),
)


@given(VALUES, VALUES)
def test_there_is_none_only_between_equal_values(before, after):
    """As JSON has it: 1 and 1.0 are equal, true and 1 are not."""
    assert (not list(differences(before, after))) == equal_json(before, after)


def test_an_item_that_is_put_in_front_is_one_difference():
    """The items after it are what they were."""
    rows = [{"id": n, "name": f"name {n}", "v": 1} for n in range(20)]
    changed = [{"id": 99}, *({**row, "v": 2} for row in rows[:-1])]
    assert list(differences({"rows": rows}, {"rows": changed})) == [
        (("rows", 0), NOTHING, {"id": 99}),
        *((("rows", n, "v"), 1, 2) for n in range(1, 20)),
        (("rows", 19), rows[19], NOTHING),
    ]
    assert list(differences([1, 2, 3], [0, 1, 2, 3])) == [((0,), NOTHING, 0)]


def test_the_html_marks_what_changed_and_runs_nothing():
    """A word of a sentence, a line of a text, a place far inside a long text; hostile text is escaped."""
    before = {"a": "one two <b>", "b": "x\ny\nz", "c": "-" * 3_000 + "old", "<i>": 1}
    after = {"a": "one 2 <b>", "b": "x\n2\nz", "c": "-" * 3_000 + "new", "d": "<script>"}
    html = differences_html(list(differences(before, after)))
    assert "<del>two</del>" in html and "<ins>2</ins>" in html
    assert "<del>old</del>" in html and len(html) < 5_000
    assert "new: <ins>&quot;&lt;script&gt;&quot;</ins>" in html
    assert "<script" not in html and "<i>" not in html and "<b>" not in html
