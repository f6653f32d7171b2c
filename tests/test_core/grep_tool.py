"""A custom tool as OpenHands' documentation writes them; only the imports are ours."""

import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import ClassVar

from pydantic import Field

from toolbench import (
    Action,
    ImageContent,
    Observation,
    TextContent,
    ToolAnnotations,
    ToolDefinition,
    ToolExecutor,
    register_tool,
)


class SearchAction(Action):
    pattern: str = Field(description="Regular expression to look for")
    path: str = Field(default=".", description="Folder to look in, absolute or relative")
    include: str | None = Field(default=None, description="Only files ending in this")


class SearchObservation(Observation):
    matches: list[str] = Field(default_factory=list)
    files: list[str] = Field(default_factory=list)
    count: int = 0

    @property
    def to_llm_content(self) -> Sequence[TextContent | ImageContent]:
        if not self.count:
            return [TextContent(text="Nothing found.")]
        return [TextContent(text=f"{self.count} lines in {', '.join(self.files)}")]


class SearchExecutor(ToolExecutor[SearchAction, SearchObservation]):
    def __init__(self, working_dir: str):
        self.working_dir: str = working_dir

    def __call__(self, action: SearchAction, conversation=None) -> SearchObservation:
        matches: list[str] = []
        files: set[str] = set()
        for folder, _, names in os.walk(Path(self.working_dir) / action.path):
            for name in names:
                if action.include and not name.endswith(action.include):
                    continue
                with (Path(folder) / name).open(encoding="utf-8") as file:
                    for line in file:
                        if re.search(action.pattern, line):
                            matches.append(f"{name}:{line.strip()}")
                            files.add(name)
        return SearchObservation(matches=matches, files=sorted(files), count=len(matches))


class SearchTool(ToolDefinition[SearchAction, SearchObservation]):
    """Looks for a pattern in files."""

    name: ClassVar[str] = "search_files"

    @classmethod
    def create(cls, conv_state, executor: SearchExecutor | None = None) -> Sequence[ToolDefinition]:
        if executor is None:
            executor = SearchExecutor(working_dir=conv_state.workspace.working_dir)
        return [
            cls(
                description="Looks for a pattern in files.",
                action_type=SearchAction,
                observation_type=SearchObservation,
                annotations=ToolAnnotations(title="search_files", readOnlyHint=True),
                executor=executor,
            )
        ]


class CountAction(Action):
    pass


class CountExecutor(ToolExecutor):
    def __init__(self, save_dir: str | None):
        self.save_dir = save_dir
        self.calls = 0

    def __call__(self, action, conversation=None):
        self.calls += 1
        return Observation.from_text(f"{self.calls} calls, kept in {self.save_dir}")


class CountTool(ToolDefinition[CountAction, Observation]):
    @classmethod
    def create(cls, conv_state, **params) -> Sequence[ToolDefinition]:
        return [
            cls(
                description="Counts its calls.",
                action_type=CountAction,
                observation_type=Observation,
                executor=CountExecutor(conv_state.persistence_dir),
            )
        ]


class SearchAndCountToolSet(ToolDefinition[Action, Observation]):
    """Makes two tools at once."""

    @classmethod
    def create(cls, conv_state, **params) -> Sequence[ToolDefinition]:
        shared = SearchExecutor(working_dir=conv_state.workspace.working_dir)
        search = SearchTool.create(conv_state, executor=shared)[0]
        return [search, CountTool.create(conv_state, **params)[0]]


def register() -> None:
    register_tool(SearchTool.name, SearchTool)
    register_tool(SearchAndCountToolSet.name, SearchAndCountToolSet)
