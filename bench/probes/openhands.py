"""The tools of the OpenHands SDK, doing what ours do."""

import time
from collections.abc import Callable
from typing import Any, Literal

from openhands.sdk.tool import (
    Action,
    Observation,
    ToolAnnotations,
    ToolDefinition,
    ToolExecutor,
)
from openhands.tools.file_editor import FileEditorAction
from openhands.tools.file_editor.impl import FileEditorExecutor
from openhands.tools.glob import GlobAction
from openhands.tools.glob.impl import GlobExecutor
from openhands.tools.grep import GrepAction
from openhands.tools.grep.impl import GrepExecutor
from openhands.tools.terminal import TerminalAction
from openhands.tools.terminal.impl import TerminalExecutor
from pydantic import Field, create_model
from serving import serve

Work = Callable[[], object]
ARGUMENTS = {"path": "/etc/hosts", "limit": 3}


class ReadAction(Action):
    path: str = Field(description="Where.")
    mode: Literal["r", "w"] = "r"
    limit: int | None = Field(None, ge=1)


class ReadObservation(Observation):
    size: int = 0


READY = ReadObservation(size=1)


class ReadExecutor(ToolExecutor[ReadAction, ReadObservation]):
    def __call__(self, action, conversation=None):
        return READY


class ReadTool(ToolDefinition[ReadAction, ReadObservation]):
    @classmethod
    def create(cls, conv_state=None, **params):
        tool = cls(
            description="Reads.",
            action_type=ReadAction,
            observation_type=ReadObservation,
            annotations=ToolAnnotations(title="Read"),
            executor=ReadExecutor(),
        )
        return [tool]


[TOOL] = ReadTool.create()
ACTION = TOOL.action_from_arguments(ARGUMENTS)


def export(how: str, **flags: Any) -> Work:
    method = getattr(TOOL, f"to_{how}_tool")
    return lambda: method(**flags)


class Thousand:
    """A thousand new tools, each with an Action of its own, exported for the first time."""

    rounds = 0

    def seconds(self) -> float:
        self.rounds += 1
        tools = [self._tool(n) for n in range(1_000)]
        start = time.process_time()
        for tool in tools:
            tool.to_openai_tool(add_security_risk_prediction=True)
        return time.process_time() - start

    def _tool(self, n: int) -> ToolDefinition[Any, Any]:
        limit = (int | None, None)
        name = f"Many{self.rounds}x{n}Action"
        made = create_model(name, __base__=Action, path=(str, "x"), limit=limit)
        return TOOL.model_copy(update={"action_type": made})


class Start:
    """A terminal from nothing to its first answer."""

    def __init__(self, folder: str, backend: Literal["tmux", "subprocess"]) -> None:
        self.folder, self.backend = folder, backend

    def seconds(self) -> float:
        start = time.perf_counter()
        terminal = TerminalExecutor(self.folder, terminal_type=self.backend)
        terminal(TerminalAction(command="echo hi"))
        taken = time.perf_counter() - start
        terminal.close()
        return taken


TERMINALS: dict[str, TerminalExecutor] = {}


def terminal(folder: str, backend: Literal["tmux", "subprocess"], command: str) -> Work:
    """A command in a terminal that is open."""
    if backend not in TERMINALS:
        TERMINALS[backend] = TerminalExecutor(folder, terminal_type=backend)
    action = TerminalAction(command=command)
    return lambda: TERMINALS[backend](action)


def edit(**arguments: Any) -> Work:
    """An edit; one that replaces is undone by the next."""
    executor = FileEditorExecutor()
    spellings = [arguments.get("old_str"), arguments.get("new_str")]

    def work() -> None:
        if arguments["command"] == "str_replace":
            arguments["old_str"], arguments["new_str"] = spellings
            spellings.reverse()
        observed = executor(FileEditorAction(**arguments))
        assert not observed.is_error, observed.text

    return work


def search(tool: Literal["glob", "grep"], folder: str, **arguments: Any) -> Work:
    """A search below a folder."""
    if tool == "glob":
        return lambda: GlobExecutor(folder)(GlobAction(**arguments))
    return lambda: GrepExecutor(folder)(GrepAction(**arguments))


if __name__ == "__main__":
    works = {
        "call": lambda: lambda: TOOL(ACTION),
        "arguments": lambda: lambda: TOOL.action_from_arguments(ARGUMENTS),
        "export": export,
        "thousand": Thousand,
        "start": Start,
        "terminal": terminal,
        "edit": edit,
        "search": search,
    }
    serve(works, {})
    for each in TERMINALS.values():
        each.close()
