"""A cache of the JSON Schemas of tools' arguments, because tools are exported often."""

import marshal
from functools import cached_property
from typing import Any
from weakref import WeakKeyDictionary

from pydantic_core import from_json, to_json

from toolbench.core.foreign import extended_schema, full_schema
from toolbench.core.schema import Schema
from toolbench.core.security import SecurityRisk
from toolbench.jsonschema.view import read
from toolbench.redaction.detect import without_secret_samples
from toolbench.values import sendable

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
    """A cached JSON object: each caller gets a copy."""

    def __init__(self, value: dict[str, Any]) -> None:
        """Store *value* as it is now; later changes of *value* have no effect."""
        # marshal is faster than any JSON parser; it only reads data written here
        self._data = marshal.dumps(_as_json(value))

    def copy(self) -> dict[str, Any]:
        """Return a copy of the value, which the caller may change."""
        value: dict[str, Any] = marshal.loads(self._data)  # noqa: S302 - our own
        return value


def _as_json(value: dict[str, Any]) -> Any:
    try:
        return from_json(to_json(value))
    except ValueError:
        # A lone surrogate in a default: UTF-8 cannot encode it
        return sendable(value)


class Parameters:
    """The JSON Schemas of one class of actions or observations; each caller gets a copy."""

    def __init__(self, accepted: dict[str, Any], parameters: dict[str, Any]) -> None:
        """Keep two JSON Schemas: *accepted*, which a value must fit, and *parameters*, for callers."""
        self._takes = accepted
        self._parameters = parameters
        self._ready: dict[tuple[bool, bool], Ready] = {}

    @property
    def accepted(self) -> dict[str, Any]:
        """The schema of accepted values; it allows `null` for optional arguments that are unset."""
        return self._accepted.copy()

    @cached_property
    def _accepted(self) -> Ready:
        return Ready(self._takes)

    def get(self, *, security_risk: bool = False, summary: bool = False) -> dict[str, Any]:
        """Return the JSON Schema for a caller of the tool, such as a model.

        *security_risk* and *summary* each add a property about the call itself, unless the tool has
        an argument of the same name.

        Defaults and examples with a secret are left out, because the model and its provider must
        not get a secret.
        """
        key = security_risk, summary
        ready = self._ready.get(key)
        if ready is None:
            ready = self._ready[key] = Ready(self._with_questions(*key))
        return ready.copy()

    def _with_questions(self, *flags: bool) -> dict[str, Any]:
        parameters = without_secret_samples(self._parameters)
        if not any(flags):
            return parameters
        questions = {"security_risk": _SECURITY_RISK, "summary": _SUMMARY}
        own = read(parameters).declared
        added = {
            name: question
            for (name, question), want in zip(questions.items(), flags, strict=True)
            if want and name not in own
        }
        # first, so that a call that is cut off keeps its rating
        properties = {**added, **own.raw}
        return {**parameters, "properties": properties} if added else parameters


_of_class: WeakKeyDictionary[type[Schema], Parameters] = WeakKeyDictionary()


def parameters_of(schema: type[Schema]) -> Parameters:
    """Return the JSON Schemas of *schema*, a class of actions or observations; they are cached."""
    cached = _of_class.get(schema)
    if cached is None:
        foreign = extended_schema(schema)
        accepted = full_schema(schema) if foreign is None else foreign
        # providers require `type: object`
        parameters = {"type": "object", **schema.to_mcp_schema()}
        cached = _of_class[schema] = Parameters(accepted, parameters)
    return cached
