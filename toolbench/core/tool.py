"""A tool: a name, a description, the types of its input and output, and an executor."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property, partial
from itertools import count
from typing import Any, ClassVar, Generic, Self, cast
from weakref import WeakValueDictionary

from pydantic import ValidationError

from toolbench.core.coercion import masked, masked_error, observation_of
from toolbench.core.declarations import (
    DeclaredResources,
    ToolAnnotations,
    Unusable,
)
from toolbench.core.definition.call_forms import CallForms, call_of
from toolbench.core.definition.copies import field_changes
from toolbench.core.definition.hooks import Documented, definitions
from toolbench.core.definition.hooks import calls as calls
from toolbench.core.executor import (
    ActionT,
    FunctionExecutor,
    ObservationT,
    ToolExecutor,
    blocking,
    execute_async,
    home_of,
    is_async,
    is_outdated,
    settled,
    with_conversation,
)
from toolbench.core.executor import ExecutableTool as ExecutableTool
from toolbench.core.kinds import Kinds, is_local, place_of, tool_name
from toolbench.core.schema import Action, Observation, Schema, hide_in_views
from toolbench.core.tool_advice import after_reload, call_after_reload, misfits, no_action
from toolbench.core.tool_formats import Exports, Serializable, parameters_of
from toolbench.core.validators import action_with_known_names
from toolbench.errors import ArgumentsError, KindError, Problem, RegistrationError
from toolbench.jsonschema.node import Node, read
from toolbench.jsonschema.problems import pydantic_problems
from toolbench.redaction.detect import Secrecy

_kinds: Kinds[type["ToolBase[Any, Any]"]] = Kinds("tool")
_latest: WeakValueDictionary[str, "ToolDefinition[Any, Any]"] = WeakValueDictionary()


class ToolBase(ABC, Generic[ActionT, ObservationT]):
    """The base class of tools. A tool is created for a conversation and is called like a function."""

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        _kinds.add(cls)

    @classmethod
    @abstractmethod
    def create(cls, *args: Any, **kwargs: Any) -> Sequence[Self]:
        """Return the tools of this class for a conversation, always as a sequence."""

    @classmethod
    def newest(cls) -> "type[ToolBase[Any, Any]]":
        """Return the newest definition of this class: a cell that runs again makes a new one."""
        return _kinds.newest(cls)

    @classmethod
    def kind_of(cls) -> str:
        """Return the kind of this class: its name, or `module.name` if other classes share the name."""
        return _kinds.kind_of(cls)

    @classmethod
    def resolve_kind(cls, kind: str) -> type[Self]:
        """Return the tool class of this *kind*, a class name or `module.qualname`.

        Type parameters are ignored: `X[A, B]` is `X`.

        Raises:
            KindError: If no subclass of this class has this kind, or several modules use the name.
        """
        tool_class = _kinds.resolve(kind.partition("[")[0])
        if not issubclass(tool_class, cls):
            msg = f"Kind {kind!r} is not a {cls.__name__}."
            raise KindError(msg)
        return tool_class


@dataclass(frozen=True, kw_only=True, eq=False)
class ToolDefinition(Documented, CallForms, Exports, Serializable, ToolBase[ActionT, ObservationT]):
    """A tool. Make one directly, or subclass it and define `create`.

    Source: OpenHands SDK, `ToolDefinition`; both patterns of its documentation.
    """

    name: str = ""
    description: str = ""
    action_type: type[ActionT] = Action  # type: ignore[assignment]  # the default
    observation_type: type[ObservationT] | None = None
    annotations: ToolAnnotations | None = None
    meta: Mapping[str, Any] | None = None
    executor: Any = field(default=None, repr=False)
    _invoke: Callable[[Any, Any], Any] = field(init=False, repr=False)
    _successor: "ToolDefinition[Any, Any] | None" = field(init=False, repr=False, default=None)
    _number: int = field(init=False, repr=False, default_factory=count().__next__)

    source: ClassVar[str] = "native"
    """Where the tool comes from: `native`, or `mcp:` and the name of a server."""
    origin: ClassVar[Any] = None
    """Details of the connection that tell servers with the same name apart; None without a server."""
    is_listed: ClassVar[bool] = True
    """Whether the server of the tool still lists it; true for a tool without a server."""
    blocked: ClassVar[str] = ""
    """The sentence for calls if the tool cannot be called now; empty if it can."""
    is_replayed: ClassVar[bool] = False
    """Whether a recording answers the calls, so that no call changes anything."""

    def __init_subclass__(cls, **kwargs: Any) -> None:
        if not isinstance(cls.__dict__.get("name"), str):
            cls.name = tool_name(cls.__name__)
        for each in fields(cls):
            if isinstance(cls.__dict__.get(each.name), property):
                msg = f"{cls.__name__}.{each.name} is a property: make it a plain attribute."
                raise RegistrationError(msg)
        # last: from here on, other threads find the class by its kind
        super().__init_subclass__(**kwargs)

    def __post_init__(self) -> None:
        # The dataclass is frozen
        set_field = object.__setattr__
        # A field that is left out has the value of the class
        for each in fields(self):
            if each.init and getattr(self, each.name) is each.default:
                set_field(self, each.name, getattr(type(self), each.name))
        if self.name == "":
            set_field(self, "name", type(self).name)
        name: Any = self.name
        if not isinstance(name, str) or not name.strip():
            msg = f"A tool needs a name, not {name!r}."
            raise RegistrationError(msg)
        self._check_type("action_type", Action, "an Action class")
        if self.observation_type is not None:
            self._check_type("observation_type", Observation, "an Observation class")
        if self.executor is not None:
            set_field(self, "executor", self._checked_executor())
        set_field(self, "_invoke", self._invoker())
        if self.executor is not None and not is_local(self._place):
            _latest[self._place] = self
        definitions.changed()

    def _check_type(self, attribute: str, base: type[Schema], expected: str) -> None:
        value: Any = getattr(self, attribute)
        if not (isinstance(value, type) and issubclass(value, base)):
            msg = f"{self.name}: {attribute} must be {expected}, not {value!r}."
            raise RegistrationError(msg)

    def _checked_executor(self) -> Any:
        executor = self.executor
        if isinstance(executor, type) and issubclass(executor, ToolExecutor):
            msg = f"{self.name}: the executor must be an object: {executor.__name__}(...)."
            raise RegistrationError(msg)
        if not callable(executor):
            msg = f"{self.name}: the executor must be callable, not {executor!r}."
            raise RegistrationError(msg)
        return executor if hasattr(executor, "close") else FunctionExecutor(executor)

    def _invoker(self) -> Callable[[Any, Any], Any]:
        if self.executor is None:
            return lambda action, conversation: self.as_executable()
        call = with_conversation(self.executor)
        return blocking(call) if self.is_async else call

    @classmethod
    def create(cls, *args: Any, **kwargs: Any) -> Sequence[Self]:
        """Return the tools of this class. A subclass overrides this as `create(conv_state=None, ...)`.

        Raises:
            NotImplementedError: If the class does not override this method.
        """
        msg = f"{cls.__name__} does not say how it is created: define create(conv_state)."
        raise NotImplementedError(msg)

    @classmethod
    def is_usable(cls) -> bool | Unusable:
        """Tell whether the tool can work on this machine; a falsy result says why not."""
        return True

    # --- what it is ---------------------------------------------------------------

    @property
    def title(self) -> str:
        """The name for people."""
        return self.hints.title or self.name

    @property
    def kind(self) -> str:
        """The name of the class; `resolve_kind` finds the class by this name."""
        return type(self).__name__

    @property
    def input_schema(self) -> dict[str, Any]:
        """The JSON Schema of the arguments; forms are built from it."""
        return parameters_of(self.action_type).accepted

    @cached_property
    def input_node(self) -> Node:
        """The same schema as `input_schema`, in normal form."""
        return read(self.input_schema)

    @cached_property
    def secrecy(self) -> Secrecy:
        """The rules for secret arguments, from `input_schema`."""
        return Secrecy(self.input_schema)

    @cached_property
    def is_async(self) -> bool:
        """Whether the executor is `async`."""
        return is_async(self.executor)

    @property
    def is_stale(self) -> bool:
        """Whether a class of the tool was defined again, for example by a cell that ran again."""
        # Each call asks, so this is made quick
        for kind in (type(self), self.action_type, self.observation_type):
            if kind is not None and kind.newest() is not kind:
                return True
        return is_outdated(self.executor)

    def latest(self) -> "ToolDefinition[Any, Any]":
        """Return the newest tool that has this name and was defined at the same place in the code.

        If this tool was made inside a function, it is returned itself: the function may make many
        tools.
        """
        if not self.is_stale:
            return self
        newest = _latest.get(self._place, self)
        if newest is not self:
            # If its module drops it, nothing else may hold it
            object.__setattr__(self, "_successor", newest)
        return self if self._successor is None else self._successor

    def as_listed(self) -> Self:
        """Return this tool as its server lists it now; a tool without a server is returned itself."""
        return self

    @property
    def _place(self) -> str:
        executor, action = self.executor, place_of(self.action_type)
        made_in_function = executor is not None and is_local(home_of(executor))
        place = f"{self.kind} {self.name} {action}"
        return f"{place} {home_of(executor)}" if made_in_function else place

    def declared_resources(self, action: ActionT) -> DeclaredResources:
        """Return the resources that no other call may use while the call with *action* runs.

        A subclass can declare them. Source: OpenHands SDK, `ToolDefinition.declared_resources`.
        """
        return DeclaredResources(declared=False)

    def asks_because(self, action: ActionT) -> str:
        """Return why the call with *action* needs consent, whatever the tool's annotations say.

        Empty if it does not. A subclass can look at the action; the reason is part of a sentence
        that begins with "because".
        """
        return ""

    def preview(self, action: ActionT) -> Sequence[str]:
        """Return lines that say what the call with *action* would do; the question for consent has them.

        A subclass can say more than the arguments, such as the folder in which the call works.
        """
        return ()

    # --- copies -------------------------------------------------------------------

    def set_executor(self, executor: Any) -> Self:
        """Return a copy of this tool with *executor*."""
        return self.model_copy(update={"executor": executor})

    def model_copy(self, *, update: Mapping[str, Any] | None = None) -> Self:
        """Return a copy with the fields in *update* replaced; these may include `title` and `schema`."""
        return replace(self, **field_changes(self, update or {}))

    # For executors that work in other processes
    def __reduce__(self) -> Any:
        values = {f.name: getattr(self, f.name) for f in fields(self) if f.init}
        return partial(type(self), **values), ()

    def as_executable(self) -> ExecutableTool:
        """Return this tool after a check that it has an executor.

        Raises:
            NotImplementedError: If the tool has no executor.
        """
        if self.executor is None:
            msg = f"Tool {self.name!r} has no executor: give it one by set_executor()."
            raise NotImplementedError(msg)
        return cast("ExecutableTool", self)

    # --- running ------------------------------------------------------------------

    def problems(self, arguments: Mapping[str, Any]) -> list[Problem]:
        """List the problems of *arguments*, each with its path and with secrets masked."""
        try:
            self.action_from_arguments(dict(arguments))
        except Exception as error:  # noqa: BLE001 - a validator of the tool's own
            return misfits(self.secrecy, error, arguments)
        return []

    def action_from_arguments(self, arguments: Mapping[str, Any]) -> ActionT:
        """Return the action for *arguments*, as a model sends them.

        Raises:
            ArgumentsError: If the arguments do not fit; the error lists every problem.
        """
        try:
            return action_with_known_names(self.action_type, arguments)
        except ValidationError as error:
            names = self.input_node.names
            problems = pydantic_problems(error, names, value=arguments)
            masked = self.secrecy.redactor(arguments).problems(problems)
            raise ArgumentsError(self.name, masked) from None

    def __call__(
        self, action: Any = ..., /, conversation: Any = None, **arguments: Any
    ) -> ObservationT:
        """Check the arguments, run the executor, and return the observation.

        Pass an action, a dict, or keywords: `split_bill(total=84, people=4)`; `split_bill()` passes no
        arguments. An argument that is itself called `conversation` goes in a dict. After `%load_ext toolbench` the run is
        recorded. Without it, a call is the same as `execute`. If the module of the tool was loaded again,
        the tool that replaced this one runs.
        """
        # IPython leaves out such frames
        __tracebackhide__ = True
        tool = after_reload(self)
        if arguments or action is ...:
            action = call_of(tool.name, action, arguments)
        action = call_after_reload(tool, action)
        if calls.around is None:
            return cast("ObservationT", tool.execute(action, conversation))
        return cast("ObservationT", calls.around(tool, action, conversation))

    def action_of(self, arguments: Any) -> ActionT:
        """Return *arguments* if it is an action of this tool; a mapping becomes an action.

        Raises:
            ArgumentsError: If a mapping does not fit.
            TypeError: If *arguments* is something else.
        """
        if isinstance(arguments, self.action_type):
            return arguments
        if isinstance(arguments, Mapping):
            return self.action_from_arguments(arguments)
        raise no_action(self.name, self.action_type, arguments)

    def unchecked_action(self, arguments: Mapping[str, Any]) -> ActionT:
        """Return the action for *arguments*; there is no check if an MCP server will check them.

        Raises:
            ArgumentsError: If the arguments are checked here and do not fit.
        """
        return self.action_from_arguments(arguments)

    def execute(self, action: Any, conversation: Any = None) -> ObservationT:
        """Check *action*, run the executor, and return the observation; nothing is recorded.

        Args:
            action: An object of `action_type`, or a mapping that becomes one.
            conversation: The conversation for the executor; its secrets are masked in the result.

        Raises:
            ArgumentsError: If a mapping does not fit.
            NotImplementedError: If the tool has no executor.
            TypeError: If *action* is something else, or the result is not an observation.
        """
        __tracebackhide__ = True
        try:
            if type(action) is not self.action_type:
                action = self.action_of(action)
            result: ObservationT = self._invoke(action, conversation)
            # Else the usual case, made quick
            if conversation is not None or type(result) is not self.observation_type:
                result = self._observed(result, conversation)
            return self._without_secrets_in_views(result, action)
        except Exception as error:
            # Its message may hold a secret
            masked = masked_error(error, conversation)
            if masked is error:
                raise
        # Outside `except`, so that *error* is not its context
        raise masked

    async def acall(
        self, action: Any = ..., /, conversation: Any = None, **arguments: Any
    ) -> ObservationT:
        """Do the same as a call `tool(...)`, without blocking the running event loop."""
        __tracebackhide__ = True
        tool = after_reload(self)
        if arguments or action is ...:
            action = call_of(tool.name, action, arguments)
        action = call_after_reload(tool, action)
        if calls.around_async is None:
            return cast("ObservationT", await tool.execute_async(action, conversation))
        observation = await calls.around_async(tool, action, conversation)
        return cast("ObservationT", observation)

    async def execute_async(self, action: Any, conversation: Any = None) -> ObservationT:
        """Do the same as `execute`, without blocking the running event loop."""
        __tracebackhide__ = True
        try:
            if type(action) is not self.action_type:
                action = self.action_of(action)
            executor = self.as_executable().executor
            result = await execute_async(executor, action, conversation)
            return self._without_secrets_in_views(self._observed(result, conversation), action)
        except Exception as error:
            # Its message may hold a secret
            masked = masked_error(error, conversation)
            if masked is error:
                raise
        raise masked

    def _observed(self, result: Any, conversation: Any) -> ObservationT:
        if type(result) is not self.observation_type:
            result = observation_of(settled(result), self.observation_type, self.name)
        if conversation is not None:
            result = masked(result, conversation)
        return cast("ObservationT", result)

    def _without_secrets_in_views(self, result: ObservationT, action: ActionT) -> ObservationT:
        """Return *result*; its views hide the secrets of *action*, also where no run is recorded."""
        if not self.secrecy.is_harmless(action):
            hide_in_views(result, self.secrecy.redactor(action))
        return result
