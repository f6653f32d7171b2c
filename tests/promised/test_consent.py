"""What the policy asks about never runs without a yes: every source, hint and answer.

`consent.json` has a line for each: what ran, what was decided, and what the caller read. It was
written on 27 November 2026 from what happened, and read by a person; `write_consent.py` writes it
anew.
"""

import json
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from pathlib import Path

import pytest
from patience import PATIENCE, eventually
from shells import new_shell

from promised.shop import calls
from toolbench import Conversation, answering, history, policy, run_tool, tool
from toolbench.agent import Agent, SecurityAnalyzer
from toolbench.core.security import SecurityRisk
from toolbench.errors import ToolbenchError
from toolbench.evals import sweep
from toolbench.llm.models import ScriptedModel
from toolbench.mcp import create_mcp_tools
from toolbench.runs.questions import Answer
from toolbench.serving import serve
from toolbench.testing import FakeMCPServer
from toolbench.widgets import ToolPanel

TABLE = json.loads(Path(__file__).with_name("consent.json").read_text("utf-8"))
HINTS = {"read-only": {"read_only": True}, "destructive": {"destructive": True}, "none": {}}
POLICIES = {
    "default": lambda tool: None,
    "allow": policy.allow,
    "ask": policy.ask,
    "deny": policy.deny,
    "no destruction": lambda tool: setattr(policy, "destructive", "deny"),
    "trust undeclared": lambda tool: setattr(policy, "undeclared", "allow"),
}
# What `answering` gets
ANSWERS = {
    "yes": (True,),
    "no": (False,),
    "None": (None,),
    "decline": (Answer("decline"),),
    "none left": (),
}


class Shop:
    """The tools, own ones and those of a server; it counts what ran."""

    def __init__(self):
        self.runs = []
        server = FakeMCPServer("shop")
        self.tools = {}
        for hint, options in HINTS.items():
            name = f"clear_{hint.replace('-', '_')}"
            self.tools[f"own {hint}"] = self.made(name, **options)
            if options:
                server.tool(self.made(f"{name}_there", **options))
        self.tools["own rated HIGH"] = self.made("clear_rated")

        @server.tool
        def clear_undeclared_there(of: str) -> str:
            """Clear a shelf."""
            self.runs.append(of)
            return "cleared"

        self.client = create_mcp_tools(server)
        for hint in ("read-only", "destructive", "undeclared"):
            self.tools[f"server's {hint}"] = self.client[f"clear_{hint.replace('-', '_')}_there"]

    def made(self, name, **options):
        @tool(name=name, **options)
        def clear(of: str) -> str:
            """Clear a shelf."""
            self.runs.append(of)
            return "cleared"

        return clear


class Rated(SecurityAnalyzer):
    """Rates each call HIGH."""

    def security_risk(self, *_, **__):
        return SecurityRisk.HIGH


@pytest.fixture(scope="module")
def shop():
    """The tools, for all cases."""
    shop = Shop()
    with shop.client:
        yield shop


@pytest.fixture(scope="module")
def shell(shop):
    """A shell without a person, which knows the tools."""
    with new_shell() as shell:
        shell.run_line_magic("load_ext", "toolbench")
        shell.push({tool.name: tool for tool in shop.tools.values()})
        yield shell
        shell.run_line_magic("unload_ext", "toolbench")


@pytest.fixture(scope="module")
def served(shop):
    """The tools served, and an agent's client."""
    with serve([*shop.tools.values()]) as served:
        entry = {"url": served.url, "headers": {"Authorization": f"Bearer {served.token}"}}
        with create_mcp_tools({"mcpServers": {"notebook": entry}}) as client:
            yield served, client


@pytest.fixture(scope="module")
def pool():
    """A thread for an agent that waits."""
    with ThreadPoolExecutor(1) as pool:
        yield pool


# --- the sources: each calls the tool once ---------------------------------------------


def from_python(tool, request):
    return run_tool(tool, of="tea").text


def from_a_line(tool, request, words=""):
    shell = request.getfixturevalue("shell")
    try:
        return shell.run_line_magic("tool", f"{tool.name} of=tea {words}").text
    except ToolbenchError as error:
        return str(error)


def from_a_line_with_yes(tool, request):
    return from_a_line(tool, request, "--yes")


def from_a_button(tool, request):
    panel = ToolPanel(tool)
    panel.form.value = {"of": "tea"}
    run = panel.run()
    assert run.done.wait(PATIENCE)
    panel.close()
    return history()[-1].observation.text


def agent_with(tool):
    rated = {"security_analyzer": Rated()} if tool.name == "clear_rated" else {}
    script = [calls((tool.name, {"of": "tea"})), "Done."]
    return Agent(ScriptedModel(script), [tool], **rated)


def from_a_model(tool, request):
    with Conversation(agent=agent_with(tool)) as conversation:
        conversation.send_message("Clear the shelf.")
        conversation.run()
        return conversation.requests[-1].messages[-1]["content"]


def from_a_delegate(tool, request):
    inner = agent_with(tool)
    script = [calls(("delegate", {"task": "Clear the shelf."})), "Done."]
    delegate = inner.as_tool("delegate", "Does what it is told.")
    with Conversation(agent=Agent(ScriptedModel(script), [delegate])) as conversation:
        conversation.send_message("Have the shelf cleared.")
        conversation.run()
    return inner.llm.requests[-1][0][-1]["content"]


def from_a_sweep(tool, request):
    try:
        report = sweep(tool, [{"of": "tea"}])
    except ToolbenchError as error:
        return str(error)
    [row] = report
    return row.error or row.fields["result"]


def from_an_agent(tool, request):
    """A client of what is served; a person answers in the panel, or nobody does."""
    served, client = request.getfixturevalue("served")
    answer = request.node.callspec.params["row"]["answer"]
    served.answer_within = 0.2 if answer == "nobody" else PATIENCE
    call = request.getfixturevalue("pool").submit(client[tool.name], {"of": "tea"})

    eventually(lambda: call.done() or (served.calls and served.calls[-1].questions))
    if answer != "nobody" and not call.done():
        waiting = served.calls[-1]
        waiting.accept() if answer == "yes" else waiting.refuse("Not now.")
    return call.result(PATIENCE).text


SOURCES = {
    "python": from_python,
    "line": from_a_line,
    "line --yes": from_a_line_with_yes,
    "button": from_a_button,
    "model": from_a_model,
    "delegate": from_a_delegate,
    "sweep": from_a_sweep,
    "agent": from_an_agent,
}


def outcome(row, shop, request):
    """What happens in the case *row*: what ran, what was decided, and what the caller read."""
    tool = shop.tools[row["hint"]]
    POLICIES[row["policy"]](tool)
    shop.runs.clear()
    is_preset = row["answer"] in ANSWERS and row["source"] != "agent"
    with answering(*ANSWERS[row["answer"]]) if is_preset else nullcontext():
        text = SOURCES[row["source"]](tool, request)
    decisions = [run.decision for run in history() if run.tool == tool.name and run.decision]
    return {"runs": len(shop.runs), "decisions": decisions, "text": text}


@pytest.mark.every_case
@pytest.mark.usefixtures("no_records")
@pytest.mark.parametrize(
    "row", TABLE, ids=lambda row: "-".join(row[k] for k in ("policy", "source", "hint", "answer"))
)
def test_consent(row, shop, request, capsys, record_property):
    """Each case is a promise: it runs if it may, and the words are those of today."""
    seen = {**row, **outcome(row, shop, request), "asked": capsys.readouterr().out}
    record_property("row", seen)
    assert seen == row
