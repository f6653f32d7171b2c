"""The whole of a result, as the files that a person saves."""

import json
from base64 import b64encode
from importlib.util import find_spec
from io import BytesIO, StringIO
from unittest.mock import Mock

import numpy as np
import pandas as pd
import pytest
from IPython.display import HTML
from PIL import Image
from rich.table import Table

from toolbench import Observation, run_tool, tool
from toolbench.core.content import ImageContent, TextContent
from toolbench.display.saved_result import saved_files
from toolbench.errors import ToolbenchError
from toolbench.mcp.results import tool_observation
from toolbench.redaction.redactor import Redactor

SECRET = 'open "sesame" now'


def _saved(result, *secrets, **options):
    """Return the files of what a tool returned, by name."""

    @tool
    def give() -> object:
        """Give it."""
        return result

    observation = result if isinstance(result, Observation) else run_tool(give)
    files = saved_files(observation, Redactor(secrets), **options)
    return {file.name: file.content for file in files}


def _image(color):
    buffer = BytesIO()
    Image.new("RGB", (2, 2), color).save(buffer, format="PNG")
    return buffer.getvalue()


def test_bytes_are_saved_as_they_are():
    """The page says how many there are; a secret in them is hidden."""
    every = bytes(range(256)) * 2
    assert _saved(every, SECRET) == {"result.bin": every}
    assert _saved(b"\xff" + SECRET.encode(), SECRET) == {"result.bin": b"\xff<secret-hidden>"}


class Drawn(Observation):
    """A result with a view of its own."""

    @property
    def visualize(self):
        """Its text in a table."""
        table = Table("line")
        table.add_row(self.text)
        return table


def test_a_table_is_the_csv_of_the_library_that_made_it():
    """All rows and columns, missing values, the names of the index and of two levels of columns."""
    index = pd.MultiIndex.from_product([["a", "b"], range(1_000)], names=["station", "n"])
    frame = pd.DataFrame({("v", n): [0.5, None] * 1_000 for n in range(30)}, index=index)
    for table in (frame, frame["v"][3]):
        assert _saved(table) == {"result.csv": table.to_csv().encode()}
    # What the model reads is only the beginning
    assert b"[The first 500 of 2,000 rows." in _saved(frame, for_model=True)["result.txt"]


def test_arrays_and_tables_inside_a_result_are_whole():
    """Their own text, which a person sees and a model reads, leaves out what is in the middle."""
    frame = pd.DataFrame({"n": range(200)})
    counts = frame["n"].to_numpy()
    whole = [*range(200)] * 10
    assert json.loads(_saved(np.array(whole))["result.json"]) == whole
    [saved] = _saved({"frames": [frame], "counts": counts}).values()
    csv = frame.to_csv()
    assert json.loads(saved) == {"frames": [csv], "counts": counts.tolist()}
    numbers = iter(whole)
    assert len(_saved(numbers)) == 1


def test_html_is_whole_and_runs_nowhere():
    """A person sees what is harmless of it, and a model reads the beginning."""
    markup = "<p>x</p><script>x()</script>" * 9_999
    assert _saved(HTML(markup)) == {"result.txt": markup.encode()}
    assert len(_saved(HTML(markup), for_model=True)["result.txt"]) < len(markup)
    # What takes each worker half a second is left to the one that draws
    from matplotlib.figure import Figure

    assert list(_saved(Figure(figsize=(1, 1)))) == ["result.png"]


