"""A tool of an MCP server: its action, its definition, and the executor that calls the server."""

import asyncio
from collections import Counter
from collections.abc import Callable, Coroutine, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import dataclass, field
from difflib import get_close_matches
from functools import cached_property, partial
from inspect import iscoroutinefunction
from typing import TYPE_CHECKING, Any, ClassVar, Self

from pydantic import Field, PrivateAttr
from rich.console import RenderableType
from rich.text import Text

from toolbench.core.background_loop import portal
from toolbench.core.executor import ToolExecutor
from toolbench.core.schema import Action
from toolbench.core.state import secrets_of
from toolbench.core.tool import ToolDefinition
from toolbench.core.tool_formats import Parameters, check_present
from toolbench.core.tool_names import ToolAddress
from toolbench.errors import ArgumentsError, Problem, ServerError
from toolbench.jsonschema.checks import (
    date_problems,
    has_dates,
    holds_null,
    without_nulls,
    without_refused_nulls,
)
from toolbench.jsonschema.problems import REQUIRED
from toolbench.jsonschema.validate import SchemaValidator, validator_of
from toolbench.mcp.config.placeholders import with_secrets
from toolbench.mcp.elicitation import (
    Answerer,
    OnProgress,
    ask_here,
    current_answerer,
    current_on_progress,
)
from toolbench.mcp.errors import CallFailedError, CallStoppedError
from toolbench.mcp.results import (
    MCPToolObservation,
    failed_observation,
    stopped_observation,
    tool_observation,
    with_way_back,
)
from toolbench.mcp.servers import connected
from toolbench.mcp.worker_tool import WorkerTool
from toolbench.network import error_kind
from toolbench.redaction.detect import hide, without_secret_samples
from toolbench.redaction.redactor import WORD, Redactor
from toolbench.runs.control import CancelToken
from toolbench.runs.current_run import active_run
from toolbench.runs.dialogue import Desk
from toolbench.runs.run import Run
from toolbench.values import clip

if TYPE_CHECKING:
    from mcp_types import Tool

    from toolbench.mcp.server_session import MCPServerSession

_CANCELLED = "The call was cancelled, also at the server."


class MCPToolAction(Action):
    """The arguments of one call, as they are sent to the server.

    Source: OpenHands SDK, `MCPToolAction`.
    """

    data: dict[str, Any] = Field(default_factory=dict)
    """Names and values of the arguments; `None` is sent as null."""
    _lists_arguments: ClassVar[bool] = True
    _schema: Mapping[str, Any] = PrivateAttr(default_factory=dict)

    @classmethod
    def of(cls, arguments: Mapping[str, Any], schema: Mapping[str, Any]) -> Self:
        """Create an action with *arguments*. Its repr hides secrets.

        An argument is a secret if *schema* marks it as one, or if its name suggests one.

        Examples:
            >>> from toolbench.mcp import MCPToolAction
            >>> MCPToolAction.of({"user": "ada", "password": "correct-horse-9"}, {"type": "object"})
            MCPToolAction(data={'user': 'ada', 'password': '<secret-hidden>'})
        """
        action = cls(data=dict(arguments))
        action._schema = schema
        return action

    def __eq__(self, other: object) -> bool:
        """Tell whether both actions have the same arguments."""
        return isinstance(other, MCPToolAction) and self.data == other.data

    __hash__ = None  # type: ignore[assignment]  # arguments change

    def __repr_args__(self) -> Iterator[tuple[str | None, Any]]:
        """The arguments, with secrets hidden."""
        yield "data", hide(self.data, self._schema)

    def to_arguments(self) -> dict[str, Any]:
        """Return the arguments."""
        return dict(self.data)

    def to_dict(self) -> dict[str, Any]:
        """Return the arguments and a `kind`, which `from_dict` uses to find the class."""
        return {"kind": type(self).__name__, "data": dict(self.data)}

    @property
    def visualize(self) -> RenderableType:
        """The arguments, one per line; secrets are hidden."""
        text = Text("Arguments" if self.data else "No arguments", style="bold")
        for name, value in hide(self.data, self._schema).items():
            printed = value if isinstance(value, str) else clip(value, 500)
            text.append(f"\n  {name}: ", style="cyan").append(printed)
        return text


