"""Ask the person to visit the pages that a server requires; then the request is sent again.

Source: MCP specification, elicitation, `URLElicitationRequiredError`.
"""

from collections.abc import Mapping
from typing import Any

from toolbench.mcp.errors import (
    URL_ELICITATION_REQUIRED,
    code_of,
    required_pages,
)
from toolbench.mcp.monitoring.notifications import Inbox


async def pages_visited(error: Exception, inbox: Inbox) -> bool:
    """Return True if *error* names pages, and the person agrees to visit each of them; else False.

    A question about each page goes to the handler of the running call.
    """
    pages = required_pages(error)
    if code_of(error) != URL_ELICITATION_REQUIRED or not pages:
        return False
    for page in pages:
        answer = await inbox.ask_url(_message(page), page["url"])
        if answer.action != "accept":
            return False
    return True


def _message(page: Mapping[str, Any]) -> str:
    message = page.get("message")
    return message if isinstance(message, str) else "It needs you to visit a page."
