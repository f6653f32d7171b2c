"""Turn a typed, documented function into a tool: `@tool`.

The docstring is parsed into a description of the tool and of each parameter, the parameters become
an action class, and `FunctionCall` (see `executor`) calls the function with an action.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from inspect import Parameter, cleandoc, isclass, isfunction, signature
from typing import Annotated, Any, Optional, cast, get_args, get_origin, get_type_hints, overload

from pydantic import Field, PydanticUserError, create_model
from pydantic.fields import FieldInfo

from toolbench.core.declarations import ToolAnnotations
from toolbench.core.executor import (
    CONVERSATION,
    FunctionCall,
    FunctionShape,
    innermost,
)
from toolbench.core.foreign import Open, safe_attribute
from toolbench.core.schema import Action, Observation
from toolbench.core.tool import ToolDefinition
from toolbench.errors import RegistrationError


@dataclass(frozen=True)
class Doc:
    """A parsed docstring."""

    text: str = ""
    """The description of the function: all of the docstring except parameters and return value."""
    parameters: dict[str, str] = field(default_factory=dict)
    returns: str = ""


def parse(docstring: str | None) -> Doc:
    """Parse *docstring*, which may be in Google, NumPy or Sphinx style."""
    if not docstring:
        return Doc()
    import griffe  # noqa: PLC0415 - only where a function becomes a tool

    # A faulty docstring is not an error here
    silent = {"warnings": False}
    quiet: Any = dict.fromkeys(("google", "numpy", "sphinx"), silent)
    sections = griffe.parse_auto(
        griffe.Docstring(cleandoc(docstring)),
        per_style_options=quiet,
    )
    texts, parameters, returns = [], {}, ""
    for section in sections:
        match section.kind:
            case griffe.DocstringSectionKind.text:
                texts.append(section.value)
            case griffe.DocstringSectionKind.parameters:
                parameters = {p.name: _one_line(p.description) for p in section.value}
            case griffe.DocstringSectionKind.returns:
                returns = _one_line(" ".join(r.description for r in section.value))
    return Doc("\n\n".join(texts).strip(), parameters, returns)


def _one_line(text: str) -> str:
    return " ".join(text.split())


def shape_of(function: Callable[..., Any], name: str, about: Mapping[str, str]) -> FunctionShape:
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
    return FunctionShape(
        action_type=_action_class(name, bases, innermost(function), fields),
        names={a: one.name for a, one in by_attribute.items()},
        only_if_set=frozenset(a for a, one in by_attribute.items() if one.default is _UNSET),
        by_position=frozenset(
            p.name for p in parameters.values() if p.kind is Parameter.POSITIONAL_ONLY
        ),
        wants_conversation=any(one.name == CONVERSATION for one in arguments),
        observation_type=returned if observed else None,
    )


def misnamed_parameters(call: FunctionCall) -> list[str]:
    """List the parameters that the docstring describes, but that the function does not have."""
    # Any name is a parameter
    if issubclass(call.shape.action_type, Open):
        return []
    # Inside a partial it also has the bound parameters
    inner = innermost(call.function)
    known = {*signature(call.function).parameters, *signature(inner).parameters}
    known.update(call.shape.names.values())
    described = parse(inner.__doc__).parameters
    return [name for name in described if name.lstrip("*") not in known]


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


FunctionTool = ToolDefinition[Action, Observation]


@overload
def tool(function: Callable[..., Any], /) -> FunctionTool: ...
@overload
def tool(
    *,
    name: str | None = None,
    title: str | None = None,
    description: str | None = None,
    read_only: bool | None = None,
    destructive: bool | None = None,
    idempotent: bool | None = None,
    open_world: bool | None = None,
    meta: Mapping[str, Any] | None = None,
) -> Callable[[Callable[..., Any]], FunctionTool]: ...
def tool(
    function: Callable[..., Any] | None = None,
    /,
    *,
    name: str | None = None,
    title: str | None = None,
    description: str | None = None,
    read_only: bool | None = None,
    destructive: bool | None = None,
    idempotent: bool | None = None,
    open_world: bool | None = None,
    meta: Mapping[str, Any] | None = None,
) -> Any:
    """Turn a function into a tool: its parameters become the action, its return value the result.

    Types, defaults and `Annotated[..., Field(...)]` become the schema; the docstring (Google, NumPy
    or Sphinx style) describes the tool and each parameter. `**kwargs` takes any further argument;
    `**kwargs: Unpack[SomeTypedDict]` takes the keys of the TypedDict. A parameter called
    `conversation` is not an argument for the model: it receives the conversation. If the function
    is annotated to return an Observation class, the tool returns objects of that class.

    Args:
        function: The function, plain or `async`.
        name: The name of the tool; the function's own name if left out.
        title: A name for people.
        description: The description for the model; the docstring if left out.
        read_only: The tool changes nothing. Like every hint, it is not declared if left out.
        destructive: The tool may delete or overwrite: a run from a button or a magic asks first.
        idempotent: A second call with the same arguments has no further effect.
        open_world: The tool reaches things outside a closed domain.
        meta: Further facts, as MCP's `_meta`; `{"backup": "other_tool"}` names the tool that an
            agent with `degrade=True` calls if this one fails.

    Raises:
        RegistrationError: If the function has no name, takes `*args`, is a method without its
            object, or has parameters of types that JSON cannot carry; if *read_only* and
            *destructive* are both true.
    """
    if read_only and destructive:
        msg = "A read-only tool cannot be destructive: set read_only or destructive."
        raise RegistrationError(msg)
    annotations = {
        "title": title,
        "readOnlyHint": read_only,
        "destructiveHint": destructive,
        "idempotentHint": idempotent,
        "openWorldHint": open_world,
    }
    hints = ToolAnnotations.model_validate(
        {hint: value for hint, value in annotations.items() if value is not None}
    )

    def decorate(function: Callable[..., Any]) -> FunctionTool:
        if isclass(function) or not callable(function):
            msg = f"A tool is made from a function, not {function!r}."
            raise RegistrationError(msg)
        called: str = name or getattr(function, "__name__", None) or "<lambda>"
        if called == "<lambda>":
            msg = f"{function!r} has no name: give it one with tool(name=...)."
            raise RegistrationError(msg)
        doc = parse(innermost(function).__doc__)
        shape = shape_of(function, called, doc.parameters)
        return ToolDefinition(
            name=called,
            description=description or _description(doc),
            action_type=shape.action_type,
            observation_type=shape.observation_type,
            annotations=hints,
            meta=None if meta is None else dict(meta),
            executor=FunctionCall(function, shape),
        )

    return decorate if function is None else decorate(function)


def _description(doc: Doc) -> str:
    return f"{doc.text}\n\nReturns: {doc.returns}" if doc.returns else doc.text
