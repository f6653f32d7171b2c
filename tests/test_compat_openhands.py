"""Files of tools that were written for the OpenHands SDK load and run here as they are."""

import builtins
import importlib
import importlib.util
import sys
from concurrent.futures import ThreadPoolExecutor
from shutil import rmtree
from threading import Barrier

import pytest

from toolbench import ConversationState, ToolDefinition, resolve_tool, run_tool
from toolbench.compat import openhands
from toolbench.core.registry import default_registry
from toolbench.errors import ToolbenchError
from toolbench.tools.terminal import TerminalTool

# In the style of the custom tools of the SDK's examples: a tool that logs, registered on import.
NOTES = '''
from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path

from pydantic import Field

from openhands.sdk import Action, ImageContent, Observation, TextContent, ToolDefinition
from openhands.sdk.tool import ToolExecutor, register_tool
from openhands.sdk.tool.registry import list_usable_tools


class Kind(StrEnum):
    PLAN = "plan"
    FACT = "fact"


class NoteAction(Action):
    text: str = Field(description="What to note.")
    kind: Kind = Field(default=Kind.FACT, description="What sort of note.")


class NoteObservation(Observation):
    notes: int = Field(description="How many there are.")

    @property
    def to_llm_content(self) -> Sequence[TextContent | ImageContent]:
        return [TextContent(text=f"{self.notes} notes.")]


class NoteExecutor(ToolExecutor[NoteAction, NoteObservation]):
    def __init__(self, file: str):
        self.file = Path(file)

    def __call__(self, action: NoteAction, conversation=None) -> NoteObservation:
        with self.file.open("a") as file:
            file.write(f"{action.kind.value}: {action.text}\\n")
        return NoteObservation(notes=len(self.file.read_text().splitlines()))


class NoteTool(ToolDefinition[NoteAction, NoteObservation]):
    """Notes what is said."""

    @classmethod
    def create(cls, conv_state, **params) -> Sequence[ToolDefinition]:
        file = params.get("file", f"{conv_state.workspace.working_dir}/notes.txt")
        return [
            cls(
                description="Notes something.",
                action_type=NoteAction,
                observation_type=NoteObservation,
                executor=NoteExecutor(file),
            )
        ]


register_tool("NoteTool", NoteTool)
'''
# A set of tools around a shared terminal, with the imports of a file that also runs an agent.
COUNTS = """
from collections.abc import Sequence

from openhands.sdk import LLM, Action, Agent, Conversation, Event, Observation, TextContent
from openhands.sdk import ToolDefinition, get_logger
from openhands.sdk.tool import Tool, ToolExecutor
from openhands.tools.terminal import TerminalAction, TerminalExecutor, TerminalTool
from openhands.tools.terminal.definition import TerminalObservation

logger = get_logger(__name__)


class CountAction(Action):
    path: str


class CountObservation(Observation):
    lines: int = 0


class CountExecutor(ToolExecutor[CountAction, CountObservation]):
    def __init__(self, terminal: TerminalExecutor):
        self.terminal: TerminalExecutor = terminal

    def __call__(self, action: CountAction, conversation=None) -> CountObservation:
        result: TerminalObservation = self.terminal(TerminalAction(command=f"wc -l < {action.path}"))
        return CountObservation.from_text(result.text, lines=int(result.text))

    def close(self):
        self.terminal.close()


class CountToolSet(ToolDefinition[Action, Observation]):
    @classmethod
    def create(cls, conv_state, **params) -> Sequence[ToolDefinition]:
        executor = TerminalExecutor(working_dir=conv_state.workspace.working_dir)
        terminal = TerminalTool.create(conv_state, executor=executor, **params)[0]
        return [terminal, *CountTool.create(conv_state, executor)]


class CountTool(ToolDefinition[CountAction, CountObservation]):
    @classmethod
    def create(cls, conv_state, terminal) -> Sequence[ToolDefinition]:
        return [
            cls(
                description="Counts lines.",
                action_type=CountAction,
                observation_type=CountObservation,
                executor=CountExecutor(terminal),
            )
        ]
"""


@pytest.fixture(autouse=True)
def _as_in_a_new_process(monkeypatch):
    """No other test has called `openhands()`, and no later one finds what this one installed."""
    finders = [one for one in sys.meta_path if "toolbench" not in one.__module__]
    monkeypatch.setattr(sys, "meta_path", finders)
    forget()
    yield
    forget()


def forget():
    for name in [name for name in sys.modules if name.partition(".")[0] == "openhands"]:
        del sys.modules[name]


@pytest.fixture
def load(tmp_path, monkeypatch):
    """Loads a text as a module, inside of `openhands()`."""
    monkeypatch.syspath_prepend(tmp_path)
    names = []

    def load(name, text):
        (tmp_path / f"{name}.py").write_text(text)
        names.append(name)
        with openhands():
            return importlib.import_module(name)

    yield load
    for name in names:
        sys.modules.pop(name, None)
    for name in ("NoteTool", "QuickGlob"):
        default_registry.unregister(name)


