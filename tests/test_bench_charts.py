"""The charts of the site show what bench/RESULTS.md says, all of it, without another address."""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "scripts"))

import bench_charts  # noqa: E402 - a script, which is in no package

RESULTS = (ROOT / "bench" / "RESULTS.md").read_text("utf-8")
PAGE = bench_charts.page(RESULTS)


def test_every_comparison_has_a_bar_and_a_row():
    """No table of the results is left out, and each number can be read as text."""
    goals = re.findall(r"\| (met|bound[^|]*|\*\*missed\*\*[^|]*|) \|$", RESULTS, re.M)
    rows = [row for _, part in bench_charts.sections(RESULTS) for row in part]
    assert len(rows) == len(goals) > 100
    assert PAGE.count("<rect") == len(rows)
    assert all(f"| {row.ours} | {row.peer} | {row.ratio_text} |" in PAGE for row in rows)


def test_missed_goals_are_named_in_the_chart():
    """As many bars say that they missed their goal as the results count."""
    [missed] = re.findall(r"goals met, (\d+) missed", RESULTS)
    growth = RESULTS.partition("## How cost grows")[2].count("| **defect** |")
    assert PAGE.count(" missed</text>") == int(missed) - growth


def test_date_and_machine_stand_above():
    """A reader sees first when and where it was measured."""
    head = PAGE.partition("##")[0]
    assert re.search(r"^- Date: \d{4}-\d\d-\d\d; commit: [0-9a-f]+$", head, re.M)
    assert re.search(r"^- Processor: .+memory", head, re.M)


def test_nothing_is_loaded():
    """The pictures name no address but that of SVG itself."""
    addresses = set(re.findall(r"https?://[^\"' )]+", PAGE))
    assert addresses <= {"http://www.w3.org/2000/svg"}


def test_hostile_names_stay_text():
    """A name in the results is escaped in the chart."""
    row = "| <script>x</script> | 1 ms | y: 2 ms | 0.5 | ≤ 1 | met |"
    head = "| work | toolbench | peer or limit | ratio | goal | result |\n|---|--:|--:|--:|--:|---|"
    page = bench_charts.page(f"## A\n\n{head}\n{row}\n")
    chart = page.partition("<svg")[2].partition("</svg>")[0]
    assert "&lt;script&gt;x" in chart
    assert "<script" not in chart
