"""The columns of a sweep: each argument and each field of a result has its own."""

from toolbench import tool
from toolbench.evals import sweep


@tool(read_only=True)
def wait(seconds: float, state: str, error: float, repeat: int) -> dict:
    """Return other values under the names of the arguments, and of their columns."""
    return {"seconds": 2 * seconds, "repeat": -repeat, "argument.error": "mine"}


GRID = {"seconds": [8.0, 9.0], "state": ["new"], "error": [0.5, 1.5], "repeat": [7]}


def test_an_argument_called_like_an_own_column_keeps_its_values():
    """The column of the call has the name, the argument's stands beside it."""
    report = sweep(wait, GRID)
    first = report.to_dataframe().iloc[0].to_dict()
    assert first.pop("seconds") < 8
    assert first == {
        "argument.seconds": 8.0,
        "argument.state": "new",
        "argument.error": 0.5,
        "argument.repeat": 7,
        "result.seconds": 16.0,
        "result.repeat": -7,
        "result.argument.error": "mine",
        "state": "ok",
        "error": None,
    }
    assert "argument.seconds" in report.to_html()


def test_repeats_have_a_column_beside_an_argument_of_that_name():
    """Both are there."""
    columns = sweep(wait, GRID, repeats=2).columns
    assert columns["repeat"] == [1, 2] * 4
    assert columns["argument.repeat"] == [7] * 8


def test_a_plot_takes_the_names_of_such_arguments():
    """The axes of the grid are found, and a name of an argument is the argument's column."""
    report = sweep(wait, GRID)
    axes = report.heatmap("result.seconds").axes[0]
    assert (axes.get_xlabel(), axes.get_ylabel()) == (
        "argument.error",
        "argument.seconds",
    )
    lines = report.plot("result.seconds", x="seconds", by="error").axes[0].lines
    assert [[*line.get_xdata()] for line in lines] == [[8.0, 9.0]] * 2
