"""Serve tools of this process to real agents over MCP."""

from typing import TYPE_CHECKING

from toolbench.lazy import public_names

if TYPE_CHECKING:
    from toolbench.serving.access.client_config import ClientConfig as ClientConfig
    from toolbench.serving.call import ServedCall as ServedCall
    from toolbench.serving.package_server import stdio_server as stdio_server
    from toolbench.serving.served_tools import Served as Served
    from toolbench.serving.served_tools import serve as serve

__getattr__, __dir__, __all__ = public_names(__name__)
