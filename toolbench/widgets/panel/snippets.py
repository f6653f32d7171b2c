"""A call as text to copy: as Python, as a cell, as a test, or in a provider's format."""

import re
import shlex
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from json import dumps
from pprint import pformat
from textwrap import indent
from typing import Any

from toolbench.core.registry import default_registry
from toolbench.core.tool import ToolDefinition
from toolbench.core.tool_names import ToolAddress
from toolbench.export.code.needed_statements import code_of
from toolbench.llm.compose import as_call
from toolbench.llm.message import Provider
from toolbench.llm.wire import titles
from toolbench.redaction import MARK
from toolbench.runs.record import RunRecord
from toolbench.values import json_text

AnyTool = ToolDefinition[Any, Any]
_MAIN = "__main__"
_STEP = "    "
# Characters of a result that a test has
_LONGEST = 5_000
_FUTURE = re.compile(r"^from __future__ .*$", re.MULTILINE)


@dataclass(frozen=True)
class Handle:
    """The Python code that a notebook or a file needs to use a tool."""

    expression: str
    imports: tuple[str, ...] = ()
    setup: tuple[str, ...] = ()
    code: str = ""
    """The code that defines the tool, if the tool cannot be imported."""
    block: str = ""
    """The `with` line around the use of the tool; empty if none is needed."""


def as_python(tool: AnyTool, arguments: Mapping[str, Any]) -> str:
    """Return Python code that calls *tool* with *arguments* in the current notebook.

    If the tool is not in a variable or a module, the code finds it by its address, such as
    `server.tool`, because another tool could have the same name.
    """
    name = str(ToolAddress.of(tool))
    handle = _in_this_notebook(tool) or Handle(repr(name))
    lines = [*handle.imports, "from toolbench import run_tool", "", *handle.setup]
    lines.append(f"{_note(arguments)}{_call(handle, arguments)}")
    lines.append("observation")
    return "\n".join(lines)


def as_cell(tool: AnyTool, arguments: Mapping[str, Any]) -> str:
    """Return a cell with the magic `%%tool` that calls *tool* with *arguments*.

    The cell names the tool by its address, such as `server.tool`.
    """
    body = dumps(dict(arguments), indent=2, ensure_ascii=False)
    return f"%%tool {shlex.quote(str(ToolAddress.of(tool)))}\n{body}"


def as_pytest(tool: AnyTool, arguments: Mapping[str, Any], seen: RunRecord | None = None) -> str:
    """Return a pytest test that calls *tool* with *arguments*.

    *seen* is the record of an earlier call with these arguments. If it is given, the test expects
    the same result, and answers questions in the same way. Without *seen*, the test expects that
    the call succeeds without warnings.
    """
    handle, presets, names = _in_a_file(tool), list[Any](), ["run_tool"]
    if seen is not None:
        presets = [answer.preset for answer in seen.answers]
    body = _call(handle, arguments)
    if presets:
        names.insert(0, "answering")
        body = f"with answering({', '.join(map(repr, presets))}):\n{indent(body, _STEP)}"
    if handle.block:
        body = f"{handle.block}\n{indent(body, _STEP)}"
    note = _note({"arguments": dict(arguments), "answers": presets})
    lines = [*handle.setup, f"{note}{body}", *_expectation(tool, seen)]
    head = [*_FUTURE.findall(handle.code), *handle.imports]
    head += [f"from toolbench import {', '.join(names)}", "from toolbench.checks import Check"]
    if handle.code:
        head.append(_FUTURE.sub("", handle.code).rstrip())
    head += ["", "", f"def test_{_word(tool.name)}():"]
    return "\n".join([*head, indent("\n".join(lines), _STEP)])


def _expectation(tool: AnyTool, seen: RunRecord | None) -> Iterator[str]:
    """Yield the lines of a test that expect the result of *seen* or, without it, success.

    If the result is too long or has a secret, a comment says that it is not compared.
    """
    from toolbench.checks.check import Check  # noqa: PLC0415 - it brings MCP

    check, expect = Check(tool.name, str(ToolAddress.of(tool))), dict[str, Any]()
    if seen is not None:
        expect = dict(check.accepting(seen.observation).expect)
    text = json_text(expect)
    left_out = ""
    if MARK in text:
        left_out = "has a secret"
    elif len(text) > _LONGEST:
        left_out = f"is too long to be here ({len(text):,} characters)"
    if left_out:
        yield f"# The result {left_out}, so it is not compared"
        expect = {key: expect[key] for key in ("error", "warnings") if key in expect}
    yield f"expect = {_literal(expect)}"
    yield f"check = Check({check.name!r}, {check.tool!r}, expect=expect)"
    yield "assert check.problems(observation) == []"


def as_payload(provider: Provider, tool: AnyTool, arguments: Mapping[str, Any]) -> str:
    """Return a call of *tool* with *arguments* in the format of *provider*, as JSON text."""
    return dumps(as_call(tool, arguments, provider), indent=2, ensure_ascii=False)


SNIPPETS: dict[str, Callable[[AnyTool, Mapping[str, Any]], str]] = {
    "Python": as_python,
    "%%tool cell": as_cell,
    "pytest": as_pytest,
    **{f"{title} call": partial(as_payload, name) for title, name in titles().items()},
}
"""The function for each kind of text, by name. The first three kinds are code that can be run."""


