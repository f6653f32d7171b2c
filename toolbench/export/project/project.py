"""Write pyproject.toml, README.md and the notebook of an exported project."""

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
        requirements: The requirements of the package.
        extra: The additional requirements of the package's server.
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
    """Return the text of README.md; *notes* are sentences about what a person should check."""
    name, target = (
        package.replace("_", "-"),
        "the OpenHands SDK" if openhands else "toolbench",
    )
    names = "\n".join(f"- `{tool.name}`: {_first_line(tool.description)}" for tool in tools)
    tested = ", ".join(_tested(len(calls.repeated), len(calls.accepted)))
    python = ".venv/bin/python" if openhands else "python"
    pip = f"{python} -m pip" if openhands else "pip"
    server = f".venv/bin/{name}-server" if openhands else f"{name}-server"
    remarks = "".join(f"- {note}\n" for note in notes)
    used = (
        f"`import {package}` registers them for `Tool(name=...)` of an agent."
        if openhands
        else f"`from {package} import create_tools` makes them."
    )
    return f"""\
# {name}

Tools for {target}, exported from a notebook by toolbench.

{names}

{_installing(openhands=openhands)} {used}

| file | what it holds |
|---|---|
| `{package}/definition.py` | the name, the description, the input and the output |
| `{package}/impl.py` | the code that does the work |
| `{package}/server.py` | an MCP server over stdio: `{pip} install '.[server]'`, then `{server}` |
| `tests/test_{package}.py` | {tested}: `{pip} install '.[test]'`, then `{python} -m pytest` |
| `{package}.ipynb` | to try it |
{f"{chr(10)}## To look at{chr(10)}{chr(10)}{remarks}" if notes else ""}"""


def _tested(repeated: int, accepted: int) -> Iterator[str]:
    """Yield what the tests check, given the numbers of calls that they repeat and only read."""
    yield "a model gets the same description"
    if repeated:
        yield f"{counted(repeated, 'call')} of the notebook, with the results"
    else:
        yield "no recorded call could be repeated"
    if accepted:
        yield f"the arguments of {counted(accepted, 'more call' if repeated else 'call')}"


def _installing(*, openhands: bool) -> str:
    if not openhands:
        return (
            "They need toolbench, which is not on PyPI yet. Install it first: `pip install PATH`, with "
            "the path of a checkout of it. Then `pip install .` in this folder installs them."
        )
    return (
        "They need Python 3.12 or newer, and an environment of their own: the SDK cannot share one "
        "with toolbench. In this folder, `python3.12 -m venv .venv` makes one, "
        "`.venv/bin/python -m pip install .` installs them there."
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
    last_lines = _READ_BY_MODEL if openhands else "observation"
    for tool in tools:
        arguments = [call["arguments"] for call in calls if call["tool"] == tool.name][-1:]
        for one in arguments:
            call = f"tools[{tool.name!r}]"
            text = literal(one)
            action = f"{call}.action_from_arguments({text})" if openhands else text
            cells.append(("code", f"observation = {call}({action})\n{last_lines}"))
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
