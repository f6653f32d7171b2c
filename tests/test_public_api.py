"""What `import toolbench` offers, and what it does not cost."""

import subprocess
import sys
from importlib import import_module

import pytest

import toolbench

NAMES = {
    "Action", "Conversation", "ConversationState", "ExecutableTool", "ImageContent",
    "Observation", "Schema", "SecurityRisk", "TextContent", "Tool", "ToolAnnotations",
    "ToolBase", "ToolDefinition", "ToolExecutor", "ToolRegistry", "ToolbenchError",
    "__version__", "bench", "current_run", "history", "list_registered_tools",
    "load_ipython_extension", "register_tool", "resolve_tool", "run_tool",
    "unload_ipython_extension",
}  # fmt: skip
# What is used beside them
ADDED = {"Secret", "answering", "policy", "run_tools", "secret", "tool"}
CORE = {
    "content": ["ImageContent", "TextContent"],
    "schema": ["Action", "Observation", "Schema"],
    "tool": ["ExecutableTool", "ToolBase", "ToolDefinition"],
    "spec": ["Tool"],
    "registry": [
        "ToolRegistry",
        "list_registered_tools",
        "register_tool",
        "resolve_tool",
    ],
    "security": ["SecurityRisk"],
    "state": ["Conversation", "ConversationState"],
    "builtins": ["FinishTool", "ThinkTool"],
}
HEAVY = [
    "IPython", "PIL", "anyio", "asyncio", "fastmcp", "griffe", "httpx", "httpx2", "ipykernel",
    "ipywidgets", "jsonschema", "jsonschema_rs", "markdown_it", "mcp", "numpy", "openai",
    "pandas", "playwright", "psutil", "traitlets", "yaml",
]  # fmt: skip
NATIVE = """
from toolbench import Action, ToolDefinition, ToolRegistry
class A(Action):
    x: int = 1
tool = ToolDefinition(name="t", action_type=A, executor=lambda action: str(action.x))
registry = ToolRegistry()
registry.register("t", tool)
assert registry.resolve("t")[0]({}).text == "1"
tool.to_openai_tool(), tool.to_mcp_tool(), tool({}).visualize
"""
EXTENSION = """
from IPython.core.interactiveshell import InteractiveShell
InteractiveShell.instance().run_line_magic("load_ext", "toolbench")
"""
LATER = [
    ("from toolbench import tool\n@tool\ndef f():\n  'Do it.'", {"griffe"}),
    (
        "from toolbench import Action\nAction.from_mcp_schema('A', {})",
        {"jsonschema_rs"},
    ),
]


def modules_after(code):
    """The top-level modules that *code* loads in a fresh process."""
    program = f"{code}\nimport sys\nprint(*sorted({{m.partition('.')[0] for m in sys.modules}}))"
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return set(done.stdout.split())


class TestNames:
    def test_are_those_of_the_design(self):
        """Nothing is missing, and nothing is added without being written down here."""
        assert set(toolbench.__all__) == NAMES | ADDED

    def test_are_sorted_and_said_once(self):
        """The list reads as a list."""
        assert toolbench.__all__ == sorted(set(toolbench.__all__))

    def test_can_be_imported(self):
        """Every name is there when it is asked for, and stays the same."""
        assert set(dir(toolbench)) >= NAMES | ADDED
        for name in NAMES | ADDED:
            assert getattr(toolbench, name) is getattr(toolbench, name)

    def test_that_are_not_there_are_an_attribute_error(self):
        """A typing mistake is told as Python tells it."""
        with pytest.raises(AttributeError, match="has no attribute 'Toolbox'"):
            _ = toolbench.Toolbox

    def test_of_the_core_are_in_its_modules(self):
        """Readers of the reference's documentation find things where they look."""
        for module, names in CORE.items():
            home = import_module(f"toolbench.core.{module}")
            for name in names:
                assert getattr(home, name) is getattr(toolbench, name, getattr(home, name))


class TestImporting:
    def test_toolbench_loads_next_to_nothing(self):
        """`import toolbench` is a table of names: not even pydantic is loaded for it."""
        loaded = modules_after("import toolbench")
        assert loaded.isdisjoint([*HEAVY, "pydantic", "rich"])

    def test_a_tool_needs_pydantic_and_rich_only(self):
        """Defining, exporting and running a native tool loads nothing heavy."""
        loaded = modules_after(NATIVE)
        assert loaded.isdisjoint(HEAVY)
        assert {"pydantic", "rich"} <= loaded

    @pytest.mark.slow
    def test_the_extension_loads_no_servers_and_tables(self):
        """A notebook that connects no server does not wait for what that takes."""
        loaded = modules_after(EXTENSION)
        assert loaded.isdisjoint({"fastmcp", "mcp", "jsonschema", "pandas", "numpy", "openai"})
        assert {"IPython", "toolbench"} <= loaded

    def test_definitions_load_nothing_that_runs_them(self):
        """Tools of this machine, of the network and of the page; nor does what is shown in a script."""
        tools = [
            f"toolbench.tools.{name}" for name in ("web_read", "ipython", "browser", "terminal")
        ]
        code = f"import toolbench.network, toolbench.display, {', '.join(tools)}"
        assert modules_after(code).isdisjoint([*HEAVY, "pty", "termios"])

    @pytest.mark.slow
    def test_widgets_load_by_their_package(self):
        """The widgets that api.md names are in `toolbench.widgets`, and only what is asked for loads."""
        modules_after(
            "import sys\nfrom toolbench.widgets import SchemaForm\n"
            "assert 'toolbench.widgets.panel' not in sys.modules\n"
            "from toolbench.widgets import ToolPanel\n"
            "assert 'toolbench.widgets.explorer' not in sys.modules"
        )

    @pytest.mark.parametrize(("code", "heavy"), LATER)
    def test_the_rest_comes_when_it_is_needed(self, code, heavy):
        """A docstring needs its parser, a foreign schema its validator; neither the other."""
        assert modules_after(code) & set(HEAVY) == heavy


@pytest.mark.slow
def test_import_toolbench_suffices():
    """The packages below are attributes, and their public functions are where one looks."""
    names = [
        *("mcp.create_mcp_tools", "llm.lint_tool", "run_tools", "evals.evaluate"),
        *("serving.serve", "export.export_package", "compat.openhands"),
    ]
    code = "\n".join(f"assert callable(toolbench.{name})" for name in names)
    modules_after(f"import toolbench\n{code}")
