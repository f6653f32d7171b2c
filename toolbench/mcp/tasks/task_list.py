"""The tasks of one server: look at them, wait for their results, cancel them."""

from collections.abc import Coroutine, Iterable, Mapping
from dataclasses import dataclass, field, replace
from time import time
from typing import Any, Literal, TypeVar, overload

from toolbench.core.background_loop import portal
from toolbench.core.declarations import ToolAnnotations
from toolbench.core.schema import hide_in_views
from toolbench.errors import ServerError, ToolNotFoundError, did_you_mean, ended
from toolbench.mcp.connection.open_calls import Call
from toolbench.mcp.connection.reconnection import ReconnectingConnection
from toolbench.mcp.elicitation import Answerer, OnProgress
from toolbench.mcp.errors import BrokenError, CallFailedError, call_failed
from toolbench.mcp.features.raw_request import plain_request
from toolbench.mcp.lists.remote_list import ItemList
from toolbench.mcp.results import MCPToolObservation
from toolbench.mcp.tasks.kept_tasks import KeptTask, KeptTasks
from toolbench.mcp.tasks.task_following import TaskFollowing, UnknownTaskError
from toolbench.mcp.tasks.task_state import TaskState, started_task
from toolbench.mcp.tool import Caller, MCPToolAction, MCPToolDefinition, MCPToolExecutor
from toolbench.redaction.redactor import Redactor

_NO_ARGUMENTS = {"type": "object", "properties": {}, "additionalProperties": False}
# Characters of an id in the name of a tool
_SHORT = 8
# Characters of an id in a sentence
_LONG = 60
# Ids in an error
_MOST = 10

T = TypeVar("T")


@dataclass(frozen=True)
class MCPTask:
    """A task of a server, with the state that the server sent last."""

    id: str
    tool: str
    """The tool whose call became the task; empty if this client did not start it."""
    status: str
    """`working`, `input_required`, `completed`, `failed` or `cancelled`; `unknown` if the server
    did not tell."""
    message: str
    """The server's message about the state, or the reason why the state is unknown."""
    created: str
    """The time of the task's start, as the server writes it."""
    updated: str
    """The time of the last change of the state, as the server writes it."""
    ttl: float | None
    """The seconds that the server keeps the task; None if the server does not tell."""
    interval: float | None
    """The seconds between two requests for the state; None if the server does not tell."""
    _list: "TaskList" = field(repr=False, compare=False)

    @property
    def has_ended(self) -> bool:
        """Whether the task is completed, failed or cancelled."""
        return self.status in ("completed", "failed", "cancelled")

    def refresh(self) -> "MCPTask":
        """Return the task in its present state.

        Raises:
            ServerError: If the server cannot be reached, or does not know the task any more.
        """
        return portal.call(self._list.refreshed, self)

    def cancel(self) -> "MCPTask":
        """Cancel the task at the server, and return the task in its new state.

        Raises:
            ServerError: If the server refuses or cannot be reached.
        """
        return portal.call(self._list.cancelled, self)

    def result(self) -> MCPToolObservation:
        """Wait for the end of the task, and return the tool's result.

        The server's questions are answered as in a call. An interrupt cancels the task.
        """
        return self._list.result_of(self)

    def as_tool(self) -> MCPToolDefinition:
        """Return a tool without arguments whose run waits for this task.

        The tool's panel shows the state, the progress and the questions of the task. Its Cancel
        button cancels the task.
        """
        return self._list.tool_of(self)


