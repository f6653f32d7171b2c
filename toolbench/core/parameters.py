"""What a model is told to send to a tool, kept ready: export is asked for again and again."""

from typing import Any
from weakref import WeakKeyDictionary

from pydantic_core import from_json, to_json

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


class Parameters:
    """The schemas of one set of arguments; each caller gets a copy of its own."""

    def __init__(self, accepted: dict[str, Any], asked: dict[str, Any]) -> None:
        """Keep what is *accepted*, and what a caller is *asked* to send."""
        self._accepted = to_json(accepted)
        self._asked = asked
        self._ready: dict[tuple[bool, bool], bytes] = {}

    @property
    def accepted(self) -> dict[str, Any]:
        """What the tool takes, `null` for unset optionals included."""
        schema: dict[str, Any] = from_json(self._accepted)
        return schema

    def get(
        self, *, security_risk: bool = False, summary: bool = False
    ) -> dict[str, Any]:
        """Return the schema, with the questions about the call itself if wanted."""
        key = security_risk, summary
        text = self._ready.get(key)
        if text is None:
            text = self._ready[key] = to_json(self._with_questions(*key))
        schema: dict[str, Any] = from_json(text)
        return schema

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
        foreign = schema.foreign_schema
        accepted = full_schema(schema) if foreign is None else foreign
        # whoever offers tools to models wants to be told that arguments are an object
        asked = {"type": "object", **schema.to_mcp_schema()}
        found = _of_class[schema] = Parameters(accepted, asked)
    return found
