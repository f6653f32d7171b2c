"""MCP's hints about what a tool does to the world, with MCP's defaults."""

from pydantic import BaseModel, ConfigDict


class ToolAnnotations(BaseModel):
    """Hints, not promises: a server or author may be wrong about its own tool.

    Source: MCP specification, `ToolAnnotations`.
    """

    model_config = ConfigDict(frozen=True)

    title: str | None = None
    """A name for people."""
    readOnlyHint: bool = False
    """The tool changes nothing."""
    destructiveHint: bool = True
    """It may delete or overwrite; says something only if it is not read-only."""
    idempotentHint: bool = False
    """Calling it again with the same arguments changes nothing more."""
    openWorldHint: bool = True
    """It reaches things outside a closed domain, as a web search does."""
