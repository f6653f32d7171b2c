"""Write the other files of an exported project: metadata, README, notebook, server and tests."""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from toolbench.export.project.recorded_calls import RecordedCalls
from toolbench.export.tool_code.tool_parts import AnyTool, literal
from toolbench.wording import counted


def pyproject_for(
    package: str,
    summary: str,
    requirements: Sequence[str],
    extra: Sequence[str],
    python: str,
) -> str:
    """Return the text of pyproject.toml.

    Args:
        package: The name of the import package.
        summary: The description of the package, in one line.
        requirements: The distributions that the package requires.
        extra: The distributions that only the MCP server in the package requires.
        python: The lowest version of Python that the package supports.
    """
    name = package.replace("_", "-")
    return f"""\
[build-system]
requires = ["hatchling"]
build-backend = "hatchling.build"

[project]
name = {_toml(name)}
version = "0.1.0"
description = {_toml(summary)}
readme = "README.md"
requires-python = ">={python}"
dependencies = {_listed(requirements)}

[project.optional-dependencies]
server = {_listed(extra)}
test = ["pytest>=8"]

[project.scripts]
{name}-server = "{package}.server:main"

[tool.hatch.build.targets.wheel]
packages = [{_toml(package)}]

[tool.pytest.ini_options]
pythonpath = ["."]
testpaths = ["tests"]
"""


def readme_for(
    package: str,
    tools: Sequence[AnyTool],
    calls: RecordedCalls,
    notes: Sequence[str],
    *,
    openhands: bool,
) -> str:
    """Return the text of README.md; *notes* are sentences about what the user should check."""
    name = package.replace("_", "-")
    names = "\n".join(f"- `{tool.name}`: {_first_line(tool.description)}" for tool in tools)
    tested = ", ".join(_tested(len(calls.repeated), len(calls.accepted)))
    target, python, pip, server = "toolbench", "python", "pip", f"{name}-server"
    used = f"`from {package} import create_tools` makes them."
    if openhands:
        target, python, pip = "the OpenHands SDK", ".venv/bin/python", ".venv/bin/python -m pip"
        server = f".venv/bin/{server}"
        used = f"`import {package}` registers them for `Tool(name=...)` of an agent."
    remarks = ""
    if notes:
        remarks = "\n## To look at\n\n" + "".join(f"- {note}\n" for note in notes)
    return f"""\
# {name}

Tools for {target}, exported from a notebook by toolbench.

{names}

{_installing(openhands=openhands)}{used}

| file | what it holds |
|---|---|
| `{package}/definition.py` | the name, the description, the input and the output |
| `{package}/impl.py` | the code that does the work |
| `{package}/server.py` | an MCP server over stdio: `{pip} install '.[server]'`, then `{server}` |
| `tests/test_{package}.py` | {tested}: `{pip} install '.[test]'`, then `{python} -m pytest` |
| `{package}.ipynb` | to try it |
{remarks}"""


def _tested(repeated: int, accepted: int) -> Iterator[str]:
    """Yield sentences about what the tests check.

    *repeated* is the number of calls whose results are compared. *accepted* is the number of calls
    of which only the arguments are checked.
    """
    yield "a model gets the same description"
    if repeated:
        yield f"{counted(repeated, 'call')} of the notebook, with the results"
    else:
        yield "no recorded call could be repeated"
    if accepted:
        yield f"the arguments of {counted(accepted, 'more call' if repeated else 'call')}"


def _installing(*, openhands: bool) -> str:
    """Return how to install the package on any machine, without paths of this one."""
    if openhands:
        return (
            "They need Python 3.12 or newer, and their own environment: the SDK cannot share one "
            "with toolbench. In this folder, `python3.12 -m venv .venv` makes one, "
            "`.venv/bin/python -m pip install .` installs them there. "
        )
    return (
        "Where toolbench is installed, `pip install .` in this folder installs them. In a clean "
        "environment:\n\n```\npython3 -m venv .venv\n"
        ".venv/bin/python -m pip install TOOLBENCH .\n```\n\n"
        "`TOOLBENCH` is the path of a checkout of toolbench: it is not on PyPI yet.\n\n"
    )


_READ_BY_MODEL = """\
for block in observation.to_llm_content:
    print(getattr(block, "text", block))"""


def notebook_for(
    package: str,
    tools: Sequence[AnyTool],
    calls: Sequence[Mapping[str, Any]],
    *,
    openhands: bool,
) -> str:
    """Return the JSON of a notebook that makes the tools and repeats a recorded call of each."""
    cells = [("markdown", f"# {package}\n\nIn an environment with this package installed.")]
    if not openhands:
        cells.append(("code", "%load_ext toolbench"))
    names = ", ".join(f"tools[{tool.name!r}]" for tool in tools)
    cells.append(
        (
            "code",
            f"from {package} import create_tools\n\n"
            f"tools = {{tool.name: tool for tool in create_tools()}}\n{names}",
        )
    )
    for tool in tools:
        own = [call["arguments"] for call in calls if call["tool"] == tool.name]
        if not own:
            continue
        called, text = f"tools[{tool.name!r}]", literal(own[-1])
        if openhands:
            code = f"{called}({called}.action_from_arguments({text}))\n{_READ_BY_MODEL}"
        else:
            code = f"{called}({text})\nobservation"
        cells.append(("code", f"observation = {code}"))
    return json.dumps(_notebook(cells), indent=1, ensure_ascii=False) + "\n"


