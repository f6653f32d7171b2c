"""Hide a server's own secrets in its messages, before any other code reads them."""

from collections.abc import Iterator, Mapping
from typing import Any

import mcp_types

from toolbench.redaction import MARK
from toolbench.redaction.detection.secrecy import Secrecy
from toolbench.redaction.redactor import Redactor


def hide(redactor: Redactor, message: Any) -> None:
    """Replace what *redactor* knows in *message*: its result, its error or its parameters."""
    match message:
        case mcp_types.JSONRPCError(error=error):
            error.message = redactor.text(error.message)
            error.data = redactor.value(error.data)
        case mcp_types.JSONRPCResponse():
            message.result = _hidden(redactor, message.result)
        case _ if message.params is not None:
            message.params = _hidden(redactor, message.params)


def defaults_in(message: Any) -> Iterator[str]:
    """Yield the secrets among the defaults of the tools that *message* lists."""
    result = getattr(message, "result", None)
    tools = result.get("tools") if isinstance(result, Mapping) else None
    for tool in tools if isinstance(tools, list) else ():
        schema = tool.get("inputSchema") if isinstance(tool, Mapping) else None
        if isinstance(schema, Mapping):
            yield from Secrecy(schema).defaults


def _hidden(redactor: Redactor, message: dict[str, Any]) -> dict[str, Any]:
    hidden = redactor.value(message)
    # too deep to look into, it is hidden whole
    return hidden if isinstance(hidden, dict) else {"hidden": MARK}
