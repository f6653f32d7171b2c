"""The ways in which a call of the tool `leaky` gets into a notebook."""

import json
from pathlib import Path
from tempfile import TemporaryDirectory

from patience import PATIENCE
from test_serving import clients as calling

from test_redaction.kinds import KNOWN
from toolbench.runs.run import Run
from toolbench.widgets.kit.ticker import ticker
from toolbench.widgets.panel import ToolPanel


def run_cell(code: str):
    def call(shell, arguments):
        shell.user_ns["arguments"] = arguments
        shell.run_cell(code)

    return call


def await_call(shell, arguments):
    run_cell("import asyncio; asyncio.run(leaky.acall(arguments))")(shell, arguments)


def magic_line(shell, arguments):
    shell.run_cell(f"%tool leaky --yes {json.dumps(arguments, ensure_ascii=False)}")


def magic_body(shell, arguments):
    shell.run_cell(f"%%tool leaky --yes\n{json.dumps(arguments)}")


def click(shell, arguments):
    panel = ToolPanel(shell.user_ns["leaky"], arguments)
    run = panel.run()
    assert isinstance(run, Run)
    assert run.done.wait(PATIENCE) and ticker.wait_idle(PATIENCE)
    shell.run_cell("history()[-1]")


REQUEST = """
def request(tool, arguments):
    sent = {"name": tool, "arguments": json.dumps(arguments)}
    call = {"id": "c1", "type": "function", "function": sent}
    return {"role": "assistant", "content": None, "tool_calls": [call]}

def answering(path, *answers):
    return RecordedModel(path, ScriptedModel([*answers, f"It was {secret}."]))
"""
IN_A_CONVERSATION = """
agent = Agent(answering(answers, request("leaky", arguments)), [leaky])
"""
DELEGATED = """
helper = Agent(answering(inner, request("leaky", arguments)), [leaky])
agent = Agent(answering(answers, request("delegate", {"task": "Tell."})), [helper])
"""
OUTPUTS = """
conversation = Conversation(agent=agent)
conversation.send_message("Go.")
conversation.run()
conversation.save(saved)
files = [path.read_text() for path in (answers, inner, saved) if path.exists()]
print(*files, conversation.written(), [*conversation.events], *[e.visualize for e in conversation.events])
conversation
"""


def converse(agent):
    """Have the model of *agent* call the tool; show all that is kept and seen of that."""

    def call(shell, arguments):
        with TemporaryDirectory() as folder:
            for name in ("answers", "inner", "saved"):
                shell.user_ns[name] = Path(folder, name)
            shell.user_ns["secret"] = KNOWN["secret"]
            run_cell(REQUEST + agent + OUTPUTS)(shell, arguments)

    return call


def by_an_agent(shell, arguments):
    """Serve the tool, call it as an agent outside does, and show what is served."""
    shell.run_cell("served = serve([leaky], require='never')")
    calling.call(shell.user_ns["served"], "leaky", arguments)
    shell.run_cell("served.calls[-1]")
    shell.run_cell("served")
    shell.run_cell("served.close(); history()[-1]")


WAYS_IN = {
    "tool(...)": run_cell("leaky(arguments)"),
    "run_tool": run_cell("run_tool(leaky, arguments)"),
    "acall": await_call,
    "%tool": magic_line,
    "%%tool": magic_body,
    "button": click,
    "agent": converse(IN_A_CONVERSATION),
    "delegation": converse(DELEGATED),
    "message": run_cell(
        "call, = parse_tool_calls(request('leaky', arguments), [leaky])\n"
        "print(repr(call)); display(call); call.run()"
    ),
    "served": by_an_agent,
}
QUIET = {"button", "served"}
"""The ways in which a tool prints to its run and not to a cell."""
