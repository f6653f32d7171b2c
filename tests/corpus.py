"""The tools real servers publish, where they are kept beside the checkout, and what they must be."""

import json
from pathlib import Path
from random import Random

import pytest

from toolbench import Action, ToolDefinition

CORPUS = Path(__file__).parents[2] / "shared" / "corpus"
MISSING = f"THE CORPUS OF REAL TOOLS IS NOT AT {CORPUS}: 2,132 schemas go unproven"
needs_corpus = pytest.mark.skipif(not CORPUS.is_dir(), reason=MISSING)


def lines_of(name):
    """The objects in a file of the corpus, one a line."""
    text = (CORPUS / name).read_text(encoding="utf-8")
    return [json.loads(line) for line in text.splitlines()]


def published_tools(*, all_of_them):
    """All tools of the corpus, or one of ten, the same ones in each run."""
    tools = lines_of("tools_public.jsonl")
    assert len(tools) == 2_132
    return tools if all_of_them else Random("corpus").sample(tools, len(tools) // 10)


def tool_of(schema, *, name="t", **facts):
    """A tool that takes what *schema* accepts."""
    action_type = Action.from_mcp_schema("CorpusAction", schema)
    return ToolDefinition(name=name, action_type=action_type, **facts)
