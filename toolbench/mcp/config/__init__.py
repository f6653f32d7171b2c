"""Find, read and write configurations of MCP servers, and fill in their variables."""

from typing import TYPE_CHECKING

from toolbench.lazy import public_names

if TYPE_CHECKING:
    from toolbench.mcp.config.placeholders import LiveVariables as LiveVariables
    from toolbench.mcp.config.placeholders import is_text as is_text
    from toolbench.mcp.config.placeholders import names_in as names_in
    from toolbench.mcp.config.placeholders import reference as reference
    from toolbench.mcp.config.program import environment_of as environment_of
    from toolbench.mcp.config.program import own_program as own_program
    from toolbench.mcp.config.reader import header_in as header_in

__getattr__, __dir__, __all__ = public_names(__name__)
