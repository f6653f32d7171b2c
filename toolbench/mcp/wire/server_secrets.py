"""Hide a server's own secrets in its messages, before any other code reads them."""

from collections.abc import Iterator, Mapping
from typing import Any

import mcp_types

from toolbench.redaction import MARK
from toolbench.redaction.detection.secrecy import Secrecy
from toolbench.redaction.redactor import Redactor


def hide(redactor: Redactor, message: Any) -> None:
    """Hide the secrets of *redactor* in the result, error or parameters of *message*."""
    match message:
        case mcp_types.JSONRPCError(error=error):
            error.message = redactor.text(error.message)
            error.data = redactor.value(error.data)
        case mcp_types.JSONRPCResponse():
            message.result = _hidden(redactor, message.result)
        case _ if message.params is not None:
            message.params = _hidden(redactor, message.params)


def defaults_in(message: Any) -> Iterator[str]:
    """Yield the secrets in the default values of the tools that *message* lists."""
    result = getattr(message, "result", None)
    tools = result.get("tools") if isinstance(result, Mapping) else None
    for tool in tools if isinstance(tools, list) else ():
        schema = tool.get("inputSchema") if isinstance(tool, Mapping) else None
        if isinstance(schema, Mapping):
            yield from Secrecy(schema).defaults


def _hidden(redactor: Redactor, message: dict[str, Any]) -> dict[str, Any]:
    hidden = redactor.value(message)
    # a message that is too deep is hidden completely
    return hidden if isinstance(hidden, dict) else {"hidden": MARK}
