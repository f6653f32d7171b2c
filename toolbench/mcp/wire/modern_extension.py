"""Declare an extension of this client to servers of the newer protocol only."""

from collections.abc import Sequence
from typing import Any, ClassVar, NoReturn, get_args

from mcp.client.extension import ClaimContext, ClientExtension, ResultClaim
from mcp_types import Result
from mcp_types.version import MODERN_PROTOCOL_VERSIONS


class ModernExtension(ClientExtension):
    """An extension that the SDK declares to servers of the newer protocol only.

    It claims an answer to tool calls. Without a claim, the SDK would declare the extension also to
    servers of the older protocol. That protocol has no extensions.
    """

    answer: ClassVar[type[Result]]
    """The class of the claimed answer; the annotation of its field `result_type` is the claimed
    type. The SDK never resolves the claim."""

    def claims(self) -> Sequence[ResultClaim[Any]]:
        """Return one claim: `answer` may come in place of the result of a tool call."""
        (result_type,) = get_args(self.answer.model_fields["result_type"].annotation)
        claim = ResultClaim(
            result_type=result_type,
            model=self.answer,
            resolve=_never,
            protocol_versions=frozenset(MODERN_PROTOCOL_VERSIONS),
        )
        return [claim]


async def _never(result: Result, context: ClaimContext) -> NoReturn:
    msg = "The SDK does not read results of tools here."
    raise NotImplementedError(msg)
