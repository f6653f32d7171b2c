"""Ask the user of the agent the questions of a run, through MCP elicitation."""

from collections.abc import Mapping
from typing import Any
from uuid import uuid4

import mcp_types as types
from mcp.server.context import ServerRequestContext
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from toolbench.errors import SchemaError
from toolbench.jsonschema.node import Node, read
from toolbench.jsonschema.validate import validator_of
from toolbench.jsonschema.walk import references_in
from toolbench.runs.questions import Answer, Question
from toolbench.values import sendable, whole_characters

_SIMPLE = frozenset({"string", "number", "integer", "boolean"})


def can_ask(ctx: ServerRequestContext[Any, Any], question: Question) -> bool:
    """Tell whether the agent's program can show *question* to its user."""
    capabilities = ctx.session.client_capabilities
    if capabilities is not None:
        elicitation = capabilities.elicitation
    else:
        elicitation = None
    modern = ctx.protocol_version in MODERN_PROTOCOL_VERSIONS
    if elicitation is None or not (modern or ctx.session.can_send_request):
        return False
    if question.url:
        return elicitation.url is not None
    # A client of the first version with forms declares an empty object
    has_forms = elicitation.form is not None or elicitation.url is None
    return has_forms and is_flat(question.schema)


def is_flat(schema: Mapping[str, Any]) -> bool:
    """Tell whether elicitation allows *schema*, which may have only fields of simple types."""
    node = read(schema)
    has_references = next(references_in(schema), None) is not None
    return (
        node.type == "object"
        and not has_references
        and all(map(_is_simple, node.properties.values()))
    )


def _is_simple(field: Node) -> bool:
    if field.type != "array":
        return field.type in _SIMPLE and not (field.takes_null or field.branches)
    if field.items is not None:
        choices = field.items.choices
    else:
        choices = []
    return bool(choices) and all(isinstance(choice, str) for choice in choices)


def request_for(question: Question) -> types.ElicitRequest:
    """Return the request that asks *question*."""
    message = whole_characters(question.message)
    if question.url:
        page = types.ElicitRequestURLParams(
            message=message,
            url=whole_characters(question.url),
            elicitation_id=uuid4().hex,
        )
        return types.ElicitRequest(params=page)
    form = types.ElicitRequestFormParams(message=message, requested_schema=_form_of(question))
    return types.ElicitRequest(params=form)


def answer_of(reply: Any, question: Question) -> Answer:
    """Return the answer to *question* that *reply* contains.

    If the content does not fit the question's schema, return a cancellation.
    """
    if not isinstance(reply, types.ElicitResult):
        return Answer("cancel", by_somebody=False)
    if reply.action != "accept":
        return Answer(reply.action)
    content: dict[str, Any]
    if question.url:
        content = {"answer": True}
    else:
        content = dict(reply.content or {})
    if _fits(content, question):
        return Answer("accept", content)
    return Answer("cancel")


def _form_of(question: Question) -> dict[str, Any]:
    form: dict[str, Any] = sendable(dict(question.schema))
    return form


def _fits(content: Mapping[str, Any], question: Question) -> bool:
    try:
        is_valid = validator_of(_form_of(question)).is_valid(content)
        return is_valid and not question.format_problems(content)
    except SchemaError:
        # No answer fits a form that cannot be read
        return False
