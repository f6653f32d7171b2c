"""The messages about tasks. The SDK has no types for them, so its sessions send them unchanged."""

from collections.abc import Mapping
from typing import Any, Literal

from mcp_types import InputRequiredResult, Request, Result
from pydantic import Field, TypeAdapter

from toolbench.mcp.wire.modern_extension import ModernExtension

EXTENSION = "io.modelcontextprotocol/tasks"
_ANY: TypeAdapter[dict[str, Any]] = TypeAdapter(dict[str, Any])


class _Named(Request[dict[str, Any] | None, str]):
    """A request about one task. Over HTTP, a header repeats the id of the task (SEP-2663)."""

    name_param = "taskId"


class _Started(Result):
    """The answer of the newer protocol to a tool call that became a task."""

    result_type: Literal["task"] = Field(alias="resultType")


class TasksExtension(ModernExtension):
    """Declares that this client follows tasks. Source: MCP, SEP-2663."""

    identifier = EXTENSION
    answer = _Started


async def about_task(session: Any, method: str, task_id: str, **params: Any) -> dict[str, Any]:
    """Send a request about the task *task_id*."""
    request = _Named(method=method, params={"taskId": task_id, **params})
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