def _notebook(cells: Sequence[tuple[str, str]]) -> dict[str, Any]:
    entries: list[dict[str, Any]] = [
        {
            "cell_type": kind,
            "id": f"cell-{number}",
            "metadata": {},
            "source": source.splitlines(keepends=True),
            **({"execution_count": None, "outputs": []} if kind == "code" else {}),
        }
        for number, (kind, source) in enumerate(cells)
    ]
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    metadata = {"kernelspec": kernel, "language_info": {"name": "python"}}
    return {"cells": entries, "metadata": metadata, "nbformat": 4, "nbformat_minor": 5}


def _toml(text: str) -> str:
    """Return *text* as a TOML string: a JSON string, but without escaped surrogate pairs."""
    # Replace lone surrogates
    text = text.encode(errors="replace").decode()
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def _listed(items: Sequence[str]) -> str:
    if len(items) < 2:
        return f"[{', '.join(map(_toml, items))}]"
    return "[\n" + "".join(f"  {_toml(item)},\n" for item in items) + "]"


def _first_line(text: str) -> str:
    return text.strip().partition("\n")[0] or "no description"


def server_for(package: str, *, openhands: bool) -> str:
    """Return the text of `server.py` of *package*."""
    text = (_WITH_SDK if openhands else _WITH_TOOLBENCH) + _TAIL
    name = package.replace("_", "-")
    return text.replace("{package}", package).replace("{name}", name)


_WITH_TOOLBENCH = '''\
"""An MCP server with these tools, over stdio: `{name}-server`."""

import signal
import sys
from typing import Any

from toolbench.serving import stdio_server

from {package} import create_tools


def create_server() -> Any:
    """Return the server; its `run()` serves over stdio."""
    return stdio_server(create_tools, name="{name}")
'''
_WITH_SDK = '''\
"""An MCP server with these tools, over stdio: `{name}-server`."""

import asyncio
import signal
import sys
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from fastmcp import FastMCP
from fastmcp.exceptions import ToolError
from fastmcp.tools import Tool, ToolResult
from mcp.types import TextContent

from {package} import create_tools

WORKER = ThreadPoolExecutor(1)  # the tools run in the thread in which they are made


class ServedTool(Tool):
    """A tool as FastMCP serves it."""

    made: Any

    async def run(self, arguments: dict[str, Any]) -> ToolResult:
        """Run the tool in its thread; what fails is an error for the agent."""
        loop = asyncio.get_running_loop()
        try:
            action = self.made.action_from_arguments(arguments)
            observation = await loop.run_in_executor(WORKER, self.made, action)
        except Exception as error:  # a tool may raise anything
            raise ToolError(f"{type(error).__name__}: {error}") from error
        text = "".join(getattr(part, "text", "") for part in observation.to_llm_content)
        if observation.is_error:
            raise ToolError(text)
        structured = observation.model_dump(mode="json") if self.output_schema else None
        return ToolResult(
            content=[TextContent(type="text", text=text)], structured_content=structured
        )


def create_server() -> FastMCP:
    """Return the server; its `run()` serves over stdio."""
    server: FastMCP = FastMCP("{name}")
    for tool in WORKER.submit(create_tools).result():
        offer, annotations = tool.to_mcp_tool(), tool.annotations
        served = ServedTool(
            name=tool.name,
            description=tool.description,
            parameters=offer["inputSchema"],
            output_schema=offer.get("outputSchema"),
            annotations=annotations and annotations.model_dump(),
            made=tool,
        )
        server.add_tool(served)
    return server
'''
_TAIL = '''

def main() -> None:
    """Serve until the client ends it."""
    try:
        server = create_server()
    except OSError as error:  # something is missing here, as a variable or a file
        sys.exit(str(error))
    # C-c ends it at once: FastMCP would wait for a last line of input
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    server.run(show_banner=False)


if __name__ == "__main__":
    main()
'''


