"""Runs as OpenTelemetry spans: attributes of live spans, and a file for any OTLP receiver.

Source: GenAI semantic conventions v0.1.0, `execute_tool`; OTLP 1.5, JSON encoding.
"""

import json
from collections.abc import Iterable, Mapping
from hashlib import sha256
from typing import Any

from toolbench._version import __version__
from toolbench.runs.record import RunRecord, state_words
from toolbench.tracing import SCOPE
from toolbench.values import whole_characters

_INTERNAL, _ERROR = 1, 2
# Hexadecimal digits of the ids of a trace and of a span
_TRACE, _SPAN = 32, 16
_BILLION = 1_000_000_000


def begun_attributes(tool: str) -> dict[str, Any]:
    """Return the attributes that a run of *tool* has at its start, which samplers can use."""
    return {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": tool}


def attributes_of(record: RunRecord, *, content: bool) -> dict[str, Any]:
    """Return the attributes of a recorded run; *content* adds its arguments and its result."""
    attributes = begun_attributes(record.tool) | {
        "gen_ai.tool.type": "function",
        "toolbench.run.id": record.id,
        "toolbench.run.state": record.state,
        "toolbench.run.source": record.source,
        "toolbench.run.waited": round(record.waited, 6),
    }
    if record.definition is not None and record.definition.description:
        attributes["gen_ai.tool.description"] = record.definition.description
    if record.address is not None and record.address.server:
        attributes["toolbench.server"] = record.address.server
    if content:
        arguments = json.dumps(dict(record.arguments), ensure_ascii=False, default=str)
        attributes["gen_ai.tool.call.arguments"] = arguments
        attributes["gen_ai.tool.call.result"] = record.observation.text
    # Half a character from a server would invalidate the attribute, or the whole file
    whole: dict[str, Any] = whole_characters(attributes)
    return whole


def error_of(record: RunRecord) -> tuple[str, str]:
    """Return a run's error class and a sentence without content; both are empty on success."""
    if record.state == "ok":
        return "", ""
    if record.refused:
        return "invalid_arguments", "The arguments do not fit."
    if record.state == "error":
        return "tool_error", "The tool answered with an error."
    return record.state, f"The run was {state_words(record.state)}."


def otlp_of(records: Iterable[RunRecord], *, content: bool) -> dict[str, Any]:
    """Return *records* as an `ExportTraceServiceRequest` in JSON.

    Each run becomes a span, and each question becomes an event in a span. The ids are derived from
    the session and the number of the run. A receiver therefore recognizes a run that it gets twice.
    """
    spans = [_span(record, content=content) for record in records]
    scope = {"scope": {"name": SCOPE, "version": __version__}, "spans": spans}
    resource = {"attributes": _pairs({"service.name": SCOPE})}
    return {"resourceSpans": [{"resource": resource, "scopeSpans": [scope]}]}


def _span(record: RunRecord, *, content: bool) -> dict[str, Any]:
    began = record.started.timestamp()
    session, number = record.key
    top = number
    if record.ancestors:
        top = record.ancestors[0]
    span: dict[str, Any] = {
        "traceId": _digits(session, "trace", top)[:_TRACE],
        "spanId": _digits(session, "span", number)[:_SPAN],
        "name": f"execute_tool {record.tool}",
        "kind": _INTERNAL,
        "startTimeUnixNano": _nanoseconds(began),
        "endTimeUnixNano": _nanoseconds(began + record.seconds + record.waited),
        "attributes": _pairs(attributes_of(record, content=content)),
        "status": {},
    }
    if record.ancestors:
        span["parentSpanId"] = _digits(session, "span", record.ancestors[-1])[:_SPAN]
    events = []
    for wait in record.waits:
        details: dict[str, Any] = {"toolbench.is_consent": wait.is_consent}
        if wait.ended is not None:
            details["toolbench.seconds"] = round(wait.ended - wait.began, 6)
        if content:
            details["toolbench.question"] = whole_characters(wait.question)
        time = _nanoseconds(wait.began)
        events.append({"timeUnixNano": time, "name": "question", "attributes": _pairs(details)})
    span["events"] = events
    error, message = error_of(record)
    if error:
        span["attributes"] += _pairs({"error.type": error})
        span["status"] = {"code": _ERROR, "message": message}
    return span


def _digits(session: str, kind: str, number: int) -> str:
    return sha256(f"{session} {kind} {number}".encode()).hexdigest()


def _nanoseconds(seconds: float) -> str:
    return str(int(seconds * _BILLION))


def _pairs(attributes: Mapping[str, Any]) -> list[dict[str, Any]]:
    pairs = []
    for key, value in attributes.items():
        if isinstance(value, bool):
            written: dict[str, Any] = {"boolValue": value}
        elif isinstance(value, int):
            written = {"intValue": str(value)}
        elif isinstance(value, float):
            written = {"doubleValue": value}
        else:
            written = {"stringValue": str(value)}
        pairs.append({"key": key, "value": written})
    return pairs
