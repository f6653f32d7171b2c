"""The OpenHands SDK, in an environment of its own: its agent runs what we export and what we serve."""

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from environments import uv
from test_export.notebook import new_notebook
from test_export.notebook_tools import TOOLS

from toolbench import ConversationState, ToolDefinition, run_tool, tool
from toolbench.compat import openhands
from toolbench.core.registry import default_registry
from toolbench.export import export_package
from toolbench.serving import serve

AGENT = Path(__file__).with_name("openhands_agent.py")


@pytest.fixture(scope="module")
def sdk(script):
    """The Python that has the SDK."""
    if script.stamp(script.SDK_PLACE) != "\n".join(script.SDK):
        pytest.skip("THE OPENHANDS SDK IS NOT TESTED: run `make peers` with Python 3.12 or newer")
    return script.SDK_PLACE / "bin" / "python"


def run(python, *arguments, **options):
    environment = {**os.environ, "LITELLM_LOCAL_MODEL_COST_MAP": "True"}
    return subprocess.run(
        [python, *arguments],
        capture_output=True,
        text=True,
        check=False,
        env=environment,
        **options,
    )


def answers(python, folder, **spec):
    """What the tools answered to a scripted model's calls."""
    done = run(python, AGENT, cwd=folder, input=json.dumps({**spec, "workspace": str(folder)}))
    [line] = [s for s in done.stdout.splitlines() if s.startswith("RESULTS ")] or [done.stderr]
    return json.loads(line.removeprefix("RESULTS "))


# It installs thirty packages
@pytest.mark.long
def test_exported_packages_pass_and_its_agent_runs_them(sdk, tmp_path):
    """Every package passes its tests with the SDK alone; a scripted agent calls four of them."""
    folders = []
    with new_notebook() as notebook:
        for one in TOOLS:
            first = notebook.shell.execution_count
            notebook.run(*one.cells)
            tool, folder = notebook[one.variable], tmp_path / one.variable
            for arguments in one.calls:
                run_tool(tool, arguments)
            cells = [first + place for place in one.taken]
            folders.append(export_package(tool, folder, cells=cells, openhands=True))
    # What one of the tools needs
    others = ("pyyaml", "regex")
    into = ("--python", str(sdk))
    uv("pip", "install", *into, *others, untested="EXPORTED PACKAGES FOR OPENHANDS ARE")
    options = ("--no-deps", "--no-build-isolation", "--reinstall", "--no-cache")
    uv(
        "pip",
        "install",
        *into,
        *options,
        *map(str, folders),
        untested="EXPORTED PACKAGES ARE",
    )
    tests = ("-m", "pytest", "-q", "-p", "no:cacheprovider", "-W", "ignore")
    done = run(sdk, *tests, *folders, cwd=tmp_path)
    assert " passed" in done.stdout, done.stdout[-3000:]
    assert "failed" not in done.stdout, done.stdout[-3000:]
    names = ["split_bill", "double", "search", "fetch_later"]
    calls = [
        {"name": "split_bill", "arguments": {"total": 84, "people": 4}},
        {"name": "double", "arguments": {"n": 3}},
        {"name": "search", "arguments": {"pattern": "t.."}},
        {"name": "fetch_later", "arguments": {"x": 4}},
    ]
    results = answers(sdk, tmp_path, packages=names, tools=names, calls=calls)
    assert [one["text"] for one in results] == ["21.0", "6", "tea, two", "8"]


@pytest.mark.parametrize(
    ("name", "arguments", "words"),
    [
        ("glob", {"pattern": "*.txt"}, "notes.txt"),
        ("grep", {"pattern": "milk"}, "notes.txt"),
        ("task_tracker", {"command": "view"}, "task"),
    ],
)
def test_its_own_tools_load_and_run_here(sdk, tmp_path, monkeypatch, name, arguments, words):
    """The files that the SDK ships, unchanged; what works for them is ours."""
    [path] = sdk.parents[1].glob(f"lib/*/site-packages/openhands/tools/{name}/definition.py")
    (tmp_path / "notes.txt").write_text("milk\n")
    spec = importlib.util.spec_from_file_location(f"shipped_{name}", path)
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, spec.name, module)
    with openhands():
        spec.loader.exec_module(module)
        kind = next(
            value
            for value in vars(module).values()
            if getattr(value, "__module__", "") == spec.name
            and isinstance(value, type)
            and issubclass(value, ToolDefinition)
        )
    # The file registers it
    default_registry.unregister(kind.name)
    [tool] = kind.create(ConversationState(tmp_path))
    observation = run_tool(tool, arguments)
    text = "".join(block.text for block in observation.to_llm_content)
    assert not observation.is_error, text
    assert words in text.lower()


def test_its_agent_calls_what_we_serve(sdk, tmp_path):
    """By the address and the token, as an entry of its `mcp_config`."""

    @tool(read_only=True)
    def twice(n: int) -> int:
        """Double it."""
        return 2 * n

    with serve([twice], name="sdk") as served:
        headers = {"Authorization": f"Bearer {served.token}"}
        config = {"sdk": {"url": served.url, "transport": "http", "headers": headers}}
        results = answers(
            sdk,
            tmp_path,
            mcp_config=config,
            calls=[{"name": "twice", "arguments": {"n": 21}}],
        )
        assert "42" in results[0]["text"]
        assert [call.state for call in served.calls] == ["ok"]