class TaskList(ItemList[MCPTask]):
    """The tasks of one server: `tasks[0]`, `tasks["id"]`. Each use requests the tasks again.

    In the older protocol the server lists its tasks. In the newer protocol, the list has the tasks
    that this user started, also in an earlier kernel, as long as the server knows them. A task that
    the server does not know is forgotten only after its time: another account may have started it.
    """

    def __init__(
        self,
        caller: Caller,
        connection: ReconnectingConnection,
        seconds: float,
        store: KeptTasks,
    ) -> None:
        """Request tasks over *connection*, within *seconds*; *store* has the tasks of this user."""
        self._caller = caller
        self._over = connection
        self._seconds = seconds
        self._store = store
        self._items: list[MCPTask] | None = None

    # --- the list -----------------------------------------------------------------

    @overload
    def __getitem__(self, index: int | str) -> MCPTask: ...
    @overload
    def __getitem__(self, index: slice) -> list[MCPTask]: ...
    def __getitem__(self, index: int | str | slice) -> MCPTask | list[MCPTask]:
        """Return a task by its position, its id, or the beginning of its id.

        Raises:
            ToolNotFoundError: If no task has this id, or several ids begin with it.
            ServerError: If the server cannot be reached.
        """
        return self._named(index) if isinstance(index, str) else self.items()[index]

    def items(self) -> list[MCPTask]:
        """Request the tasks from the server and return them, oldest first.

        Raises:
            ServerError: If the server cannot be reached.
        """
        self._items = portal.call(self._listed)
        return list(self._items)

    @property
    def known_items(self) -> list[MCPTask] | None:
        """The tasks that the last request returned; None before the first request."""
        return self._items

    def _named(self, identity: str) -> MCPTask:
        tasks = self.items()
        same = [t for t in tasks if t.id == identity] or [
            t for t in tasks if identity and t.id.startswith(identity)
        ]
        if len(same) == 1:
            return same[0]
        server = self._caller.name
        near = did_you_mean(identity, [task.id for task in tasks])
        msg = f"Server {server!r} has no task {identity!r}.{near}"
        if same:
            ids = ", ".join(task.id[:_LONG] for task in same[:_MOST])
            ids += "" if len(same) <= _MOST else " and others"
            msg = f"{len(same)} tasks of {server!r} begin with {identity!r}: {ids}."
        raise ToolNotFoundError(self._over.inbox.safe_text(msg))

    async def _listed(self) -> list[MCPTask]:
        connection = await self._over.live()
        capabilities = connection.described().get("capabilities", {})
        own = {task.id: task for task in self._store.all()}
        tasks: dict[str, MCPTask] = {}
        declared = capabilities.get("tasks")
        if isinstance(declared, Mapping) and "list" in declared:
            for state in await self._rows():
                known = own.get(state.id, KeptTask(state.id, ""))
                tasks[state.id] = self._task(state, known)
        for identity, one in own.items():
            if identity not in tasks:
                task = await self._looked_up(one)
                if task is not None:
                    tasks[identity] = task
        return sorted(tasks.values(), key=lambda task: task.created)

    async def _rows(self) -> list[TaskState]:
        def page(session: Any, params: Any) -> Any:
            cursor = {} if params is None else {"cursor": params.cursor}
            return plain_request(session, "tasks/list", cursor)

        rows, problem, _ = await self._over.pages("tasks", page, self._seconds)
        states = []
        # A bad row does not hide the others
        for row in rows:
            try:
                states.append(TaskState.of(row if isinstance(row, Mapping) else {}))
            except CallFailedError as error:
                problem = problem or str(error)
        if problem is not None and not states:
            problem = self._over.inbox.safe_text(ended(problem))
            msg = f"Server {self._caller.name!r} does not list its tasks: {problem}"
            raise ServerError(msg)
        return states

    async def _looked_up(self, one: KeptTask) -> MCPTask | None:
        """Return the task *one* in its present state; None if the server does not know it any more."""
        try:
            return self._task(await self._following(one).refreshed(), one)
        except UnknownTaskError:
            # Also if it belongs to another account at this URL
            if one.is_expired:
                self._store.forget(one.id)
            return None
        except (CallFailedError, ServerError) as error:
            if isinstance(error, BrokenError) or self._over.status != "connected":
                raise self._explained(error) from None
            return self._without_state(one, error)
        except Exception as error:  # noqa: BLE001 - the SDK's, the network's
            raise self._explained(error) from None

    def _without_state(self, one: KeptTask, error: Exception) -> MCPTask:
        """Return the task *one*, of which the server told no state, because of *error*."""
        state = replace(_unseen(one), status="unknown", message=str(error))
        return self._task(state, one)

    def _task(self, state: TaskState, one: KeptTask) -> MCPTask:
        visible = self._over.inbox.safe_text
        return MCPTask(
            id=state.id,
            tool=one.tool,
            status=visible(state.status),
            message=visible(state.message),
            created=visible(state.created or one.created),
            updated=visible(state.updated),
            ttl=state.ttl,
            interval=state.interval,
            _list=self,
        )

    # --- one task -----------------------------------------------------------------

    async def refreshed(self, task: MCPTask) -> MCPTask:
        """Return *task* in its present state; await this in the background loop."""
        one = KeptTask(task.id, task.tool, task.created)
        try:
            return self._task(await self._following(one).refreshed(), one)
        except Exception as error:  # noqa: BLE001 - as above
            raise self._explained(error) from None

    async def cancelled(self, task: MCPTask) -> MCPTask:
        """Cancel *task*; await this in the background loop."""
        following = self._following(KeptTask(task.id, task.tool))
        try:
            await following.cancel()
        except Exception as error:  # noqa: BLE001 - as above
            raise self._explained(error) from None
        return await self.refreshed(task)

    def result_of(self, task: MCPTask) -> MCPToolObservation:
        """Wait for the end of *task*, and return the tool's result."""
        observation = MCPToolExecutor(_Waiter(self, task), task.tool or task.id)(MCPToolAction())
        hide_in_views(observation, self._over.inbox.redactor)
        return observation

    def tool_of(self, task: MCPTask) -> MCPToolDefinition:
        """Return a tool whose run waits for *task*."""
        name = task.tool or "tool"
        waiter = _Waiter(self, task)
        identity = self._over.inbox.safe_text(task.id)
        return MCPToolDefinition(
            name=f"{name}_task_{identity[:_SHORT]}",
            description=f"Wait for task {identity[:_LONG]} of {name} and get its result.",
            observation_type=MCPToolObservation,
            annotations=ToolAnnotations(
                title=f"Task {identity[:_SHORT]} of {name}",
                readOnlyHint=True,
                openWorldHint=False,
            ),
            server=self._caller.name,
            remote_name=name,
            schema=_NO_ARGUMENTS,
            executor=MCPToolExecutor(waiter, name),
        )

    async def finished(self, raw: dict[str, Any], call: Call) -> dict[str, Any]:
        """Return the result of *call*: the answer *raw*, or the result of the task that *raw* starts.

        Raises:
            CallFailedError: If the task has no result, for any reason.
        """
        state = started_task(raw)
        if state is None:
            return raw
        expires = None if state.ttl is None else time() + state.ttl
        self._store.add(KeptTask(state.id, call.tool or "", state.created, expires))
        following = TaskFollowing(self._over, state, call)
        return await self._explaining(following.result(), call)

    async def wait_for(self, task: MCPTask, call: Call) -> dict[str, Any]:
        """Wait for the end of *task*, and return the task's result; *call* is the call that waits."""
        one = KeptTask(task.id, task.tool)
        following = TaskFollowing(self._over, _unseen(one), call)
        await self._explaining(following.refreshed(), call)
        return await self._explaining(following.result(), call)

    async def _explaining(self, work: Coroutine[Any, Any, T], call: Call) -> T:
        """Return the result of *work*; if it fails, raise an error that explains why *call* failed."""
        try:
            return await work
        except CallFailedError:
            raise
        except Exception as error:
            # The SDK's, the network's
            raise call_failed(error, call, self._over.inbox) from error

    def _following(self, one: KeptTask) -> TaskFollowing:
        call = Call(seconds=self._seconds, tool=one.tool)
        return TaskFollowing(self._over, _unseen(one), call)

    def _explained(self, error: Exception) -> ServerError:
        if isinstance(error, ServerError):
            return error
        failed = error
        if not isinstance(error, CallFailedError):
            failed = call_failed(error, Call(self._seconds), self._over.inbox)
        return ServerError(f"Server {self._caller.name!r}: {failed}")


