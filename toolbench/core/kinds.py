"""Find a class by its kind: the class name that is written into saved objects.

A class that is defined again, as by a notebook cell that runs twice, replaces the old class. If
two modules define a class of the same name, both are kept, and `resolve` raises an error for this
name. A class defined in a function replaces no other class, because each call defines another one.
"""

from collections.abc import Mapping
from itertools import count
from threading import Lock
from typing import Any, ClassVar, Generic, TypeVar
from weakref import WeakValueDictionary

from pydantic import SerializerFunctionWrapHandler, ValidatorFunctionWrapHandler
from pydantic_core import CoreSchema
from pydantic_core.core_schema import (
    no_info_wrap_validator_function,
    wrap_serializer_function_ser_schema,
)

from toolbench.errors import KindError, did_you_mean
from toolbench.wording import snake_case

T = TypeVar("T", bound=type)


def is_local(place: str) -> bool:
    """Tell whether *place*, such as `module.function.<locals>.Class`, is inside a function.

    Each call of that function may define another object with the same place.
    """
    return "<locals>" in place


class Kinds(Generic[T]):
    """The classes of one family, such as tools, by the `kind` that names them in saved data.

    Only weak references are held: a class that is used nowhere else is forgotten.
    """

    replaced: ClassVar[set[int]] = set()
    """The ids of the replaced classes of all families.

    Each call of a tool asks whether its classes were replaced, and mostly this is empty.
    """

    def __init__(self, family: str) -> None:
        """Make an empty mapping; *family*, such as `tool`, names the classes in error messages."""
        self._family = family
        self._by_name: dict[str, WeakValueDictionary[str, T]] = {}
        """The classes by name and by place. In each inner mapping, the newest class comes last."""
        self._numbers = count()
        self._lock = Lock()

    def add(self, cls: T) -> None:
        """Register *cls*; it replaces an earlier class of the same module and qualified name.

        A class that is defined inside a function replaces no other class.
        """
        place = place_of(cls)
        with self._lock:
            # It may have the id of a class that is gone
            self.replaced.discard(id(cls))
            key = place
            if is_local(place):
                key += f" {next(self._numbers)}"
            for name in (cls.__name__, place):
                namesakes = self._by_name.setdefault(name, WeakValueDictionary())
                old = namesakes.pop(key, None)
                if old is not None:
                    self.replaced.add(id(old))
                namesakes[key] = cls

    def newest(self, cls: T) -> T:
        """Return *cls*, or the newest class that replaced it."""
        if id(cls) not in self.replaced:
            return cls
        return next(reversed(self._known_as(place_of(cls))), cls)

    def kind_of(self, cls: T) -> str:
        """Return the kind of *cls*: its name, or `module.qualname` if the name is not unique."""
        classes = self._by_module(cls.__name__)
        if list(classes.values()) == [cls]:
            return cls.__name__
        return place_of(cls)

    def resolve(self, kind: str) -> T:
        """Return the class of this *kind*, which is a class name or `module.qualname`.

        Raises:
            KindError: If no class has this kind, or several modules have a class with this name.
        """
        classes = self._by_module(kind)
        if len(classes) == 1:
            return classes.popitem()[1]
        if not classes:
            msg = f"No {self._family} of kind {kind!r}.{did_you_mean(kind, self._names())}"
            raise KindError(msg)
        places = " and ".join(sorted(map(place_of, classes.values())))
        msg = f"Kind {kind!r} is used by {places}: ask for one of these instead."
        raise KindError(msg)

    def _by_module(self, name: str) -> dict[str, T]:
        """Return the newest class with this name from each module."""
        return {cls.__module__: cls for cls in self._known_as(name)}

    def _known_as(self, name: str) -> list[T]:
        with self._lock:
            return list(self._by_name.get(name, {}).values())

    def _names(self) -> list[str]:
        with self._lock:
            names = {c.__name__ for known in self._by_name.values() for c in known.values()}
        return sorted(names)


def place_of(cls: Any) -> str:
    """Return the module and the qualified name of *cls*, a class or a function."""
    return f"{cls.__module__}.{cls.__qualname__}"


def tool_name(class_name: str) -> str:
    """Return the default name of a tool class: `FileEditorTool` -> `file_editor`."""
    words = snake_case(class_name)
    return words.removesuffix("_tool") or words


# --- a field of a base class holds any subclass, saved with its `kind` -------------------


def untagged(cls: type[Any], value: Any) -> Any:
    """Remove the key `kind` from *value* if `to_dict` of *cls* wrote it there.

    If *cls* accepts a field `kind` itself, or the key names another class, *value* is returned
    unchanged.
    """
    if not isinstance(value, Mapping) or "kind" not in value:
        return value
    if value["kind"] not in (cls.__name__, place_of(cls)) or takes_kind(cls):
        return value
    bare = dict(value)
    del bare["kind"]
    return bare


def takes_kind(cls: type[Any]) -> bool:
    """Tell whether *cls* has its own field `kind`, or accepts a field of any name."""
    names = [field.validation_alias or name for name, field in cls.model_fields.items()]
    return "kind" in names or cls.model_config.get("extra") == "allow"


def by_kind(base: type[Any], own: CoreSchema) -> CoreSchema:
    """Extend *own*, the pydantic schema of *base*, so that it also loads and saves subclasses."""

    def load(value: Any, handler: ValidatorFunctionWrapHandler) -> Any:
        if isinstance(value, Mapping) and "kind" in value:
            return base.from_dict(value)
        return handler(value)

    def dump(value: Any, handler: SerializerFunctionWrapHandler) -> Any:
        return handler(value) if type(value) is base else value.to_dict()

    return no_info_wrap_validator_function(
        load, own, serialization=wrap_serializer_function_ser_schema(dump)
    )
