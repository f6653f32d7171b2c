"""What the model's side costs: a call parsed and checked, a tool exported, tools linted."""

import json
import time
from pathlib import Path

import pytest
from pydantic import Field

from toolbench.core.schema import Action
from toolbench.core.tool import ToolDefinition
from toolbench.llm.calls import parse_tool_calls
from toolbench.llm.formats import FORMATS
from toolbench.llm.lint import lint_tools
from toolbench.llm.payloads import PAYLOADS

CORPUS = Path(__file__).parents[2] / "shared" / "corpus" / "tools_public.jsonl"

pytestmark = pytest.mark.benchmark(timer=time.process_time)


class GrepAction(Action):
    """A search, as models send it all day."""

    pattern: str = Field(description="The regular expression to look for.")
    path: str | None = Field(None, description="The folder; the current one if unset.")
    limit: int = Field(10, description="The most matches to return.")


TOOLS = [
    ToolDefinition(
        name=f"grep_{i}", description="Search files.", action_type=GrepAction
    )
    for i in range(100)
]
ARGUMENTS = {"pattern": "def foo", "path": "/tmp/x", "limit": 5}
TEXT = json.dumps(ARGUMENTS)
MESSAGE = {
    "role": "assistant",
    "content": "Let me look.",
    "tool_calls": [PAYLOADS["openai"](TOOLS[50], ARGUMENTS)],
}


@pytest.fixture(scope="module")
def published():
    """The tools of the corpus."""
    if not CORPUS.is_file():
        pytest.skip(f"THE CORPUS OF REAL TOOLS IS NOT AT {CORPUS}")
    entries = map(json.loads, CORPUS.read_text(encoding="utf-8").splitlines())
    return [
        ToolDefinition(
            name=entry["name"],
            description=entry.get("description") or "",
            action_type=Action.from_mcp_schema("PublishedAction", entry["inputSchema"]),
        )
        for entry in entries
    ]


def test_json_and_pydantic_alone(benchmark):
    """What a call costs at the least."""
    benchmark(lambda: GrepAction.model_validate(json.loads(TEXT)))


def test_parse_among_a_hundred_tools(benchmark):
    """A chat message with one call; at most 30 us more."""
    assert benchmark(parse_tool_calls, MESSAGE, TOOLS)[0].action


@pytest.mark.parametrize("provider", PAYLOADS)
def test_parse_one_call(benchmark, provider):
    """The call alone, of each provider."""
    call = PAYLOADS[provider](TOOLS[0], ARGUMENTS)
    assert benchmark(parse_tool_calls, call, TOOLS[:1])[0].action


@pytest.mark.parametrize("provider", FORMATS)
def test_export_the_corpus(benchmark, provider, published):
    """2,132 tools in the words of each provider."""
    export = FORMATS[provider]
    benchmark.pedantic(lambda: [export(tool) for tool in published], rounds=3)


def test_lint_the_corpus(benchmark, published):
    """2,132 tools, each alone and all together; at most 3 s."""
    benchmark.pedantic(lint_tools, (published,), rounds=3)
