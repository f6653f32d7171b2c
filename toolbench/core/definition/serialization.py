"""Save a tool as JSON and load it again, without its executor and the secrets in it."""

from collections.abc import Callable, Mapping
from typing import Any, Self

from pydantic import GetCoreSchemaHandler
from pydantic_core import CoreSchema
from pydantic_core.core_schema import (
    dict_schema,
    no_info_plain_validator_function,
    plain_serializer_function_ser_schema,
)

from toolbench.core.definition.declarations import ToolAnnotations
from toolbench.core.definition.exports import as_json
from toolbench.core.schema import Action, Observation
from toolbench.errors import KindError, ToolNotFoundError, indefinite


class Serializable:
    """A base class of tools: a tool can be saved as JSON, and be a field of a pydantic model."""

    name: str
    description: str
    action_type: type[Action]
    observation_type: type[Observation] | None
    annotations: ToolAnnotations | None
    meta: Mapping[str, Any] | None
    kind_of: Callable[[], str]
    resolve_kind: Callable[[str], Any]

    def to_dict(self) -> dict[str, Any]:
        """Return the tool without its executor, JSON-ready, for `from_dict`."""
        observation_type = self.observation_type
        return {
            "kind": self.kind_of(),
            "name": self.name,
            "description": self.description,
            "action_type": self.action_type.kind_of(),
            "observation_type": observation_type and observation_type.kind_of(),
            "annotations": self.annotations and self.annotations.model_dump(exclude_unset=True),
            "meta": self.meta if self.meta is None else as_json(self.meta),
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """Return the tool that `to_dict` wrote, without an executor.

        Raises:
            KindError: If *data* names a class that is unknown, ambiguous, or not a class of tools,
                actions or observations as needed; or if a required key is missing.
        """
        fields = dict(data)
        kind = fields.pop("kind", cls.__name__)
        target: Any = cls if kind == cls.__name__ else cls.resolve_kind(kind)
        # The class may have its own from_dict
        if target is not cls:
            loaded: Self = target.from_dict(data)
            return loaded
        check_present(fields, "name", "action_type")
        fields["action_type"] = Action.resolve_kind(fields["action_type"])
        if (observation_kind := fields.get("observation_type")) is not None:
            fields["observation_type"] = Observation.resolve_kind(observation_kind)
        if (hints := fields.get("annotations")) is not None:
            fields["annotations"] = ToolAnnotations.model_validate(hints)
        return cls(**fields)

    def __class_getitem__(cls, parameters: Any) -> Any:
        alias: Any = super().__class_getitem__(parameters)  # type: ignore[misc]  # of Generic
        # pydantic asks `ToolDefinition` below, but takes `ToolDefinition[A, O]` for a plain
        # dataclass unless the alias has a schema of its own
        alias.__pydantic_core_schema__ = cls._core_schema()
        return alias

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        """Let a pydantic model have a tool as a field, saved by `to_dict` and loaded by `from_dict`."""
        return cls._core_schema()

    @classmethod
    def _core_schema(cls) -> CoreSchema:
        written = dict_schema()
        return no_info_plain_validator_function(
            cls._loaded,
            json_schema_input_schema=written,
            serialization=plain_serializer_function_ser_schema(
                lambda tool: tool.to_dict(), return_schema=written
            ),
        )

    @classmethod
    def _loaded(cls, value: Any) -> Self:
        if isinstance(value, cls):
            return value
        if not isinstance(value, Mapping):
            type_name = indefinite(type(value).__name__)
            msg = f"should be a {cls.__name__} or a dict from its to_dict(), not {type_name}"
            raise ValueError(msg)  # noqa: TRY004 - pydantic reports a ValueError as its own
        try:
            return cls.from_dict(value)
        except ToolNotFoundError as error:
            # Also a KeyError; its message is complete
            raise ValueError(str(error)) from error
        except (TypeError, AttributeError) as error:
            msg = f"this is not a saved tool: {error}"
            raise ValueError(msg) from error


def check_present(written: Mapping[str, Any], *keys: str) -> None:
    """Check that *written*, a saved tool, has all *keys*.

    Raises:
        KindError: If a key is missing.
    """
    if missing := [repr(key) for key in keys if key not in written]:
        msg = f"The saved tool has no {' and no '.join(missing)}."
        raise KindError(msg)