def test_a_registered_tool_runs(load, tmp_path):
    """It is one of ours: created from its registration, checked, run and described to a model."""
    module = load("notes_for_openhands", NOTES)
    assert "NoteTool" in module.list_usable_tools()
    [tool] = resolve_tool("NoteTool", ConversationState(tmp_path))
    assert isinstance(tool, ToolDefinition)
    assert tool.name == "note"
    observation = run_tool(tool, text="tea", kind="plan")
    assert [block.text for block in observation.to_llm_content] == ["1 notes."]
    assert (tmp_path / "notes.txt").read_text() == "plan: tea\n"
    assert run_tool(tool, text="tea", kind="wish").is_error
    assert tool.parameters()["properties"]["kind"]["enum"] == ["plan", "fact"]


def test_tools_that_share_a_terminal_run(load, tmp_path):
    """The runtime tools of the SDK are ours of the same names."""
    module = load("counts_for_openhands", COUNTS)
    (tmp_path / "x.txt").write_text("1\n2\n")
    terminal, count = module.CountToolSet.create(ConversationState(tmp_path))
    try:
        assert isinstance(terminal, TerminalTool)
        assert run_tool(count, path="x.txt").lines == 2
    finally:
        count.executor.close()
        terminal.executor.close()


LATER = """
from openhands.sdk import Action, Observation, ToolDefinition


class LaterAction(Action):
    pass


class LaterTool(ToolDefinition[LaterAction, Observation]):
    @classmethod
    def create(cls, conv_state=None, **params):
        from openhands.tools.glob.impl import GlobExecutor
        import openhands.sdk.tool as sdk_tool

        def work(action, conversation=None):
            from openhands.sdk.llm import TextContent
            return Observation(content=[TextContent(text=GlobExecutor.__module__)])

        assert sdk_tool.ToolDefinition is ToolDefinition
        return [cls(description="Later.", action_type=LaterAction, executor=work)]
"""


@pytest.mark.parametrize("is_block", [False, True])
def test_a_call_holds_until_the_process_ends(tmp_path, is_block):
    """In functions, in several threads and outside of a block; `__import__` stays Python's own."""
    before = builtins.__import__
    start = Barrier(8)

    def first(_):
        start.wait()
        openhands()
        return importlib.import_module("openhands.sdk.tool").ToolDefinition

    with ThreadPoolExecutor(8) as pool:
        assert set(pool.map(first, range(8))) == {ToolDefinition}
    (tmp_path / "later.py").write_text(LATER)
    # As a file whose name is no name of a module is loaded
    spec = importlib.util.spec_from_file_location("later_for_openhands", tmp_path / "later.py")
    module = importlib.util.module_from_spec(spec)
    if is_block:
        with openhands():
            spec.loader.exec_module(module)
    else:
        openhands()
        spec.loader.exec_module(module)

    def text(_):
        [tool] = module.LaterTool.create()
        return run_tool(tool).text

    with ThreadPoolExecutor(4) as pool:
        assert set(pool.map(text, range(20))) == {"toolbench.tools.glob.impl"}
    assert builtins.__import__ is before
    # As `%pip install` does
    importlib.invalidate_caches()
    assert importlib.import_module("openhands.sdk").ToolDefinition is ToolDefinition


def test_what_the_examples_import_can_be_imported(load):
    """Modules and functions around agents; what is not here says so when it is called."""
    module = load(
        "agents_for_openhands",
        "from openhands.sdk.context.condenser import LLMSummarizingCondenser\n"
        "from openhands.sdk.subagent import register_agent\n"
        "from openhands.tools.preset.default import get_default_agent\n"
        "from openhands.workspace import DockerWorkspace\n",
    )
    with pytest.raises(ToolbenchError, match=r"preset\.default\.get_default_agent"):
        module.get_default_agent(llm=None)


def test_what_we_do_not_have_says_so_when_it_is_used(load):
    """A file may import it; the sentence names it."""
    module = load("counts_for_openhands", COUNTS)
    with pytest.raises(ToolbenchError, match=r"in the place of openhands\.sdk\.LLM"):
        module.LLM(model="x")
    with pytest.raises(ToolbenchError, match=r"openhands\.sdk\.Event"):
        load("event_of_ours", "from openhands.sdk import Event\nclass E(Event): pass")


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("import openhands.sdk.nowhere", "has no module for openhands.sdk.nowhere"),
        ("from openhands.sdk import no_such_function", "cannot import name"),
        ("from openhands.tools.terminal import NoTool", "cannot import name"),
        ("import openhands.tools.delegate.x", "has no module for"),
        ("import openhands.of_others", "No module named 'openhands.of_others'"),
        (
            "from importlib.util import find_spec\nraise ImportError(find_spec('openhands.of_others'))",
            "None",
        ),
    ],
)
def test_what_is_unknown_is_an_import_error(load, line, words):
    """As Python says it."""
    with pytest.raises(ImportError, match=words):
        load("unknown_names", line)


