"""Bytes arrive as bytes, whoever sends them: a form, a line, a model, an agent, Python."""

from dataclasses import dataclass
from typing import Any

import pytest
from ipywidgets import Text
from pydantic import Base64Bytes, BaseModel, Field, SecretBytes
from shells import new_shell
from test_agent.scripts import call, calls, talk
from test_serving.clients import ERAS
from test_serving.clients import call as call_served
from test_widgets.front import click, named, only, page, type_into
from test_widgets.tooling import buttons, finish

from toolbench import Action, Observation, ToolDefinition, history, run_tool, tool
from toolbench.llm.formats import to_format
from toolbench.llm.wire import WIRES
from toolbench.mcp import create_mcp_tools
from toolbench.serving import serve
from toolbench.testing import FakeMCPServer
from toolbench.widgets import ToolPanel
from toolbench.widgets.fields.file import FilePicker
from toolbench.widgets.form import SchemaForm

FILE = b"\xff\x00abc"
BASE64 = "/wBhYmM="
pytestmark = pytest.mark.usefixtures("no_records")


class Photo(BaseModel):
    name: str
    content: bytes


class Named(BaseModel):
    name: str


@dataclass
class Scan:
    pages: list[bytes]


class Stamped(Observation):
    stamp: bytes = b""


class StampAction(Action):
    file: bytes


@tool(read_only=True)
def size(file: bytes) -> str:
    """Say what came."""
    return repr(file)


stamp = ToolDefinition(
    name="stamp",
    description="Stamp a file.",
    action_type=StampAction,
    observation_type=Stamped,
    executor=lambda action: Stamped.from_text(repr(action.file), stamp=action.file),
)


def by_python(tmp_path):
    return size(file=FILE)


def by_run_tool(tmp_path):
    return run_tool(size, {"file": BASE64})


def by_class(tmp_path):
    assert StampAction.from_dict(StampAction(file=FILE).to_dict()) == StampAction(file=FILE)
    return run_tool(stamp, {"file": BASE64})


def by_form(tmp_path):
    panel = ToolPanel(size)
    type_into(named(panel, "file"), BASE64)
    click(buttons(panel)["Run"])
    finish(panel)
    return history()[-1].observation


def by_line(tmp_path):
    (tmp_path / "a scan.bin").write_bytes(FILE)
    with new_shell() as shell:
        shell.run_line_magic("load_ext", "toolbench")
        shell.user_ns["size"] = size
        result = shell.run_line_magic("tool", 'size "file=@a scan.bin"')
        shell.run_line_magic("unload_ext", "toolbench")
    return result


def by_model(tmp_path):
    conversation = talk([calls(call("size", {"file": BASE64})), "Done."], [size])
    conversation.run()
    return history()[-1].observation


@pytest.mark.parametrize("way", [by_python, by_run_tool, by_class, by_form, by_line, by_model])
def test_bytes_arrive(way, tmp_path, monkeypatch):
    """What the tool gets is the content of the file."""
    monkeypatch.chdir(tmp_path)
    assert way(tmp_path).text == repr(FILE)


@tool
def take(file: bytes = b"none") -> str:
    """Take it."""
    return repr(file)


def run(panel):
    click(buttons(panel)["Run"])
    finish(panel)
    return panel.result.text


def test_no_run_goes_without_a_file_that_is_on_its_way():
    """Nor with its default, or an earlier file: the field says what to wait for."""
    panel = ToolPanel(take)
    picker = only(panel.form.widget, FilePicker)
    tell(picker, {"file": "1", "name": "a.bin", "size": len(FILE)})
    click(buttons(panel)["Run"])
    assert panel.runs.latest is None
    assert "The file a.bin, 5 bytes, is being sent: wait, or choose it again." in page(panel)
    tell(picker, {"file": "1", "begin": 0}, FILE)
    assert run(panel) == repr(FILE)


HUGE = {"file": "2", "name": "huge.bin", "size": 70_000_000}
LOST = {"file": "2", "name": "huge.bin", "size": 9, "failed": "It cannot be read."}
TOO_LARGE = "The file huge.bin has 70,000,000 bytes, and a form takes 50,000,000 at most"
A_FILE = {"type": "string", "format": "binary"}
FIELDS: dict[str, Any] = {
    "optional": {"anyOf": [A_FILE, {"type": "null"}]},
    "list": {"type": "array", "items": A_FILE},
    "or a number": {"anyOf": [A_FILE, {"type": "integer"}]},
}


