"""Turn a typed, documented function into a tool: `@tool`.

The docstring describes the tool and each parameter. The parameters become an action class. To run
the tool, `toolbench.core.executor.FunctionCall` passes the fields of an action to the function.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from inspect import Parameter, cleandoc, isclass, isfunction, signature
from typing import (
    Annotated,
    Any,
    NamedTuple,
    Optional,
    cast,
    get_args,
    get_origin,
    get_type_hints,
    overload,
)

from pydantic import Field, PydanticUserError, SecretStr, create_model
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
from toolbench.core.secrets import Secret
from toolbench.core.tool import ToolDefinition
from toolbench.errors import RegistrationError


@dataclass
class Doc:
    """A parsed docstring."""

    text: str = ""
    """The docstring without its sections on parameters and the return value."""
    parameters: dict[str, str] = field(default_factory=dict)
    returns: str = ""


def parse(docstring: str | None) -> Doc:
    """Parse *docstring*, which may be in Google, NumPy or Sphinx style."""
    doc = Doc()
    if not docstring:
        return doc
    import griffe  # noqa: PLC0415 - only where a function becomes a tool

    # A faulty docstring is not an error here
    silent = {"warnings": False}
    quiet: Any = {"google": silent, "numpy": silent, "sphinx": silent}
    parsed = griffe.Docstring(cleandoc(docstring))
    for section in griffe.parse_auto(parsed, per_style_options=quiet):
        match section.kind:
            case griffe.DocstringSectionKind.text:
                doc.text = f"{doc.text}\n\n{section.value}".strip()
            case griffe.DocstringSectionKind.parameters:
                for parameter in section.value:
                    doc.parameters[parameter.name] = " ".join(parameter.description.split())
            case griffe.DocstringSectionKind.returns:
                words = " ".join(returned.description for returned in section.value)
                doc.returns = " ".join(words.split())
    return doc


# --- the parameters as fields of an action ----------------------------------------------


_UNSET = object()
# Two objects on Python 3.11
_UNPACK = re.compile(r"typing(_extensions)?\.Unpack")
_QUALIFIER = re.compile(r"typing(?:_extensions)?\.(Required|NotRequired|ReadOnly)")


class _Argument(NamedTuple):
    """One argument that a caller of the function can pass."""

    name: str
    hint: Any
    default: Any = Parameter.empty
    """The default; `_UNSET` if an omitted argument must not be passed to the function."""


def shape_of(function: Callable[..., Any], name: str, about: Mapping[str, str]) -> FunctionShape:
    """Return the parameters and the return type of *function*, in the form that a tool needs.

    Args:
        function: Any callable that has a signature.
        name: The name of the tool. The name of its action class is made from it.
        about: The descriptions of the parameters from the docstring, by parameter name.

    Raises:
        RegistrationError: If the arguments cannot be described to a model.
    """
    inner = innermost(function)
    hints = _hints(inner, name)
    bases: tuple[type, ...] = (Action,)
    fields: dict[str, Any] = {}
    names: dict[str, str] = {}
    arguments: list[_Argument] = []
    only_if_set, by_position = set(), set()
    for parameter in _parameters(function, name):
        hint = hints.get(parameter.name, Any)
        if parameter.kind is Parameter.POSITIONAL_ONLY:
            by_position.add(parameter.name)
        if parameter.kind is not Parameter.VAR_KEYWORD:
            arguments.append(_Argument(parameter.name, hint, parameter.default))
        elif _is_typed_dict(hint):
            arguments += _keys_of(get_args(hint)[0], name)
        else:
            # Arguments of any name, each of this type
            bases = (Action, Open)
            fields["__pydantic_extra__"] = dict[str, hint]  # type: ignore[valid-type]
    secrets, secret_types = _secrets_in(arguments, name)
    for argument in arguments:
        if argument.name == CONVERSATION or argument.name in secrets:
            continue
        attribute = safe_attribute(argument.name, {*dir(Action), *fields})
        fields[attribute] = _field(argument, attribute, about.get(argument.name))
        names[attribute] = argument.name
        if argument.default is _UNSET:
            only_if_set.add(attribute)
    observation_type = hints.get("return")
    if not isclass(observation_type) or not issubclass(observation_type, Observation):
        observation_type = None
    return FunctionShape(
        action_type=_action_class(name, bases, inner, fields),
        names=names,
        only_if_set=frozenset(only_if_set),
        by_position=frozenset(by_position),
        wants_conversation=any(argument.name == CONVERSATION for argument in arguments),
        observation_type=observation_type,
        secrets=secrets,
        secret_types=secret_types,
    )


def misnamed_parameters(call: FunctionCall) -> list[str]:
    """List the parameters that the docstring describes but the function does not have."""
    # Any name is a parameter
    if issubclass(call.shape.action_type, Open):
        return []
    # Inside a partial it also has the bound parameters
    inner = innermost(call.function)
    known = {*signature(call.function).parameters, *signature(inner).parameters}
    known.update(call.shape.names.values())
    described = parse(inner.__doc__).parameters
    return [name for name in described if name.lstrip("*") not in known]


def _is_typed_dict(hint: Any) -> bool:
    """Tell whether *hint* is `Unpack[SomeTypedDict]`."""
    is_unpacked = _UNPACK.fullmatch(str(get_origin(hint)))
    return bool(is_unpacked) and hasattr(get_args(hint)[0], "__required_keys__")


def _keys_of(table: Any, name: str) -> list[_Argument]:
    """Return an argument for each key of *table*, the TypedDict in `**kwargs: Unpack[...]`."""
    arguments = []
    for key, hint in _hints(table, name).items():
        default: Any = Parameter.empty
        if key not in table.__required_keys__:
            default = _UNSET
        # Postponed annotations hide these from the TypedDict
        while match := _QUALIFIER.fullmatch(str(get_origin(hint))):
            if match[1] == "Required":
                default = Parameter.empty
            elif match[1] == "NotRequired":
                default = _UNSET
            [hint] = get_args(hint)
        arguments.append(_Argument(key, hint, default))
    return arguments


def _hints(annotated: Any, name: str) -> dict[str, Any]:
    try:
        return get_type_hints(annotated, include_extras=True)
    except (NameError, TypeError, AttributeError, SyntaxError) as error:
        msg = f"{name}: an annotation cannot be read: {error}."
        raise RegistrationError(msg) from error


def _parameters(function: Callable[..., Any], name: str) -> list[Parameter]:
    try:
        parameters = list(signature(function).parameters.values())
    except ValueError as error:
        # Some builtins have none
        msg = f"{name}: a model cannot know which arguments to send: {error}."
        raise RegistrationError(msg) from error
    if isfunction(function) and parameters and parameters[0].name in ("self", "cls"):
        place = function.__qualname__.rpartition("<locals>.")[2]
        if "." in place:
            bound = f"the_object.{function.__name__}"
            msg = f"{name}: {place} is not bound to an object yet: tool({bound})."
            raise RegistrationError(msg)
    for parameter in parameters:
        if parameter.kind is Parameter.VAR_POSITIONAL:
            msg = (
                f"{name}: a model sends arguments by name, so {parameter} gets none: "
                "make it a named parameter."
            )
            raise RegistrationError(msg)
    return parameters


def _field(argument: _Argument, attribute: str, about: str | None) -> tuple[Any, Any]:
    """Return the annotation and the default of the pydantic field for *argument*."""
    hint, value = argument.hint, argument.default
    # `x: int = None` accepts None too
    if value is None and not _takes_none(hint):
        hint = Optional[hint]  # noqa: UP045 - of a value, not in an annotation
    options: dict[str, Any] = {}
    if attribute != argument.name:
        options["alias"] = argument.name
    metadata = getattr(hint, "__metadata__", ())
    if about and not any(isinstance(m, FieldInfo) and m.description for m in metadata):
        options["description"] = about
    if value is Parameter.empty:
        value = ...
    elif value is _UNSET:
        # Schemas do not show a default factory
        value = Field(default_factory=lambda: None)
    elif type(value).__module__ not in ("builtins", FieldInfo.__module__):
        # A class body asks each value whether it is abstract; a Field(...) has priority
        value = Field(default=value)
    return Annotated[hint, Field(**options)], value


def _secrets_in(
    arguments: Iterable[_Argument], name: str
) -> tuple[dict[str, Secret], dict[str, type]]:
    """Return the secrets among *arguments*, and the declared type of each secret argument.

    An argument is a secret if its default or its annotation is a `Secret`.

    Raises:
        RegistrationError: If a secret argument has a type other than `str`, `SecretStr` or `Any`.
    """
    secrets: dict[str, Secret] = {}
    types: dict[str, type] = {}
    for argument in arguments:
        hint = argument.hint
        for one in (argument.default, *getattr(hint, "__metadata__", ())):
            if isinstance(one, Secret):
                secrets.setdefault(argument.name, one)
        if argument.name not in secrets:
            continue
        if get_origin(hint) is Annotated:
            hint = get_args(hint)[0]
        if hint not in (Any, str, SecretStr):
            msg = f"{name}: {argument.name} is a secret, so its type is str or SecretStr, not {hint!r}."
            raise RegistrationError(msg)
        types[argument.name] = str
        if hint is SecretStr:
            types[argument.name] = SecretStr
    return secrets, types


def _takes_none(hint: Any) -> bool:
    if get_origin(hint) is Annotated:
        hint = get_args(hint)[0]
    return hint in (Any, None, object) or type(None) in get_args(hint)


def _action_class(
    name: str, bases: tuple[type, ...], function: Any, fields: dict[str, Any]
) -> type[Action]:
    title = "Action"
    for word in reversed(re.split(r"[\W_]+", name)):
        title = f"{word[:1].upper()}{word[1:]}{title}"
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
        # The next sentence is about models the user never sees
        reason = str(error).partition("\n")[0].partition(". Set ")[0].rstrip(".")
        msg = f"{name}: a model cannot send these arguments: {reason}."
        raise RegistrationError(msg) from error
    return cast("type[Action]", model)


# --- the decorator ----------------------------------------------------------------------


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
    max_result_tokens: int | None = None,
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
    max_result_tokens: int | None = None,
) -> Any:
    """Turn a function into a tool: the tool calls it, and returns its result as an observation.

    The schema is made from types, defaults and `Annotated[..., Field(...)]`. The docstring (Google,
    NumPy or Sphinx style) describes the tool and each parameter.

    | type of a parameter | field in a form | in the JSON Schema |
    |---|---|---|
    | `str` | a text box; larger if `max_length` is above 200, or for names like `body` | `string` |
    | `int`, `float` | a number | `integer`, `number` |
    | `Annotated[int, Field(ge=0, le=9)]` | also a slider, up to 100 steps | `minimum`, `maximum` |
    | `Decimal` | a number that keeps every digit, such as `1.10` | a number or a string |
    | `bool` | a switch | `boolean` |
    | `Literal["low", "high"]`, an `Enum` | a choice, with the default marked | `enum` |
    | `list[str]` | values in a row | `array` |
    | `list[Literal["bug", "ui"]]` | chips to mark | `array` of `enum` |
    | `dict[str, int]`, `list[Model]` | rows, and **+ Add** for more | `object`, `array` |
    | a pydantic model, dataclass or TypedDict | a group of fields | `object` |
    | `date`, `datetime`, `time` | a box with a calendar or a clock | `string` with `format` |
    | `bytes`, at any depth | a file to drop or choose, up to 50 MB | a base64 `string` |
    | `Union[int, str]` | the types to choose from | `anyOf` |
    | `SecretStr`, or a name such as `password` | a hidden box | `string` |
    | `Any` | JSON | no `type` |

    A parameter with a default may be left out. A form sends only the fields that the user fills in.
    `Field(json_schema_extra={"toolbench": {"widget": "textarea"}})` chooses another field for the
    form; see `toolbench.widgets.fields`. For a parameter of type `bytes`, Python code passes bytes,
    and a model sends base64. A magic reads a file: `%tool size file=@scans/1.png`, with a path
    relative to the notebook.

    `**kwargs` accepts any other argument; `**kwargs: Unpack[SomeTypedDict]` accepts the keys of the
    TypedDict. Two kinds of parameters are hidden from the model. A parameter called `conversation`
    receives the conversation. A parameter with the default `secret("NAME")` receives the secret's
    value.

    The function may return text, numbers, dicts, lists, dataclasses, pydantic models, DataFrames,
    images (PIL, matplotlib, `bytes`), objects that a notebook draws, the results of a FastMCP
    server's functions, or a list of content blocks. If the function is annotated to return an
    Observation class, the tool returns objects of that class.

    A DataFrame or a list of objects is shown as a table. A dict that contains one such list, as in
    `{"items": [...], "total": 3}`, is shown as the table with the other keys above it. You can
    filter and sort a table in the notebook, or save all of it as CSV, JSON or Parquet. An object
    that a notebook draws is shown without its scripts; the model gets its image, markdown or text.

    An exception becomes an error that the user and the model see. An error of httpx or requests
    includes the first 500 characters of the response's body, unless the body is a stream.

    Args:
        function: The function, plain or `async`. Either way, call the tool without `await`.
        name: The name of the tool; the function's own name if left out.
        title: The name that users see.
        description: The description for the model; the docstring if left out.
        read_only: Declares that the tool changes nothing. This hint and the next three may be left
            out; the tool then declares nothing about them.
        destructive: Declares that the tool may delete or overwrite something. Buttons and magics
            then ask before each run.
        idempotent: Declares that a second call with the same arguments has no further effect.
        open_world: Declares that the tool may interact with things outside a fixed set, as a web
            search does.
        meta: More data about the tool, called `_meta` in MCP. `{"backup": "other_tool"}` names the
            tool that an agent with `degrade=True` calls if this tool fails.
        max_result_tokens: The most tokens of a result that a model gets, at least 100. A longer
            result is cut between items of a list, rows of a table or lines of text, and its last
            line says that it was cut. Images do not count. Your code, views and saved files keep
            the whole result. Without a limit, only tables are cut, to 500 rows. A tool with a limit
            is served without an output schema. A panel shows the tokens of a result, in amber above
            2,000 and in red above 20,000.

    Raises:
        RegistrationError: If the function has no name, takes `*args`, is an unbound method, or has
            a parameter whose type has no JSON form. Also if *read_only* and *destructive* are both
            true, or *max_result_tokens* is below 100.

    Examples:
        >>> from toolbench import tool
        >>> @tool(read_only=True)
        ... def split_bill(total: float, people: int = 2, tip: float = 0) -> float:
        ...     '''Split a bill evenly.
        ...
        ...     Args:
        ...         total: The bill, in euros.
        ...         people: How many people share it.
        ...         tip: The tip in percent, such as 10.
        ...     '''
        ...     return total * (1 + tip / 100) / people
        >>> split_bill(total=84, people=4).text
        '21.0'
        >>> split_bill.input_schema["properties"]["tip"]
        {'default': 0, 'description': 'The tip in percent, such as 10.', 'type': 'number'}
    """
    if read_only and destructive:
        msg = "A read-only tool cannot be destructive: set read_only or destructive."
        raise RegistrationError(msg)
    hints = {
        "title": title,
        "readOnlyHint": read_only,
        "destructiveHint": destructive,
        "idempotentHint": idempotent,
        "openWorldHint": open_world,
    }
    # A hint that is left out is not declared
    declared = {hint: value for hint, value in hints.items() if value is not None}

    def decorate(function: Callable[..., Any]) -> FunctionTool:
        if isclass(function) or not callable(function):
            msg = f"A tool is made from a function, not {function!r}."
            raise RegistrationError(msg)
        called: str = name or getattr(function, "__name__", None) or "<lambda>"
        if called == "<lambda>":
            msg = f"{function!r} has no name: give it one with tool(name=...)."
            raise RegistrationError(msg)
        doc = parse(innermost(function).__doc__)
        about = description or doc.text
        if doc.returns and not description:
            about = f"{about}\n\nReturns: {doc.returns}"
        shape = shape_of(function, called, doc.parameters)
        return ToolDefinition(
            name=called,
            description=about,
            action_type=shape.action_type,
            observation_type=shape.observation_type,
            annotations=ToolAnnotations.model_validate(declared),
            meta=None if meta is None else dict(meta),
            max_result_tokens=max_result_tokens,
            executor=FunctionCall(function, shape),
        )

    if function is None:
        return decorate
    return decorate(function)
