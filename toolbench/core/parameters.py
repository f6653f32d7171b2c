"""What a model is told to send to a tool, kept ready: export is asked for again and again."""

import marshal
from functools import cached_property
from typing import Any
from weakref import WeakKeyDictionary

from pydantic_core import from_json, to_json

from toolbench.core.foreign import extended_schema
from toolbench.core.jsonschema import full_schema
from toolbench.core.schema import Schema
from toolbench.core.security import SecurityRisk

_SECURITY_RISK = {
    "type": "string",
    "enum": [risk.value for risk in SecurityRisk],
    "description": "How risky this call is. "
    + "; ".join(f"{risk.value}: {risk.description}" for risk in SecurityRisk)
    + ".",
}
_SUMMARY = {
    "type": "string",
    "description": "What this call is for, in one line of about ten words.",
}


class Ready:
    """A JSON object kept ready: each caller gets a copy of its own."""

    def __init__(self, value: dict[str, Any]) -> None:
        """Keep *value* as it is now."""
        # marshal reads plain data faster than any JSON parser, and only what we wrote here
        self._data = marshal.dumps(from_json(to_json(value)))

    def copy(self) -> dict[str, Any]:
        """Return the object, yours to change."""
        value: dict[str, Any] = marshal.loads(self._data)  # noqa: S302 - our own
        return value


class Parameters:
    """The schemas of one set of arguments; each caller gets a copy of its own."""

    def __init__(self, accepted: dict[str, Any], asked: dict[str, Any]) -> None:
        """Keep what is *accepted*, and what a caller is *asked* to send."""
        self._takes = accepted
        self._asked = asked
        self._ready: dict[tuple[bool, bool], Ready] = {}

    @property
    def accepted(self) -> dict[str, Any]:
        """What the tool takes, `null` for unset optionals included."""
        return self._accepted.copy()

    @cached_property
    def _accepted(self) -> Ready:
        return Ready(self._takes)

    def get(
        self, *, security_risk: bool = False, summary: bool = False
    ) -> dict[str, Any]:
        """Return the schema, with the questions about the call itself if wanted."""
        key = security_risk, summary
        ready = self._ready.get(key)
        if ready is None:
            ready = self._ready[key] = Ready(self._with_questions(*key))
        return ready.copy()

    def _with_questions(self, *wanted: bool) -> dict[str, Any]:
        questions = {"security_risk": _SECURITY_RISK, "summary": _SUMMARY}
        own = self._asked.get("properties") or {}
        added = {
            name: question
            for (name, question), want in zip(questions.items(), wanted, strict=True)
            if want and name not in own
        }
        return {**self._asked, "properties": {**own, **added}} if added else self._asked


_of_class: WeakKeyDictionary[type[Schema], Parameters] = WeakKeyDictionary()


def parameters_of(schema: type[Schema]) -> Parameters:
    """Return the parameters of a class of actions, worked out once."""
    found = _of_class.get(schema)
    if found is None:
        foreign = extended_schema(schema)
        accepted = full_schema(schema) if foreign is None else foreign
        # whoever offers tools to models wants to be told that arguments are an object
        asked = {"type": "object", **schema.to_mcp_schema()}
        found = _of_class[schema] = Parameters(accepted, asked)
    return found
