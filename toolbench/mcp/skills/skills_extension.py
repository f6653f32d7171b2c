"""Declare to servers of the newer protocol that this client reads skills."""

from collections.abc import Sequence
from typing import Any, Literal, NoReturn

from mcp.client.extension import ClaimContext, ClientExtension, ResultClaim
from mcp_types import Result
from mcp_types.version import MODERN_PROTOCOL_VERSIONS
from pydantic import Field

from toolbench.mcp.skills.skill import EXTENSION


class _Never(Result):
    """An answer that no server sends."""

    result_type: Literal["skill"] = Field(alias="resultType")


class SkillsExtension(ClientExtension):
    """Declares that this client reads skills. Source: MCP, SEP-2640."""

    identifier = EXTENSION

    def claims(self) -> Sequence[ResultClaim[Any]]:
        """Claim an answer that no server sends.

        Without a claim, the SDK would declare the extension also to servers of the older protocol.
        That protocol has no extensions.
        """
        versions = frozenset(MODERN_PROTOCOL_VERSIONS)
        claim = ResultClaim(
            result_type="skill",
            model=_Never,
            resolve=_refused,
            protocol_versions=versions,
        )
        return [claim]


async def _refused(result: _Never, context: ClaimContext) -> NoReturn:
    msg = "The server answered a call of a tool with a skill, which is not a result of a tool."
    raise NotImplementedError(msg)
