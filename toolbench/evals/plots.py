"""Plot the results of a sweep with matplotlib, if it is installed."""

from collections.abc import Sequence
from statistics import fmean
from typing import TYPE_CHECKING, Any

from toolbench.errors import CaseError, MissingExtraError, did_you_mean
from toolbench.evals.sweep_call import OWN_COLUMNS

if TYPE_CHECKING:
    from toolbench.evals.sweep_report import SweepReport


def heatmap(report: "SweepReport", value: str | None, x: str, y: str) -> Any:
    """Return a figure of *value* over the arguments *x* and *y*; see `SweepReport.heatmap`."""
    axes = [*report.axes]
    y = y or next((name for name in axes if name != x), "")
    x = x or next((name for name in axes if name != y), "")
    x, y = _columns(report, x, y)
    name = value or _first_result(report)
    cells = _means(report, name, (x, y))
    columns, rows = _distinct(report, x), _distinct(report, y)
    figure, plot = _figure()
    grid = [[cells.get((c, r), float("nan")) for c in columns] for r in rows]
    image = plot.imshow(grid, origin="lower", aspect="auto")
    plot.set_xticks(range(len(columns)), [str(c) for c in columns])
    plot.set_yticks(range(len(rows)), [str(r) for r in rows])
    plot.set_xlabel(x)
    plot.set_ylabel(y)
    figure.colorbar(image, label=name)
    return figure


def lines(report: "SweepReport", value: str | None, x: str, by: str) -> Any:
    """Return a figure of *value* over *x*, with a line for each value of *by*; see `SweepReport.plot`."""
    axes = [*report.axes]
    x = x or next((name for name in axes if name != by), "")
    by = by or next((name for name in axes if name != x), "")
    x, *rest = _columns(report, x, *([by] if by else []))
    by = rest[0] if rest else ""
    name = value or _first_result(report)
    means = _means(report, name, (x, by) if by else (x,))
    figure, plot = _figure()
    for line in _distinct(report, by) if by else [None]:
        points = [
            (at, mean)
            for at in _distinct(report, x)
            if (mean := means.get((at, line) if by else (at,))) is not None
        ]
        label = f"{by}={line}" if by else name
        plot.plot([p[0] for p in points], [p[1] for p in points], "o-", label=label)
    plot.set_xlabel(x)
    plot.set_ylabel(name)
    if by:
        plot.legend()
    return figure


def _figure() -> tuple[Any, Any]:
    try:
        from matplotlib.figure import Figure  # noqa: PLC0415 - optional
    except ImportError as error:
        raise MissingExtraError(extra="plots") from error
    # pyplot would show it twice
    figure = Figure(layout="constrained")
    return figure, figure.subplots()


def _columns(report: "SweepReport", *names: str) -> list[str]:
    """Return the name of the column for each of *names*, the names of arguments or of columns."""
    columns = [report.argument_columns.get(name, name) for name in names]
    _check(report, *columns)
    return columns


def _check(report: "SweepReport", *names: str) -> None:
    for name in names:
        if name not in report.columns:
            known = [column for column in report.columns if column not in OWN_COLUMNS]
            msg = (
                f"There is no column {name!r} to plot over; there is {', '.join(known)}."
                f"{did_you_mean(name, known)}"
            )
            raise CaseError(msg)


def _first_result(report: "SweepReport") -> str:
    """Return the name of the first result column that has a number."""
    arguments = set(report.argument_columns.values())
    for name, values in report.columns.items():
        is_result = name not in arguments and name not in OWN_COLUMNS
        if is_result and any(_is_number(value) for value in values):
            return name
    msg = "No field of the results is a number: there is nothing to plot."
    raise CaseError(msg)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float)


def _means(report: "SweepReport", name: str, keys: Sequence[str]) -> dict[tuple[Any, ...], float]:
    _check(report, name)
    columns = [map(_hashable, report.columns[key]) for key in keys]
    groups: dict[tuple[Any, ...], list[float]] = {}
    for value, *key in zip(report.columns[name], *columns, strict=True):
        if _is_number(value):
            groups.setdefault(tuple(key), []).append(value)
    if not groups:
        msg = f"The column {name!r} holds no numbers: there is nothing to plot."
        raise CaseError(msg)
    return {key: fmean(values) for key, values in groups.items()}


def _distinct(report: "SweepReport", name: str) -> list[Any]:
    return list(dict.fromkeys(map(_hashable, report.columns[name])))


def _hashable(value: Any) -> Any:
    return str(value) if isinstance(value, list | dict) else value
