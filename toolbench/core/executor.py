"""Executors, which do the work of tools: objects, plain functions or coroutine functions."""

import sys
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from functools import partial, wraps
from inspect import (
    Parameter,
    isasyncgen,
    isasyncgenfunction,
    isawaitable,
    isbuiltin,
    isclass,
    iscoroutinefunction,
    isgenerator,
    isroutine,
    signature,
    unwrap,
)
from typing import TYPE_CHECKING, Any, Generic, Literal, Protocol, Self, TypeVar
from warnings import warn

from toolbench.core.background_loop import portal
from toolbench.core.schema import Action, Observation
from toolbench.threads import have_threads

if TYPE_CHECKING:
    from types import TracebackType

ActionT = TypeVar("ActionT", bound=Action)
ObservationT = TypeVar("ObservationT", bound=Observation)


CONVERSATION = "conversation"
"""The parameter that receives the conversation; it is not an argument for the model."""


class ToolExecutor(ABC, Generic[ActionT, ObservationT]):
    """The object that does the work of a tool and holds its resources.

    It is called as `(action)` or `(action, conversation)`, and may be `async`. If it defines
    `close`, it must be closed: by `with`, or by a call of `close`.
    Source: OpenHands SDK, `ToolExecutor`.
    """

    _closed = False
    """Whether `close` was called, unless a subclass has its own `_closed`."""
    _to_be_closed = False
    """Whether `close` still has to be called. The class has the first value; an object may have another."""

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if "__init__" in cls.__dict__:
            setattr(cls, "__init__", _making(cls.__init__))  # noqa: B010 - as below
        home = next(c for c in cls.__mro__ if "close" in c.__dict__)
        cls._to_be_closed = home is not ToolExecutor
        # Or a mixin
        if home is cls or not issubclass(home, ToolExecutor):
            setattr(cls, "close", _closing(cls.close))  # noqa: B010 - mypy would see a method

    @abstractmethod
    def __call__(self, action: ActionT, conversation: Any = None) -> ObservationT:
        """Do the work and return the observation."""

    def close(self) -> None:
        """Release the resources of the executor. A second call does no harm."""

    def interrupt(self) -> None:
        """Stop the current work, from any thread; repeated calls do no harm."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: "TracebackType | None",
    ) -> None:
        self.close()

    # a default, because the names of this module are gone when the interpreter ends
    def __del__(self, _warn: Callable[..., None] = warn) -> None:
        if self._to_be_closed:
            msg = f"{type(self).__name__} was forgotten without close()."
            _warn(msg, ResourceWarning, source=self, stacklevel=1)


class ExecutableTool(Protocol):
    """A tool that is known to have an executor."""

    name: str
    executor: ToolExecutor[Any, Any]

    def __call__(
        self, action: Any = ..., /, conversation: Any = None, **arguments: Any
    ) -> Observation:
        """Run the tool."""


def _making(init: Callable[..., None]) -> Callable[..., None]:
    """Wrap *init*, the `__init__` of an executor: if *init* fails, no warning about `close` follows.

    If the `__init__` of a base class succeeds and the `__init__` of its subclass fails later, the
    executor must be closed.
    """

    @wraps(init)
    def making(self: Any, *args: Any, **kwargs: Any) -> None:
        vars(self)["_to_be_closed"] = False
        init(self, *args, **kwargs)
        # From here on its class decides
        vars(self).pop("_to_be_closed", None)

    return making


def _closing(close: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap *close*: it first marks the executor as closed, also if *close* then fails."""

    @wraps(close)
    def closing(self: Any, *args: Any, **kwargs: Any) -> Any:
        # Also if the object is frozen
        vars(self)["_to_be_closed"] = False
        vars(self).setdefault("_closed", True)
        return close(self, *args, **kwargs)

    return closing


class FunctionExecutor(ToolExecutor[Action, Observation]):
    """An executor made from a plain function or coroutine function."""

    def __init__(self, function: Callable[..., Any]) -> None:
        """Make an executor that calls *function* as `(action)` or `(action, conversation)`."""
        self.function = function
        self._call = with_conversation(function)

    def __call__(self, action: Action, conversation: Any = None) -> Any:
        """Call the function."""
        # IPython leaves out such frames
        __tracebackhide__ = True
        return self._call(action, conversation)

    def interrupt(self) -> None:
        """Call the method `interrupt` of the function object, if it has one."""
        getattr(self.function, "interrupt", lambda: None)()

    # For executors that work in other processes
    def __reduce__(self) -> Any:
        return FunctionExecutor, (self.function,)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({innermost(self.function).__qualname__})"


@dataclass(frozen=True)
class FunctionShape:
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

    def __init__(self, function: Callable[..., Any], shape: FunctionShape) -> None:
        """Make an executor that calls *function*; *shape* is what `shape_of` returned for the function."""
        self.function = function
        self.shape = shape

    def __call__(self, action: Action, conversation: Any = None) -> Any:
        """Call the function with the arguments in *action*."""
        # IPython leaves out such frames
        __tracebackhide__ = True
        args, kwargs = self._arguments(action, conversation)
        return self.function(*args, **kwargs)

    def __reduce__(self) -> Any:
        return FunctionCall, (self.function, self.shape)

    def _arguments(self, action: Action, conversation: Any) -> tuple[list[Any], dict[str, Any]]:
        args: list[Any] = []
        kwargs = dict(action.model_extra or {})
        unset = self.shape.only_if_set - action.model_fields_set
        for attribute, parameter in self.shape.names.items():
            if attribute in unset:
                continue
            if parameter in self.shape.by_position:
                args.append(getattr(action, attribute))
            else:
                kwargs[parameter] = getattr(action, attribute)
        if self.shape.wants_conversation:
            kwargs[CONVERSATION] = conversation
        return args, kwargs


