"""The roots and the protocol extensions that this client offers to a server.

Source: MCP specification, client features and capabilities; extensions: SEP-2133.
"""

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from toolbench.errors import ToolbenchError
from toolbench.values import clip

if TYPE_CHECKING:
    from toolbench.mcp.connection.connection import Connection
    from toolbench.mcp.connection.open_calls import Call


class ClientFeatures:
    """The roots and protocol extensions that one session offers to its server, on each connection."""

    def __init__(self, roots: Iterable[str | Path] = (), extensions: Iterable[Any] = ()) -> None:
        """Offer *roots*, folders or file URLs, and *extensions*, objects of the SDK.

        Raises:
            ToolbenchError: If a root or an extension cannot be used.
        """
        self.roots = [root_url(root) for root in roots]
        """The file URLs that the server may ask for; the server gets each change of this list."""
        self.extensions = tuple(extensions)
        """The extensions that are declared to the server."""
        for extension in self.extensions:
            if not isinstance(getattr(extension, "identifier", None), str):
                msg = (
                    f"{clip(extension)} is not an extension of MCP: give an object of a class of "
                    "mcp.client.extension.ClientExtension, which has an identifier."
                )
                raise ToolbenchError(msg)
        identifiers = [extension.identifier for extension in self.extensions]
        twice = [name for name in identifiers if identifiers.count(name) > 1]
        if twice:
            msg = f"The extension {twice[0]!r} is there twice: leave one out."
            raise ToolbenchError(msg)

    def declared(self, own: Iterable[Any]) -> list[Any]:
        """Return all extensions to declare: those of toolbench, which are *own*, and those of the user.

        An extension of *own* is left out if the user has an extension with the same identifier.
        """
        identifiers = {extension.identifier for extension in self.extensions}
        ours = [extension for extension in own if extension.identifier not in identifiers]
        return [*ours, *self.extensions]

    async def finished(
        self, raw: dict[str, Any], connection: "Connection", call: "Call"
    ) -> dict[str, Any]:
        """Return the result of *call*: *raw*, or the result that an extension makes of it.

        An extension makes the result if it claims the type of *raw*. Source: SDK, `ResultClaim`.
        """
        claims = (claim for each in self.extensions for claim in each.claims())
        kind = raw.get("resultType") if connection.is_modern else None
        claim = next((claim for claim in claims if claim.result_type == kind), None)
        if claim is None:
            return raw
        with call.limited():
            return await _resolved(claim, raw, connection.session, call)


async def _resolved(claim: Any, raw: dict[str, Any], session: Any, call: "Call") -> dict[str, Any]:
    from mcp.client.extension import ClaimContext  # noqa: PLC0415 - the SDK, loaded by now

    context = ClaimContext(
        session=session, tool_name=call.tool or "", read_timeout_seconds=call.seconds
    )
    result = await claim.resolve(claim.model.model_validate(raw, by_name=False), context)
    resolved: dict[str, Any] = result.model_dump(by_alias=True, mode="json", exclude_none=True)
    return resolved


def root_url(root: str | Path) -> str:
    """Return the file URL of *root*, a folder or a file URL.

    Raises:
        ToolbenchError: If there is no such folder, or *root* is not a file URL.
    """
    if isinstance(root, str) and "://" in root:
        if root.startswith("file://"):
            return root
        msg = f"A root is a folder or a file:// URI, not {root!r}."
        raise ToolbenchError(msg)
    path = Path(root).expanduser().resolve()
    if not path.is_dir():
        msg = f"A root is a folder: there is none at {str(path)!r}."
        raise ToolbenchError(msg)
    return path.as_uri()
