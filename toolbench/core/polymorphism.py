"""Let what is declared as a base class hold any subclass, written down with its kind."""

from collections.abc import Mapping
from typing import Any

from pydantic import SerializerFunctionWrapHandler, ValidatorFunctionWrapHandler
from pydantic_core import CoreSchema
from pydantic_core.core_schema import (
    no_info_wrap_validator_function,
    wrap_serializer_function_ser_schema,
)

from toolbench.errors import KindError


def by_kind(base: type[Any], own: CoreSchema) -> CoreSchema:
    """Return *own*, the pydantic schema of *base*, as one for its subclasses too."""

    def load(value: Any, handler: ValidatorFunctionWrapHandler) -> Any:
        if not isinstance(value, Mapping) or "kind" not in value:
            return handler(value)
        try:
            return base.from_dict(value)
        except KindError as error:  # pydantic reports a ValueError as its own
            raise ValueError(str(error)) from error

    def dump(value: Any, handler: SerializerFunctionWrapHandler) -> Any:
        return handler(value) if type(value) is base else value.to_dict()

    return no_info_wrap_validator_function(
        load, own, serialization=wrap_serializer_function_ser_schema(dump)
    )
