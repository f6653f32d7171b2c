"""Each rule of one tool speaks where it is broken, and is silent where it is kept."""

from functools import partial
from typing import TypedDict, Unpack

import pytest
from pydantic import SecretStr

from test_llm.samples import taking
from test_llm.tools import argument, number, text, tool_named
from toolbench import tool
from toolbench.core.declarations import ToolAnnotations
from toolbench.llm.lint import lint_tool

DELETES = ToolAnnotations(destructiveHint=True)


class More(TypedDict, total=False):
    size: int


def misnamed(price: float, note: str = ""):  # noqa: D417 - that is the mistake
    """Buy something.

    Args:
        pryce: In euros.
        note: For the seller.
    """


def welldescribed(price: float, *, conversation: object, **more: Unpack[More]):
    """Buy something.

    Args:
        price: In euros.
        conversation: Ours.
        **more: More.
        size: A key of those.
    """


def open_to_all(**anything: int):
    """Count.

    Args:
        **anything: By name.
        apples: For example.
    """


LOGIN = {
    "type": "object",
    "properties": {"user": text("The name."), "password": text("The password.")},
    "required": ["password"],
}


def login(token: SecretStr) -> str:
    """Log in and return the name of the user.

    Args:
        token: The token.
    """


def login_as(user: str, token: SecretStr | None = None) -> str:
    """Log in and return the name of the user.

    Args:
        user: The name.
        token: The token; by default that of the environment.
    """


