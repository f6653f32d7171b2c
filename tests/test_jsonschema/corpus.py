"""The tools real servers publish, where they are kept beside the checkout, and what they must be."""

import json
from pathlib import Path

import pytest

from toolbench import Action, ToolDefinition

CORPUS = Path(__file__).parents[3] / "shared" / "corpus"
needs_corpus = pytest.mark.skipif(
    not CORPUS.is_dir(),
    reason=f"THE CORPUS OF REAL TOOLS IS NOT AT {CORPUS}: 2,132 schemas go unproven",
)


def lines_of(name):
    """The objects in a file of the corpus, one a line."""
    text = (CORPUS / name).read_text(encoding="utf-8")
    return [json.loads(line) for line in text.splitlines()]


def tool_of(schema, *, name="t", description=""):
    """A tool that takes what *schema* accepts."""
    action_type = Action.from_mcp_schema("CorpusAction", schema)
    return ToolDefinition(name=name, description=description, action_type=action_type)
