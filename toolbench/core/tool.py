"""Tools: what a tool is, where it comes from, and how it is called.

`ToolDefinition` is data: a name, a description, the types of its input and output, an executor.
`tool_formats` exports tools for models, servers and files.
"""

import sys
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property, partial
from itertools import count
from threading import RLock
from typing import Any, ClassVar, Generic, Self, cast
from weakref import WeakValueDictionary

from pydantic import GetCoreSchemaHandler, ValidationError
from pydantic_core import CoreSchema

from toolbench.core.coercion import limited, masked, masked_error, observation_of
from toolbench.core.declarations import DeclaredResources, ToolAnnotations, Unusable
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
from toolbench.core.result_limit import LEAST
from toolbench.core.schema import Action, Observation, Schema, hide_in_views
from toolbench.core.secrets import Secret, secrets_declared
from toolbench.core.tool_advice import class_advice, misfits, no_action, two_forms
from toolbench.core.tool_formats import (
    core_schema_of,
    function_of,
    json_of_meta,
    loaded_tool,
    mcp_tool,
    openai_function,
    packed,
    parameters_of,
    saved_tool,
    unpacked,
)
from toolbench.core.validators import action_with_known_names
from toolbench.errors import (
    ArgumentsError,
    KindError,
    Problem,
    RegistrationError,
    ToolbenchError,
    did_you_mean,
    indefinite,
)
from toolbench.jsonschema.node import Node, read
from toolbench.jsonschema.problems import pydantic_problems
from toolbench.redaction.detect import Secrecy
from toolbench.redaction.known import remembered
from toolbench.redaction.redactor import Redactor
from toolbench.values import clip

_kinds: Kinds[type["ToolBase[Any, Any]"]] = Kinds("tool")
_latest: WeakValueDictionary[str, "ToolDefinition[Any, Any]"] = WeakValueDictionary()
_CALLERS = ("model", "app")


class Listeners:
    """Functions without arguments that are called after each change of something."""

    def __init__(self) -> None:
        """Start with no listeners."""
        # Reentrant: a listener that is removed by the collector of garbage
        self._lock = RLock()
        self._listeners: tuple[Callable[[], object], ...] = ()

    def listen(self, listener: Callable[[], object]) -> Callable[[], None]:
        """Call *listener* after each change, in the thread that made it; it must not block.

        Returns:
            A function that removes the listener.
        """

        def forget() -> None:
            with self._lock:
                self._listeners = tuple(one for one in self._listeners if one is not listener)

        with self._lock:
            self._listeners = (*self._listeners, listener)
        return forget

    def changed(self) -> None:
        """Call all listeners."""
        for listener in self._listeners:
            listener()


class Hooks:
    """What a session adds to tools: functions that wrap their calls, and listeners to changes."""

    def __init__(self) -> None:
        """Start with no functions and no listeners; `record_calls` sets the functions."""
        self.around: Callable[[Any, Any, Any], Any] | None = None
        """Runs a call `tool(...)`: takes tool, action and conversation, returns the observation."""
        self.around_async: Callable[[Any, Any, Any], Awaitable[Any]] | None = None
        """Runs a call `await tool.acall(...)`, with the same arguments."""
        self.definitions = Listeners()
        """Called when a tool was made, registered or unregistered."""
        self.listings = Listeners()
        """Called when a server has added, changed or removed tools."""


hooks = Hooks()
"""The hooks of this process."""