def test_an_installed_sdk_is_never_mixed_with_ours(load, tmp_path, monkeypatch):
    """The sentence says where it is; without it, other packages of its namespace stay in reach."""
    package = tmp_path / "openhands" / "sdk"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("WHOSE = 'theirs'")
    (package.parent / "mine.py").write_text("WHOSE = 'mine'")
    monkeypatch.syspath_prepend(tmp_path)
    finders = list(sys.meta_path)
    with pytest.raises(ToolbenchError, match=r"sdk/__init__\.py\), so files would import"):
        openhands()
    assert sys.meta_path == finders
    assert importlib.import_module("openhands.sdk").WHOSE == "theirs"
    rmtree(package)
    forget()
    importlib.invalidate_caches()
    module = load("beside_mine", "from openhands.sdk import Action\nfrom openhands import mine")
    assert module.mine.WHOSE == "mine"


# In the style of tools that people publish: around our own tools, with the SDK's functions
AROUND = """
from openhands.sdk import Action, Observation, TextContent, register_tool
from openhands.sdk.tool import DeclaredResources, Tool, is_tool_usable
from openhands.sdk.tool.tool import create_action_type_with_risk
from openhands.sdk.utils import maybe_truncate
from openhands.sdk.utils.truncate import DEFAULT_TRUNCATE_NOTICE
from openhands.tools import FileEditorTool, get_default_tools
from openhands.tools.file_editor.definition import TOOL_DESCRIPTION, FileEditorAction
from openhands.tools.glob import GlobAction, GlobExecutor, GlobTool

class PageObservation(Observation):
    text_of_page: str
    folder: str | None = None

    @property
    def to_llm_content(self):
        short = maybe_truncate(self.text_of_page, 200, save_dir=self.folder, tool_prefix="page")
        return [TextContent(text=short)]


class QuickGlob(GlobTool):
    def declared_resources(self, action):
        safe = isinstance(self.executor, GlobExecutor) and self.executor.is_parallel_safe()
        return DeclaredResources(keys=(), declared=safe)


def specs():
    for action in (GlobAction, FileEditorAction):
        create_action_type_with_risk(action)
    return [Tool(name=name) for name in ("QuickGlob", "no_such_tool") if is_tool_usable(name)]


def described(place):
    return f"{TOOL_DESCRIPTION}\\n\\nWork in {place}."


register_tool("QuickGlob", QuickGlob)
"""


def test_what_authors_call_works_as_there(load, tmp_path):
    """The functions of the SDK around a tool: its risk, its use, long texts, parallel calls."""
    module = load("around_for_openhands", AROUND)
    assert [spec.name for spec in module.specs()] == ["QuickGlob"]
    assert module.is_tool_usable("no_such_tool") is False
    assert module.described("/w").endswith("Work in /w.")
    with ThreadPoolExecutor(8) as pool:
        made = list(pool.map(module.create_action_type_with_risk, [module.GlobAction] * 40))
    assert len(set(made)) == 1
    assert made[0].__name__ == "GlobActionWithRisk"
    assert made[0](pattern="*").security_risk == "UNKNOWN"
    assert "security_risk" not in made[0].to_mcp_schema()["required"]
    [glob] = module.QuickGlob.create(ConversationState(tmp_path))
    assert glob.declared_resources(glob.action_from_arguments({"pattern": "*"})).declared


def test_a_long_text_keeps_its_ends(load, tmp_path):
    """Never longer than was said; the whole is in a file, if there is a place for it."""
    module = load("around_for_openhands", AROUND)
    page = "\n".join(f"line {number}" for number in range(100))
    [block] = module.PageObservation(text_of_page=page).to_llm_content
    assert len(block.text) == 200
    assert module.DEFAULT_TRUNCATE_NOTICE in block.text
    assert block.text.startswith("line 0\n")
    assert block.text.endswith("line 99")
    [block] = module.PageObservation(text_of_page=page, folder=str(tmp_path / "p")).to_llm_content
    [saved] = (tmp_path / "p").iterdir()
    assert saved.read_text() == page
    assert len(block.text) == 200
    assert module.maybe_truncate(page, 3) == module.DEFAULT_TRUNCATE_NOTICE[:3]
    for limit in (None, 0, -1, len(page)):
        assert module.maybe_truncate(page, limit) == page
    (tmp_path / "file").write_text("")
    assert len(module.maybe_truncate(page, 200, save_dir=str(tmp_path / "file"))) == 200