KEPT_AND_BROKEN = {
    "description-missing": [
        (tool_named("get_it", ""), tool_named("get_it")),
        (tool_named("get_it", "  "), tool_named("get_it")),
    ],
    "description-thin": [
        (tool_named("divide", "Divide."), tool_named("divide", "Divide two numbers.")),
        (tool_named("get_it", " It "), tool_named("get_recipes", "获取所有菜谱")),
        (tool_named("outlook", "Runs the module."), tool_named("start_run", "Starts a run.")),
        (
            tool_named("outlook", "Implementation of the interface."),
            tool_named("outlook", "Tells the weather in a city."),
        ),
    ],
    "description-result": [
        (
            tool_named("list_branches", "List the branches of a repository on the server."),
            tool_named("list_branches", "List the branches: name, commit and author of each."),
        ),
        (
            tool_named("list_directory", "List what a directory has, with a filter."),
            tool_named("list_directory", "List the contents of it, with a filter."),
        ),
    ],
    "description-limits": [
        (
            tool_named("search_events", "Search for events in a city. Returns names."),
            tool_named(
                "search_events",
                "Search for events in a city. Returns at most 20 names.",
            ),
        ),
        (
            tool_named("search_events", "Search for events in a city. Returns names."),
            taking({"limit": number("The most events; 20 by default.")}).model_copy(
                update={
                    "name": "search_events",
                    "description": "Search events. Returns names.",
                }
            ),
        ),
    ],
    "argument-undescribed": [
        (argument({"type": "string"}), argument(text("The key."))),
        (argument({"type": "object", "properties": {"y": {}}}), argument({"const": 1})),
    ],
    "argument-misnamed": [
        (tool(misnamed), tool(welldescribed)),
        (
            tool(name="part")(partial(misnamed, 1)),
            tool(name="part")(partial(welldescribed, 1)),
        ),
        (tool(misnamed), tool(open_to_all)),
    ],
    "argument-enum": [
        (
            argument(text("The order. One of: 'asc', 'desc'.")),
            argument(text("The order. One of: 'asc', 'desc'.", enum=["asc", "desc"])),
        ),
        (
            argument(text("The unit: 'miles' or 'kilometers'.")),
            argument(text("The unit, e.g. 'miles' or 'kilometers'.")),
        ),
        (
            argument(text("Valid values: json, xml, csv.")),
            argument(text("The format of what comes back.")),
        ),
        (
            argument(text("The class (STATIC or DYNAMIC).")),
            argument(text("The owner (user or organization).")),
        ),
        (argument(text("The order (asc|desc).")), argument(text("The order."))),
    ],
    "argument-default": [
        (
            argument(number("The most matches."), name="limit"),
            argument(number("The most matches; default 10."), name="limit"),
        ),
        (
            argument(number("Seconds to wait."), name="timeout"),
            argument(number("Seconds to wait.", default=30), name="timeout"),
        ),
        (
            argument(number("Seconds to wait."), name="timeout"),
            argument(number("Seconds to wait."), name="timeout", required=True),
        ),
    ],
    "argument-range": [
        (
            argument(number("Between 1 and 100; default 10.")),
            argument(number("Between 1 and 100.", minimum=1, maximum=100)),
        ),
        (argument(number("Items (max 50).")), argument(number("Items.", maximum=50))),
    ],
    "argument-unbounded": [
        (
            argument(text("The title, at most 255 characters.")),
            argument(text("The title, at most 255 characters.", maxLength=255)),
        ),
        (
            argument({"type": "array", "description": "Ids (up to 50 ids).", "items": {}}),
            argument(
                {
                    "type": "array",
                    "description": "Up to 50 ids.",
                    "items": {},
                    "maxItems": 50,
                }
            ),
        ),
    ],
    "argument-format": [
        (
            argument(text("The day, as YYYY-MM-DD.")),
            argument(text("The day, as YYYY-MM-DD.", format="date")),
        ),
        (
            argument(text("The UUID of the run.")),
            argument(text("The UUID or the name of the run.")),
        ),
    ],
    "argument-list-text": [
        (
            argument(text("A comma-separated list of tags.")),
            argument({"type": "array", "items": {"type": "string"}, "description": "Tags."}),
        )
    ],
    "argument-json-text": [
        (
            argument(text("The settings as a JSON string.")),
            argument(text("The file, e.g. a JSON object.")),
        )
    ],
    "argument-free": [
        (
            argument({"type": "object", "description": "The options."}),
            argument(
                {
                    "type": "object",
                    "description": "The options.",
                    "additionalProperties": {"type": "string"},
                }
            ),
        )
    ],
    "argument-secret": [
        (tool(login), tool(login_as)),
        (
            argument(text("The key."), name="api_key", required=True),
            argument(text("The key."), name="api_key"),
        ),
        (taking({"login": LOGIN}, "login"), taking({"login": LOGIN})),
    ],
    "default-invalid": [
        (
            argument({"anyOf": [text("Which.", enum=["a"]), {"type": "null"}], "default": "b"}),
            argument({"anyOf": [text("Which.", enum=["a"]), {"type": "null"}], "default": None}),
        ),
        (
            argument(number("How many.", default=None)),
            argument(number("How many.", default=1)),
        ),
        (
            argument(text("Which.", enum=["a"], default="b")),
            argument(text("Which.", enum=["a"], default="a")),
        ),
        (
            argument(number("How many.", default="3")),
            argument(number("How many.", default=3.0)),
        ),
    ],
    "required-unknown": [
        (
            taking({"a": text("A key.")}, "b", additionalProperties=False),
            taking({"a": text("A key.")}, "b"),
        ),
        (
            taking({}, "b", patternProperties={"^a": {}}, additionalProperties=False),
            taking({}, "b", patternProperties={"^b": {}}, additionalProperties=False),
        ),
    ],
    "provider-refuses": [
        (tool_named("get.it"), tool_named("get_it")),
        (tool_named("get_" + "x" * 70), tool_named("get_" + "x" * 50)),
        (argument({"type": "array", "description": "Ids."}), argument(text("Ids."))),
        (
            taking({"a": text("A key.")}, anyOf=[{"required": ["a"]}]),
            taking({"a": text("A key.")}, "a"),
        ),
    ],
    "hint-destructive": [
        (tool_named("delete_file"), tool_named("delete_file", annotations=DELETES)),
        (
            tool_named("drop_table", annotations=ToolAnnotations(readOnlyHint=False)),
            tool_named("drop_table", annotations=ToolAnnotations(destructiveHint=False)),
        ),
        (
            tool_named("repo_remove", "Removes a repository permanently. Returns its name."),
            tool_named("label_remove", "Takes a label off an issue. Returns the issue."),
        ),
        (
            tool_named("xgroup_delete", "Delete a group. Returns its name."),
            tool_named("issuescreate_delete_token", "Returns a token for later."),
        ),
        (
            tool_named("queue_delete", "Deletes a queue. Returns its name."),
            tool_named("get_delete_status", "Returns how far it is."),
        ),
    ],
    "hint-contradicts": [
        (
            tool_named("delete_file", annotations=ToolAnnotations(readOnlyHint=True)),
            tool_named("list_files", annotations=ToolAnnotations(readOnlyHint=True)),
        )
    ],
    "tool-tokens": [
        (
            taking({f"a{i}": text("x" * 1_000) for i in range(12)}),
            taking({f"a{i}": text("x" * 100) for i in range(12)}),
        )
    ],
}
PAIRS = [(rule, *pair) for rule, pairs in KEPT_AND_BROKEN.items() for pair in pairs]


# Each case is a rule of its own
@pytest.mark.every_case
@pytest.mark.parametrize(("rule", "broken", "correct"), PAIRS, ids=range(len(PAIRS)))
def test_rule(rule, broken, correct):
    """Broken: a finding. Kept: none."""
    assert rule in {finding.rule for finding in lint_tool(broken)}
    assert rule not in {finding.rule for finding in lint_tool(correct)}


def test_what_is_misnamed_may_be_meant_for_another():
    """A typo in a docstring is told with the parameter it stands for."""
    messages = {messages.rule: messages.message for messages in lint_tool(tool(misnamed))}
    message = "'pryce' is described but is not a parameter. Did you mean 'price'?"
    assert messages["argument-misnamed"] == message


def test_what_providers_refuse_is_named():
    """Every name that one of them does not take is in the sentence."""
    wrong = taking({f"my arg {n}": text("It.") for n in range(7)})
    wrong = wrong.model_copy(update={"name": "get it!"})
    messages = {messages.rule: messages.message for messages in lint_tool(wrong)}
    also = ", ".join(f"my arg {n}" for n in range(5))
    assert messages["provider-refuses"] == (
        "Not accepted unchanged by OpenAI, Anthropic, Gemini: the name is too long, "
        f"or has characters that are not allowed (also {also} and 2 more)."
    )
