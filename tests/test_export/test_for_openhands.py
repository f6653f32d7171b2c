"""What is written for the OpenHands SDK: its own imports go over, and what cannot go over has advice."""

import json
import re
import subprocess
import sys
import textwrap

import pytest

from toolbench import run_tool
from toolbench.errors import ExportError
from toolbench.export import export_package

BLOCK = (
    "with {context}():\n"
    "    from openhands.sdk import Action, Observation, TextContent, ToolDefinition\n"
    "    from openhands.sdk.tool import ToolAnnotations, ToolExecutor, register_tool"
)
WEIGH = """
class WeighAction(Action):
    grams: float

class WeighObservation(Observation):
    kilos: float = 0
    @property
    def to_llm_content(self):
        return [TextContent(text=f"{self.kilos} kg")]

class WeighExecutor(ToolExecutor[WeighAction, WeighObservation]):
    def __call__(self, action, conversation=None):
        return WeighObservation(kilos=action.grams / 1000)

class WeighTool(ToolDefinition[WeighAction, WeighObservation]):
    @classmethod
    def create(cls, conv_state=None, **params):
        return [cls(description="Weigh.", action_type=WeighAction,
                    observation_type=WeighObservation,
                    annotations=ToolAnnotations(readOnlyHint=True), executor=WeighExecutor())]

[weigh] = WeighTool.create()
"""


@pytest.mark.parametrize(
    ("line", "context"),
    [
        ("from toolbench.compat import openhands", "openhands"),
        ("from toolbench.compat import openhands as sdk", "sdk"),
        ("import toolbench.compat", "toolbench.compat.openhands"),
        ("from toolbench import compat", "compat.openhands"),
    ],
)
def test_imports_of_the_sdk_are_the_same_in_its_package(notebook, tmp_path, line, context):
    """The documented way to write for the SDK here leaves no toolbench in the package."""
    notebook.run(line, BLOCK.format(context=context), WEIGH)
    run_tool(notebook["weigh"], {"grams": 250})
    folder = export_package(notebook["weigh"], tmp_path / "p", openhands=True)
    code = (folder / "weigh/definition.py").read_text("utf-8")
    assert "from openhands.sdk import Action, Observation, TextContent, ToolDefinition\n" in code
    assert "from openhands.sdk.tool import ToolAnnotations\n" in code
    for path in (folder / "weigh").glob("*.py"):
        assert "toolbench" not in path.read_text("utf-8").replace("by toolbench", "")
    [call] = json.loads((folder / "tests/recorded.json").read_text("utf-8"))["calls"]
    assert call["read_by_model"] == "0.25 kg"
    assert call["fields"] == {"kilos": 0.25}


@pytest.mark.slow
@pytest.mark.parametrize(
    "cell",
    [
        "from toolbench.compat import openhands as sdk\nsdk()",
        # As if the tools were in a file of their own
        "__import__('toolbench.compat').compat.openhands()",
    ],
)
def test_imports_after_a_call_go_over_too(notebook, tmp_path, cell):
    """`openhands()` alone is enough in a cell; a package for toolbench needs no SDK."""
    notebook.run(cell, textwrap.dedent(BLOCK.partition("\n")[2]), WEIGH)
    for_sdk = export_package(notebook["weigh"], tmp_path / "sdk", openhands=True)
    ours = export_package(notebook["weigh"], tmp_path / "ours")
    required = [(folder / "pyproject.toml").read_text("utf-8") for folder in (for_sdk, ours)]
    assert 'dependencies = ["openhands-sdk"]' in required[0]
    assert "openhands-sdk" not in required[1]
    assert "toolbench" not in (for_sdk / "weigh/definition.py").read_text("utf-8")
    code = (ours / "weigh/definition.py").read_text("utf-8")
    assert "with toolbench.compat.openhands():\n    from openhands.sdk import Action" in code
    run = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"]
    subprocess.run(run, cwd=ours, check=True, capture_output=True)


def test_other_code_in_the_block_has_advice(notebook, tmp_path):
    """It runs with toolbench's classes, which are not there."""
    block = f"{BLOCK.format(context='openhands')}\n    KIND = Action"
    notebook.run("from toolbench.compat import openhands", block, WEIGH)
    with pytest.raises(ExportError, match=r"with nothing in it but imports of the SDK"):
        export_package(notebook["weigh"], tmp_path / "p", openhands=True)


@pytest.mark.parametrize(
    ("name", "advice"),
    [
        ("current_run", "Make each question an argument of the tool"),
        (
            "history",
            "write the tool without it, or export for toolbench, without --openhands",
        ),
    ],
)
def test_what_the_sdk_does_not_have_has_advice(notebook, tmp_path, name, advice):
    """The sentence says what to do instead, and what does not go over."""
    notebook.run(
        f"from toolbench import tool, {name}",
        f"@tool\ndef show() -> str:\n    '''Show.'''\n    return str({name}())",
    )
    with pytest.raises(ExportError, match=f"no `{name}`") as raised:
        export_package(notebook["show"], tmp_path / "p", openhands=True)
    assert advice in str(raised.value)
    assert not (tmp_path / "p").exists()


def test_an_executor_without_a_conversation_has_advice(notebook, tmp_path):
    """The SDK always passes one; toolbench does not."""
    code = WEIGH.replace("action, conversation=None", "action")
    notebook.run("from toolbench.compat import openhands", BLOCK.format(context="openhands"), code)
    export_package(notebook["weigh"], tmp_path / "ours")
    with pytest.raises(ExportError, match=r"write \(self, action, conversation=None\)"):
        export_package(notebook["weigh"], tmp_path / "p", openhands=True)


SIZE = """
class Photo(BaseModel):
    {config}
    content: bytes
@tool
def size(file: bytes, photo: Photo) -> int:
    '''Say how large a file is.'''
    return len(file)
"""
CONFIG = 'model_config = ConfigDict(val_json_bytes="base64", ser_json_bytes="base64")'


def test_bytes_are_base64_there_too(notebook, tmp_path):
    """The action says so to pydantic; where a class of the person does not, the way is said."""
    notebook.run("from pydantic import BaseModel, ConfigDict\nfrom toolbench import tool")
    notebook.run(SIZE.format(config=""))
    with pytest.raises(ExportError, match="to Photo") as raised:
        export_package(notebook["size"], tmp_path / "p", openhands=True)
    assert CONFIG in str(raised.value)
    notebook.run(SIZE.format(config=CONFIG))
    folder = export_package(notebook["size"], tmp_path / "p", openhands=True)
    code = "".join(path.read_text("utf-8") for path in folder.rglob("*.py"))
    assert code.count(CONFIG) == 2


def test_the_line_and_the_readme_say_how_to_install_it(notebook, tmp_path, monkeypatch, capsys):
    """In an environment of its own: `%pip` would install into that of toolbench."""
    monkeypatch.chdir(tmp_path)
    notebook.run(
        "from toolbench import tool\n@tool\ndef one() -> int:\n    '''One.'''\n    return 1"
    )
    notebook.shell.run_line_magic("tools", "export one --to p --openhands")
    printed = capsys.readouterr().out
    assert "%pip" not in printed
    assert "needs Python 3.12 or newer" in printed
    readme = (tmp_path / "p/README.md").read_text("utf-8")
    assert "They need Python 3.12 or newer" in readme
    assert not re.search(r"`pip install", readme)
