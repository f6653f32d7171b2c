"""What a result shows of itself holds no secret of its run, whatever its class and its copies do."""

import asyncio
import pickle
from typing import Any

import pandas as pd
import pytest
from IPython.core.formatters import DisplayFormatter
from rich.text import Text

from toolbench import Observation, run_tool, tool
from toolbench.redaction import MARK
from toolbench.redaction.known import remembered

_SECRET = "hunter2-tHe_sEcret"
elsewhere = dict[str, str]()
"""What a tool of these tests keeps beside its result."""


class Plain(Observation):
    note: str = ""


class Drawn(Observation):
    @property
    def visualize(self) -> Any:
        return Text(f"drawn: {elsewhere['password']}")


class Written(Observation):
    def _repr_markdown_(self) -> str:
        return f"*{elsewhere['password']}*"

    def _repr_latex_(self) -> tuple[str, dict[str, str]]:
        return elsewhere["password"], {"note": elsewhere["password"]}

    def _repr_json_(self) -> dict[str, list[str]]:
        return {"in": [elsewhere["password"]]}


class Heir(Written):
    pass


class Bundled(Observation):
    def _repr_mimebundle_(self, **options: Any) -> dict[str, str]:
        return dict.fromkeys(("text/html", "text/plain"), elsewhere["password"])


def result_of(kind: type[Observation]) -> Observation:
    @tool
    def unlock(password: str) -> Observation:
        """Keep the password elsewhere."""
        elsewhere["password"] = password
        return kind.from_text(f"got {password}")

    return run_tool(unlock, password=_SECRET)


@pytest.mark.parametrize("kind", [Plain, Drawn, Written, Heir, Bundled])
def test_in_a_cell_whatever_its_class_shows(kind):
    """Its own `visualize` and `_repr_..._` may know the secret from elsewhere."""
    result = result_of(kind)
    data, metadata = DisplayFormatter().format(result)
    assert _SECRET not in f"{data} {metadata}"
    assert MARK in str(data)
    assert result.text == f"got {_SECRET}"


@pytest.mark.parametrize(
    "frame",
    [
        pd.DataFrame({"note": ["other", _SECRET]}),
        pd.DataFrame({_SECRET: [1, 2]}),
        pd.DataFrame({"n": [1, 2]}, index=["other", _SECRET]),
        pd.DataFrame({"note": ["other", f"{'x' * 190}{_SECRET}"]}),
    ],
    ids=["cell", "column", "label", "cut cell"],
)
def test_a_table_with_a_secret_is_shown_as_a_table(frame):
    """Without the secret, and without its start where a long text is cut; numbers stay on the right."""

    @tool
    def table(password: str) -> pd.DataFrame:
        """Return a table."""
        return frame

    result = run_tool(table, password=_SECRET)
    html = DisplayFormatter().format(result)[0]["text/html"]
    assert "2 rows" in html
    assert "</table>" in html
    assert "hunter2" not in html
    assert "&lt;secret-" in html
    assert ("text-align:right" in html) == (frame.dtypes.iloc[0] == "int64")
    assert result.result is frame


def test_an_object_of_its_class_that_no_run_made_is_shown_as_it_is():
    """Only what is to be hidden of a result is hidden."""
    elsewhere["password"] = "plain"
    assert Written()._repr_markdown_() == "*plain*"
    assert Written()._repr_latex_() == ("plain", {"note": "plain"})


WITHOUT_THE_EXTENSION = {
    "tool(...)": lambda tool: tool(password=_SECRET),
    "acall": lambda tool: asyncio.run(tool.acall({"password": _SECRET})),
    "execute": lambda tool: tool.execute({"password": _SECRET}),
}


@pytest.mark.parametrize("call", WITHOUT_THE_EXTENSION.values(), ids=WITHOUT_THE_EXTENSION)
def test_of_a_call_that_is_not_recorded_hides_its_secret(call):
    """Without `%load_ext toolbench` a cell shows no secret either; the result is as it was returned."""

    @tool
    def unlock(password: str) -> dict:
        """Return the password."""
        return {"password": password}

    result = call(unlock)
    data, _ = DisplayFormatter().format(result)
    assert _SECRET not in f"{result!r} {data}"
    assert MARK in str(data)
    assert result.data == {"password": _SECRET}


class TestPickled:
    def test_it_hides_what_the_process_remembers(self):
        """A copy has what the tool returned, and is shown as the result itself."""
        result = pickle.loads(pickle.dumps(result_of(Plain)))
        assert result.text == f"got {_SECRET}"
        data, _ = DisplayFormatter().format(result)
        assert _SECRET not in f"{result!r} {[result]} {data} {result.visualize!r}"

    def test_it_carries_no_other_secret(self):
        """The file holds what the result holds, not what the process knows besides."""
        result_of(Plain)
        assert remembered.redactor.occurs_in(_SECRET)
        result = result_of(Plain).model_copy(update={"content": []})
        assert _SECRET.encode() not in pickle.dumps(result)