def innermost(function: Callable[..., Any]) -> Any:
    """Return the function inside *function*, which may be a partial, a wrapper or a callable object."""
    by_name = _function_or_class(function)
    return unwrap(by_name if by_name is not type(function) else by_name.__call__)


def home_of(executor: Any) -> str:
    """Return the module and qualified name of the function of *executor*; without one, of its class."""
    is_function = isinstance(executor, FunctionExecutor)
    does = _function_or_class(executor.function) if is_function else type(executor)
    return f"{does.__module__}.{does.__qualname__}"


def is_outdated(executor: Any) -> bool:
    """Tell whether the class of *executor* was defined again in the notebook."""
    kind = type(executor)
    if kind.__module__ != "__main__":
        return False
    newest = getattr(sys.modules.get("__main__"), kind.__qualname__, kind)
    return newest is not kind and isclass(newest) and newest.__module__ == "__main__"


def _function_or_class(function: Any) -> Any:
    """Return *function* without `partial`, or the class of a callable object."""
    while isinstance(function, partial):
        function = function.func
    return function if isroutine(function) or isclass(function) else type(function)


def with_conversation(function: Callable[..., Any]) -> Callable[[Any, Any], Any]:
    """Return a function of `(action, conversation)` that calls *function*.

    The conversation goes to the second parameter if it has no default or if a word of its name is
    `conv` or `conversation`: `conv_state`, not `convert`. Otherwise it goes to a parameter called `conversation`, else to `*args` or `**kwargs`.
    A function without any of these gets only the action. The signature is read only once.
    """
    match _place_of_conversation(function):
        case "second":
            return function
        case "named":
            return lambda action, conv: function(action, conversation=conv)
    return lambda action, conv: function(action)


def _place_of_conversation(
    function: Callable[..., Any],
) -> Literal["second", "named"] | None:
    try:
        parameters = list(signature(function).parameters.values())
    except (TypeError, ValueError):
        # A builtin without a signature
        return None
    # `print(*args)` does not expect a conversation
    if isbuiltin(function):
        return None
    ordered = [p for p in parameters if p.kind in _POSITIONAL]
    kinds = {p.kind for p in parameters}
    if len(ordered) > 1 and _is_conversation(ordered[1]):
        return "second"
    if any(p.name == "conversation" for p in parameters):
        # Of a functools.partial
        bound = getattr(function, "keywords", {})
        return None if "conversation" in bound else "named"
    if len(ordered) < 2 and Parameter.VAR_POSITIONAL in kinds:
        return "second"
    return "named" if Parameter.VAR_KEYWORD in kinds else None


_POSITIONAL = (Parameter.POSITIONAL_ONLY, Parameter.POSITIONAL_OR_KEYWORD)


def _is_conversation(second: Parameter) -> bool:
    words = second.name.split("_")
    return "conv" in words or "conversation" in words or second.default is Parameter.empty


def is_async(executor: Any) -> bool:
    """Tell whether a call of *executor* returns an awaitable or an async generator."""
    function = executor.function if isinstance(executor, FunctionExecutor) else executor
    kinds = iscoroutinefunction, isasyncgenfunction
    return any(k(f) for k in kinds for f in (function, type(function).__call__))


def blocking(call: Callable[[Any, Any], Awaitable[Any]]) -> Callable[[Any, Any], Any]:
    """Return a function that runs *call*, a coroutine function, in the background loop and waits."""
    return lambda action, conversation: portal.call(_waited, call, action, conversation)


async def _waited(call: Callable[[Any, Any], Any], action: Any, conversation: Any) -> Any:
    __tracebackhide__ = True
    return await _awaited(call(action, conversation))


def settled(result: Any) -> Any:
    """Return *result*, awaited if it is awaitable; the items of a generator become a list."""
    if isgenerator(result):
        return list(result)
    is_async = isawaitable(result) or isasyncgen(result)
    return portal.call(_awaited, result) if is_async else result


async def _awaited(result: Any) -> Any:
    __tracebackhide__ = True
    if isasyncgen(result):
        return [item async for item in result]
    return await result if isawaitable(result) else result


async def execute_async(executor: Any, action: Any, conversation: Any) -> Any:
    """Call *executor* without blocking the running loop; a plain function runs in a thread."""
    __tracebackhide__ = True
    # It switches to its own loop and back
    if hasattr(executor, "acall"):
        return await executor.acall(action, conversation)
    call = with_conversation(executor)
    if is_async(executor):
        return await _awaited(call(action, conversation))
    if not have_threads():
        return await _awaited(call(action, conversation))
    from anyio.to_thread import (  # noqa: PLC0415 - asyncio, only for what is async
        run_sync,
    )

    def work() -> Any:
        result = call(action, conversation)
        return list(result) if isgenerator(result) else result

    return await _awaited(await run_sync(work))