@pytest.mark.parametrize("earlier", ["", BASE64], ids=["default", "earlier file"])
@pytest.mark.parametrize(("refused", "why"), [(HUGE, TOO_LARGE), (LOST, LOST["failed"])])
def test_no_run_goes_without_a_file_that_did_not_come(refused, why, earlier):
    """Also in the panel of the cell that is run again; until another is chosen, or Remove is clicked."""
    panel = ToolPanel(take, {"file": earlier} if earlier else None)
    tell(only(panel.form.widget, FilePicker), {"file": "2", "name": "huge.bin", "size": 9})
    tell(only(panel.form.widget, FilePicker), refused)
    again = ToolPanel(take)
    again.form.take_over(panel.form.typed)
    for each in (panel, again):
        click(buttons(each)["Run"])
        assert each.runs.latest is None
        assert why in page(each)
        assert "is on its way" not in page(each)
        click(named(each, "Remove"))
        assert why not in page(each)
        assert run(each) == repr(b"none")
    # The same file once more is another choice
    tell(only(panel.form.widget, FilePicker), refused)
    assert panel.form.blocked


@pytest.mark.parametrize("schema", FIELDS.values(), ids=FIELDS)
def test_a_refused_file_blocks_its_form(schema):
    """Wherever the field stands, a form has nothing to send."""
    earlier = [BASE64] if "items" in schema else BASE64
    form = SchemaForm({"type": "object", "properties": {"x": schema}}, {"x": earlier})
    tell(only(form.widget, FilePicker), HUGE)
    assert form.blocked
    assert TOO_LARGE in page(form.widget)
    assert BASE64 not in str(form.value)
    type_into(only(form.widget, Text), BASE64)
    assert form.value == {"x": earlier}


def test_a_file_that_is_not_waited_for_any_more_stays_away():
    """What was typed after it was chosen is not replaced; the page is told to send no more."""
    panel = ToolPanel(take)
    picker = only(panel.form.widget, FilePicker)
    tell(picker, {"file": "1", "name": "a.bin", "size": 4})
    type_into(named(panel, "file"), BASE64)
    tell(picker, {"file": "1", "begin": 0}, b"late")
    assert run(panel) == repr(FILE)


def tell(widget, content, *buffers):
    """Hand a message of the page to the widget."""
    data = {"method": "custom", "content": content}
    widget._handle_msg({"content": {"data": data}, "buffers": list(buffers)})


@pytest.mark.slow
def test_bytes_of_an_agent_arrive():
    """In both eras; what the tool gives back as bytes is base64 too, and the schemas say so."""
    with serve([size, stamp], name="bytes") as served:
        for mode in ERAS.values():
            assert call_served(served, "size", {"file": BASE64}, mode).content[0].text == repr(FILE)
            result = call_served(served, "stamp", {"file": BASE64}, mode)
            assert result.structured_content["stamp"] == BASE64
    offer = stamp.to_mcp_tool()
    for schema in (
        offer["inputSchema"]["properties"]["file"],
        offer["outputSchema"]["properties"]["stamp"],
    ):
        assert schema["contentEncoding"] == "base64"


NESTED: dict[str, tuple[Any, Any, Any]] = {
    "list": (list[bytes], [BASE64], [FILE]),
    "optional": (bytes | None, BASE64, FILE),
    "dict": (dict[str, bytes], {"a": BASE64}, {"a": FILE}),
    "model": (Photo, {"name": "abcd", "content": BASE64}, Photo(name="abcd", content=FILE)),
    "models": (
        list[Photo],
        [{"name": "abcd", "content": BASE64}],
        [Photo(name="abcd", content=FILE)],
    ),
    "dataclass": (Scan, {"pages": [BASE64]}, Scan([FILE])),
    "text stays text": (bytes | str, "abcd", "abcd"),
    "or a number": (bytes | int | None, BASE64, FILE),
    "or more of them": (list[bytes] | bytes, BASE64, FILE),
    "one of two models": (
        Photo | Named,
        {"name": "abcd", "content": BASE64},
        Photo(name="abcd", content=FILE),
    ),
    "pydantic's own": (Base64Bytes, BASE64, FILE),
}


