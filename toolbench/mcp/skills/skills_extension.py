"""Declare to servers of the newer protocol that this client reads skills."""

from typing import Literal

from mcp_types import Result
from pydantic import Field

from toolbench.mcp.wire.modern_extension import ModernExtension


class _Never(Result):
    """An answer that no server sends; the base class of the extension needs a class of answers."""

    result_type: Literal["skill"] = Field(alias="resultType")


class SkillsExtension(ModernExtension):
    """Declares that this client reads skills. Source: MCP, SEP-2640."""

    identifier = "io.modelcontextprotocol/skills"
    answer = _Never
