"""Who is told of a tool, a model and its provider, is not told the secrets among its samples."""

import json
from typing import Annotated

import pytest
from corpus import lines_of, needs_corpus
from pydantic import Field

from toolbench import Action, ToolDefinition, run_tool, tool
from toolbench.llm.formats import to_format
from toolbench.llm.wire import WIRES
from toolbench.redaction.detect import without_secret_samples

SECRETS = ("hunter2-default", "hunter2-example", "hunter2-nested")
FOREIGN = {
    "type": "object",
    "$defs": {"Login": {"properties": {"token": {"type": "string"}}}},
    "properties": {
        "api_key": {
            "type": "string",
            "default": SECRETS[0],
            "examples": [SECRETS[1]],
        },
        "login": {"$ref": "#/$defs/Login", "default": {"token": SECRETS[2]}},
        "url": {"type": "string", "examples": [f"https://me:{SECRETS[1]}@host/"]},
        "inner": {
            "type": "object",
            "properties": {"password": {"type": "string", "default": SECRETS[0]}},
        },
    },
}


@tool
def native(
    password: str = SECRETS[0],
    code: Annotated[
        str, Field(examples=[SECRETS[1]], json_schema_extra={"format": "password"})
    ] = "",
    headers: dict[str, str] = {"Authorization": f"Bearer {SECRETS[2]}"},  # noqa: B006 - what people write
) -> str:
    """Log in."""
    return f"{len(password)} {len(headers['Authorization'])}"


foreign = ToolDefinition(
    name="foreign",
    description="Log in.",
    action_type=Action.from_mcp_schema("ForeignAction", FOREIGN),
)


@pytest.mark.every_case
@pytest.mark.parametrize("definition", [native, foreign], ids=["native", "foreign"])
@pytest.mark.parametrize("provider", WIRES)
def test_are_told_to_no_provider(provider, definition):
    """A key of the server, a token in a nested default, an example of a password: left out."""
    exported = json.dumps(to_format(definition, provider))
    assert "password" in exported
    assert [secret for secret in SECRETS if secret in exported] == []
    risk = json.dumps(to_format(definition, provider, security_risk=True, summary=True))
    assert [secret for secret in SECRETS if secret in risk] == []


def test_take_their_place_in_the_call_all_the_same():
    """A call without the arguments is the call with the defaults."""
    assert run_tool(native, {}).text == f"{len(SECRETS[0])} {len(SECRETS[2]) + 7}"


def test_stay_if_they_hold_no_secret():
    """Other defaults and examples help a model; choices, places and nothing are no secrets."""
    schema = {
        "type": "object",
        "properties": {
            "token": {"enum": ["none", "short"], "default": "none"},
            "password": {"type": "string", "default": ""},
            "url": {"type": "string", "examples": ["https://host/?q=token"]},
            "limit": {"type": "integer", "default": 10},
            "options": {"type": "object", "default": {"depth": 2}},
        },
    }
    assert without_secret_samples(schema) == schema


@needs_corpus
def test_of_real_tools_stay():
    """No tool of the corpus, thousands of them, has a secret among its samples."""
    schemas = [each["inputSchema"] for each in lines_of("tools_public.jsonl")]
    assert [s for s in schemas if without_secret_samples(s) != s] == []