def tests_for(
    package: str,
    *,
    variables: Sequence[str],
    files: Sequence[str],
    has_repeated: bool,
    has_accepted: bool,
    openhands: bool,
) -> str:
    """Return the text of the tests of *package*.

    Args:
        package: The name of the import package.
        variables: The names of environment variables. If one is not set, the tests are skipped.
        files: The files that the code mentions, but that are not in the package.
        has_repeated: Whether there are recorded calls to repeat.
        has_accepted: Whether there are recorded calls that are not repeated, but whose arguments
            are checked.
        openhands: Whether the tests are for the OpenHands SDK.
    """
    modules, imports, marks = ["json"], "", ""
    own, tools, run = f"\nfrom {package} import create_tools\n", _TOOLS, _RUN_BY_SDK
    if files:
        modules, own, tools = ["json", "os", "shutil"], "", _TOOLS_WITH_FILES
        marks = f"FILES = {_json_list(files)}  # named in the code, not in the package\n"
    if variables:
        modules = sorted({*modules, "os"})
        marks += _NEEDED.replace("{variables}", _json_list(variables))
    parts = [_HEAD, _OFFERED]
    if openhands:
        parts[1] = _OFFERED_BY_SDK
    if has_repeated:
        parts.append(_CALLS)
        if not openhands:
            run, imports = _RUN, _IMPORTS
    if has_accepted:
        parts.append(_ACCEPTED)
    values = {
        "{modules}": "".join(f"import {name}\n" for name in modules),
        "{imports}": imports,
        "{own}": own,
        "{marks}": marks,
        "{tools}": tools,
        "{run}": run,
        "{package}": package,
    }
    text = "\n\n".join(parts)
    for mark, value in values.items():
        text = text.replace(mark, value)
    return text


def _json_list(names: Sequence[str]) -> str:
    written = ", ".join(json.dumps(name, ensure_ascii=False) for name in names)
    return f"[{written}]"


_IMPORTS = """\
from toolbench import answering, run_tool
from toolbench.runs.questions import Answer
"""
_RUN_BY_SDK = 'observation = tool(tool.action_from_arguments(call["arguments"]))'
_RUN = """\
answers = [Answer(**answer) for answer in call.get("answers", [])]
    with answering(*answers):  # as a person gave them in the notebook; no other is given
        observation = run_tool(tool, call["arguments"])"""
_HEAD = '''\
"""The tools are as they were in the notebook: `python -m pytest`."""

{modules}from pathlib import Path

import pytest
{imports}{own}
RECORDED = json.loads((Path(__file__).parent / "recorded.json").read_text("utf-8"))
{marks}

{tools}'''
_TOOLS = """\
@pytest.fixture(scope="module")
def tools():
    made = {tool.name: tool for tool in create_tools()}
    yield made
    for tool in made.values():
        tool.executor.close()
"""
_TOOLS_WITH_FILES = '''\
@pytest.fixture(scope="module")
def tools(tmp_path_factory):
    """The tools, in a new folder with copies of the files: the tests change no file of yours."""
    before, place = Path.cwd(), tmp_path_factory.mktemp("files")
    for file in FILES:
        if not Path(file).is_file():
            pytest.skip(f"put {file}, which the code names, into {before}")
        if not Path(file).is_absolute():
            (place / file).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(file, place / file)
    os.chdir(place)
    try:
        from {package} import create_tools

        made = {tool.name: tool for tool in create_tools()}
        yield made
        for tool in made.values():
            tool.executor.close()
    finally:
        os.chdir(before)
'''
_NEEDED = """
MISSING = [name for name in {variables} if not os.environ.get(name)]
pytestmark = pytest.mark.skipif(bool(MISSING), reason=f"set {', '.join(MISSING)}")

"""
_OFFERED = '''\
@pytest.mark.parametrize("name", list(RECORDED["offers"]))
def test_a_model_is_offered_the_same(tools, name):
    """The name, the description and the arguments are the same as in the notebook."""
    offer = tools[name].to_mcp_tool()
    recorded = RECORDED["offers"][name]
    assert {key: offer[key] for key in recorded} == recorded
'''
_OFFERED_BY_SDK = '''\
@pytest.mark.parametrize("name", list(RECORDED["offers"]))
def test_a_model_is_offered_the_same(tools, name):
    """The description and the arguments are as in the notebook; the SDK leaves out limits."""
    recorded = RECORDED["offers"][name]
    assert tools[name].description == recorded["description"]
    schema = tools[name].to_mcp_tool()["inputSchema"]
    for part in ("properties", "required"):
        assert set(schema.get(part, ())) == set(recorded["inputSchema"].get(part, ()))
'''
_CALLS = '''\
@pytest.mark.parametrize("number", range(len(RECORDED["calls"])))
def test_a_call_answers_as_in_the_notebook(tools, number):
    """The same arguments give the same result."""
    call = RECORDED["calls"][number]
    tool = tools[call["tool"]]
    {run}
    text = "".join(getattr(b, "text", "") for b in observation.content)
    assert text == call["text"], "what may be missing is in README.md, below To look at"
    assert observation.is_error == call["is_error"]
    fields = observation.model_dump(mode="json")
    assert {name: fields[name] for name in call.get("fields", {})} == call.get("fields", {})
    if "read_by_model" in call:
        blocks = observation.to_llm_content
        assert "".join(getattr(b, "text", "") for b in blocks) == call["read_by_model"]
'''
_ACCEPTED = '''\
@pytest.mark.parametrize("number", range(len(RECORDED["accepted"])))
def test_the_arguments_of_a_call_are_accepted(tools, number):
    """The tool takes them; it is not run, as it may change something or need what is elsewhere."""
    call = RECORDED["accepted"][number]
    tools[call["tool"]].action_from_arguments(call["arguments"])
'''
