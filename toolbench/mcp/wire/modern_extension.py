"""Declare extensions of this client to servers of the newer protocol only: tasks are one."""

from collections.abc import Sequence
from typing import Any, ClassVar, Literal, NoReturn, get_args

from mcp.client.extension import ClaimContext, ClientExtension, ResultClaim
from mcp_types import Request, Result
from mcp_types.version import MODERN_PROTOCOL_VERSIONS
from pydantic import Field, TypeAdapter

_ANY: TypeAdapter[dict[str, Any]] = TypeAdapter(dict[str, Any])


class ModernExtension(ClientExtension):
    """An extension that the SDK declares to servers of the newer protocol only.

    It claims an answer to tool calls. Without a claim, the SDK would declare the extension also to
    servers of the older protocol. That protocol has no extensions.
    """

    answer: ClassVar[type[Result]]
    """The class of the claimed answer; the annotation of its field `result_type` is the claimed
    type. The SDK never resolves the claim."""

    def claims(self) -> Sequence[ResultClaim[Any]]:
        """Return one claim: `answer` may come in place of the result of a tool call."""
        (result_type,) = get_args(self.answer.model_fields["result_type"].annotation)
        claim = ResultClaim(
            result_type=result_type,
            model=self.answer,
            resolve=_never,
            protocol_versions=frozenset(MODERN_PROTOCOL_VERSIONS),
        )
        return [claim]


async def _never(result: Result, context: ClaimContext) -> NoReturn:
    msg = "The SDK does not read results of tools here."
    raise NotImplementedError(msg)


class _Started(Result):
    """The answer to a tool call that became a task."""

    result_type: Literal["task"] = Field(alias="resultType")


class TasksExtension(ModernExtension):
    """Declares that this client follows tasks. Source: MCP, SEP-2663."""

    identifier = "io.modelcontextprotocol/tasks"
    answer = _Started


class _AboutTask(Request[dict[str, Any] | None, str]):
    """A request about one task. Over HTTP, a header repeats the id of the task (SEP-2663)."""

    name_param = "taskId"


async def about_task(session: Any, method: str, task_id: str, **params: Any) -> dict[str, Any]:
    """Send a request about the task *task_id*, for which the SDK has no type."""
    request = _AboutTask(method=method, params={"taskId": task_id, **params})
    answer: dict[str, Any] = await session.send_request(request, _ANY)
    return answer