_READ_PARTS = frozenset({"title", "description", "outputSchema", "annotations", "_meta", "icons"})
"""The parts of a tool's entry that are checked when the server's list is read."""
_OF_NO_LIST = frozenset({"name", "executor"})
"""Fields in which a copy may differ and still count as the tool that the server lists."""


@dataclass(frozen=True, kw_only=True, eq=False)
class MCPToolDefinition(ToolDefinition[MCPToolAction, MCPToolObservation]):
    """A tool of an MCP server; its calls are sent to the server.

    Source: OpenHands SDK, `MCPToolDefinition`.

    Examples:
        >>> from toolbench.mcp import create_mcp_tools
        >>> from toolbench.testing import FakeMCPServer
        >>> server = FakeMCPServer("weather")
        >>> schema = {"type": "object", "properties": {"city": {"type": "string"}}}
        >>> server.answer("forecast", "sunny", description="Forecasts.", schema=schema)
        >>> with create_mcp_tools(server) as client:
        ...     forecast = client["forecast"]
        ...     forecast.source, forecast.input_schema["properties"], forecast(city="Oslo").text
        ('mcp:weather', {'city': {'type': 'string'}}, 'sunny')
    """

    action_type: type[MCPToolAction] = MCPToolAction
    server: str
    """The name of the session to which the tool belongs."""
    remote_name: str
    """The name of the tool on the server; `name` is longer if two servers use the same name."""
    schema: Mapping[str, Any] = field(repr=False)
    """The server's own `inputSchema`."""
    output_schema: Any = field(default=None, repr=False)
    icons: tuple[Mapping[str, Any], ...] = field(default=(), repr=False)
    entry: Mapping[str, Any] = field(default_factory=dict, repr=False)
    """The tool's entry in the server's list, unchanged; empty for a copy with other content."""
    notes: tuple[str, ...] = ()
    """Problems with the server's description of the tool; the affected parts were left out."""
    server_version: str = ""
    """The version that the server reports."""
    _listing: Any = field(init=False, repr=False, default=None)
    """The session's list of tools from which this tool, or the original of this copy, comes."""
    _listed: Any = field(init=False, repr=False, default=None)
    """The listed tool that this tool copies or equals; None if this tool is the listed one."""
    _own: Mapping[str, Any] = field(init=False, repr=False, default_factory=dict)
    """The fields that this copy has changed, with their values."""
    _renamed: dict[str, Any] = field(init=False, repr=False, default_factory=dict)
    """Renamed copies of this tool by name, for lists in which another tool has the same name."""

    def __post_init__(self) -> None:
        """Prepare the tool, and remember its server's list; this runs for copies as well."""
        super().__post_init__()
        if isinstance(self.executor, MCPToolExecutor):
            object.__setattr__(self, "_listing", self.executor.client.tools)

    @property
    def version(self) -> str:
        """The version label of the tool, or else of its server; records include it."""
        return super().version or self.server_version

    @property
    def source(self) -> str:  # type: ignore[override]  # each tool has its own
        """`mcp:` and the name of the server."""
        return f"mcp:{self.server}"

    @property
    def origin(self) -> Any:
        """The configuration of the tool's server; None if the tool has no session."""
        if isinstance(self.executor, MCPToolExecutor):
            return self.executor.client.entry
        return None

    @property
    def mcp_tool(self) -> "Tool":
        """The tool as an `mcp.types.Tool`, which OpenHands' `MCPToolDefinition.mcp_tool` is too.

        Raises:
            ValidationError: If the package refuses the server's description of the tool.
        """
        from mcp_types import Tool  # noqa: PLC0415 - the SDK is loaded once a server is connected

        return Tool.model_validate(self.to_mcp_tool(), by_name=False)

    @property
    def input_schema(self) -> dict[str, Any]:
        """The JSON Schema of the arguments, as the server sent it."""
        return self._parameters.accepted

    @cached_property
    def _validator(self) -> SchemaValidator:
        return validator_of(self.schema)

    @cached_property
    def _has_dates(self) -> bool:
        return has_dates(self.schema)

    @cached_property
    def _parameters(self) -> Parameters:
        schema = dict(self.schema)
        return Parameters(schema, {"type": "object", **schema})

    def model_copy(self, *, update: Mapping[str, Any] | None = None) -> Self:
        """Return a copy with the fields in *update* replaced."""
        changes = dict(update or {})
        if changes.keys() - _OF_NO_LIST:
            changes.setdefault("entry", {})
        copy = super().model_copy(update=changes)
        object.__setattr__(copy, "_listing", self._listing)
        object.__setattr__(copy, "_listed", self._listed or self)
        object.__setattr__(copy, "_own", {**self._own, **changes})
        return copy

    def latest(self) -> "MCPToolDefinition":
        """Return the same as `as_listed`."""
        return self.as_listed()

    def as_listed(self) -> Self:
        """Return the tool as its server last listed it, without a new request.

        If this tool is a modified copy, the result has the same modifications. If the server no
        longer lists the tool, this tool itself is returned. If the user has not approved the latest
        definition, the previous definition is returned.
        """
        if self._listing is None:
            return self
        if not self._listing.is_approved:
            known: Self = self._successor or self  # type: ignore[assignment]
            return known
        listed: Any = self._listing.present(self.remote_name)
        mine = self._listed or self
        if listed is None or listed is mine:
            return self
        # The server undid a change
        if listed.entry == mine.entry and listed.server_version == mine.server_version:
            object.__setattr__(self, "_listed", listed)
            return self
        newest: Self | None = self._successor  # type: ignore[assignment]
        if newest is None or (newest._listed or newest) is not listed:
            newest = listed
            if self._own:
                newest = listed.model_copy(update=self._own)
            object.__setattr__(self, "_successor", newest)
        return newest

    @property
    def is_listed(self) -> bool:  # type: ignore[override]  # each tool has its own
        """Whether the server still lists the tool."""
        return self._listing is None or self._listing.present(self.remote_name) is not None

    @property
    def is_disconnected(self) -> bool:  # type: ignore[override]  # each tool has its own
        """Whether the connection to the tool's server is closed, or has failed."""
        if not isinstance(self.executor, MCPToolExecutor):
            return False
        return self.executor.client.status in ("closed", "failed")

    @property
    def blocked(self) -> str:  # type: ignore[override]  # each tool has its own
        """Why calls are refused: the tool is not approved, or no longer listed. Else empty."""
        # A copy with its own executor calls no server
        if self._listing is None or not isinstance(self.executor, MCPToolExecutor):
            return ""
        refusal: str = self._listing.refusal_of(self.remote_name)
        return refusal

    @property
    def is_replayed(self) -> bool:  # type: ignore[override]  # each tool has its own
        """Whether calls are answered from a recording."""
        return getattr(self.origin, "transport", None) == "replay"

    @property
    def is_in_development(self) -> bool:  # type: ignore[override]  # each tool has its own
        """Whether the tool's server was connected with `dev=True`."""
        return isinstance(self.executor, MCPToolExecutor) and bool(self.executor.client.development)

    def catch_up(self) -> MCPToolObservation | None:
        """Restart the server if the user is developing it and its files have changed.

        The result of the next call then has a note about the restart. If the server does not start,
        return an observation that says so; otherwise, return None.
        """
        try:
            self.executor.client.notices += self.executor.client.catch_up()
        except ServerError as error:
            return failed_observation(self.remote_name, str(error))
        return None

    def to_dict(self) -> dict[str, Any]:
        """Return a JSON object from which `from_dict` can find this tool again.

        The object contains the name of the server, but not how to connect to it.
        """
        return {
            **super().to_dict(),
            "server": self.server,
            "remote_name": self.remote_name,
        }

    def for_workers(self) -> Any:
        """Return an object from which a worker of a cluster can recreate this tool.

        The worker opens its own session with the server.

        Raises:
            ServerError: If the server is a Python object in this process.
            ToolNotFoundError: If the tool's server is no longer connected.
        """
        return WorkerTool.of(self.server, self.remote_name)

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """Return the tool that `to_dict` described.

        The server is looked up by name among the connected servers; no server is started.

        Raises:
            ToolNotFoundError: If no server of that name is connected, or it has no such tool.
            KindError: If *data* names no server or no tool.
        """
        check_present(data, "server", "remote_name")
        tool: Any = connected.tool(data["server"], data["remote_name"])
        name = data.get("name", tool.name)
        if tool.name != name:
            tool = tool.model_copy(update={"name": name})
        loaded: Self = tool
        return loaded

    def problems(self, arguments: Mapping[str, Any]) -> list[Problem]:
        """Return the problems of *arguments*, each with its path; secrets are hidden."""
        return self._problems_of(self._sendable(arguments), arguments)

    def _problems_of(self, sendable: dict[str, Any], arguments: Mapping[str, Any]) -> list[Problem]:
        problems = self._validator.problems(sendable)
        if problems:
            wrong = {problem.path[0] for problem in problems if problem.path}
            names = [name for name in arguments if name not in wrong]
            problems = [self._with_misspelt(problem, names) for problem in problems]
        if self._has_dates:
            problems += date_problems(self.input_node, sendable)
        if problems:
            return self.secrecy.redactor(arguments).problems(problems)
        return []

    def _with_misspelt(self, problem: Problem, names: Sequence[str]) -> Problem:
        """Return *problem*; if an argument is missing, mention a similar name among those given."""
        if problem.message != REQUIRED or len(problem.path) != 1:
            return problem
        others = [name for name in names if name not in self.input_node.properties]
        near = get_close_matches(str(problem.path[0]), others, n=1)
        if not near:
            return problem
        return Problem(problem.path, f"{REQUIRED}, and {near[0]!r} is not an argument")

    def action_from_arguments(self, arguments: Mapping[str, Any]) -> MCPToolAction:
        """Return the action with *arguments*.

        If an optional argument is null and the schema forbids null, the argument is left out.

        Raises:
            ArgumentsError: If *arguments* do not match the server's schema. The error lists up to
                twenty problems.
        """
        sendable = self._sendable(arguments)
        if problems := self._problems_of(sendable, arguments):
            raise ArgumentsError(self.name, problems)
        return MCPToolAction.of(sendable, self.schema)

    def _sendable(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """Return *arguments* without optional nulls that the schema forbids.

        Models often send null for an optional argument that they want to omit, and servers refuse
        such a call.
        """
        if not holds_null(arguments):
            return dict(arguments)
        refused = {one.path for one in self._validator.problems(dict(arguments))}
        if not refused:
            return {**arguments}
        sendable = without_nulls(self.input_node, arguments, refused)
        tried: dict[str, Any] = without_refused_nulls(
            self.input_node, sendable, self._validator.is_valid
        )
        return tried

    def unchecked_action(self, arguments: Mapping[str, Any]) -> MCPToolAction:
        """Return the action with *arguments* unchanged; they are left for the server to check."""
        return MCPToolAction.of(arguments, self.schema)

    def _observation_of(
        self, result: Any, action: Any, conversation: Any, redactor: Redactor | None
    ) -> MCPToolObservation:
        """Turn *result* into an observation, with the secrets among the arguments masked."""
        # The schema describes the arguments, and not the action that holds them
        return super()._observation_of(result, action.data, conversation, redactor)

    def _invoker(self) -> Callable[[Any, Any], Any]:
        """Return the function that `execute` calls.

        An executor with `knows_conversations` is returned itself: it takes the conversation as its
        second argument.
        """
        executor: Any = self.executor
        if getattr(executor, "knows_conversations", False):
            invoker: Callable[[Any, Any], Any] = executor
            return invoker
        return super()._invoker()

    def parameters(self, *, security_risk: bool = False, summary: bool = False) -> dict[str, Any]:
        """Return the JSON Schema of the arguments as it is sent to a model.

        The result is a copy of the server's schema. Up to two arguments are added to it.

        Args:
            security_risk: Whether to add an argument `security_risk`, with which the model must
                rate the risk of each call. It is not added if the tool is read-only or has an
                argument of this name.
            summary: Whether to add an argument with which the model can state the purpose of the
                call.
        """
        return self._parameters.get(
            security_risk=security_risk and not self.hints.readOnlyHint, summary=summary
        )

    def to_mcp_tool(
        self,
        input_schema: dict[str, Any] | None = None,
        output_schema: dict[str, Any] | None = None,
    ) -> dict[str, Any]:
        """Return the tool as a JSON object, in the form that `tools/list` of MCP requires.

        The object is the server's description, except for two parts. The defaults and examples of
        secret arguments are left out. Invalid parts, which `notes` lists, are left out too.

        Args:
            input_schema: A schema of the arguments to use instead of the server's schema.
            output_schema: A schema of the result to use instead of the server's schema.
        """
        if input_schema is None and "inputSchema" in self.entry:
            input_schema = without_secret_samples(self.entry["inputSchema"])
        exported = super().to_mcp_tool(input_schema, output_schema or self.output_schema)
        if not (output_schema or self.output_schema):
            # The schema of our observation is not a promise
            exported.pop("outputSchema", None)
        if self.icons:
            exported["icons"] = [dict(icon) for icon in self.icons]
        if not self.entry:
            return exported
        # A part of the entry is wrong
        if self.notes:
            others = self.entry.keys() - _READ_PARTS
            return {**{key: deepcopy(self.entry[key]) for key in others}, **exported}
        own = {"name", "inputSchema"}
        if output_schema is not None:
            own.add("outputSchema")
        return {
            **deepcopy(dict(self.entry)),
            **{key: exported[key] for key in own},
            **{key: exported[key] for key in ("_meta",) if key in exported},
        }


def give_names(tools: Iterable[MCPToolDefinition], names: dict[ToolAddress, str]) -> None:
    """Choose a unique name for each of *tools*, and store it in *names* under the tool's address.

    If the address of a tool is already in *names*, its name does not change. A new tool usually
    gets its name on the server. If that name is already used, or several of the new tools have it,
    the name of the server is added as a prefix.
    """
    new = [address for address in map(ToolAddress.of, tools) if address not in names]
    if not new:
        return
    counts = Counter(address.name for address in new)
    before = {*names.values(), *(address.name for address in names), *map(str, names)}
    taken = before | counts.keys()
    for address in new:
        name = address.name
        if counts[name] > 1 or name in before:
            # Another tool may have the longer name too
            while name in taken:
                name = f"{address.server}_{name}"
            taken.add(name)
        names[address] = name


def named(tool: MCPToolDefinition, name: str) -> MCPToolDefinition:
    """Return *tool*, or its copy under *name*, which is the same object each time."""
    if tool.name == name:
        return tool
    # A new object at each look would look like a changed tool
    if name not in tool._renamed:
        tool._renamed[name] = tool.model_copy(update={"name": name})
    renamed: MCPToolDefinition = tool._renamed[name]
    return renamed


class MCPToolExecutor(ToolExecutor[MCPToolAction, MCPToolObservation]):
    """An executor that sends the calls of one tool to its server.

    If the server reports an error or the call does not reach it, the result is an observation with
    `is_error=True`. Source: OpenHands SDK, `MCPToolExecutor`.

    `${NAME}` in an argument is replaced by the secret `NAME` of the conversation, never by an
    environment variable. The value of the secret is hidden in records and in the traffic.

    Examples:
        >>> from toolbench.mcp import MCPToolAction, create_mcp_tools
        >>> from toolbench.testing import FakeMCPServer
        >>> server = FakeMCPServer("weather")
        >>> server.answer("forecast", "sunny")
        >>> with create_mcp_tools(server) as client:
        ...     executor = client["forecast"].executor
        ...     executor(MCPToolAction(data={"city": "Oslo"})).text
        'sunny'
    """

    knows_conversations = True
    """The executor takes `(action, conversation)`, so its signature is not inspected."""

    def __init__(
        self, tool_name: str, client: "MCPServerSession", output_schema: Any = None
    ) -> None:
        """Create an executor for the tool that the server calls *tool_name*.

        Calls are sent through *client*, a session with this server. If a result does not fit
        *output_schema*, its observation has a warning.
        """
        self.tool_name = tool_name
        """The name of the tool on the server."""
        self.client = client
        """The session with the server, which sends the calls."""
        self._output_schema = output_schema
        self._running: set[CancelToken] = set()

    def __call__(self, action: MCPToolAction, conversation: Any = None) -> MCPToolObservation:
        """Call the tool and wait for the result.

        `${NAME}` in an argument is replaced by the secret `NAME` of *conversation*. If the server
        asks a question, and the handler for it is not `async`, the handler runs in the calling
        thread. If the caller is interrupted, the call is cancelled.
        """
        run, answerer = active_run(), self._answerer()
        draw = None
        if isinstance(run, Run):
            draw = run.progress_view.drawer
        desk = Desk(answerer, draw)
        ask: Answerer = desk.ask
        if iscoroutinefunction(answerer):
            ask = answerer
        call, loop = self._calling(action, conversation, ask), portal.loop
        with self._interruptible() as stop:
            stop.on_cancel(partial(desk.cancel, loop))
            try:
                return desk.serve_until(call, loop)
            except asyncio.CancelledError:
                return stopped_observation(self.tool_name, _CANCELLED)

    async def acall(self, action: MCPToolAction, conversation: Any = None) -> MCPToolObservation:
        """Call the tool without blocking the running loop; cancelling the task cancels the call."""
        call = self._calling(action, conversation, self._answerer())
        loop, background = asyncio.get_running_loop(), portal.loop
        waited: asyncio.Future[MCPToolObservation]
        with self._interruptible() as stop:
            if loop is background:
                waited = asyncio.ensure_future(call())
            else:
                sent = asyncio.run_coroutine_threadsafe(call(), background)
                waited = asyncio.wrap_future(sent)
            stop.on_cancel(partial(loop.call_soon_threadsafe, waited.cancel))
            try:
                return await waited
            except asyncio.CancelledError:
                task = asyncio.current_task()
                if task is not None and task.cancelling():
                    raise
                return stopped_observation(self.tool_name, _CANCELLED)

    def interrupt(self) -> None:
        """Cancel the running calls, here and at the server; any thread may call this."""
        for stop in list(self._running):
            stop.cancel()

    def _answerer(self) -> Answerer:
        return current_answerer.get() or self.client.answerer or ask_here

    @contextmanager
    def _interruptible(self) -> Iterator[CancelToken]:
        stop = CancelToken()
        self._running.add(stop)
        try:
            yield stop
        finally:
            self._running.discard(stop)

    def _calling(
        self, action: MCPToolAction, conversation: Any, answerer: Answerer
    ) -> Callable[[], Coroutine[Any, Any, MCPToolObservation]]:
        """Return a coroutine function that makes the call as part of this thread's run."""
        arguments, on_progress, run = action.data, current_on_progress.get(), active_run()
        if secrets := secrets_of(conversation):
            # The secrets go to the server, which may send them back
            self.client.keep_secret(secrets.redactor.secrets)
            arguments = with_secrets(arguments, secrets)
        if on_progress is None and run is not None:
            on_progress = run.progress
        if isinstance(run, Run):
            self._share_secrets(run)
        return partial(self._call, arguments, on_progress=on_progress, answerer=answerer, run=run)

    def _share_secrets(self, run: Run) -> None:
        """Make the session hide the secrets of *run*, and make *run* hide those of the session."""
        known = self.client.keep_secret(run.secrets.own.secrets)
        # Short secrets of other calls are hidden only in the traffic, log and stderr
        run.secrets.include(Redactor(s for s in known.secrets if len(s) >= WORD))

    async def _call(
        self,
        arguments: dict[str, Any],
        *,
        on_progress: OnProgress | None,
        answerer: Answerer,
        run: Any,
    ) -> MCPToolObservation:
        try:
            if not (isinstance(run, Run) and run.tool.executor is self):
                # Else the run has done it, before it checked the arguments
                self.client.notices += await self.client.acatch_up()
            result = await self.client.call_tool(
                self.tool_name, arguments, on_progress=on_progress, answerer=answerer
            )
        except CallStoppedError as error:
            return stopped_observation(self.tool_name, str(error))
        except ServerError as error:
            observation = failed_observation(self.tool_name, str(error))
        except CallFailedError as error:
            if isinstance(run, Run):
                run.error_kind = error_kind(error)
            observation = failed_observation(self.tool_name, str(error), error.asides)
        else:
            observation = tool_observation(self.tool_name, result, self._promise)
        notices, remarks = _taken(self.client.notices), _taken(self.client.remarks)
        if notices or remarks:
            warnings = [*notices, *observation.warnings, *remarks]
            update = {"warnings": warnings, "lost": notices}
            observation = observation.model_copy(update=update)
        modern = observation.is_error and self.client.era == "modern"
        if modern:
            return with_way_back(observation, self.client.name)
        return observation

    @cached_property
    def _promise(self) -> SchemaValidator | None:
        schema = self._output_schema
        if schema is None:
            return None
        return validator_of(schema)


def _taken(notes: list[str]) -> list[str]:
    taken = notes[:]
    del notes[: len(taken)]
    return taken
