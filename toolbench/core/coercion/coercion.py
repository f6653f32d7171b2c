"""Turn the value that an executor returned into an observation."""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, is_dataclass
from typing import Any

from pydantic import BaseModel, Field, ValidationError
from pydantic.json_schema import SkipJsonSchema
from pydantic_core import from_json, to_json

from toolbench.core.classes.polymorphism import takes_kind
from toolbench.core.coercion.content_blocks import contents_of as contents_of
from toolbench.core.coercion.dataframe import frame_of
from toolbench.core.schema import Observation
from toolbench.core.state import secrets_of
from toolbench.errors import KindError, indefinite
from toolbench.jsonschema.validation.problems import pydantic_problems
from toolbench.redaction.redactor import Redactor
from toolbench.redaction.result_redactors import results


class ResultObservation(Observation):
    """The return value of a plain function, and its content for a model."""

    result: SkipJsonSchema[Any] = Field(default=None, exclude=True, repr=False)
    """The Python object itself; it stays in this process."""

    @property
    def data(self) -> Any:
        """The same object, under the name that results of MCP servers use."""
        return self.result

    def _structured(self) -> dict[str, Any] | None:
        """Return the result as a JSON object, if possible."""
        if not isinstance(self.result, Mapping | BaseModel) and not is_dataclass(
            self.result
        ):
            return None
        try:
            value = from_json(to_json(self.result, inf_nan_mode="constants"))
        except ValueError:  # not JSON: the content is enough
            return None
        return value if isinstance(value, dict) else None

    @property
    def df(self) -> Any:
        """The result, a list of objects, as a pandas DataFrame.

        Raises:
            MissingExtraError: If pandas is not installed.
            TypeError: If the result is something else.
        """
        return frame_of(self.result)


def observation_of(
    result: Any, observation_type: type[Observation] | None, tool: str
) -> Observation:
    """Return *result* as an observation, of the class *observation_type* unless it is None.

    The fields come from a dict, a model or a dataclass. Without a class, a dict with the keys of an
    observation becomes an observation; a dict from `to_dict` becomes an object of the class in its
    `kind`. All other values become content: a str becomes text, an image (bytes, PIL, matplotlib)
    an image block, any other value JSON; a list of content blocks is kept.

    Raises:
        TypeError: If *result* cannot become an observation of that class.
    """
    if isinstance(result, Observation):  # also a plain one, for an error
        return result
    by_name = _class_by_kind(result, observation_type)
    if observation_type is None:
        return _loaded(result, by_name) or ResultObservation(
            content=contents_of(result), result=result
        )
    try:
        if by_name is not None:
            observation_type = by_name
            return by_name.from_dict(result)
        fields = _fields(result)
        if fields is not None:
            return observation_type.model_validate(fields)
        return observation_type(content=contents_of(result))
    except ValidationError as error:
        first = pydantic_problems(error, value=result)[0]
        msg = (
            f"{tool} returned {indefinite(type(result).__name__)} that does not fit "
            f"{observation_type.__name__}: {first}."
        )
        raise TypeError(msg) from error


def _class_by_kind(
    result: Any, expected: type[Observation] | None
) -> type[Observation] | None:
    """Return the class that *result* names in `kind`, unless `kind` is a field of *expected*."""
    kind = None
    with suppress(Exception):  # a foreign mapping may raise
        kind = result.get("kind") if isinstance(result, Mapping) else None
    if not isinstance(kind, str) or (expected is not None and takes_kind(expected)):
        return None
    if expected is not None and kind == expected.__name__:
        return expected
    with suppress(KindError):  # then it is an ordinary dict
        return Observation.resolve_kind(kind)
    return None


def _loaded(result: Any, by_name: type[Observation] | None) -> Observation | None:
    with suppress(Exception):  # as above
        if by_name is not None:
            return by_name.from_dict(result)
        if isinstance(result, Mapping) and "content" in result:
            return Observation.model_validate(result)
    return None


def _fields(result: Any) -> dict[str, Any] | None:
    if isinstance(result, BaseModel):
        return result.model_dump(round_trip=True)  # without computed fields
    if is_dataclass(result) and not isinstance(result, type):
        return asdict(result)
    return dict(result) if isinstance(result, Mapping) else None


def masked(observation: Observation, conversation: Any) -> Observation:
    """Return *observation* with all secrets of *conversation* replaced."""
    secrets = secrets_of(conversation)
    return masked_observation(observation, secrets.redactor) if secrets else observation


def masked_observation(observation: Observation, redactor: Redactor) -> Observation:
    """Return *observation* with the secrets of *redactor* replaced, or an error if that fails."""
    hidden: Any = redactor.value(observation)
    if isinstance(hidden, Observation):
        if hidden is not observation:
            results.forget(hidden)  # nothing is left to hide, and no secret is kept
        return hidden
    return Observation.from_text(f"The result is not shown: {hidden}.", is_error=True)


def masked_error(error: Exception, conversation: Any) -> Exception:
    """Return *error*, or a replacement, without the secrets of *conversation*."""
    secrets = secrets_of(conversation)
    return secrets.redactor.error(error) if secrets else error
