"""A server that asks with a schema too large to read, and a kernel connected to many of them."""

import json
import sys

import psutil
import pytest
from hostile_schemas import DOUBLING, READ, TOO_LARGE, deep
from patience import eventually
from test_runs.kernel import Kernel

from test_mcp.peers import scripted
from toolbench.mcp.elicitation import answering


def test_a_question_with_a_schema_that_is_too_large_is_not_asked(client, tmp_path):
    """The server gets an error, and nobody's handler the schema."""
    params = {"message": "?", "requestedSchema": DOUBLING["anyOf of 19 levels"]}
    question = {"jsonrpc": "2.0", "id": 7, "method": "elicitation/create", "params": params}
    script = {"tools/call": [json.dumps(question), {"result": {"content": []}}]}
    session = client.connect("s", scripted(tmp_path / "script", script))
    asked = []
    with answering(asked.append):
        client["t"]()

    def refusal():
        answers = session.traffic.find(kind="error", direction="sent")
        return next(iter(answers), None)

    assert "The question was not asked: The schema has more" in str(eventually(refusal).json)
    assert asked == []


CONNECT = """
%load_ext toolbench
import json
from toolbench.mcp import MCPClient
from toolbench import run_tool
from toolbench.llm.lint import lint_tools
from toolbench.mcp.review import review_of
from toolbench.widgets.panel import ToolPanel
client = MCPClient(timeout=60)
session = client.connect("hostile", json.loads({entry!r}))
values = json.loads({values!r})
"""
USE = """
from IPython.display import display
for tool in session.tools:
    print(tool.name, flush=True)
    display(tool, ToolPanel(tool))
    tool.problems(values.get(tool.remote_name, {}))
    try:
        run_tool(tool, values.get(tool.remote_name, {"a": "s"}))
    except Exception as error:
        print(type(error).__name__, str(error)[:200], flush=True)
print(len(lint_tools(session.tools)))
display(review_of(session))
session
"""


def assert_answers_at_once(kernel, process):
    """As its processor time, since other processes may keep the machine busy."""
    begin = process.cpu_times()
    assert kernel.run("print('alive')") == "alive\n"
    end = process.cpu_times()
    assert end.user + end.system - begin.user - begin.system < 2


@pytest.mark.slow
def test_a_kernel_connected_to_all_of_them_goes_on(tmp_path, pytestconfig):
    """All are listed, shown, called and reviewed; print answers at once, before and after.

    Every sixth is here, and all are with `--cases 0`; each alone is in test_jsonschema/test_extent.
    """
    step = 6
    if pytestconfig.getoption("--cases", 8) == 0:
        step = 1
    too_large, read = dict([*TOO_LARGE.items()][::step]), dict([*READ.items()][::step])
    schemas = too_large | {name: schema for name, (schema, _) in read.items()}
    tools = [
        {"name": f"t{n}", "description": name, "inputSchema": schema}
        for n, (name, schema) in enumerate(schemas.items())
    ]
    for tool in tools:
        if len(json.dumps(tool)) < 100_000:
            tool["outputSchema"] = tool["inputSchema"]
    names = {tool["description"]: tool["name"] for tool in tools}
    values = {names[name]: value for name, (_, value) in read.items() if name != "a deep value"}
    answer = {"result": {"content": [], "structuredContent": deep(60, 1)}}
    script = {"tools/list": [{"result": {"tools": tools}}], "tools/call": [answer]}
    entry = scripted(tmp_path / "script", script)
    with Kernel(sys.executable) as kernel:
        process = psutil.Process(kernel.value("__import__('os').getpid()"))
        kernel.run(CONNECT.format(entry=json.dumps(entry), values=json.dumps(values)))
        reasons = kernel.value("[tool.reason for tool in session.tools.disabled]")
        assert len(reasons) == len(too_large)
        assert kernel.value("len(session.tools)") == len(read)
        using = kernel.start(USE)
        kernel.listen_until(
            lambda: f"t{len(too_large) + 2}\n" in kernel.printed(using), "some were used"
        )
        kernel.interrupt()
        assert_answers_at_once(kernel, process)
        assert kernel.run(USE)
        assert_answers_at_once(kernel, process)
        # 490 to 530 MB, half of it libraries; a schema that is written out doubled takes gigabytes
        assert process.memory_info().rss < 1e9
