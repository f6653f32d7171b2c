"""Make the models and the tools of an evaluation from the arguments of its user."""

from collections.abc import Iterable, Mapping
from contextlib import ExitStack
from dataclasses import replace
from typing import Any

from toolbench.agent.toolset import SearchToolsExecutor, Toolset
from toolbench.core.state import ConversationState
from toolbench.core.tool_names import tool_at
from toolbench.errors import CaseError
from toolbench.evals.cases.case import Case
from toolbench.evals.cases.cases import Cases
from toolbench.evals.trials.scoring import AnyTool
from toolbench.llm.models import Model, as_model


def models_of(model: Any) -> dict[str, Model]:
    """Return the models by name.

    Raises:
        CaseError: If there is no model.
    """
    if isinstance(model, Mapping):
        models = {str(name): as_model(one) for name, one in model.items()}
    else:
        only = as_model(model)
        models = {only.name: only}
    if not models:
        msg = "There is no model: give one, or several as {name: model}."
        raise CaseError(msg)
    return models


def cases_of(cases: Iterable[Case | Mapping[str, Any]], tools: Mapping[str, AnyTool]) -> Cases:
    """Return *cases* with the names that models see in place of addresses, such as `server.tool`."""
    named = Cases(cases)
    for place, case in enumerate(named):
        names = {*case.forbid, *(call.name for call in case.calls)} - tools.keys()
        found = {name: tool_at(name, tools.values()) for name in names}
        seen = {name: tool.name for name, tool in found.items() if tool is not None}
        if seen:
            calls = [replace(call, name=seen.get(call.name, call.name)) for call in case.calls]
            forbid = [seen.get(name, name) for name in case.forbid]
            named[place] = replace(case, expect=calls or None, forbid=forbid)
    return named


def tools_of(specs: Iterable[Any], undo: ExitStack) -> dict[str, AnyTool]:
    """Return the tools, made as for an agent; *undo* closes the tools that are made here."""
    spec_list = [specs] if isinstance(specs, str) else specs
    toolset = Toolset(spec_list, ConversationState(), parts={})
    undo.callback(toolset.close)
    return {
        name: tool
        for name, tool in toolset.tools.items()
        if not isinstance(tool.executor, SearchToolsExecutor)
    }
