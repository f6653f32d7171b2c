"""`%tools sweep NAME x=1..5 y=[a,b]`."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolbench import tool
from toolbench.magics.tools_magics import grid_from_words


@tool(read_only=True)
def order(count: int, dish: str, price: float = 1.0) -> str:
    """Order."""
    return f"{count} {dish} {price}"


def grid(*words):
    return grid_from_words(words, order.input_node)


@pytest.mark.parametrize(
    ("word", "values"),
    [
        ("count=1..4", [1, 2, 3, 4]),
        ("count=4..1", [4, 3, 2, 1]),
        ("count=0..10..5", [0, 5, 10]),
        ("price=0..1..0.25", [0, 0.25, 0.5, 0.75, 1]),
        ("price=0.1..0.3..0.1", [0.1, 0.2, 0.3]),
        ("dish=[soup,bread]", ["soup", "bread"]),
        ('dish=["soup","a, b"]', ["soup", "a, b"]),
        ("dish=[1,2]", ["1", "2"]),
        ("dish=soup", ["soup"]),
        ("count=3", [3]),
        ("count=[1,3]", [1, 3]),
    ],
)
def test_values(word, values):
    """A range has both ends, a list its items, and a text stays one where text is taken."""
    [(_, items)] = grid(word).items()
    assert items == values
    assert [type(v) for v in items] == [
        float if word.startswith("price") else type(v) for v in values
    ]


@given(st.integers(-50, 50), st.integers(-50, 50))
def test_a_range_of_whole_numbers(first, last):
    """It counts from one end to the other, up or down."""
    step = 1 if last >= first else -1
    assert grid(f"count={first}..{last}")["count"] == [*range(first, last + step, step)]


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("count=1..5..0", "never ends"),
        ("count=1..5..-1", "never ends"),
        ("count", "key=value"),
    ],
)
def test_a_line_that_is_none(line, words):
    """One sentence says what is wrong."""
    from IPython.core.error import UsageError

    with pytest.raises(UsageError, match=words):
        grid(line)


def test_several_mistakes():
    """All are said at once."""
    from IPython.core.error import UsageError

    with pytest.raises(UsageError) as error:
        grid("count", "price=1..5..0", "dish=a", "dish=b")
    assert str(error.value).splitlines() == [
        "3 things in the line are wrong:",
        "- Expected key=value, not 'count'. Put text with blanks in quotes.",
        "- price=1..5..0 never ends, or has too many values.",
        "- 'dish' is given twice.",
    ]


@pytest.mark.parametrize(
    ("word", "values"),
    [
        ('names=["a", "b"]', [["a", "b"]]),
        ('names=[["a"], ["b"]]', [["a"], ["b"]]),
        ("names=[]", [[]]),
        ("rows=[[1], [2]]", [[[1], [2]]]),
        ("rows=[[[1]], [[2]]]", [[[1]], [[2]]]),
    ],
)
def test_values_that_are_lists(word, values):
    """A list is one value where the tool takes a list, as without a sweep; a list of such lists is several."""

    @tool
    def pack(names: list[str] | None = None, rows: list[list[int]] | None = None) -> str:
        """Pack."""
        return f"{names} {rows}"

    assert [*grid_from_words([word], pack.input_node).values()] == [values]


class TestMagic:
    """The line in a real shell."""

    def test_a_sweep_is_the_value_of_the_cell(self, shell):
        """Every combination is called; `-o` keeps the report."""
        report = shell.run_line_magic("tools", "sweep add a=1..3 b=[10,20]")
        assert [row.fields["result"] for row in report] == [11, 21, 12, 22, 13, 23]
        assert shell.run_line_magic("tools", "sweep add a=1..3 -o kept") is None
        assert len(shell.user_ns["kept"]) == 3

    def test_yes_asks_no_question(self, shell):
        """A destructive tool needs a yes, which may stand on the line."""
        from toolbench.errors import ConsentError

        with pytest.raises(ConsentError, match="2 calls of erase"):
            shell.run_line_magic("tools", "sweep erase path=[a,b]")
        assert len(shell.run_line_magic("tools", "sweep erase path=[a,b] --yes")) == 2

    @pytest.mark.parametrize("line", ["sweep add", "sweep add a=1..3 --bg", 'sweep add {"a": 1}'])
    def test_options_that_say_nothing(self, shell, line):
        """What would be ignored is an error."""
        from IPython.core.error import UsageError

        with pytest.raises(UsageError, match=r"%tools sweep|Expected key=value"):
            shell.run_line_magic("tools", line)
