"""The explorer of MCP servers: reconnect them, call tools, read resources, watch messages.

The explorer and panels use parts of each other, so this package is loaded on first use.
"""

from typing import TYPE_CHECKING

from toolbench.lazy import public_names

if TYPE_CHECKING:
    from toolbench.widgets.explorer.explorer import Explorer as Explorer
    from toolbench.widgets.explorer.explorer import client_view as client_view
    from toolbench.widgets.explorer.explorer import open_explorers as open_explorers
    from toolbench.widgets.explorer.explorer import server_view as server_view

__getattr__, __dir__, __all__ = public_names(__name__)
