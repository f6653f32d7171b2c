"""The page saves a result of a panel or a cell: it asks for the files, then for each piece of them."""

import re

import pandas as pd
import pytest
from patience import eventually
from pydantic import SecretStr

from test_widgets.front import deliver, walk
from test_widgets.tooling import finish
from toolbench import run_tool, tool
from toolbench.widgets.frontend.widget import ModuleWidget
from toolbench.widgets.panel import ToolPanel

TOKEN = "correct-horse-battery"
NO_TOKEN = SecretStr("")


@tool
def rows(count: int, token: SecretStr = NO_TOKEN) -> pd.DataFrame:
    """Return a table; the token stands in it far down."""
    texts = ["text"] * count
    texts[-30:] = [token.get_secret_value()] * 30
    return pd.DataFrame({"text": texts}, index=pd.RangeIndex(count, name="row"))


@tool
def broken() -> object:
    """Return what cannot be saved."""

    class Broken:
        def to_csv(self, _):
            raise RuntimeError

    return Broken()


def _ran(a_tool, **arguments):
    """Return a panel whose run has ended, and the HTML of its result."""
    panel = ToolPanel(a_tool, arguments)
    panel.run()
    finish(panel)
    return panel, _result(panel)


def _result(panel):
    values = (str(getattr(part, "value", "")) for part in walk(panel))
    return next(value for value in values if "data-toolbench-whole" in value)


def _question(html, save="a", card=0):
    """Return what a page asks that shows *html*."""
    [key] = re.findall('data-toolbench-whole="([^"]*)"', html)
    return {"result": key, "save": save, "card": card, "form": ""}


@pytest.fixture
def answer(wire):
    """What a page sends is answered by the module of the kernel, in whichever thread."""
    module = ModuleWidget()

    def answer(content):
        wire.messages.clear()
        deliver(module.layout, {"method": "custom", "content": content})

        def answers():
            sent = [data["content"] for _, kind, data in wire.messages if kind == "comm_msg"]
            return [said for said in sent if not said.get("working")]

        [said] = eventually(answers)
        return said

    return answer


def test_a_result_is_sent_whole_when_it_is_asked_for(wire, answer):
    """In pieces that a server lets through; a piece that was lost is sent again."""
    panel, html = _ran(rows, count=300_000)
    assert len(html) < 1_000_000
    question = _question(html)
    files = answer(question)["files"]
    assert files == answer(question)["files"]
    expected = panel.result.data.to_csv().encode()
    assert files == [{"name": "result.csv", "type": "text/csv", "size": len(expected)}]
    whole = b""
    while len(whole) < len(expected):
        piece = {"save": "a", "file": 0, "begin": len(whole)}
        assert answer(piece) == answer(piece) == piece
        assert len(wire.buffers[-1]) <= 2_000_000
        whole += wire.buffers[-1]
    assert whole == expected
    # What the model reads, while the first is being saved
    assert answer(_question(html, "b", 1))["files"][0]["name"] == "result.txt"
    assert answer(piece) == piece
    # The cell has run again, and shows the result as one of its earlier code
    again = ToolPanel(rows)
    again.runs.recall(panel.runs.report, rows)
    assert answer(_question(_result(again)))["files"] == files


def test_a_cell_saves_whole_what_it_shows_in_part(answer):
    """As the panel does, as long as somebody has the result; what a cell shows whole needs no kernel."""
    result = run_tool(rows, count=60)
    question = _question(result._repr_mimebundle_()["text/html"])
    assert answer(question)["files"][0]["size"] == len(result.data.to_csv())
    assert answer({**question, "result": "9-deadbeef"}) == {"save": "a"}
    assert "data-toolbench-whole" not in run_tool(rows, count=5)._repr_mimebundle_()["text/html"]


def test_what_cannot_be_saved_is_one_sentence(answer):
    """The page waits for an answer."""
    _panel, html = _ran(broken)
    problem = "The result cannot be read: RuntimeError."
    assert answer(_question(html)) == {"save": "a", "problem": problem}


def test_no_secret_is_shown_or_saved(wire, answer):
    """Also where the text of the table leaves its rows out."""
    _panel, html = _ran(rows, count=9_000, token=TOKEN)
    assert TOKEN not in html
    files = answer(_question(html))["files"]
    assert files[0]["name"] == "result.csv"
    answer({"save": "a", "file": 0, "begin": 0})
    assert wire.buffers[-1].count(b"secret-hidden") == 30
    assert TOKEN.encode() not in wire.buffers[-1]
