"""What does a tool's work: an executor object, a plain function, or a coroutine function."""

from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable
from inspect import Parameter, iscoroutinefunction, signature
from typing import TYPE_CHECKING, Any, Generic, Self, TypeVar
from warnings import warn

from toolbench.core.portal import portal
from toolbench.core.schema import Action, Observation

if TYPE_CHECKING:
    from types import TracebackType

ActionT = TypeVar("ActionT", bound=Action)
ObservationT = TypeVar("ObservationT", bound=Observation)


class ToolExecutor(ABC, Generic[ActionT, ObservationT]):
    """Does the work of a tool, and holds what it needs for that.

    It may be called as `(action)` or `(action, conversation)`, and may be `async`. One that
    defines `close` must be closed: by `with`, or by calling it.
    Source: OpenHands SDK, `ToolExecutor`.
    """

    _closed = False

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if "close" in cls.__dict__:
            setattr(cls, "close", _noting(cls.close))  # noqa: B010 - mypy would see a method

    @abstractmethod
    def __call__(self, action: ActionT, conversation: Any = None) -> ObservationT:
        """Do the work and return what came out."""

    def close(self) -> None:
        """Give back what the executor holds. Calling it twice does no harm."""

    def interrupt(self) -> None:
        """Stop the work under way, from any thread; again and again does no harm."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: "TracebackType | None",
    ) -> None:
        self.close()

    def __del__(self) -> None:
        if not self._closed and type(self).close is not ToolExecutor.close:
            msg = f"{type(self).__name__} was forgotten without close()."
            warn(msg, ResourceWarning, source=self, stacklevel=1)


def _noting(close: Callable[[Any], None]) -> Callable[[Any], None]:
    """Let *close* note that it ran, for `__del__`."""

    def noted(self: Any) -> None:
        self._closed = True
        close(self)

    noted.__doc__ = close.__doc__
    return noted


class FunctionExecutor(ToolExecutor[Action, Observation]):
    """An executor made of a plain function or coroutine function."""

    def __init__(self, function: Callable[..., Any]) -> None:
        """Wrap *function*, called as `(action)` or `(action, conversation)`."""
        self.function = function
        self._call = with_conversation(function)

    def __call__(self, action: Action, conversation: Any = None) -> Any:
        """Call the function."""
        return self._call(action, conversation)

    def __repr__(self) -> str:
        return f"FunctionExecutor({getattr(self.function, '__qualname__', '?')})"


def with_conversation(function: Callable[..., Any]) -> Callable[[Any, Any], Any]:
    """Return *function* as one called with `(action, conversation)`, looked at once."""
    try:
        parameters = list(signature(function).parameters.values())
    except (TypeError, ValueError):  # a builtin without a signature
        return lambda action, conversation: function(action)
    if any(p.kind is Parameter.VAR_POSITIONAL for p in parameters):
        return function
    positional = (Parameter.POSITIONAL_ONLY, Parameter.POSITIONAL_OR_KEYWORD)
    if sum(p.kind in positional for p in parameters) > 1:
        return function
    if any(
        p.name == "conversation" or p.kind is Parameter.VAR_KEYWORD for p in parameters
    ):
        return lambda action, conversation: function(action, conversation=conversation)
    return lambda action, conversation: function(action)


def is_async(executor: Any) -> bool:
    """Tell whether calling *executor* gives something to await."""
    function = executor.function if isinstance(executor, FunctionExecutor) else executor
    return iscoroutinefunction(function) or iscoroutinefunction(type(function).__call__)


def blocking(call: Callable[[Any, Any], Awaitable[Any]]) -> Callable[[Any, Any], Any]:
    """Return coroutine function *call* as one that waits, in the background loop."""
    return lambda action, conversation: portal.call(call, action, conversation)


async def execute_async(executor: Any, action: Any, conversation: Any) -> Any:
    """Run *executor* without blocking the running event loop; a plain one gets a thread."""
    if hasattr(executor, "acall"):  # it knows how to come back from its own loop
        return await executor.acall(action, conversation)
    call = with_conversation(executor)
    if is_async(executor):
        return await call(action, conversation)
    from anyio.to_thread import (  # noqa: PLC0415 - asyncio, only for what is async
        run_sync,
    )

    return await run_sync(call, action, conversation)
