"""Executors, which do the work of tools: objects, plain functions or coroutine functions."""

import sys
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
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
from typing import TYPE_CHECKING, Any, Generic, Protocol, Self, TypeVar
from warnings import warn

from toolbench.core.background_loop import portal
from toolbench.core.kinds import place_of
from toolbench.core.schema import Action, Observation
from toolbench.core.secrets import Secret
from toolbench.threads import have_threads

if TYPE_CHECKING:
    from types import TracebackType

ActionT = TypeVar("ActionT", bound=Action)
ObservationT = TypeVar("ObservationT", bound=Observation)


_POSITIONAL = (Parameter.POSITIONAL_ONLY, Parameter.POSITIONAL_OR_KEYWORD)
CONVERSATION = "conversation"
"""The parameter that receives the conversation; it is not an argument for the model."""


class ToolExecutor(ABC, Generic[ActionT, ObservationT]):
    """The object that does the work of a tool and holds its resources.

    It is called as `(action)` or `(action, conversation)`, and may be `async`. If the class defines
    `close`, its objects must be closed: use `with`, or call `close`. To let a cancelled call stop
    early, define `interrupt`, or check `current_run().cancelled`. A tool that holds no resources
    can have a plain function as its executor.

    Source: OpenHands SDK, `ToolExecutor`.

    Examples:
        >>> from toolbench import Action, Observation, ToolExecutor
        >>> class Increment(Action):
        ...     by: int = 1
        >>> class Counter(ToolExecutor[Increment, Observation]):
        ...     total = 0
        ...     def __call__(self, action, conversation=None):
        ...         self.total += action.by
        ...         return Observation.from_text(f"{self.total}")
        >>> counter = Counter()
        >>> counter(Increment(by=2)).text, counter(Increment()).text
        ('2', '3')
    """

    _closed = False
    """Whether `close` was called. A subclass may use the attribute `_closed` for itself."""
    _has_close = False
    """Whether the class defines its own `close`, which must be called."""

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        home = next(c for c in cls.__mro__ if "close" in c.__dict__)
        cls._has_close = home is not ToolExecutor
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

    # A default, because the names of this module are gone when the interpreter ends
    def __del__(self, _warn: Callable[..., None] = warn) -> None:
        if self._has_close and not self._closed:
            msg = f"{type(self).__name__} was forgotten without close()."
            _warn(msg, ResourceWarning, source=self, stacklevel=1)


class ExecutableTool(Protocol):
    """A tool with an executor: the type that `as_executable` returns.

    Examples:
        >>> from toolbench import ExecutableTool, tool
        >>> @tool
        ... def shout(text: str) -> str:
        ...     "Return the text in capitals."
        ...     return text.upper()
        >>> executable: ExecutableTool = shout.as_executable()
        >>> executable.executor is shout.executor
        True
    """

    name: str
    executor: ToolExecutor[Any, Any]

    def __call__(
        self, action: Any = ..., /, conversation: Any = None, **arguments: Any
    ) -> Observation:
        """Run the tool."""


