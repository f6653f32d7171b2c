"""Hide a server's own secrets in what it says, before anybody else reads it."""

from typing import Any

import mcp_types

from toolbench.core.masking import MASK
from toolbench.core.state import Secrets


def hide(secrets: Secrets, message: Any) -> None:
    """Replace *secrets* in *message*: its result, its error or its parameters."""
    match message:
        case mcp_types.JSONRPCError(error=error):
            error.message = secrets.mask(error.message)
            error.data = secrets.mask_json(error.data)
        case mcp_types.JSONRPCResponse():
            message.result = _hidden(secrets, message.result)
        case _ if message.params is not None:
            message.params = _hidden(secrets, message.params)


def _hidden(secrets: Secrets, said: dict[str, Any]) -> dict[str, Any]:
    hidden = secrets.mask_json(said)
    # too deep to look into, it is hidden whole
    return hidden if isinstance(hidden, dict) else {"hidden": MASK}