def _in_this_notebook(tool: AnyTool) -> Handle | None:
    """Return the code that a cell of this notebook needs to use *tool*; None if there is none."""
    for name, value in _variables(_MAIN):
        if value is tool:
            return Handle(name)
        if type(value).__name__ == "MCPClient" and (known := _name_in(value, tool)):
            return Handle(f"{name}[{known!r}]")
    return _from_a_module(tool) or _from_the_registry(tool)


def _name_in(client: Any, tool: AnyTool) -> str:
    """Return the current name of *tool* in *client*; empty if the client does not have the tool."""
    session, address = getattr(tool.executor, "client", None), ToolAddress.of(tool)
    if session is None or client.servers.get(address.server) is not session:
        return ""
    names = (one.name for one in client if ToolAddress.of(one) == address)
    return next(names, "")


def _in_a_file(tool: AnyTool) -> Handle:
    """Return the code that a separate file needs to use *tool*."""
    handle = _from_a_module(tool)
    if handle is not None:
        return handle
    if tool.source != "native":
        return _of_a_server(tool)
    name = _name_of(tool, _MAIN) or _word(tool.name)
    if code := code_of(name):
        return Handle(name, code=code)
    note = "  # a file with the cell that defines it"
    return Handle(name, (f"from my_tools import {name}{note}",))


def _of_a_server(tool: AnyTool) -> Handle:
    """Return the code that a file needs to connect to the server of *tool* and use the tool."""
    from toolbench.mcp.config.writer import write_config  # noqa: PLC0415 - not for %load_ext
    from toolbench.mcp.servers import connected  # noqa: PLC0415 - as above

    name = tool.source.partition(":")[2]
    expression = f"client[{getattr(tool, 'remote_name', tool.name)!r}]"
    imports = ("from toolbench.mcp import create_mcp_tools",)
    block = "with create_mcp_tools(SERVERS) as client:"
    session = connected.session(name)
    if session is not None:
        written = write_config([session])
        if not written.left_out:
            needed = [f"# set {v} first: a secret" for v in written.variables]
            if written.without_objects:
                needed.append("# 'auth' has objects of its notebook: add them here")
            config = f"SERVERS = {pformat(written.config, sort_dicts=False, width=76)}"
            code = "\n".join(["", *needed, config])
            return Handle(expression, imports, code=code, block=block)
        server = session.entry.server
        variable = _name_of(server, _MAIN)
        if code := code_of(variable):
            config = f"SERVERS = {{'mcpServers': {{{name!r}: {variable}}}}}"
            return Handle(expression, imports, code=f"{code}\n{config}", block=block)
    note = f"SERVERS = 'mcp.json'  # of %mcp save, with the server {name!r}"
    return Handle(expression, imports, code=note, block=block)


def _from_a_module(tool: AnyTool) -> Handle | None:
    module = tool.action_type.__module__
    if module != _MAIN and (name := _name_of(tool, module)):
        return Handle(name, (f"from {module} import {name}",))
    kind = type(tool)
    if kind is not ToolDefinition and "create" in vars(kind) and _is_importable(kind):
        return Handle(
            "tool",
            (
                f"from {_package(kind)} import {kind.__name__}",
                "from toolbench import ConversationState",
            ),
            (f"[tool] = {kind.__name__}.create(ConversationState())",),
        )
    return None


def _from_the_registry(tool: AnyTool) -> Handle | None:
    is_there = tool.name in default_registry
    if is_there and default_registry.recipe(tool.name) is tool:
        return Handle(repr(tool.name))
    return None


def _name_of(value: object, module: str) -> str:
    """Return the name of a variable of *module* that holds *value*; empty if there is none."""
    for name, other in _variables(module):
        if other is value:
            return name
    return ""


def _variables(module: str) -> Iterator[tuple[str, Any]]:
    if module not in sys.modules:
        return
    for name, value in list(vars(sys.modules[module]).items()):
        if name.isidentifier() and not name.startswith("_"):
            yield name, value


def _is_importable(kind: type) -> bool:
    module = sys.modules.get(kind.__module__)
    return kind.__module__ != _MAIN and getattr(module, kind.__name__, None) is kind


def _package(kind: type) -> str:
    """Return the shortest name of a package or module from which *kind* can be imported."""
    parts = kind.__module__.split(".")
    for length in range(1, len(parts)):
        name = ".".join(parts[:length])
        if vars(sys.modules[name]).get(kind.__name__) is kind:
            return name
    return kind.__module__


def _word(name: str) -> str:
    word = re.sub(r"\W", "_", name)
    if not word.isidentifier():
        word = f"tool_{word}"
    return word


def _call(handle: Handle, arguments: Mapping[str, Any]) -> str:
    return f"observation = run_tool({handle.expression}, {_literal(dict(arguments))})"


def _literal(value: Any) -> str:
    return pformat(value, sort_dicts=False, width=76)


def _note(arguments: Mapping[str, Any]) -> str:
    if MARK not in dumps(arguments, ensure_ascii=False, default=str):
        return ""
    return f"# {MARK} stands for a secret\n"
