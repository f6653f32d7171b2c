"""Ask a server to complete an argument while a person types it."""

from collections.abc import Mapping
from typing import Any

from toolbench.errors import ServerError
from toolbench.mcp.connection.reconnection import ReconnectingConnection
from toolbench.mcp.features.resources import Prompt, ResourceTemplate
from toolbench.redaction.detection.secrecy import Secrecy


async def complete(
    over: ReconnectingConnection,
    seconds: float,
    target: Prompt | ResourceTemplate | str,
    argument: str,
    value: str,
    others: Mapping[str, str],
) -> list[str]:
    """Return the server's completions of *value*; see `MCPServerSession.complete`."""
    connection = await over.live()
    if "completions" not in connection.described().get("capabilities", {}):
        return []
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
        return []  # completions are optional: no error without them
    completion = result.get("completion")
    values = completion.get("values") if isinstance(completion, Mapping) else None
    return [str(v) for v in values] if isinstance(values, list) else []


def _reference(target: Prompt | ResourceTemplate | str) -> Any:
    from mcp_types import (  # noqa: PLC0415 - the SDK, loaded by now
        PromptReference,
        ResourceTemplateReference,
    )

    if (isinstance(target, str) and "{" in target) or isinstance(
        target, ResourceTemplate
    ):
        uri = target if isinstance(target, str) else target.uri_template
        return ResourceTemplateReference(type="ref/resource", uri=uri)
    name = target if isinstance(target, str) else target.name
    return PromptReference(type="ref/prompt", name=name)
