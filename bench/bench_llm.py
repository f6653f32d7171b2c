"""What the model's side costs: a call parsed and checked, a tool exported, tools linted."""

import json

import pytest
from pydantic import Field

from toolbench.core.schema import Action
from toolbench.core.tool import ToolDefinition
from toolbench.llm.calls import parse_tool_calls
from toolbench.llm.compose import as_call
from toolbench.llm.formats import to_format
from toolbench.llm.lint import lint_tools
from toolbench.llm.wire import WIRES


class GrepAction(Action):
    """A search, as models send it all day."""

    pattern: str = Field(description="The regular expression to look for.")
    path: str | None = Field(None, description="The folder; the current one if unset.")
    limit: int = Field(10, description="The most matches to return.")


TOOLS = [
    ToolDefinition(name=f"grep_{i}", description="Search files.", action_type=GrepAction)
    for i in range(100)
]
ARGUMENTS = {"pattern": "def foo", "path": "/tmp/x", "limit": 5}
TEXT = json.dumps(ARGUMENTS)
MESSAGE = {
    "role": "assistant",
    "content": "Let me look.",
    "tool_calls": [as_call(TOOLS[50], ARGUMENTS, "openai")],
}


@pytest.fixture(scope="module")
def published(corpus):
    """The tools of the corpus."""
    entries = map(json.loads, corpus.read_text(encoding="utf-8").splitlines())
    return [
        ToolDefinition(
            name=entry["name"],
            description=entry.get("description") or "",
            action_type=Action.from_mcp_schema("PublishedAction", entry["inputSchema"]),
        )
        for entry in entries
    ]


def alone():
    """What a call costs at the least."""
    return GrepAction.model_validate(json.loads(TEXT))


def beside_alone(ledger, work, message, tools):
    assert parse_tool_calls(message, tools)[0].action
    ledger.more(
        work,
        ours=lambda: parse_tool_calls(message, tools),
        peer=alone,
        peer_name="json.loads and pydantic",
        limit=30e-6,
    )


def test_parse(ledger):
    """At most 30 us more than reading the JSON and validating it."""
    beside_alone(ledger, "message with a call, among 100 tools", MESSAGE, TOOLS)
    for provider in WIRES:
        call = as_call(TOOLS[0], ARGUMENTS, provider)
        beside_alone(ledger, f"call of {provider}", call, TOOLS[:1])


def test_export_the_corpus(ledger, published):
    """The tools of the corpus in the words of each provider, beside their schemas alone."""
    texts = [json.dumps(tool.parameters()) for tool in published]

    def schemas():
        for text in texts:
            json.loads(text)

    for provider in WIRES:
        ledger.compare(
            f"{len(published)} real tools for {provider}",
            ours=lambda name=provider: [to_format(tool, name) for tool in published],
            peer=schemas,
            peer_name="json.loads of the schemas",
            rounds=5,
        )


def test_lint_the_corpus(ledger, published):
    """Each alone and all together; at most 3 s."""
    ledger.time(
        f"lint of {len(published)} real tools",
        lambda: lint_tools(published),
        limit=3,
        rounds=5,
    )
