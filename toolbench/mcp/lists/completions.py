"""Ask a server to complete an argument while the user types it."""

from collections.abc import Iterable, Mapping
from typing import Any

from toolbench.errors import ServerError
from toolbench.mcp.connection.open_calls import Call
from toolbench.mcp.connection.reconnection import ReconnectingConnection
from toolbench.mcp.lists.prompts import Prompt
from toolbench.mcp.lists.resources import ResourceTemplate
from toolbench.redaction.detect import Secrecy


class Completions(list[str]):
    """The completions that a server sent, best first. Source: MCP specification, completion."""

    def __init__(
        self,
        values: Iterable[str] = (),
        *,
        total: int | None = None,
        more: bool = False,
    ) -> None:
        """Create the list from *values*, the completions that the server sent.

        *total* is the number of completions that the server has, if the server states it. *more*
        tells whether the server has completions that it did not send.
        """
        super().__init__(values)
        self.total = total
        """The number of completions that the server knows; None if the server does not say."""
        self.has_more = more
        """Whether the server has more completions; type more of the value to see them."""


async def complete(
    over: ReconnectingConnection,
    seconds: float,
    target: Prompt | ResourceTemplate | str,
    argument: str,
    value: str,
    others: Mapping[str, str],
) -> Completions:
    """Return the server's completions of *value*; see `MCPServerSession.complete`."""
    connection = await over.live()
    if "completions" not in connection.described().get("capabilities", {}):
        return Completions()
    typed = {argument: value, **others}
    over.inbox.keep_secret(Secrecy({}).secrets_in(typed))
    params: dict[str, Any] = {
        "ref": _reference(target),
        "argument": {"name": argument, "value": value},
    }
    if others:
        params["context"] = {"arguments": others}
    try:
        call = Call(seconds=seconds)
        result = await over.request("completion/complete", params, call, verb="complete")
    except ServerError:
        # Completions are optional: a failure is not an error
        return Completions()
    completion = result.get("completion")
    if isinstance(completion, Mapping):
        return _read(completion)
    return Completions()


def _read(completion: Mapping[str, Any]) -> Completions:
    values, total = completion.get("values"), completion.get("total")
    if not isinstance(values, list):
        values = []
    texts = list(map(str, values))
    if isinstance(total, bool) or not isinstance(total, int) or total < len(texts):
        total = None
    more = completion.get("hasMore") is True or (total or 0) > len(texts)
    return Completions(texts, total=total, more=more)


def _reference(target: Prompt | ResourceTemplate | str) -> dict[str, str]:
    if isinstance(target, ResourceTemplate):
        return {"type": "ref/resource", "uri": target.uri_template}
    if isinstance(target, str) and "{" in target:
        return {"type": "ref/resource", "uri": target}
    if isinstance(target, Prompt):
        target = target.name
    return {"type": "ref/prompt", "name": target}
