"""The figures of the documents are those of bench/RESULTS.md."""

import sys

import pytest
from documents import ROOT

sys.path.insert(0, str(ROOT / "scripts"))

import figures

RESULTS = """\
- Date: 2026-11-26; commit: a9e845bf5b

**198 of 210 goals met, 12 missed.**

| work | toolbench | peer or limit | ratio | goal | result |
|---|--:|--:|--:|--:|---|
| call over HTTP (median of 200) | 2.56 ms wall | FastMCP's client: 2.03 ms wall | 1.26 | ≤ 1.05 | met |
"""


def test_a_place_gets_the_figure_that_it_names():
    """The unit stays; whose value it is, and which clock, do not."""
    known = figures.figures(RESULTS)
    assert known["Date"] == "2026-11-26"
    assert known["goals"] == "198 of 210"
    assert known["call over HTTP; peer"] == "2.03 ms"
    text = "It takes <!-- figure: call over HTTP; ratio -->9.9<!-- end --> times as long."
    assert figures.filled(text, known) == text.replace("9.9", "1.26")


def test_a_name_that_the_results_do_not_have_is_an_error():
    """A renamed benchmark is noticed when the documents are made."""
    with pytest.raises(SystemExit, match=r"has no figure 'call; ratio'"):
        figures.filled("<!-- figure: call; ratio -->1<!-- end -->", figures.figures(RESULTS))