class ToolBase(ABC, Generic[ActionT, ObservationT]):
    """The base class of tools. A tool is created for a conversation and is called like a function.

    Examples:
        >>> from toolbench import ToolBase
        >>> from toolbench.core.builtins import ThinkTool
        >>> [think] = ThinkTool.create()
        >>> isinstance(think, ToolBase), ToolBase.resolve_kind("ThinkTool") is ThinkTool
        (True, True)
    """

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        _kinds.add(cls)

    def __new__(cls, *arguments: Any, **fields: Any) -> Self:
        """Make a tool from *fields*. Only classes with their own `__init__` may take *arguments*.

        Raises:
            TypeError: If the class is called with positional arguments, as if it were a tool. The
                message contains code that makes a tool from the class.
        """
        author = next(base for base in cls.__mro__ if "__init__" in vars(base))
        if arguments and "__dataclass_fields__" in vars(author):
            raise TypeError(class_advice(cast("Any", cls)))
        return super().__new__(cls)

    @classmethod
    @abstractmethod
    def create(cls, *args: Any, **kwargs: Any) -> Sequence[Self]:
        """Return the tools of this class for a conversation, always as a sequence."""

    @classmethod
    def newest(cls) -> "type[ToolBase[Any, Any]]":
        """Return the newest definition of this class, which a repeated cell may have redefined."""
        return _kinds.newest(cls)

    @classmethod
    def kind_of(cls) -> str:
        """Return the kind of this class: its name, or `module.name` if the name is not unique."""
        return _kinds.kind_of(cls)

    @classmethod
    def resolve_kind(cls, kind: str) -> type[Self]:
        """Return the tool class of this *kind*, which is a class name or `module.qualname`.

        Type parameters are ignored: `X[A, B]` is `X`.

        Raises:
            KindError: If no subclass of this class has this kind, or several modules use the name.
        """
        tool_class = _kinds.resolve(kind.partition("[")[0])
        if not issubclass(tool_class, cls):
            msg = f"Kind {kind!r} is not a {cls.__name__}."
            raise KindError(msg)
        return tool_class


class _ValueOfClass:
    """A default for a field that stands for the value of the class attribute.

    It distinguishes a field that was left out from a field that was set to the same value.
    """

    def __init__(self, value: Any) -> None:
        self.value = value

    def __repr__(self) -> str:
        return repr(self.value)


def value_of_class(value: Any) -> Any:
    """Return a field default that stands for *value*, the value of the class attribute."""
    return _ValueOfClass(value)


