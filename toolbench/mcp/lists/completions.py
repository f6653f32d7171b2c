"""Ask a server to complete an argument while a person types it."""

from collections.abc import Iterable, Mapping
from typing import Any

from toolbench.errors import ServerError
from toolbench.mcp.connection.reconnection import ReconnectingConnection
from toolbench.mcp.lists.prompts import Prompt
from toolbench.mcp.lists.resources import ResourceTemplate
from toolbench.redaction.detect import Secrecy


class Completions(list[str]):
    """The completions that a server sent, the best first. Source: MCP specification, completion."""

    def __init__(
        self,
        values: Iterable[str] = (),
        *,
        total: int | None = None,
        more: bool = False,
    ) -> None:
        """Keep *values*, the completions that the server sent.

        *total* is the number of all completions, if the server tells it. *more* tells whether some
        completions were not sent.
        """
        super().__init__(values)
        self.total = total
        """The number of completions that the server knows; None if the server does not tell."""
        self.has_more = more
        """Whether the server has more completions than it sent: type more of the value to see them."""


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
    reference = _reference(target)
    typed = {argument: value, **others}
    over.inbox.keep_secret(Secrecy({}).secrets_in(typed))
    try:
        result = await over.ask_to(
            "complete",
            lambda session, responses, state: session.complete(
                reference,
                {"name": argument, "value": value},
                dict(others) or None,
            ),
            seconds,
        )
    except ServerError:
        # Completions are optional: a failure is not an error
        return Completions()
    completion = result.get("completion")
    return _read(completion) if isinstance(completion, Mapping) else Completions()


def _read(completion: Mapping[str, Any]) -> Completions:
    values, total = completion.get("values"), completion.get("total")
    texts = [str(value) for value in values] if isinstance(values, list) else []
    if isinstance(total, bool) or not isinstance(total, int) or total < len(texts):
        total = None
    more = completion.get("hasMore") is True or (total or 0) > len(texts)
    return Completions(texts, total=total, more=more)


def _reference(target: Prompt | ResourceTemplate | str) -> Any:
    from mcp_types import (  # noqa: PLC0415 - the SDK, loaded by now
        PromptReference,
        ResourceTemplateReference,
    )

    if (isinstance(target, str) and "{" in target) or isinstance(target, ResourceTemplate):
        uri = target if isinstance(target, str) else target.uri_template
        return ResourceTemplateReference(type="ref/resource", uri=uri)
    name = target if isinstance(target, str) else target.name
    return PromptReference(type="ref/prompt", name=name)
