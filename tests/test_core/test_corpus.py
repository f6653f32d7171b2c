"""Tools real servers publish: every one builds, exports, and judges values as it should."""

import json
from itertools import chain, islice

import pytest
from corpus import tool_of
from pydantic import ValidationError

from test_core.schemas import judge
from toolbench.llm.formats import tool_formats


@pytest.fixture(scope="module")
def sampled(published, valid_values):
    """Tools of the corpus, with values their schemas accept."""
    return [
        (tool, [value for _, value in values])
        for tool, values in zip(published, valid_values, strict=True)
    ]


@pytest.fixture(scope="module")
def tools(published):
    """The same tools as ours, in the same order."""
    return [
        tool_of(p["inputSchema"], name=p["name"], description=p.get("description") or "")
        for p in published
    ]


def mutations(value):
    """Objects that differ from *value* in one place each."""
    yield {**value, "not_an_argument": 1}
    for name, old in value.items():
        yield {k: v for k, v in value.items() if k != name}
        for new in (None, "☃", -1, 1.5, True, [], [old], {}, {"x": old}):
            yield {**value, name: new}
        if isinstance(old, dict):
            yield from ({**value, name: inner} for inner in mutations(old))
        elif isinstance(old, list) and old:
            yield {**value, name: old * 2}
            yield {**value, name: [*old, None]}


def test_holds_what_it_should(valid_values):
    """There are values for each tool."""
    assert all(valid_values)


def test_export_to_every_format(tools):
    """Whoever offers a tool to a model gets JSON, and the schema as it was published."""
    for tool in tools:
        mcp, chat = tool.to_mcp_tool(), tool.to_openai_tool()
        responses = tool.to_responses_tool(add_security_risk_prediction=True)
        json.dumps([mcp, chat, responses], allow_nan=False)
        assert mcp["inputSchema"] == tool.action_type.foreign_schema
        for_openai = {"properties": {}, **tool.action_type.foreign_schema}
        assert chat["function"]["parameters"] == for_openai
        assert "security_risk" in responses["parameters"]["properties"]
        for export in (
            tool_formats.to_anthropic,
            tool_formats.to_gemini,
            tool_formats.to_openai,
        ):
            json.dumps(export(tool, security_risk=True, summary=True), allow_nan=False)


def test_accept_what_fits_and_keep_it(sampled, tools):
    """A value its schema accepts becomes an action, and comes out of it unchanged."""
    disagreed = []
    for (published, values), tool in zip(sampled, tools, strict=True):
        reference = judge(published["inputSchema"])
        for value in filter(reference.is_valid, values):
            try:
                result = tool.action_from_arguments(value).to_arguments()
            except ValueError as error:
                result = error
            if result != value:
                disagreed.append((published["source"], tool.name, value, result))
    assert disagreed == []


@pytest.mark.slow
def test_refuse_what_the_reference_refuses(sampled, tools):
    """Of values that differ in one place, a model takes those that jsonschema takes."""
    disagreed, judged = [], {True: 0, False: 0}
    for (published, values), tool in zip(sampled, tools, strict=True):
        reference, validate = (
            judge(published["inputSchema"]),
            tool.action_type.model_validate,
        )
        mutants = chain.from_iterable(map(mutations, values[:2]))
        for mutant in islice(mutants, 50):
            expected = reference.is_valid(mutant)
            try:
                validate(mutant)
            except ValidationError:
                is_accepted = False
            else:
                is_accepted = True
            judged[expected] += 1
            if is_accepted != expected:
                disagreed.append((published["source"], tool.name, mutant, expected))
    assert disagreed == []
    assert min(judged.values()) > 4 * len(tools), "both sides of the law are tried"