@dataclass(frozen=True, kw_only=True, eq=False)
class ToolDefinition(ToolBase[ActionT, ObservationT]):
    """A tool. Create a ToolDefinition directly, or define a subclass that has `create`.

    Source: OpenHands SDK, `ToolDefinition`, whose documentation shows both ways.

    Examples:
        >>> from toolbench import Action, ToolDefinition
        >>> class Greet(Action):
        ...     name: str
        >>> greet = ToolDefinition(
        ...     name="greet",
        ...     description="Greets a guest by name.",
        ...     action_type=Greet,
        ...     executor=lambda action: f"Welcome, {action.name}!",
        ... )
        >>> greet(name="Ada").text
        'Welcome, Ada!'
        >>> greet.input_schema["properties"]
        {'name': {'type': 'string'}}
    """

    name: str = field(default=value_of_class(""))
    description: str = field(default=value_of_class(""))
    action_type: type[ActionT] = field(default=value_of_class(Action))
    observation_type: type[ObservationT] | None = field(default=value_of_class(None))
    annotations: ToolAnnotations | None = field(default=value_of_class(None))
    meta: Mapping[str, Any] | None = field(default=value_of_class(None))
    max_result_tokens: int | None = field(default=value_of_class(None))
    """The most tokens of a result that a model sees; a longer result is cut. None: no limit.

    For a server's tool, set it with `tool.model_copy(update={"max_result_tokens": 2_000})`.
    """
    executor: Any = field(default=value_of_class(None), repr=False)
    _invoke: Callable[[Any, Any], Any] = field(init=False, repr=False)
    _is_of_notebook: bool = field(init=False, repr=False)
    """Whether the class of the executor is the notebook's, so that a cell can define it again."""
    _successor: "ToolDefinition[Any, Any] | None" = field(init=False, repr=False, default=None)
    _number: int = field(init=False, repr=False, default_factory=count().__next__)
    """How many tools were made before this one."""
    _is_replaced: bool = field(init=False, repr=False, default=False)
    """Whether the tool's module was reloaded, and no longer contains this tool."""
    _is_warned_of: bool = field(init=False, repr=False, default=False)
    """Whether a warning already said that the tool's class is outdated."""

    source: ClassVar[str] = "native"
    """Where the tool comes from: `native`, or `mcp:` and the name of a server."""
    origin: ClassVar[Any] = None
    """Details of the tool's server that distinguish it from servers of the same name, if any."""
    is_listed: ClassVar[bool] = True
    """Whether the tool's server still lists the tool; true for a tool without a server."""
    is_disconnected: ClassVar[bool] = False
    """Whether the connection to the tool's server is closed, or has failed."""
    blocked: ClassVar[str] = ""
    """The error message for a call while the tool cannot be called; empty while it can."""
    is_replayed: ClassVar[bool] = False
    """Whether calls are answered from a recording, so that no call changes anything."""
    is_in_development: ClassVar[bool] = False
    """Whether the tool's server is under development. If so, call `catch_up` before each call."""

    # --- how it is made -----------------------------------------------------------

    def __init_subclass__(cls, **kwargs: Any) -> None:
        for each in fields(cls):
            if isinstance(vars(cls).get(each.name), property | cached_property):
                msg = f"{cls.__name__}.{each.name} is a property: make it a plain attribute."
                raise RegistrationError(msg)
        if not isinstance(cls.__dict__.get("name"), str):
            cls.name = tool_name(cls.__name__)
        # Last: from here on, other threads find the class by its kind
        super().__init_subclass__(**kwargs)

    def __post_init__(self) -> None:
        # The dataclass is frozen
        set_field = object.__setattr__
        # A field that is left out has the value of the class
        for each in fields(self):
            if each.init and getattr(self, each.name) is each.default:
                set_field(self, each.name, getattr(type(self), each.name))
        name: Any = self.name
        if not isinstance(name, str) or not name.strip():
            msg = f"A tool needs a name, not {name!r}."
            raise RegistrationError(msg)
        self._check_type("action_type", Action, "an Action class")
        if self.observation_type is not None:
            self._check_type("observation_type", Observation, "an Observation class")
        most: Any = self.max_result_tokens
        if most is not None and (type(most) is not int or most < LEAST):
            msg = f"{name}: max_result_tokens is a whole number from {LEAST} up, not {most!r}."
            raise RegistrationError(msg)
        if self.executor is not None:
            self._check_executor()
            if not hasattr(self.executor, "close"):
                set_field(self, "executor", FunctionExecutor(self.executor))
        set_field(self, "_invoke", self._invoker())
        set_field(self, "_is_of_notebook", type(self.executor).__module__ == "__main__")
        if self.executor is not None and not is_local(self._place):
            _latest[self._place] = self
        hooks.definitions.changed()

    def _check_type(self, attribute: str, base: type[Schema], expected: str) -> None:
        value: Any = getattr(self, attribute)
        if not (isinstance(value, type) and issubclass(value, base)):
            msg = f"{self.name}: {attribute} must be {expected}, not {value!r}."
            raise RegistrationError(msg)

    def _check_executor(self) -> None:
        executor = self.executor
        if isinstance(executor, type) and issubclass(executor, ToolExecutor):
            msg = f"{self.name}: the executor must be an object: {executor.__name__}(...)."
            raise RegistrationError(msg)
        if not callable(executor):
            msg = f"{self.name}: the executor must be callable, not {executor!r}."
            raise RegistrationError(msg)

    def _invoker(self) -> Callable[[Any, Any], Any]:
        """Return the function of `(action, conversation)` that `execute` calls."""
        if self.executor is None:
            return lambda action, conversation: self.as_executable()
        call = with_conversation(self.executor)
        if self.is_async:
            return blocking(call)
        return call

    @classmethod
    def create(cls, *args: Any, **kwargs: Any) -> Sequence[Self]:
        """Return the tools of this class; a subclass defines `create(conv_state=None, ...)`.

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
    def hints(self) -> ToolAnnotations:
        """The annotations, or MCP's defaults if the tool has none."""
        return self.annotations or ToolAnnotations()

    @property
    def version(self) -> str:
        """The version label in `meta`; empty if there is none."""
        return str((self.meta or {}).get("version", ""))

    @property
    def callers(self) -> frozenset[str]:
        """The callers that the tool allows besides users: `model`, `app`, or both (the default).

        Source: MCP Apps, SEP-1865, `_meta.ui.visibility`.
        """
        ui = (self.meta or {}).get("ui")
        if isinstance(ui, Mapping):
            names = ui.get("visibility")
            if isinstance(names, list | tuple):
                return frozenset(name for name in _CALLERS if name in names)
        return frozenset(_CALLERS)

    @property
    def is_for_models(self) -> bool:
        """Whether the tool may be offered to models; a server can reserve a tool for its app."""
        return "model" in self.callers

    def check_for_models(self) -> None:
        """Check that the tool may be offered to models.

        Raises:
            ToolbenchError: If the tool's server reserves the tool for its app.
        """
        if not self.is_for_models:
            msg = (
                f"{self.name} is not offered to models: its server keeps it for its app. Leave "
                "it out, as in [tool for tool in tools if tool.is_for_models]."
            )
            raise ToolbenchError(msg)

    @property
    def input_schema(self) -> dict[str, Any]:
        """The JSON Schema of the arguments; forms are built from it."""
        return parameters_of(self.action_type).accepted

    @cached_property
    def input_node(self) -> Node:
        """`input_schema` in normal form."""
        return read(self.input_schema)

    @cached_property
    def secrecy(self) -> Secrecy:
        """The rules for secret arguments, from `input_schema`."""
        return Secrecy(self.input_schema, self.input_node.view)

    @cached_property
    def secrets(self) -> Mapping[str, Secret]:
        """The secrets that are filled in where the tool runs, by parameter; see `secret`."""
        return secrets_declared(self.executor)

    @cached_property
    def is_async(self) -> bool:
        """Whether the executor is `async`."""
        return is_async(self.executor)

    @property
    def function(self) -> Callable[..., Any]:
        """The function from which this tool was made, unchanged: `split_bill.function(84, 4)`.

        Raises:
            AttributeError: If the tool was made from an executor object.
        """
        if isinstance(self.executor, FunctionExecutor):
            return self.executor.function
        executor = indefinite(type(self.executor).__name__)
        msg = f"{self.name} was made from {executor}, not from a function: use to_callable()."
        raise AttributeError(msg)

    def declared_resources(self, action: ActionT) -> DeclaredResources:
        """Return the resources that no other call may use while the call with *action* runs.

        A subclass can declare them. Source: OpenHands SDK, `ToolDefinition.declared_resources`.
        """
        return DeclaredResources(declared=False)

    def asks_because(self, action: ActionT) -> str:
        """Return the reason why the call with *action* needs consent; empty if it needs none.

        The reason completes a sentence that begins with "because". A subclass can override this
        method and look at the action. The annotations of the tool are judged separately.
        """
        return ""

    def preview(self, action: ActionT) -> Sequence[str]:
        """Return lines that describe what the call with *action* would do.

        They are shown, below the arguments, when the user is asked for consent. A subclass can
        override this, for example to name the folder in which the call works.
        """
        return ()

    def _repr_mimebundle_(self, **options: Any) -> Mapping[str, str]:
        """Return the view of the tool in a notebook."""
        from toolbench.display.objects import tool_bundle  # noqa: PLC0415 - imports this module

        return tool_bundle(self)

    def getdoc(self) -> str:
        """Return the text that `?` and Shift+Tab show."""
        from toolbench.display.objects import tool_text  # noqa: PLC0415 - imports this module

        return tool_text(self)

    # --- its newest form ----------------------------------------------------------

    @property
    def is_stale(self) -> bool:
        """Whether a class of the tool was defined again, for example by a repeated cell."""
        # In most sessions no class was replaced
        if Kinds.replaced:
            for kind in (type(self), self.action_type, self.observation_type):
                if kind is not None and kind.newest() is not kind:
                    return True
        return self._is_of_notebook and is_outdated(self.executor)

    def latest(self) -> "ToolDefinition[Any, Any]":
        """Return the newest tool that has this name and was defined at the same place in the code.

        If this tool was made inside a function, return this tool itself, because each call of the
        function may make a different tool.
        """
        if not self.is_stale:
            return self
        newest = _latest.get(self._place, self)
        if newest is not self:
            # If its module drops it, nothing else may hold it
            object.__setattr__(self, "_successor", newest)
        return self._successor or self

    def as_listed(self) -> Self:
        """Return this tool as its server lists it now; a tool without a server returns itself."""
        return self

    def catch_up(self) -> Observation | None:
        """Restart the tool's server if it is under development and its source has changed.

        Return an error observation if the server does not start; otherwise None.
        """
        return None

    @property
    def _place(self) -> str:
        place = f"{self.kind} {self.name} {place_of(self.action_type)}"
        if self.executor is None:
            return place
        home = home_of(self.executor)
        # A function may make several tools, each with an executor of its own
        if is_local(home):
            place = f"{place} {home}"
        return place

    # --- copies -------------------------------------------------------------------

    def set_executor(self, executor: Any) -> Self:
        """Return a copy of this tool with *executor*."""
        return self.model_copy(update={"executor": executor})

    def model_copy(self, *, update: Mapping[str, Any] | None = None) -> Self:
        """Return a copy of the tool in which the fields in *update* are replaced.

        *update* may contain two names that are not fields. `title` replaces the title in the
        annotations: `split_bill.model_copy(update={"title": "Split the bill"})`. `schema` is
        another JSON Schema for the arguments. The copy checks arguments with this schema, and
        passes them to the original tool.

        Raises:
            RegistrationError: If the tool has no such field, or a value cannot be used.
        """
        changes = dict(update or {})
        known = [each.name for each in fields(self) if each.init]
        names = list(dict.fromkeys([*known, "title", "schema"]))
        for name in changes:
            if name not in names:
                msg = (
                    f"{self.name} has no field {name!r} to replace: it has "
                    f"{', '.join(names)}.{did_you_mean(name, names)}"
                )
                raise RegistrationError(msg)
        if "title" in changes and "title" not in known:
            title = changes.pop("title")
            if not isinstance(title, str) or not title.strip():
                msg = f"{self.name}: the title is a string, not {clip(title)}."
                raise RegistrationError(msg)
            hints = changes.get("annotations") or self.hints
            changes["annotations"] = hints.model_copy(update={"title": title})
        if "schema" in changes and "schema" not in known:
            schema = changes.pop("schema")
            if not isinstance(schema, Mapping):
                msg = f"{self.name}: the schema is a JSON Schema, an object, not {clip(schema)}."
                raise RegistrationError(msg)
            action_type = Action.from_mcp_schema(self.action_type.__name__, schema)
            changes["action_type"] = action_type
            if changes.get("executor") is None and self.executor is not None:
                changes["executor"] = _OriginalTool(self)
        return replace(self, **changes)

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
            msg = f"Tool {self.name!r} has no executor: give it one with set_executor()."
            raise NotImplementedError(msg)
        return cast("ExecutableTool", self)

    # --- running ------------------------------------------------------------------

    def problems(self, arguments: Mapping[str, Any]) -> list[Problem]:
        """List the problems of *arguments*, each with its path, and with secrets masked."""
        try:
            self.action_from_arguments(dict(arguments))
        except Exception as error:  # noqa: BLE001 - a validator of the tool's own
            return misfits(self.secrecy, error, arguments)
        return []

    def action_from_arguments(self, arguments: Mapping[str, Any]) -> ActionT:
        """Convert *arguments*, in the form in which a model sends them, to an action.

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

        Pass an action, a dict, or keywords: `split_bill(total=84, people=4)`; `split_bill()` passes
        no arguments. Pass an argument that is itself called `conversation` in a dict. After
        `%load_ext toolbench`, the run is recorded. Otherwise, a call is the same as `execute`. If
        the tool's module was reloaded, the tool that replaced this one runs.
        """
        # IPython leaves out such frames
        __tracebackhide__ = True
        tool: ToolDefinition[Any, Any] = self
        # Before they are called: calls are many, and most need neither
        if Kinds.replaced or self._is_of_notebook:
            tool = after_reload(self)
        if arguments or type(action) is not tool.action_type:
            action = tool._input_of_call(action, arguments)
        observation: ObservationT
        if hooks.around is None:
            observation = tool.execute(action, conversation)
        else:
            observation = hooks.around(tool, action, conversation)
        return observation

    def _input_of_call(self, action: Any, arguments: Mapping[str, Any]) -> Any:
        """Return the input of a call, which passes either *action* or keyword *arguments*."""
        if action is ...:
            return arguments
        if arguments:
            raise two_forms(self.name, action, arguments)
        return call_after_reload(self, action)

    def action_of(self, arguments: Any) -> ActionT:
        """Return *arguments* as an action of this tool; an action is returned unchanged.

        Raises:
            ArgumentsError: If a mapping does not fit.
            TypeError: If *arguments* is neither an action of this tool nor a mapping.
        """
        if isinstance(arguments, self.action_type):
            return arguments
        if isinstance(arguments, Mapping):
            return self.action_from_arguments(arguments)
        raise no_action(self.name, self.action_type, arguments)

    def unchecked_action(self, arguments: Mapping[str, Any]) -> ActionT:
        """Convert *arguments* to an action; check them only if no MCP server will check them.

        Raises:
            ArgumentsError: If the arguments are checked here and do not fit.
        """
        return self.action_from_arguments(arguments)

    def execute(
        self, action: Any, conversation: Any = None, *, redactor: Redactor | None = None
    ) -> ObservationT:
        """Check *action*, run the executor, and return the observation; nothing is recorded.

        Args:
            action: An object of `action_type`, or a mapping that becomes one.
            conversation: The conversation for the executor; its secrets are masked in the result.
            redactor: The redactor that masks the secrets of the call in views of the result. By
                default, the secrets in *action* are masked.

        Raises:
            ArgumentsError: If a mapping does not fit.
            NotImplementedError: If the tool has no executor.
            TypeError: If *action* is something else, or the result is not an observation.
        """
        __tracebackhide__ = True
        try:
            if type(action) is not self.action_type:
                action = self.action_of(action)
            result = self._invoke(action, conversation)
            return self._observation_of(result, action, conversation, redactor)
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
        action = tool._input_of_call(action, arguments)
        if hooks.around_async is None:
            return cast("ObservationT", await tool.execute_async(action, conversation))
        observation = await hooks.around_async(tool, action, conversation)
        return cast("ObservationT", observation)

    async def execute_async(
        self, action: Any, conversation: Any = None, *, redactor: Redactor | None = None
    ) -> ObservationT:
        """Do the same as `execute`, without blocking the running event loop."""
        __tracebackhide__ = True
        try:
            if type(action) is not self.action_type:
                action = self.action_of(action)
            executor = self.as_executable().executor
            result = await execute_async(executor, action, conversation)
            return self._observation_of(result, action, conversation, redactor)
        except Exception as error:
            # Its message may hold a secret
            masked = masked_error(error, conversation)
            if masked is error:
                raise
        raise masked

    def _observation_of(
        self, result: Any, action: ActionT, conversation: Any, redactor: Redactor | None
    ) -> ObservationT:
        """Turn *result*, which the executor returned, into an observation with secrets masked."""
        if type(result) is not self.observation_type:
            result = observation_of(settled(result), self.observation_type, self.name)
        if self.max_result_tokens is not None:
            result = limited(result, self.max_result_tokens)
        if conversation is not None:
            result = masked(result, conversation)
        if redactor is not None:
            hide_in_views(result, redactor)
        # Even if no run is recorded
        elif self.secrets:
            known = self.secrecy.redactor(action)
            hide_in_views(result, known.joined(remembered.redactor_of_cell))
        elif not self.secrecy.is_harmless(action):
            hide_in_views(result, self.secrecy.redactor(action))
        return cast("ObservationT", result)

    # --- its forms, see tool_formats ------------------------------------------------

    def parameters(self, *, security_risk: bool = False, summary: bool = False) -> dict[str, Any]:
        """Return a copy of the JSON Schema of the arguments, as a model gets it.

        Args:
            security_risk: Add a property in which the model rates the risk of each call. This
                property comes first, so a call that is cut off still has its rating. The property
                is left out for read-only tools, and if the tool has an argument of that name.
            summary: Add a property in which the model writes one line on the purpose of the call.
        """
        asks_for_risk = security_risk and not self.hints.readOnlyHint
        return parameters_of(self.action_type).get(security_risk=asks_for_risk, summary=summary)

    def to_mcp_tool(
        self,
        input_schema: dict[str, Any] | None = None,
        output_schema: dict[str, Any] | None = None,
    ) -> dict[str, Any]:
        """Return the tool as MCP's `tools/list` describes it, JSON-ready.

        Args:
            input_schema: A schema to use instead of the schema of the arguments.
            output_schema: A schema to use instead of the schema of the observation.
        """
        if input_schema is None and output_schema is None:
            exported = unpacked(self._packed_mcp_tool)
        else:
            exported = mcp_tool(self, input_schema, output_schema)
        # It may have changed
        if self.meta is not None:
            exported["_meta"] = json_of_meta(self.meta)
        return exported

    @cached_property
    def _packed_mcp_tool(self) -> bytes:
        return packed(mcp_tool(self))

    def to_openai_tool(
        self,
        add_security_risk_prediction: bool = False,  # noqa: FBT001, FBT002 - as OpenHands
        action_type: type[Schema] | None = None,
        *,
        add_summary: bool = False,
    ) -> dict[str, Any]:
        """Return the tool for OpenAI's chat completions, JSON-ready, with its schema unchanged.

        OpenAI refuses some schemas and names: `toolbench.llm.to_openai` rewrites those parts.

        Args:
            add_security_risk_prediction: Ask the model to rate the risk of each call; see
                `parameters`.
            action_type: An action type to use instead of the tool's own.
            add_summary: Ask the model for one line on the purpose of the call.

        Raises:
            ToolbenchError: If the tool is not for models; see `is_for_models`.
        """
        function = openai_function(
            self, action_type, security_risk=add_security_risk_prediction, summary=add_summary
        )
        return {"type": "function", "function": function}

    def to_responses_tool(
        self,
        add_security_risk_prediction: bool = False,  # noqa: FBT001, FBT002 - as OpenHands
        action_type: type[Schema] | None = None,
        *,
        add_summary: bool = False,
    ) -> dict[str, Any]:
        """Return the tool for OpenAI's Responses API, JSON-ready; see `to_openai_tool`."""
        function = openai_function(
            self, action_type, security_risk=add_security_risk_prediction, summary=add_summary
        )
        return {"type": "function", **function, "strict": False}

    def to_callable(self) -> Callable[..., Any]:
        """Return the tool as a plain function, for libraries that take functions as tools.

        The function has the name, the description and the typed parameters of the tool, and
        returns the observation. Each call is checked and recorded like any call of the tool.

        Arguments can be passed by keyword, or by position in the order of the schema. A required
        argument after an optional one is keyword-only, and so are all arguments after it.
        """
        return function_of(self)

    def to_dict(self) -> dict[str, Any]:
        """Return the tool without its executor, JSON-ready, for `from_dict`."""
        return saved_tool(self)

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """Return the tool that `to_dict` wrote, without an executor.

        Raises:
            KindError: If *data* lacks a required key, or if it names a class that is unknown,
                ambiguous, or not of the required type (tool, action or observation).
        """
        tool: Self = loaded_tool(cls, data)
        return tool

    def __class_getitem__(cls, parameters: Any) -> Any:
        alias: Any = super().__class_getitem__(parameters)  # type: ignore[misc]  # of Generic
        # Without a schema of its own, pydantic takes the alias `ToolDefinition[A, O]` for a plain
        # dataclass, although it asks `ToolDefinition` itself (see below)
        alias.__pydantic_core_schema__ = core_schema_of(cls)
        return alias

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        """Let pydantic models have tools as fields, which `to_dict` and `from_dict` convert."""
        return core_schema_of(cls)


