"""What the tool system costs: ratios to plain pydantic and bare calls, in one run, in CPU time."""

import time
from collections.abc import Callable
from statistics import median
from typing import Literal

import pytest
from pydantic import BaseModel, ConfigDict, Field, create_model

from toolbench import (
    Action,
    Observation,
    ToolAnnotations,
    ToolDefinition,
    ToolExecutor,
    ToolRegistry,
)

MICRO = 1e-6  # seconds
pytestmark = pytest.mark.benchmark(timer=time.process_time)


def compared(ours: Callable[[], object], theirs: Callable[[], object], calls=2_000):
    """The seconds a call of each takes: the least disturbed of rounds that take turns."""

    def seconds(function):
        start = time.process_time()
        for _ in range(calls):
            function()
        return (time.process_time() - start) / calls

    rounds = [(seconds(ours), seconds(theirs)) for _ in range(25)]
    return min(ours for ours, _ in rounds), min(theirs for _, theirs in rounds)


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


def test_arguments_to_action(benchmark):
    """At most 1.3 times plain pydantic."""
    ours, plain = compared(
        lambda: TOOL.action_from_arguments(ARGUMENTS),
        lambda: Plain.model_validate(ARGUMENTS),
    )
    benchmark.extra_info["times plain pydantic"] = round(ours / plain, 2)
    benchmark(TOOL.action_from_arguments, ARGUMENTS)
    assert ours <= 1.3 * plain


def test_a_call(benchmark):
    """At most one microsecond more than the bare executor."""
    action = TOOL.action_from_arguments(ARGUMENTS)
    ours, bare = compared(lambda: TOOL(action), lambda: EXECUTOR(action), calls=10_000)
    benchmark.extra_info["us more than bare"] = round((ours - bare) / MICRO, 2)
    benchmark(TOOL, action)
    assert ours - bare <= MICRO


@pytest.mark.parametrize(
    "export",
    [
        lambda: TOOL.to_openai_tool(),
        lambda: TOOL.to_openai_tool(
            add_security_risk_prediction=True, add_summary=True
        ),
        lambda: TOOL.to_responses_tool(),
        lambda: TOOL.to_mcp_tool(),
        lambda: TOOL.parameters(),
    ],
    ids=["openai", "openai with questions", "responses", "mcp", "parameters"],
)
def test_export_of_a_known_tool(benchmark, export):
    """At most five microseconds."""
    seconds, _ = compared(export, lambda: None)
    benchmark(export)
    assert seconds <= 5 * MICRO


def test_export_with_a_schema_of_another_s(benchmark):
    """What is not the tool's own is put together anew: at most twice that."""

    def export():
        return TOOL.to_mcp_tool(output_schema={})

    seconds, _ = compared(export, lambda: None)
    benchmark(export)
    assert seconds <= 10 * MICRO


def test_a_thousand_tools_cold(benchmark):
    """Exported for the first time: at most 1.6 times what pydantic's schemas alone take."""

    def classes(base, round_):
        fields = {
            "path": (str, Field(description="Where.")),
            "limit": (int | None, None),
        }
        made = (
            create_model(
                f"Cold{round_}x{n}Action",
                __base__=base,
                mode=(Literal["r", "w"], "r"),
                **fields,
            )
            for n in range(1_000)
        )
        return list(made)

    def cold(round_):
        actions, models = classes(Action, round_), classes(Plain, round_)
        tools = [
            ToolDefinition(name=a.__name__, action_type=a, executor=EXECUTOR)
            for a in actions
        ]
        start = time.process_time()
        for tool in tools:
            tool.to_openai_tool(add_security_risk_prediction=True)
        middle = time.process_time()
        for model in models:
            model.model_json_schema()
        return middle - start, time.process_time() - middle

    rounds = [cold(n) for n in range(5)]
    ours, pydantic = (median(times) for times in zip(*rounds, strict=True))
    benchmark.extra_info["times model_json_schema"] = round(ours / pydantic, 2)
    benchmark.pedantic(cold, args=("benchmark",), rounds=1)
    assert ours <= 1.6 * pydantic


def test_resolve_of_an_instance(benchmark):
    """At most two microseconds, among a thousand."""
    registry = ToolRegistry()
    for n in range(1_000):
        registry.register(f"read_{n}", TOOL)
    seconds, _ = compared(lambda: registry.resolve("read_500"), lambda: None)
    benchmark(registry.resolve, "read_500")
    assert seconds <= 2 * MICRO


def test_kind_among_a_thousand(benchmark):
    """A class is found as fast as if it were alone, right after another was defined."""
    known = [create_model(f"Kind{n}Action", __base__=Action) for n in range(1_000)]
    seconds, _ = compared(lambda: Action.resolve_kind("Kind500Action"), lambda: None)
    benchmark(Action.resolve_kind, "Kind500Action")
    assert known and seconds <= 5 * MICRO


def test_a_foreign_schema(benchmark):
    """A class from a schema of twenty properties, and its arguments checked."""
    properties = {f"p{n}": {"type": "string", "minLength": 1} for n in range(20)}
    schema = {"type": "object", "properties": properties, "required": ["p0"]}
    model = Action.from_mcp_schema("Foreign", schema)
    benchmark(model.model_validate, {"p0": "a", "p1": "b"})
    assert benchmark.stats.stats.median <= 50 * MICRO
