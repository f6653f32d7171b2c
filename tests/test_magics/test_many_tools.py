"""What is shown when a server of many tools is connected."""

import json
import shlex

import pytest
from IPython.core.error import UsageError
from test_mcp.peers import scripted

from toolbench import Conversation
from toolbench.agent import Agent
from toolbench.llm import ScriptedModel
from toolbench.mcp import session
from toolbench.testing import FakeMCPServer


def shown(shell, value):
    """What the saved notebook holds of *value*."""
    bundle, _ = shell.display_formatter.format(value)
    return bundle


def patterns(shell, mcp, names):
    """The first column of what is shown for a server of tools with these *names*."""
    server = shell.user_ns["server"] = FakeMCPServer("big")
    for name in names:
        server.answer(name, "")
    text = shown(shell, mcp("connect big server"))["text/plain"]
    lines = text.strip().splitlines()[2:]
    return [line.strip().partition("  ")[0] for line in lines[: lines.index("")]]


def test_their_groups_are_shown_and_a_program_gets_all(shell, mcp, tmp_path):
    """Also at a reconnect with many changes; two lines show all tools, and those of a group.

    It does not matter that another server has tools of the same names.
    """
    script = tmp_path / "script.json"
    names = [f"{verb}_item_{n}" for verb in ("get", "list", "drop") for n in range(20)]

    def entry(about):
        tools = [
            {"name": n, "description": about, "inputSchema": {"type": "object"}} for n in names
        ]
        for tool in tools[:20]:
            tool["annotations"] = {"readOnlyHint": True}
        return scripted(script, {"tools/list": [{"result": {"tools": tools}}]})

    other = shell.user_ns["other"] = FakeMCPServer("other")
    other.answer(names[0], "")
    mcp("connect other other")
    known = entry("Do it.")
    command = shlex.join([known["command"], *known["args"]])
    listing = mcp(f"connect big --mode legacy -- {command}")
    assert [row[0] for row in listing.rows] == names
    text = shown(shell, listing)["text/plain"]
    assert len(text.splitlines()) < 13
    get, *_ = [line.split() for line in text.splitlines() if "get_*" in line]
    assert get[:3] + get[4:5] == ["get_*", "20", "≈", "20"]
    assert "All of them: %mcp list big. Those of a group: %tools big.PATTERN" in text
    assert "A group for a model: %%chat --tools big.PATTERN" in text
    assert len(shell.run_line_magic("tools", "big.get_*")) == 20
    listed = shown(shell, mcp("list big"))["text/plain"]
    assert all(name in listed for name in names)

    entry("Do something else.")
    bundle = shown(shell, mcp("reconnect big"))
    text = bundle["text/plain"]
    assert text.count("- routing:") == 8
    assert "and 52 more: %mcp review big lists them all" in text
    assert len(json.dumps(bundle)) < 10_000
    assert str(mcp("review big")).count("- routing:") == 60


def offered(conversation):
    """The names of the tools that the model of *conversation* gets."""
    return [tool["function"]["name"] for tool in conversation.next_request.tools]


def test_group_is_given_to_a_model_as_one(shell, mcp):
    """By its pattern in a line, as an object in Python: the tools of the group, and no others."""
    names = [f"{verb}_{number}" for verb in ("get", "put") for number in range(20)]
    server = shell.user_ns["big"] = FakeMCPServer("big")
    for name in names:
        server.answer(name, "")
    mcp("connect big big")
    shell.run_line_magic("model", "me ScriptedModel(['Hello'])")
    shell.run_cell_magic("chat", "small --model me --tools big.get_*", "Hello")
    assert offered(shell.user_ns["small"]) == names[:20]
    group = session("big").tools.groups["get_*"]
    assert "get_*: 20 tools" in repr(group)
    assert offered(Conversation(agent=Agent(ScriptedModel([]), tools=[group]))) == names[:20]
    with pytest.raises(UsageError, match="like 'big\\.gone_"):
        shell.run_cell_magic("chat", "other --model me --tools big.gone_*", "Hello")


LETTERS = "abcdefghijklmnopqrstuvwxyz"


@pytest.mark.every_case
@pytest.mark.parametrize(
    ("names", "groups"),
    [
        ([*(f"getThing{n}" for n in range(30)), "setOne"], ["get*", "setOne"]),
        (
            [f"shop_{verb}_{n}" for verb in ("put", "get") for n in range(15)],
            ["shop_put_*", "shop_get_*"],
        ),
        ([f"tool_{n}" for n in range(30)], ["tool_*"]),
        ([f"tool_{n}" for n in range(25)], [f"tool_{n}" for n in range(25)]),
        ([f"{letter}x" for letter in LETTERS], ["other names"]),
        (
            [f"{letter}-{n}" for letter in LETTERS for n in (1, 2)],
            [*(f"{letter}-*" for letter in LETTERS[:19]), "other names"],
        ),
        (
            [*(f"get_{n}" for n in range(30)), "[a", "--", "日本語_get", "a\nb"],
            ["get_*", "[a", "--", "日本語_get", "a b"],
        ),
        (["x" * 300 + f"_{n}" for n in range(30)], ["x" * 39 + "…"]),
    ],
)
def test_names_of_every_kind_are_grouped(shell, mcp, names, groups):
    """What all names begin with makes no group, and there are at most twenty; 25 tools need none."""
    assert patterns(shell, mcp, names) == groups