def _closing(close: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap *close* to mark the executor as closed before it runs, in case *close* fails."""

    @wraps(close)
    def closing(self: Any, *args: Any, **kwargs: Any) -> Any:
        # Even if the object is frozen
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
    """The name of the parameter for each attribute of the action, in the order of parameters."""
    only_if_set: frozenset[str]
    """Attributes that are passed to the function only if the caller set them."""
    by_position: frozenset[str]
    """Parameters that can only be passed by position."""
    wants_conversation: bool
    observation_type: type[Observation] | None
    secrets: Mapping[str, Secret] = field(default_factory=dict)
    """The secret that fills each secret parameter; the action has no attribute for it."""
    secret_types: Mapping[str, type] = field(default_factory=dict)
    """The type that each secret parameter takes: `str` or `SecretStr`."""


class FunctionCall(FunctionExecutor):
    """An executor that calls a function with the fields of the action as arguments."""

    def __init__(self, function: Callable[..., Any], shape: FunctionShape) -> None:
        """Make an executor that calls *function*, whose *shape* comes from `shape_of`."""
        self.function = function
        self.shape = shape

    @property
    def secrets(self) -> Mapping[str, Secret]:
        """The secret that fills each secret parameter."""
        return self.shape.secrets

    def __call__(self, action: Action, conversation: Any = None) -> Any:
        """Call the function with the arguments in *action*."""
        # IPython leaves out such frames
        __tracebackhide__ = True
        shape = self.shape
        args: list[Any] = []
        kwargs = dict(action.model_extra or {})
        for attribute, parameter in shape.names.items():
            if attribute in shape.only_if_set and attribute not in action.model_fields_set:
                continue
            if parameter in shape.by_position:
                args.append(getattr(action, attribute))
            else:
                kwargs[parameter] = getattr(action, attribute)
        if shape.wants_conversation:
            kwargs[CONVERSATION] = conversation
        for parameter, secret in shape.secrets.items():
            kwargs[parameter] = shape.secret_types[parameter](secret.value())
        return self.function(*args, **kwargs)

    def __reduce__(self) -> Any:
        return FunctionCall, (self.function, self.shape)


def innermost(function: Callable[..., Any]) -> Any:
    """Return the plain function inside *function*: a partial, a wrapper or a callable object."""
    inner = _function_or_class(function)
    if inner is type(function):
        inner = inner.__call__
    return unwrap(inner)


def home_of(executor: Any) -> str:
    """Return the module and qualified name of the function of *executor*, or else its class."""
    if isinstance(executor, FunctionExecutor):
        return place_of(_function_or_class(executor.function))
    return place_of(type(executor))


def is_outdated(executor: Any) -> bool:
    """Tell whether the notebook has since redefined its class of *executor*."""
    kind = type(executor)
    newest = getattr(sys.modules.get("__main__"), kind.__qualname__, kind)
    return newest is not kind and isclass(newest) and newest.__module__ == "__main__"


def _function_or_class(function: Any) -> Any:
    """Return the function inside a `partial`, or the class of a callable object."""
    while isinstance(function, partial):
        function = function.func
    if isroutine(function) or isclass(function):
        return function
    return type(function)


def with_conversation(function: Callable[..., Any]) -> Callable[[Any, Any], Any]:
    """Return a function of `(action, conversation)` that calls *function*.

    *function* gets the conversation in one of these ways:

    - as the second argument, if the second parameter has no default, or if its name has the word
      `conv` or `conversation`, as in `conv_state`
    - otherwise by name, if it has a parameter called `conversation`
    - otherwise in `*args` or `**kwargs`, which many decorators have

    All other functions get only the action.
    """

    def without(action: Any, conversation: Any) -> Any:
        __tracebackhide__ = True
        return function(action)

    def by_name(action: Any, conversation: Any) -> Any:
        __tracebackhide__ = True
        return function(action, conversation=conversation)

    try:
        parameters = signature(function).parameters
    except (TypeError, ValueError):
        # A builtin without a signature
        return without
    # `print(*args)` would print the conversation
    if isbuiltin(function):
        return without
    kinds = {p.kind for p in parameters.values()}
    ordered = [p for p in parameters.values() if p.kind in _POSITIONAL]
    if len(ordered) > 1 and _takes_conversation(ordered[1]):
        return function
    if isinstance(function, partial) and CONVERSATION in function.keywords:
        return without
    if CONVERSATION in parameters:
        return by_name
    if len(ordered) < 2 and Parameter.VAR_POSITIONAL in kinds:
        return function
    if Parameter.VAR_KEYWORD in kinds:
        return by_name
    return without


def _takes_conversation(second: Parameter) -> bool:
    words = second.name.split("_")
    return second.default is Parameter.empty or "conv" in words or CONVERSATION in words


def is_async(executor: Any) -> bool:
    """Tell whether a call of *executor* returns an awaitable or an async generator."""
    function = executor
    if isinstance(executor, FunctionExecutor):
        function = executor.function
    for one in (function, type(function).__call__):
        if iscoroutinefunction(one) or isasyncgenfunction(one):
            return True
    return False


def blocking(call: Callable[[Any, Any], Awaitable[Any]]) -> Callable[[Any, Any], Any]:
    """Wrap *call*, a coroutine function, to run in the background loop while the caller waits."""

    async def awaited(action: Any, conversation: Any) -> Any:
        __tracebackhide__ = True
        return await _awaited(call(action, conversation))

    return partial(portal.call, awaited)


def settled(result: Any) -> Any:
    """Await *result* if it is awaitable, and collect the items of a generator in a list."""
    if isgenerator(result):
        return list(result)
    if isawaitable(result) or isasyncgen(result):
        return portal.call(_awaited, result)
    return result


async def _awaited(result: Any) -> Any:
    __tracebackhide__ = True
    if isasyncgen(result):
        return [item async for item in result]
    if isawaitable(result):
        return await result
    return result


async def execute_async(executor: Any, action: Any, conversation: Any) -> Any:
    """Call *executor* without blocking the running loop; a plain function runs in a thread."""
    __tracebackhide__ = True
    # It switches to its own loop and back
    if hasattr(executor, "acall"):
        return await executor.acall(action, conversation)
    call = with_conversation(executor)
    if is_async(executor) or not have_threads():
        return await _awaited(call(action, conversation))
    from anyio.to_thread import (  # noqa: PLC0415 - asyncio, only for what is async
        run_sync,
    )

    def work() -> Any:
        result = call(action, conversation)
        if isgenerator(result):
            return list(result)
        return result

    return await _awaited(await run_sync(work))
