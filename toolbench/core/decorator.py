"""Turn a typed, documented function into a tool: the quickest way to prototype one."""

from collections.abc import Callable
from inspect import Parameter, Signature, iscoroutinefunction, signature
from typing import Any, get_type_hints, overload

from pydantic import Field, create_model
from pydantic.fields import FieldInfo

from toolbench.core.annotations import ToolAnnotations
from toolbench.core.docstrings import Doc, parse
from toolbench.core.executor import ToolExecutor
from toolbench.core.foreign import safe_attribute
from toolbench.core.schema import Action, Observation
from toolbench.core.tool import ToolDefinition
from toolbench.errors import RegistrationError

FunctionTool = ToolDefinition[Action, Observation]


@overload
def tool(function: Callable[..., Any], /) -> FunctionTool: ...
@overload
def tool(
    *,
    name: str | None = None,
    title: str | None = None,
    description: str | None = None,
    read_only: bool = False,
    destructive: bool | None = None,
    idempotent: bool = False,
    open_world: bool = True,
) -> Callable[[Callable[..., Any]], FunctionTool]: ...
def tool(
    function: Callable[..., Any] | None = None,
    /,
    *,
    name: str | None = None,
    title: str | None = None,
    description: str | None = None,
    read_only: bool = False,
    destructive: bool | None = None,
    idempotent: bool = False,
    open_world: bool = True,
) -> Any:
    """Turn a function into a tool: its parameters become the action, its return value the result.

    Types, defaults and `Annotated[..., Field(...)]` become the schema; the docstring (Google,
    NumPy or Sphinx style) describes the tool and each parameter. A parameter called
    `conversation` is not the model's: it receives the conversation.

    Args:
        function: The function, plain or `async`.
        name: The name of the tool; the function's own if left out.
        title: A name for people.
        description: What the model is told; the docstring if left out.
        read_only: The tool changes nothing.
        destructive: It may delete or overwrite: runs from a button or magic ask first.
        idempotent: Calling it again with the same arguments changes nothing more.
        open_world: It reaches things outside a closed domain.

    Raises:
        RegistrationError: If the function takes `*args`.
    """
    said = {} if destructive is None else {"destructiveHint": destructive}
    hints = ToolAnnotations(
        title=title,
        readOnlyHint=read_only,
        idempotentHint=idempotent,
        openWorldHint=open_world,
        **said,
    )

    def decorate(function: Callable[..., Any]) -> FunctionTool:
        doc = parse(function.__doc__)
        action_type, names = _action_type(function, doc)
        executor = _AsyncCall if iscoroutinefunction(function) else _Call
        return ToolDefinition(
            name=name or function.__name__,
            description=description or _description(doc),
            action_type=action_type,
            annotations=hints,
            executor=executor(function, names),
        )

    return decorate if function is None else decorate(function)


def _description(doc: Doc) -> str:
    return f"{doc.text}\n\nReturns: {doc.returns}" if doc.returns else doc.text


class _Call(ToolExecutor[Action, Any]):
    """Calls a function with the fields of the action as its arguments."""

    def __init__(self, function: Callable[..., Any], names: dict[str, str]) -> None:
        self.function = function
        self._names = names  # attribute of the action -> parameter
        self._wants_conversation = "conversation" in signature(function).parameters

    def __call__(self, action: Action, conversation: Any = None) -> Any:
        return self.function(**self._arguments(action, conversation))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.function.__qualname__})"

    def _arguments(self, action: Action, conversation: Any) -> dict[str, Any]:
        arguments = {
            parameter: getattr(action, attribute)
            for attribute, parameter in self._names.items()
        }
        arguments |= action.model_extra or {}
        if self._wants_conversation:
            arguments["conversation"] = conversation
        return arguments


class _AsyncCall(_Call):
    async def __call__(self, action: Action, conversation: Any = None) -> Any:
        return await self.function(**self._arguments(action, conversation))


def _action_type(
    function: Callable[..., Any], doc: Doc
) -> tuple[type[Action], dict[str, str]]:
    hints = get_type_hints(function, include_extras=True)
    fields: dict[str, Any] = {}
    names: dict[str, str] = {}
    open_ended = False
    for parameter in signature(function).parameters.values():
        if parameter.name == "conversation":
            continue
        if parameter.kind in (Parameter.VAR_POSITIONAL, Parameter.POSITIONAL_ONLY):
            msg = (
                f"{function.__name__}: a model sends arguments by name, so {parameter} "
                "cannot be one: make it a named parameter."
            )
            raise RegistrationError(msg)
        if parameter.kind is Parameter.VAR_KEYWORD:
            open_ended = True
            continue
        attribute = safe_attribute(parameter.name, {*dir(Action), *fields})
        names[attribute] = parameter.name
        alias = None if attribute == parameter.name else parameter.name
        hint = hints.get(parameter.name, Any)
        about = None if _is_described(hint) else doc.parameters.get(parameter.name)
        fields[attribute] = hint, _field(parameter.default, alias, about)
    name = "".join(word.title() for word in function.__name__.split("_")) + "Action"
    model = create_model(
        name, __base__=Action, __module__=function.__module__, **fields
    )
    if open_ended:
        model.model_config["extra"] = "allow"
        model.model_rebuild(force=True)
    return model, names


def _is_described(hint: Any) -> bool:
    metadata = getattr(hint, "__metadata__", ())
    return any(isinstance(m, FieldInfo) and m.description for m in metadata)


def _field(default: Any, alias: str | None, about: str | None) -> FieldInfo:
    if isinstance(default, FieldInfo):  # def f(x: int = Field(3, ge=1))
        return default
    options: dict[str, Any] = {"alias": alias} if alias else {}
    if about:
        options["description"] = about
    value = ... if default is Signature.empty else default
    info: FieldInfo = Field(value, **options)
    return info
