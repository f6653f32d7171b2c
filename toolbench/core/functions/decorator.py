"""Turn a typed, documented function into a tool: the quickest way to prototype one."""

from collections.abc import Callable, Mapping
from inspect import isclass
from typing import Any, overload

from toolbench.core.definition.declarations import ToolAnnotations
from toolbench.core.executor import innermost
from toolbench.core.functions.docstrings import Doc, parse
from toolbench.core.functions.function_shape import FunctionCall, shape_of
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