def _unseen(one: KeptTask) -> TaskState:
    """Return a state for the task *one*, to use until the server has sent the real state."""
    return TaskState.of({"taskId": one.id, "status": "working"})


class _Waiter:
    """Sends the calls of the tool that `as_tool` returns: a call only waits for the running task."""

    def __init__(self, tasks: TaskList, task: MCPTask) -> None:
        self._tasks = tasks
        self._task = task
        self.name = tasks._caller.name
        self.server_info = tasks._caller.server_info
        self.answerer: Answerer | None = tasks._caller.answerer
        self.notices, self.remarks = tasks._caller.notices, tasks._caller.remarks

    @property
    def era(self) -> Literal["modern", "legacy"] | None:
        return self._tasks._caller.era

    def keep_secret(self, secrets: Iterable[str]) -> Redactor:
        return self._tasks._caller.keep_secret(secrets)

    async def call_tool(
        self,
        name: str,
        arguments: dict[str, Any],
        *,
        on_progress: OnProgress | None = None,
        answerer: Answerer | None = None,
    ) -> dict[str, Any]:
        call = Call(
            self._tasks._seconds,
            tool=self._task.tool or None,
            on_progress=on_progress,
            answerer=answerer,
            token=f"task-{self._task.id}",
        )
        return await self._tasks.wait_for(self._task, call)