@pytest.mark.every_case
@pytest.mark.parametrize(("kind", "sent", "value"), NESTED.values(), ids=NESTED)
def test_bytes_inside_arrive(kind, sent, value):
    """At any depth. What the record has as JSON makes the same call."""
    taken = []

    @tool
    def take(value: kind) -> str:
        """Take it."""
        taken.append(value)
        return "taken"

    assert run_tool(take, {"value": sent}).text == "taken"
    assert run_tool(take, history()[-1].arguments).text == "taken"
    assert run_tool(take, take.action_of({"value": sent}).to_arguments()).text == "taken"
    assert taken == [value, value, value]


@pytest.mark.parametrize("wrong", ["hello!", "YWJ", 3])
def test_anything_else_is_one_problem(wrong):
    """One sentence says what is wanted; old records with text for bytes are refused in it."""
    [problem] = size.problems({"file": wrong})
    assert str(problem).startswith("file: should be base64 text, or bytes in Python, not ")


def test_the_schema_says_base64():
    """For a form and for each provider; limits and the default are those of the text."""

    @tool
    def take(
        file: bytes = b"\xff", seal: bytes = Field(b"abcd", max_length=4), pin: SecretBytes = b"1"
    ) -> str:
        """Take it."""
        return repr((file, seal, pin.get_secret_value()))

    properties = take.parameters()["properties"]
    encoded = {"type": "string", "contentEncoding": "base64"}
    assert properties["file"] == {**encoded, "default": "/w=="}
    assert properties["seal"] == {**encoded, "default": "YWJjZA==", "maxLength": 8}
    assert properties["pin"] == {"type": "string", "format": "password", "writeOnly": True}
    assert run_tool(take, {"pin": "1234"}).text == repr((b"\xff", b"abcd", b"1234"))
    for name in WIRES:
        assert "base64" in str(to_format(take, name))


def test_a_server_gets_base64_untouched():
    """What its schema calls bytes is the server's own affair."""
    server = FakeMCPServer("fake")
    schema = {"type": "object", "properties": {"file": {"type": "string", "format": "binary"}}}
    server.answer("upload", "ok", schema=schema)
    with create_mcp_tools(server) as client:
        action = client["upload"].action_from_arguments({"file": "not base64!"})
    assert action.to_arguments() == {"file": "not base64!"}


def test_a_file_lies_beside_the_notebook_wherever_cd_led(tmp_path, monkeypatch):
    """Jupyter's server tells the kernel where the notebook is."""
    monkeypatch.setenv("JPY_SESSION_NAME", str(tmp_path / "a.ipynb"))
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.chdir(elsewhere)
    assert by_line(tmp_path).text == run_tool(size, {"file": BASE64}).text


def test_only_bytes_are_read_from_a_file(tmp_path, monkeypatch):
    """Elsewhere `@` is a letter; a file that is not there is said."""
    monkeypatch.chdir(tmp_path)
    with new_shell() as shell:
        shell.run_line_magic("load_ext", "toolbench")

        @tool
        def greet(name: str, file: bytes = b"") -> str:
            """Greet."""
            return name

        shell.user_ns["greet"] = greet
        assert shell.run_line_magic("tool", "greet name=@ada").text == "@ada"
        with pytest.raises(Exception, match=r"file=@ada cannot be read from .*: No such file"):
            shell.run_line_magic("tool", "greet name=a file=@ada")
        shell.run_line_magic("unload_ext", "toolbench")


def test_the_saved_notebook_has_only_the_ends_of_a_file():
    """Its letters are of no use to a reader, and a file may have millions of them."""
    panel = ToolPanel(size, {"file": BASE64[:4] * 100_000})
    bundle = panel._repr_mimebundle_()
    assert len(bundle["text/plain"]) + len(bundle["text/html"]) < 10_000
    assert "characters left out" in bundle["text/plain"]
    panel.close()
