import pytest

from toolbench.core.references import MISSING, follow

_ROOT = {
    "$defs": {
        "a/b": {"n": 1},
        "c~d": {"n": 2},
        "e f": {"n": 3},
        "none": None,
        "deep": [{"n": 4}, {"$anchor": "named", "n": 5}],
        "old": {"$id": "#oldest", "n": 6},
    }
}


@pytest.mark.parametrize(
    ("reference", "n"),
    [
        ("#/$defs/a~1b", 1),
        ("#/$defs/a%2Fb", 1),
        ("#/$defs/c~0d", 2),
        ("#/$defs/e%20f", 3),
        ("#/$defs/deep/0", 4),
        ("#named", 5),
        ("#oldest", 6),
    ],
)
def test_leads_to_a_part(reference, n):
    """A pointer is unescaped and goes through lists; a name is looked for everywhere."""
    assert follow(_ROOT, reference)["n"] == n


def test_leads_to_the_whole():
    """`#` is the root itself; what is None is there."""
    assert follow(_ROOT, "#") is _ROOT
    assert follow(_ROOT, "#/$defs/none") is None


@pytest.mark.parametrize(
    "reference",
    [
        "#/gone",
        "#/$defs/deep/2",
        "#/$defs/deep/x",
        "#unnamed",
        "#named/n",
        "other.json#/a",
        "",
        5,
    ],
)
def test_leads_nowhere(reference):
    """Neither a part that is not there nor another document is mistaken for the root."""
    assert follow(_ROOT, reference) is MISSING


def test_ends_where_a_schema_goes_in_circles():
    """A name is looked for once in each part."""
    root = {"$defs": {}}
    root["$defs"]["again"] = root
    assert follow(root, "#unnamed") is MISSING
