"""The page saves a result of a panel: it asks for the files, then for each piece of them."""

import pandas as pd
from pydantic import SecretStr

from test_widgets.front import deliver, page, walk
from test_widgets.tooling import finish
from toolbench import tool
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
    """Return a panel whose run has ended, and the widget with its result."""
    panel = ToolPanel(a_tool, arguments)
    panel.run()
    finish(panel)
    return panel, _result(panel)


def _result(panel):
    return next(
        part for part in walk(panel) if "data-toolbench-whole" in str(getattr(part, "value", ""))
    )


def _answer(wire, widget, content):
    """Deliver what the page sends; return what the kernel answers, without and with its bytes."""
    wire.messages.clear()
    deliver(widget, {"method": "custom", "content": content})
    [answer] = [data["content"] for _, kind, data in wire.messages if kind == "comm_msg"]
    return answer


def test_a_result_is_sent_whole_when_it_is_asked_for(wire):
    """In pieces that a server lets through; a piece that was lost is sent again."""
    panel, result = _ran(rows, count=80_000)
    assert len(result.value) < 1_000_000
    question = {"save": "a", "card": 0}
    files = _answer(wire, result, question)["files"]
    assert files == _answer(wire, result, question)["files"]
    expected = panel.result.data.to_csv().encode()
    assert files == [{"name": "result.csv", "type": "text/csv", "size": len(expected)}]
    whole = b""
    while len(whole) < len(expected):
        piece = {"save": "a", "file": 0, "begin": len(whole)}
        assert _answer(wire, result, piece) == _answer(wire, result, piece) == piece
        assert len(wire.buffers[-1]) <= 500_000
        whole += wire.buffers[-1]
    assert whole == expected
    # What the model reads, while the first is being saved
    assert _answer(wire, result, {"save": "b", "card": 1})["files"][0]["name"] == "result.txt"
    assert _answer(wire, result, piece) == piece
    # The cell has run again, and shows the result as one of its earlier code
    again = ToolPanel(rows)
    again.runs.recall(panel.runs.report, rows)
    assert _answer(wire, _result(again), question)["files"] == files


def test_what_cannot_be_saved_is_one_sentence(wire):
    """The page waits for an answer."""
    _, result = _ran(broken)
    answer = _answer(wire, result, {"save": "a", "card": 0})
    assert answer == {"save": "a", "problem": "The result cannot be saved: RuntimeError."}


def test_no_secret_is_shown_or_saved(wire):
    """Also where the text of the table leaves its rows out."""
    _, result = _ran(rows, count=9_000, token=TOKEN)
    assert TOKEN not in page(result)
    files = _answer(wire, result, {"save": "a", "card": 0})["files"]
    assert files[0]["name"] == "result.csv"
    _answer(wire, result, {"save": "a", "file": 0, "begin": 0})
    assert wire.buffers[-1].count(b"secret-hidden") == 30
    assert TOKEN.encode() not in wire.buffers[-1]