# `dataclass` has made attributes of the defaults
for _field in fields(ToolDefinition):
    if isinstance(_field.default, _ValueOfClass):
        setattr(ToolDefinition, _field.name, _field.default.value)


class _OriginalTool(ToolExecutor[Action, Observation]):
    """The executor of a copy whose schema was replaced; it calls the original tool.

    Closing this executor does not close the original tool.
    """

    def __init__(self, tool: ToolDefinition[Any, Any]) -> None:
        self.tool = tool
        self.secrets = tool.secrets

    def __call__(self, action: Action, conversation: Any = None) -> Any:
        """Call the original tool with the arguments; raise if the original does not accept them."""
        return self.tool.execute(action.to_arguments(), conversation)

    def interrupt(self) -> None:
        """Interrupt the executor of the original tool."""
        getattr(self.tool.executor, "interrupt", lambda: None)()


# --- tools whose module was loaded again ------------------------------------------------


def after_reload(tool: ToolDefinition[Any, Any]) -> ToolDefinition[Any, Any]:
    """Return the tool that replaced *tool* when its module was reloaded; else *tool* itself.

    `%autoreload` updates a function that was imported by name, but it cannot update a tool.
    If the reloaded module no longer has the tool, the last version that it had is returned.
    """
    if not tool.is_stale:
        return tool
    newest = tool.latest()
    held: list[Any] = []
    for name in {type(tool).__module__, tool.action_type.__module__} - {"__main__"}:
        held += vars(sys.modules.get(name, object)).values()
    # A module may make two tools of one function: the first of them was not replaced
    if any(value is tool for value in held):
        return tool
    if any(value is newest for value in held):
        object.__setattr__(tool, "_is_replaced", True)
    if tool._is_replaced:
        return newest
    return tool


def call_after_reload(tool: ToolDefinition[Any, Any], call: Any) -> Any:
    """Return the arguments of *call* if its class was replaced by a reload; else *call* itself.

    After a module is reloaded, a class that was imported from it by name is still the old class.
    The reloaded tool would not accept an object of the old class.
    """
    kind = type(call)
    if isinstance(call, tool.action_type) or kind.__module__ == "__main__":
        return call
    newest = getattr(kind, "newest", None)
    if newest is None or newest() is not tool.action_type:
        return call
    # Not as JSON, which has no secrets
    return call.model_dump(by_alias=True, exclude_unset=True)
