"""The messages about tasks. The SDK has no types for them, so its sessions send them unchanged."""

from collections.abc import Mapping, Sequence
from typing import Any, Literal, NoReturn

from mcp.client.extension import ClaimContext, ClientExtension, ResultClaim
from mcp_types import InputRequiredResult, Request, Result
from mcp_types.version import MODERN_PROTOCOL_VERSIONS
from pydantic import Field, TypeAdapter

EXTENSION = "io.modelcontextprotocol/tasks"
_ANY: TypeAdapter[dict[str, Any]] = TypeAdapter(dict[str, Any])


class _Named(Request[dict[str, Any] | None, str]):
    """A request about one task. Over HTTP, a header repeats the id of the task (SEP-2663)."""

    name_param = "taskId"


class _Started(Result):
    """The answer of the newer protocol to a tool call that became a task."""

    result_type: Literal["task"] = Field(alias="resultType")


class TasksExtension(ClientExtension):
    """Declares that this client follows tasks. Source: MCP, SEP-2663.

    It claims the answer that starts a task. Without a claim, the SDK would declare the extension
    also to servers of the older protocol.
    """

    identifier = EXTENSION

    def claims(self) -> Sequence[ResultClaim[Any]]:
        """Claim the answer that starts a task."""
        versions = frozenset(MODERN_PROTOCOL_VERSIONS)
        claim = ResultClaim(
            result_type="task",
            model=_Started,
            resolve=_never,
            protocol_versions=versions,
        )
        return [claim]


async def _never(result: _Started, context: ClaimContext) -> NoReturn:
    msg = "The SDK does not read results of tools here."
    raise NotImplementedError(msg)


async def about_task(
    session: Any, method: str, task_id: str, **params: Any
) -> dict[str, Any]:
    """Send a request about the task *task_id*."""
    request = _Named(method=method, params={"taskId": task_id, **params})
    answer: dict[str, Any] = await session.send_request(request, _ANY)
    return answer


async def plain_request(
    session: Any, method: str, params: Mapping[str, Any]
) -> dict[str, Any]:
    """Send a request unchanged."""
    request = Request[dict[str, Any] | None, str](
        method=method, params=dict(params) or None
    )
    answer: dict[str, Any] = await session.send_request(request, _ANY)
    return answer


def questions_of(requests: Mapping[str, Any]) -> InputRequiredResult:
    """Return the questions of a task in the same form as the questions of a call.

    Raises:
        ValidationError: If *requests* are not questions.
    """
    body = {"resultType": "input_required", "inputRequests": dict(requests)}
    return InputRequiredResult.model_validate(body, by_name=False)


def dumped(answers: Mapping[str, Any]) -> dict[str, Any]:
    """Return *answers*, results of the SDK, as JSON."""
    return {
        key: answer.model_dump(by_alias=True, mode="json", exclude_none=True)
        for key, answer in answers.items()
    }
