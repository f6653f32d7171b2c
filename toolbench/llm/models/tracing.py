"""A model's answer as an OpenTelemetry span `chat MODEL`.

Source: GenAI semantic conventions v0.1.0, inference.
"""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from toolbench.errors import ModelStoppedError
from toolbench.llm.models.model import Answer, Messages, Model, OfferedTools, OnChunk
from toolbench.redaction.known import remembered
from toolbench.redaction.redactor import NO_SECRETS, Redactor
from toolbench.runs.control import Cancellable
from toolbench.tracing import tracing
from toolbench.values import whole_characters

# The conventions' names of providers; other names stay unchanged
_PROVIDERS = {"responses": "openai", "gemini": "gcp.gemini"}


def answer_of(
    model: Model,
    messages: Messages,
    tools: OfferedTools = (),
    *,
    on_chunk: OnChunk | None = None,
    cancel: Cancellable | None = None,
    redactor: Redactor = NO_SECRETS,
) -> Answer:
    """Return the answer of *model*, and record a span if OpenTelemetry is configured.

    The parameters are as in `Model.complete`. If the span contains messages, *redactor* masks the
    secrets in them.
    """
    attributes: dict[str, Any] = {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": _PROVIDERS.get(model.provider, model.provider),
        "gen_ai.request.model": model.name,
    }
    span = tracing.begin(f"chat {model.name}", attributes, kind="CLIENT")
    if span is None:
        return model.complete(messages, tools, on_chunk=on_chunk, cancel=cancel)
    error = ""
    try:
        with tracing.use(span):
            answer = model.complete(messages, tools, on_chunk=on_chunk, cancel=cancel)
        more = _attributes(answer)
        if tracing.wants_content:
            hide = remembered.redactor.joined(redactor)
            more["gen_ai.input.messages"] = _written(messages, hide)
            more["gen_ai.output.messages"] = _written([answer.message], hide)
        span.set_attributes(more)
    except BaseException as raised:
        # An interrupt also ends the span
        error = type(raised).__name__
        if isinstance(raised, ModelStoppedError):
            error = "cancelled"
        raise
    else:
        return answer
    finally:
        tracing.end(span, {}, error=error)


def _attributes(answer: Answer) -> dict[str, Any]:
    attributes: dict[str, Any] = {}
    if answer.model:
        attributes["gen_ai.response.model"] = answer.model
    if answer.finish_reason:
        attributes["gen_ai.response.finish_reasons"] = [answer.finish_reason]
    if answer.usage is None:
        return attributes
    for kind, tokens in (
        ("input_tokens", answer.usage.input_tokens),
        ("output_tokens", answer.usage.output_tokens),
    ):
        if tokens is not None:
            attributes[f"gen_ai.usage.{kind}"] = tokens
    return attributes


def _written(messages: Sequence[Mapping[str, Any]], redactor: Redactor) -> str:
    """Return *messages* as JSON, unconverted, because a conversion could lose parts."""
    written = json.dumps(redactor.value(list(messages)), ensure_ascii=False, default=str)
    return str(whole_characters(written))
