"""Derive an action class from a function's parameters; call the function with an action."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from inspect import Parameter, isclass, isfunction, signature
from typing import Annotated, Any, Optional, cast, get_args, get_origin, get_type_hints

from pydantic import Field, PydanticUserError, create_model
from pydantic.fields import FieldInfo

from toolbench.core.executor import FunctionExecutor, innermost
from toolbench.core.foreign import Open, safe_attribute
from toolbench.core.functions.docstrings import parse
from toolbench.core.schema import Action, Observation
from toolbench.errors import RegistrationError

CONVERSATION = "conversation"
"""The parameter that receives the conversation; it is not an argument for the model."""


@dataclass(frozen=True)
class Shape:
    """The parameters and the return type of a function, in the form that a tool needs."""

    action_type: type[Action]
    names: Mapping[str, str]
    """The name of the parameter for each attribute of the action, in the order of the parameters."""
    only_if_set: frozenset[str]
    """The attributes that are passed to the function only if the caller set them."""
    by_position: frozenset[str]
    """The parameters that cannot be passed by name."""
    wants_conversation: bool
    observation_type: type[Observation] | None


class FunctionCall(FunctionExecutor):
    """An executor that calls a function with the fields of the action as arguments."""

    def __init__(self, function: Callable[..., Any], shape: Shape) -> None:
        """Make an executor that calls *function*; *shape* is what `shape_of` returned for the function."""
        self.function = function
        self._shape = shape

    def __call__(self, action: Action, conversation: Any = None) -> Any:
        """Call the function with the arguments in *action*."""
        # IPython leaves out such frames
        __tracebackhide__ = True
        args, kwargs = self._arguments(action, conversation)
        return self.function(*args, **kwargs)

    def misnamed(self) -> list[str]:
        """List the parameters that the docstring describes, but that the function does not have."""
        # Any name is a parameter
        if issubclass(self._shape.action_type, Open):
            return []
        # Inside a partial it also has the bound parameters
        inner = innermost(self.function)
        names = {*signature(self.function).parameters, *signature(inner).parameters}
        known = names.union(self._shape.names.values())
        described = parse(inner.__doc__).parameters
        return [name for name in described if name.lstrip("*") not in known]

    def __reduce__(self) -> Any:
        return FunctionCall, (self.function, self._shape)

    def _arguments(self, action: Action, conversation: Any) -> tuple[list[Any], dict[str, Any]]:
        args: list[Any] = []
        kwargs = dict(action.model_extra or {})
        unset = self._shape.only_if_set - action.model_fields_set
        for attribute, parameter in self._shape.names.items():
            if attribute in unset:
                continue
            if parameter in self._shape.by_position:
                args.append(getattr(action, attribute))
            else:
                kwargs[parameter] = getattr(action, attribute)
        if self._shape.wants_conversation:
            kwargs[CONVERSATION] = conversation
        return args, kwargs


def shape_of(function: Callable[..., Any], name: str, about: Mapping[str, str]) -> Shape:
    """Return the parameters and the return type of *function*, in the form that a tool needs.

    Args:
        function: Anything callable that has a signature.
        name: The name of the tool; the action class is named after it.
        about: The text about each parameter in the docstring.

    Raises:
        RegistrationError: If the arguments cannot be described to a model.
    """
    hints = _hints(innermost(function), name)
    parameters = _parameters(function, name)
    bases: tuple[type, ...] = (Action,)
    fields: dict[str, Any] = {}
    arguments: list[_Argument] = []
    for p in parameters.values():
        hint = hints.get(p.name, Any)
        if p.kind is not Parameter.VAR_KEYWORD:
            arguments.append(_Argument(p.name, hint, p.default))
        elif (table := _unpacked(hint)) is not None:
            arguments += _keys(table, name)
        else:
            # Arguments of any name, each of this type
            bases = (Action, Open)
            fields["__pydantic_extra__"] = dict[str, hint]  # type: ignore[valid-type]
    by_attribute: dict[str, _Argument] = {}
    for one in arguments:
        if one.name != CONVERSATION:
            attribute = safe_attribute(one.name, {*dir(Action), *fields})
            fields[attribute] = _field(one, attribute, about.get(one.name))
            by_attribute[attribute] = one
    returned = hints.get("return")
    observed = isclass(returned) and issubclass(returned, Observation)
    return Shape(
        action_type=_action_class(name, bases, innermost(function), fields),
        names={a: one.name for a, one in by_attribute.items()},
        only_if_set=frozenset(a for a, one in by_attribute.items() if one.default is _UNSET),
        by_position=frozenset(
            p.name for p in parameters.values() if p.kind is Parameter.POSITIONAL_ONLY
        ),
        wants_conversation=any(one.name == CONVERSATION for one in arguments),
        observation_type=returned if observed else None,
    )


_UNSET = object()


@dataclass(frozen=True)
class _Argument:
    """One argument that a caller of the function can pass."""

    name: str
    hint: Any
    default: Any = Parameter.empty
    """The default; `_UNSET` if the argument is not passed to the function when it is left out."""


# Two objects on Python 3.11
_UNPACK = re.compile(r"typing(_extensions)?\.Unpack")
_QUALIFIER = re.compile(r"typing(?:_extensions)?\.(Required|NotRequired|ReadOnly)")


def _unpacked(hint: Any) -> Any:
    """Return the TypedDict of *hint*, if *hint* is `Unpack[TypedDict]`; else None."""
    if not _UNPACK.fullmatch(str(get_origin(hint))):
        return None
    [table] = get_args(hint)
    return table if hasattr(table, "__required_keys__") else None


def _keys(table: Any, name: str) -> list[_Argument]:
    fields = []
    for key, hint in _hints(table, name).items():
        default = Parameter.empty if key in table.__required_keys__ else _UNSET
        while match := _QUALIFIER.fullmatch(str(get_origin(hint))):
            # postponed annotations hide these from the TypedDict
            default = {"Required": Parameter.empty, "NotRequired": _UNSET}.get(match[1], default)
            [hint] = get_args(hint)
        fields.append(_Argument(key, hint, default))
    return fields


def _hints(annotated: Any, name: str) -> dict[str, Any]:
    try:
        return get_type_hints(annotated, include_extras=True)
    except (NameError, TypeError, AttributeError, SyntaxError) as error:
        msg = f"{name}: an annotation cannot be read: {error}."
        raise RegistrationError(msg) from error


def _parameters(function: Callable[..., Any], name: str) -> Mapping[str, Parameter]:
    try:
        parameters = signature(function).parameters
    except ValueError as error:
        # Some builtins have none
        msg = f"{name}: a model cannot know which arguments to send: {error}."
        raise RegistrationError(msg) from error
    first = next(iter(parameters), "")
    qualname = function.__qualname__ if isfunction(function) else ""
    place = qualname.rpartition("<locals>.")[2]
    if "." in place and first in ("self", "cls"):
        bound = f"the_object.{function.__name__}"
        msg = f"{name}: {place} is not bound to an object yet: tool({bound})."
        raise RegistrationError(msg)
    for parameter in parameters.values():
        if parameter.kind is Parameter.VAR_POSITIONAL:
            msg = (
                f"{name}: a model sends arguments by name, so {parameter} gets none: "
                "make it a named parameter."
            )
            raise RegistrationError(msg)
    return parameters


def _field(field: _Argument, attribute: str, about: str | None) -> tuple[Any, Any]:
    hint, default = field.hint, field.default
    # `x: int = None` accepts None too
    if default is None and not _takes_none(hint):
        hint = Optional[hint]  # noqa: UP045 - of a value, not in an annotation
    options: dict[str, Any] = {}
    if attribute != field.name:
        options["alias"] = field.name
    if about and not _is_described(hint):
        options["description"] = about
    # Schemas do not show a default factory
    if default is _UNSET:
        default = Field(default_factory=lambda: None)
    # a default that is a Field(...) has priority
    value = ... if default is Parameter.empty else default
    if type(value).__module__ not in _SAFE_MODULES:
        # A class body asks each value whether it is abstract
        value = Field(default=value)
    return Annotated[hint, Field(**options)], value


_SAFE_MODULES = ("builtins", FieldInfo.__module__)


def _takes_none(hint: Any) -> bool:
    if get_origin(hint) is Annotated:
        hint = get_args(hint)[0]
    return hint in (Any, None, object) or type(None) in get_args(hint)


def _is_described(hint: Any) -> bool:
    metadata = getattr(hint, "__metadata__", ())
    return any(isinstance(m, FieldInfo) and m.description for m in metadata)


def _action_class(
    name: str, bases: tuple[type, ...], function: Any, fields: dict[str, Any]
) -> type[Action]:
    words = re.split(r"[\W_]+", name)
    title = "".join(word[:1].upper() + word[1:] for word in words) + "Action"
    base: Any = bases
    around, inside, _ = function.__qualname__.rpartition("<locals>.")
    try:
        model: Any = create_model(
            title,
            __base__=base,
            __module__=function.__module__,
            __qualname__=f"{around}{inside}{title}",
            **fields,
        )
        # Does nothing if it is complete
        model.model_rebuild()
    except (PydanticUserError, NameError) as error:
        # the next sentence is about models the user never sees
        reason = str(error).partition("\n")[0].partition(". Set ")[0].rstrip(".")
        msg = f"{name}: a model cannot send these arguments: {reason}."
        raise RegistrationError(msg) from error
    return cast("type[Action]", model)
