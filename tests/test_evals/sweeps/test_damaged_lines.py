"""A damaged line of a sweep's file: it is named, and its call is made again."""

import pytest

from toolbench import tool
from toolbench.evals import sweep

calls = []


@tool(read_only=True)
def count(n: int) -> int:
    """Count the calls."""
    calls.append(n)
    return n


DAMAGES = [
    ('"seconds": ', '"seconds": "soon", "x": '),
    ('"fields": {', '"fields": 3, "x": {'),
    ('"state": "ok"', '"state": "ok", "images": 4'),
    ('"state": "ok"', '"state": "ok", "table": {"rows": 1}'),
]


@pytest.mark.parametrize(("old", "new"), DAMAGES)
def test_the_call_of_a_damaged_line_is_made_again(old, new, tmp_path):
    """The others are taken from the file, and the report says what happened."""
    path = tmp_path / "sweep.jsonl"
    sweep(count, {"n": range(3)}, save=path, workers=1)
    lines = path.read_text().splitlines()
    assert old in lines[1]
    path.write_text("\n".join([lines[0], lines[1].replace(old, new), lines[2]]) + "\n")
    calls.clear()
    with pytest.warns(UserWarning, match=r"line 2 \("):
        report = sweep(count, {"n": range(3)}, save=path)
    assert calls == [1]
    assert [row.fields for row in report] == [{"result": n} for n in range(3)]
    assert "line 2 (" in report.to_html()
