"""Let a field declared as a base class hold any subclass, saved with its `kind`."""

from collections.abc import Mapping
from typing import Any

from pydantic import SerializerFunctionWrapHandler, ValidatorFunctionWrapHandler
from pydantic_core import CoreSchema
from pydantic_core.core_schema import (
    no_info_wrap_validator_function,
    wrap_serializer_function_ser_schema,
)

from toolbench.core.classes.kinds import place_of
from toolbench.errors import KindError


def untagged(cls: type[Any], value: Any) -> Any:
    """Return *value* without its key `kind`, if *value* is a dict that `to_dict` of *cls* wrote.

    If *cls* accepts a field `kind` itself, or the key names another class, *value* is returned
    unchanged.
    """
    if not isinstance(value, Mapping) or "kind" not in value:
        return value
    if value["kind"] not in (cls.__name__, place_of(cls)) or takes_kind(cls):
        return value
    return {name: item for name, item in value.items() if name != "kind"}


def takes_kind(cls: type[Any]) -> bool:
    """Tell whether *cls* has its own field `kind`, or accepts a field of any name."""
    names = {f.validation_alias or name for name, f in cls.model_fields.items()}
    return bool(names & {"kind"}) or cls.model_config.get("extra") == "allow"


def by_kind(base: type[Any], own: CoreSchema) -> CoreSchema:
    """Return *own*, the pydantic schema of *base*, extended for subclasses: it loads and saves them too."""

    def load(value: Any, handler: ValidatorFunctionWrapHandler) -> Any:
        if not isinstance(value, Mapping) or "kind" not in value:
            return handler(value)
        try:
            return base.from_dict(value)
        except KindError as error:
            # pydantic reports a ValueError as its own
            raise ValueError(str(error)) from error

    def dump(value: Any, handler: SerializerFunctionWrapHandler) -> Any:
        return handler(value) if type(value) is base else value.to_dict()

    return no_info_wrap_validator_function(
        load, own, serialization=wrap_serializer_function_ser_schema(dump)
    )
