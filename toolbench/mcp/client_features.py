"""The roots and protocol extensions that this client offers to a server.

Source: MCP specification, client features and capabilities; extensions: SEP-2133.
"""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from toolbench.errors import ToolbenchError
from toolbench.values import clip


class ClientFeatures:
    """The roots and protocol extensions that one session offers to its server."""

    def __init__(self, roots: Iterable[str | Path] = (), extensions: Iterable[Any] = ()) -> None:
        """Offer *roots*, which are folders or file URLs, and *extensions*, which are SDK objects.

        Raises:
            ToolbenchError: If a root or an extension is invalid.
        """
        self.roots = list(map(root_url, roots))
        """The file URLs that the server may ask for; later changes of this list apply too."""
        self.extensions = tuple(extensions)
        """The extensions that are declared to the server."""
        known = set[str]()
        for extension in self.extensions:
            name = getattr(extension, "identifier", None)
            if not isinstance(name, str):
                msg = (
                    f"{clip(extension)} is not an extension of MCP: give an object of a class of "
                    "mcp.client.extension.ClientExtension, which has an identifier."
                )
                raise ToolbenchError(msg)
            if name in known:
                msg = f"The extension {name!r} is there twice: leave one out."
                raise ToolbenchError(msg)
            known.add(name)

    def claim_of(self, kind: object) -> Any:
        """Return the extension's claim that handles results of the `resultType` *kind*; or None.

        Source: SDK, `ResultClaim`.
        """
        for extension in self.extensions:
            for claim in extension.claims():
                if claim.result_type == kind:
                    return claim
        return None


def root_url(root: str | Path) -> str:
    """Return *root* as a file URL. *root* is the path of a folder, or already a file URL.

    Raises:
        ToolbenchError: If there is no such folder, or *root* is a URL of another kind.
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
