"""The tools of the OpenHands SDK and ours, doing the same in one process."""

import sys
import time
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any, Literal

from openhands.sdk import tool as their_core
from openhands.tools import file_editor, glob, grep, terminal
from openhands.tools.file_editor.impl import FileEditorExecutor
from openhands.tools.glob.impl import GlobExecutor
from openhands.tools.grep.impl import GrepExecutor
from openhands.tools.terminal.impl import TerminalExecutor
from pydantic import Field, create_model
from serving import serve

sys.path.insert(1, str(Path(__file__).parents[2]))
import toolbench.tools.terminal as our_terminal
from toolbench.core import declarations, executor, schema, tool
from toolbench.tools.file_editor import FileEditorTool
from toolbench.tools.glob import GlobTool
from toolbench.tools.grep import GrepTool

Work = Callable[[], object]
By = Literal["toolbench", "subprocess", "tmux", "openhands"]
ARGUMENTS = {"path": "/etc/hosts", "limit": 3}


def core_of(by: By) -> ModuleType:
    """The names a tool is made of."""
    if by == "openhands":
        return their_core
    names = ModuleType("toolbench")
    for part in (declarations, executor, schema, tool):
        vars(names).update(vars(part))
    return names


class Made:
    """A tool of three fields, and what it needs, by one of the two."""

    def __init__(self, by: By) -> None:
        core = core_of(by)
        self.base = core.Action
        self.action_type = self.action("ReadAction")
        observation_type = create_model("ReadObservation", __base__=core.Observation, size=(int, 0))
        ready = observation_type(size=1)

        class Executor(core.ToolExecutor[self.action_type, observation_type]):  # type: ignore[name-defined,misc]
            def __call__(self, action, conversation=None):
                return ready

        class ReadTool(core.ToolDefinition[self.action_type, observation_type]):  # type: ignore[name-defined,misc]
            @classmethod
            def create(cls, conv_state=None, **params):
                made = cls(
                    description="Reads.",
                    action_type=params["action_type"],
                    observation_type=observation_type,
                    annotations=core.ToolAnnotations(title="Read"),
                    executor=Executor(),
                )
                return [made]

        self.create = ReadTool.create
        self.tool = self.with_action(self.action_type)

    def action(self, name: str) -> Any:
        fields = {
            "path": (str, Field(description="Where.")),
            "mode": (Literal["r", "w"], "r"),
            "limit": (int | None, Field(None, ge=1)),
        }
        return create_model(name, __base__=self.base, **fields)

    def with_action(self, action_type: Any) -> Any:
        [made] = self.create(action_type=action_type)
        return made


MADE: dict[By, Made] = {}


def made_by(by: By) -> Made:
    if by not in MADE:
        MADE[by] = Made(by)
    return MADE[by]


def call(by: By) -> Work:
    """A call, the action being there."""
    made = made_by(by).tool
    action = made.action_from_arguments(ARGUMENTS)
    return lambda: made(action)


def arguments(by: By) -> Work:
    """From what a model sends to an action."""
    made = made_by(by).tool
    return lambda: made.action_from_arguments(ARGUMENTS)


def export(by: By, how: str) -> Work:
    """A known tool in the words of a provider."""
    return getattr(made_by(by).tool, f"to_{how}_tool")  # type: ignore[no-any-return]


class Thousand:
    """A thousand new tools, each with an Action of its own, exported for the first time."""

    rounds = 0

    def __init__(self, by: By) -> None:
        self.made = made_by(by)

    def seconds(self) -> float:
        Thousand.rounds += 1
        names = [f"Many{self.rounds}x{n}Action" for n in range(1_000)]
        tools = [self.made.with_action(self.made.action(name)) for name in names]
        start = time.process_time()
        for each in tools:
            each.to_openai_tool(add_security_risk_prediction=True)
        return time.process_time() - start


def opened(by: By, folder: str) -> tuple[Any, type]:
    """A terminal, and its kind of action."""
    if by == "toolbench":
        return our_terminal.TerminalExecutor(folder), our_terminal.TerminalAction
    return TerminalExecutor(folder, terminal_type=by), terminal.TerminalAction  # type: ignore[arg-type]


class Start:
    """A terminal from nothing to its first answer."""

    def __init__(self, by: By, folder: str) -> None:
        self.by, self.folder = by, folder

    def seconds(self) -> float:
        start = time.perf_counter()
        shell, action = opened(self.by, self.folder)
        shell(action(command="echo hi"))
        taken = time.perf_counter() - start
        shell.close()
        return taken


TERMINALS: dict[tuple[By, str], tuple[Any, type]] = {}


def command(by: By, folder: str, command: str) -> Work:
    """A command in a terminal that is open."""
    if (by, folder) not in TERMINALS:
        TERMINALS[by, folder] = opened(by, folder)
    shell, kind = TERMINALS[by, folder]
    action = kind(command=command)
    return lambda: shell(action)


def close_terminals() -> None:
    """Close what commands opened."""
    for shell, _ in TERMINALS.values():
        shell.close()


def edit(by: By, path: str, **asked: Any) -> Work:
    """An edit, of a copy of its own; one that replaces is undone by the next."""
    own = Path(path).with_name(f"{by}.txt")
    own.write_bytes(Path(path).read_bytes())
    asked["path"] = str(own)
    spellings = [asked.get("old_str"), asked.get("new_str")]
    if by == "toolbench":
        [ours] = FileEditorTool.create()
    else:
        theirs = FileEditorExecutor()

    def work() -> None:
        if asked["command"] == "str_replace":
            asked["old_str"], asked["new_str"] = spellings
            spellings.reverse()
        if by == "toolbench":
            seen = ours(asked)
        else:
            seen = theirs(file_editor.FileEditorAction(**asked))
        assert not seen.is_error, seen.text

    return work


def search(by: By, kind: Literal["glob", "grep"], folder: str, pattern: str) -> Work:
    """A search below a folder."""
    if by == "toolbench":
        [ours] = {"glob": GlobTool, "grep": GrepTool}[kind].create(working_dir=folder)
        return lambda: ours({"pattern": pattern})
    if kind == "glob":
        return lambda: GlobExecutor(folder)(glob.GlobAction(pattern=pattern))
    return lambda: GrepExecutor(folder)(grep.GrepAction(pattern=pattern))


if __name__ == "__main__":
    works = {
        "call": call,
        "arguments": arguments,
        "export": export,
        "thousand": Thousand,
        "start": Start,
        "command": command,
        "edit": edit,
        "search": search,
    }
    serve(works, {}, close_terminals)
