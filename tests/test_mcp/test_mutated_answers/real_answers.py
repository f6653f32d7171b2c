"""What real servers answer to each request: `python -m test_mcp.test_mutated_answers.real_answers`.

It writes answers.json anew; a test sees that the file has what the servers answer now.
"""

import json
import tempfile
from pathlib import Path

from patience import PATIENCE

from test_mcp.peers import shop
from test_mcp.test_tasks.conftest import task_entry
from toolbench.mcp import MCPClient

FILE = Path(__file__).with_name("answers.json")
ERAS = {"legacy": "legacy", "modern": "auto"}
REQUESTS = {
    "shop": {
        "tools/list": lambda session: (session.refresh(), list(session.tools)),
        "tools/call": lambda session: session.call("basket", {"item": "pear"}),
        "resources/list": lambda session: listed(session.resources),
        "resources/templates/list": lambda session: listed(session.resources.templates),
        "resources/read": lambda session: session.read_resource("shop://news"),
        "prompts/list": lambda session: listed(session.prompts),
        "prompts/get": lambda session: session.get_prompt("complain", about="tea"),
        "completion/complete": lambda session: session.complete("complain", "tone"),
    },
    "tasks": {
        "tools/call": lambda session: session.tools["add_up"]({}),
        "tasks/get": lambda session: session.tools["add_up"]({}),
    },
}
"""What a user does to have the request of a method sent."""


def listed(items):
    """The *items* of a list that is requested now."""
    items.forget()
    return list(items)


def real_answers():
    """The results of the shop and of the server with tasks, by server and method."""
    with MCPClient(timeout=PATIENCE) as client:
        return {
            "legacy shop": _results(_shop(client, "legacy").traffic),
            "modern shop": _results(_shop(client, "modern").traffic),
            "modern tasks": _results(_tasks(client).traffic),
        }


def _shop(client, era):
    session = client.connect(f"shop {era}", shop(), mode=ERAS[era])
    for request in REQUESTS["shop"].values():
        request(session)
    return session


def _tasks(client):
    session = client.connect("tasks", task_entry("modern"))
    for request in REQUESTS["tasks"].values():
        request(session)
    return session


def _results(traffic):
    """The first result of each method; of a task's state the last, as it has ended then."""
    results = {}
    for entry in traffic:
        if entry.kind == "response" and entry.direction == "received":
            result = json.loads(entry.text)["result"]
            if entry.method == "tasks/get" or entry.method not in results:
                results[entry.method] = result
    return results


if __name__ == "__main__":
    import os

    os.environ["XDG_STATE_HOME"] = tempfile.mkdtemp()
    FILE.write_text(json.dumps(real_answers(), indent=1, sort_keys=True) + "\n")
