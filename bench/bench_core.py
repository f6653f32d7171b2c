"""What the tool system costs: beside plain pydantic and bare calls."""

from typing import Literal

from measuring import Cold
from pydantic import BaseModel, ConfigDict, Field, create_model

from toolbench import (
    Action,
    Observation,
    ToolAnnotations,
    ToolDefinition,
    ToolExecutor,
    ToolRegistry,
)

# Seconds
MICRO = 1e-6


class Plain(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    path: str = Field(description="Where.")
    mode: Literal["r", "w"] = "r"
    limit: int | None = Field(None, ge=1)


class ReadAction(Action):
    path: str = Field(description="Where.")
    mode: Literal["r", "w"] = "r"
    limit: int | None = Field(None, ge=1)


class ReadObservation(Observation):
    size: int = 0


READY = ReadObservation(size=1)


class ReadExecutor(ToolExecutor[ReadAction, ReadObservation]):
    def __call__(self, action, conversation=None):
        return READY


EXECUTOR = ReadExecutor()
TOOL = ToolDefinition(
    name="read",
    description="Reads.",
    action_type=ReadAction,
    observation_type=ReadObservation,
    annotations=ToolAnnotations(title="Read"),
    executor=EXECUTOR,
)
ARGUMENTS = {"path": "/etc/hosts", "limit": 3}


def test_arguments_to_action(ledger):
    """At most 1.3 times plain pydantic."""
    ledger.compare(
        "arguments to action",
        ours=lambda: TOOL.action_from_arguments(ARGUMENTS),
        peer=lambda: Plain.model_validate(ARGUMENTS),
        peer_name="pydantic",
        goal=1.3,
    )


def test_a_call(ledger):
    """At most one microsecond more than the bare executor."""
    action = TOOL.action_from_arguments(ARGUMENTS)
    ledger.more(
        "a call",
        ours=lambda: TOOL(action),
        peer=lambda: EXECUTOR(action),
        peer_name="the bare executor",
        limit=MICRO,
    )


EXPORTS = {
    "OpenAI": TOOL.to_openai_tool,
    "OpenAI, with questions": lambda: TOOL.to_openai_tool(
        add_security_risk_prediction=True, add_summary=True
    ),
    "Responses": TOOL.to_responses_tool,
    "MCP": TOOL.to_mcp_tool,
    "parameters alone": TOOL.parameters,
}


def test_export_of_a_known_tool(ledger):
    """At most five microseconds."""
    for name, export in EXPORTS.items():
        ledger.time(f"export of a known tool: {name}", export, limit=5 * MICRO)


def test_export_with_a_schema_of_another_s(ledger):
    """What is not the tool's own is put together anew: at most twice that."""
    ledger.time(
        "export with an output schema that is given",
        lambda: TOOL.to_mcp_tool(output_schema={}),
        limit=10 * MICRO,
    )


class Thousand:
    """A thousand new models of a base."""

    def __init__(self, base):
        self.base, self.rounds = base, 0

    def models(self):
        self.rounds += 1
        fields = {
            "path": (str, Field(description="Where.")),
            "limit": (int | None, None),
            "mode": (Literal["r", "w"], "r"),
        }
        names = (f"Cold{self.rounds}x{n}Action" for n in range(1_000))
        return [create_model(name, __base__=self.base, **fields) for name in names]

    def tools(self):
        return [
            ToolDefinition(name=a.__name__, action_type=a, executor=EXECUTOR) for a in self.models()
        ]


def test_a_thousand_tools_cold(ledger):
    """Exported for the first time: at most 1.5 times what pydantic's schemas alone take."""

    def export(tools):
        for each in tools:
            each.to_openai_tool(add_security_risk_prediction=True)

    def schemas(models):
        for model in models:
            model.model_json_schema()

    ledger.compare(
        "1,000 new tools exported",
        ours=Cold(Thousand(Action).tools, export, clean=True),
        peer=Cold(Thousand(Plain).models, schemas, clean=True),
        peer_name="model_json_schema",
        goal=1.5,
        rounds=7,
    )


def test_resolve_of_an_instance(ledger):
    """At most two microseconds, among a thousand."""
    registry = ToolRegistry()
    for n in range(1_000):
        registry.register(f"read_{n}", TOOL)
    ledger.time(
        "resolve of an instance among 1,000",
        lambda: registry.resolve("read_500"),
        limit=2 * MICRO,
    )


def test_kind_among_a_thousand(ledger):
    """A class is found as fast as if it were alone, right after another was defined."""
    known = [create_model(f"Kind{n}Action", __base__=Action) for n in range(1_000)]
    assert known
    ledger.time(
        "class found by its kind among 1,000",
        lambda: Action.resolve_kind("Kind500Action"),
        limit=5 * MICRO,
    )


def test_a_foreign_schema(ledger):
    """Arguments checked against the twenty properties of a schema that is not ours."""
    properties = {f"p{n}": {"type": "string", "minLength": 1} for n in range(20)}
    schema = {"type": "object", "properties": properties, "required": ["p0"]}
    model = Action.from_mcp_schema("Foreign", schema)
    ledger.time(
        "arguments checked against a foreign schema",
        lambda: model.model_validate({"p0": "a", "p1": "b"}),
        limit=50 * MICRO,
    )