def test_a_table_and_a_list_of_objects_have_three_forms(monkeypatch):
    """CSV, JSON with the names of the labels, and Parquet where pyarrow is installed."""
    frame = pd.DataFrame({"n": [1, 2], "x": [0.1, None]}, index=pd.Index(["a", "b"], name="key"))
    rows = [{"n": 1, "tags": ["a", "b"]}, {"x": "c,d"}]
    assert _saved(frame, form="csv") == {"result.csv": frame.to_csv().encode()}
    assert _saved({"items": rows, "total": 2}, form="csv") == {
        "result.csv": b'n,tags,x\n1,"[""a"", ""b""]",\n,,"c,d"\n'
    }
    whole = json.loads(_saved(frame, form="json")["result.json"])
    assert whole == [{"key": "a", "n": 1, "x": 0.1}, {"key": "b", "n": 2, "x": None}]
    assert json.loads(_saved({"items": rows, "total": 2}, form="json")["result.json"]) == rows
    for table in (frame, rows):
        if find_spec("pyarrow") is None:
            with pytest.raises(ToolbenchError, match="Parquet needs pyarrow, which is not"):
                _saved(table, form="parquet")
        else:
            [saved] = _saved(table, form="parquet").values()
            assert len(pd.read_parquet(BytesIO(saved))) == 2
    secret = pd.DataFrame({"n": [SECRET]})
    assert b"secret-hidden" in _saved(secret, SECRET, form="json")["result.json"]
    with pytest.raises(ToolbenchError, match="has a secret, which is not hidden in Parquet"):
        _saved(secret, SECRET, form="parquet")
    # As pyarrow does for a column of several types
    monkeypatch.setattr(pd.DataFrame, "to_parquet", Mock(side_effect=ValueError("n has two types")))
    with pytest.raises(ToolbenchError, match=r"save it as CSV or JSON\. n has two types"):
        _saved(rows, form="parquet")
    with pytest.raises(ToolbenchError, match=r"written as JSON: save it as CSV\. .* unique"):
        _saved(pd.DataFrame([[1, 2]], columns=["a", "a"]), form="json")
    labelled = pd.DataFrame({SECRET: [1]}, index=pd.Index([1], name=SECRET))
    with pytest.raises(ToolbenchError, match="cannot insert <secret-hidden>"):
        _saved(labelled, SECRET, form="json")
    # It has one form
    assert _saved("text", form="csv") == {"result.txt": b"text"}


def test_what_walks_like_a_table_is_a_table():
    """Its columns, and its rows with their labels."""

    class Walks:
        columns, shape = ("a", "b"), (1, 2)

        def itertuples(self, index=True, name=None):
            return iter([(0, "x,y", None)])

    assert _saved(Walks()) == {"result.csv": b',a,b\n0,"x,y",\n'}


def test_json_is_whole_and_text_is_unchanged():
    """Also far beyond what a page shows; half a character can be written."""
    rows = [{"n": n, "text": "x" * 100} for n in range(20_000)]
    files = _saved(rows)
    assert json.loads(files["result.json"]) == rows
    text = "line \x1b[31mred\x1b[0m\t" + "long " * 50_000 + "\nend \ud83d"
    assert _saved(text) == {"result.txt": text.replace("\ud83d", "\ufffd").encode()}
    assert _saved(text, for_model=True) == _saved(text)


def test_images_are_files():
    """Each of them, beside the text; one that a page does not show because of its size too."""
    red, blue = _image("red"), _image("blue")
    assert _saved(red) == {"result.png": red}
    assert _saved([TextContent(text="Two:"), red, blue]) == {
        "result.txt": b"Two:",
        "result-1.png": red,
        "result-2.png": blue,
    }
    large = red + bytes(6_000_000)
    url = f"data:image/png;base64,{b64encode(large).decode()}"
    assert _saved(ImageContent(image_urls=[url])) == {"result.png": large}


def test_a_view_of_its_own_is_saved_as_it_looks():
    """Beside what the model reads."""
    result = Drawn.from_text("x" * 50)
    assert "│ " + "x" * 50 + " │" in _saved(result)["result.txt"].decode()
    assert _saved(result, for_model=True) == {"result.txt": b"x" * 50}


def test_structured_content_of_a_server_that_differs_is_a_file_too():
    """A person sees both."""
    blocks = [{"type": "text", "text": "Sunny."}]
    result = tool_observation("t", {"content": blocks, "structuredContent": {"sun": [1, 2]}})
    files = _saved(result)
    assert files["result.txt"] == b"Sunny."
    assert json.loads(files["structured.json"]) == {"sun": [1, 2]}


@pytest.mark.parametrize("for_model", [False, True])
def test_no_secret_is_saved(for_model):
    """Wherever it stands, as CSV and JSON write it."""
    far = pd.DataFrame({"note": ["x"] * 300 + [f"it is {SECRET}"] + ["x"] * 300})
    for result in (far, [{"note": SECRET}] * 3, f"it is {SECRET}", Drawn.from_text(SECRET)):
        files = _saved(result, SECRET, for_model=for_model)
        assert files
        for content in files.values():
            assert "sesame" not in content.decode()
            assert "secret-hidden" in content.decode()
    if not for_model:
        assert len(pd.read_csv(StringIO(_saved(far, SECRET)["result.csv"].decode()))) == 601


def test_what_is_too_large_is_refused_in_one_sentence():
    """A table is not written to its end before."""
    for result in (pd.DataFrame({"n": range(1000)}), "x" * 1000, [_image("red")] * 10):
        with pytest.raises(ToolbenchError, match="more than 500 bytes, too many for a page"):
            _saved(result, most=500)
