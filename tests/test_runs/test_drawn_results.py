"""Objects that a notebook draws, and those of MCP's packages, as results of a function."""

import json
from base64 import b64decode, b64encode
from dataclasses import dataclass

import pytest
from fastmcp.tools import ToolResult
from fastmcp.utilities.types import Image as FastMCPImage
from IPython.display import HTML, JSON, SVG, Image, Latex, Markdown
from mcp import types

from toolbench import history, run_tool, tool
from toolbench.evals import sweep
from toolbench.redaction import MARK

PNG = b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)
SOURCE = f"data:image/png;base64,{b64encode(PNG).decode()}"
MARKUP = '<b onclick="x()">bold</b><script>alert(1)</script><img src="https://x.y/z.png">'


class Chart:
    """As plotly and altair have it: a script for a person, and words of its own."""

    def __init__(self, label: str = "Chart") -> None:
        self.label = label

    def __repr__(self) -> str:
        return self.label

    def _repr_html_(self) -> str:
        return f"<i>drawn {self.label}</i><script>draw()</script>"

    def _repr_latex_(self) -> str:
        raise ValueError("no LaTeX")


class Bundled:
    def _repr_mimebundle_(self, include: object, exclude: object) -> tuple[dict[str, str], dict]:
        return {"text/plain": "\x1b[1ma chart\x1b[0m", "text/html": "<em>chart</em>"}, {}


class Sized:
    def _repr_png_(self) -> tuple[bytes, dict[str, int]]:
        return PNG, {"width": 3}


@dataclass
class Point:
    x: int = 1

    def _repr_html_(self) -> str:
        return "<i>a point</i>"


def result_of(value):
    @tool
    def give():
        """Give it."""
        return value

    return run_tool(give)


def seen(observation):
    """The HTML of what a cell shows."""
    return observation._repr_mimebundle_()["text/html"]


@pytest.mark.every_case
@pytest.mark.parametrize(
    ("value", "read", "drawn"),
    [
        (HTML(MARKUP), MARKUP, "<strong>bold</strong>"),
        (Markdown("# Head\n*x*"), "# Head\n*x*", "<em>x</em>"),
        (Latex("$x^2$"), "$x^2$", "$x^2$"),
        (JSON({"a": [1]}), '{\n  "a": [\n    1\n  ]\n}', "<summary"),
        (SVG("<svg><b/></svg>"), "<svg><b/></svg>", '<img src="data:image/svg+xml;base64'),
        (Chart(), "Chart", "<em>drawn Chart</em>"),
        (Bundled(), "a chart", "<em>chart</em>"),
        (Point(), '{\n  "x": 1\n}', "<em>a point</em>"),
    ],
)
def test_a_person_sees_it_drawn_and_a_model_reads_it(value, read, drawn):
    """Its words, or its source where it has none; in the page no script, handler or foreign address."""
    observation = result_of(value)
    assert observation.text == read
    assert drawn in seen(observation)
    assert all(bad not in seen(observation) for bad in ("<script", "<b onclick", '<img src="https'))
    record = json.loads(json.dumps(history()[-1].to_dict()))
    assert record["observation"]["content"] == [{"text": read}]


def test_an_image_is_an_image():
    """Also one with a size or a wrong label, and one in a list, where the rest is drawn too."""
    for value in (Image(PNG), Sized()):
        [block] = result_of(value).content
        assert block.image_urls == [SOURCE]
    assert result_of(Image(PNG, format="jpeg")).content[0].image_urls == [SOURCE]
    several = result_of(["words", Image(PNG), HTML("<b>bold</b>")])
    assert [block.type for block in several.content] == ["text", "image", "text"]
    assert several.text == "words<b>bold</b>"
    both = seen(result_of([HTML("<b>one</b>"), Markdown("*two*")]))
    assert "<strong>one</strong>" in both
    assert "<em>two</em>" in both


def test_of_many_long_ones_the_first_are_drawn():
    """The file of the notebook stays one that a browser opens."""
    html = seen(result_of([HTML("x" * 49_000)] * 14))
    assert 500_000 < len(html) < 700_000
    assert "3 more of 14 objects are not drawn" in html


def test_what_is_no_image_is_text():
    """A model's provider would refuse the whole request, and each one after it."""
    [block] = result_of(Image(b"none", format="png")).content
    assert block.text == "[image: image/png, 4 bytes, unreadable]"


def test_of_long_html_a_model_gets_the_beginning():
    """No library of scripts, and no picture in base64."""
    text = result_of(HTML(f'<img src="{SOURCE}">{"<p>x</p>" * 9_999}')).text
    assert len(text) < 25_000
    assert text.startswith('<img src="data:…"><p>')
    assert text.endswith("more characters")


def test_its_secrets_are_hidden():
    """Where they are in what it draws, and nowhere else."""

    @tool
    def give(password: str):
        """Give it."""
        return Chart(password)

    observation = run_tool(give, password="hunter2-tHe_sEcret")
    assert f"drawn {MARK}".replace("<", "&lt;").replace(">", "&gt;") in seen(observation)
    assert "hunter2" not in seen(observation) + repr(history()[-1].to_dict())


def test_a_sweep_has_what_a_model_reads():
    """Not the name of its class."""

    @tool
    def note(n: int):
        """Note it."""
        return Markdown(f"note *{n}*")

    assert sweep(note, {"n": [1, 2]}).columns["result"] == ["note *1*", "note *2*"]


def text(words):
    return types.TextContent(type="text", text=words)


class TestOfMCP:
    @pytest.mark.parametrize(
        ("value", "read", "data"),
        [
            (types.CallToolResult(content=[text("a"), text("b")]), "ab", "a\nb"),
            (ToolResult(content=[text("fine")], structured_content={"n": 1}), "fine", {"n": 1}),
            (
                types.CallToolResult(content=[], structured_content={"result": [1]}),
                "[\n  1\n]",
                [1],
            ),
        ],
    )
    def test_a_result_is_read_as_a_servers(self, value, read, data):
        """Content, structured content and all."""
        observation = result_of(value)
        assert (observation.text, observation.data) == (read, data)
        assert observation.to_mcp_result().get("structuredContent") in (None, data)

    @pytest.mark.parametrize(("words", "read"), [(["no"], "no"), ([], "did not say why")])
    def test_a_failure_is_one(self, words, read):
        """It is an error for the model, and in the record."""
        content = [text(one) for one in words]
        observation = result_of(types.CallToolResult(content=content, is_error=True))
        assert observation.is_error
        assert read in observation.text
        assert history()[-1].state == "error"

    def test_blocks_are_content(self):
        """Alone and in a list, also those of FastMCP's classes; they are no structured content."""
        link = types.ResourceLink(type="resource_link", uri="file:///a", name="a")
        observation = result_of([text("see"), FastMCPImage(data=PNG, format="png"), link])
        assert [block.type for block in observation.content] == ["text", "image", "text"]
        assert observation.content[1].image_urls == [SOURCE]
        assert "<file:///a>" in observation.text
        alone = result_of(text("alone"))
        assert alone.to_mcp_result() == {
            "content": [{"type": "text", "text": "alone"}],
            "isError": False,
        }
        missing = result_of(FastMCPImage(path="/nowhere.png"))
        assert missing.text.startswith("FileNotFoundError")
