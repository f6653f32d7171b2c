"""List and get the prompts of one server."""

from collections.abc import Mapping
from typing import Any

from toolbench.core.schema import hide_in_views
from toolbench.errors import ServerError
from toolbench.mcp.elicitation import Answerer, wait_answering
from toolbench.mcp.features.item_list import RemoteList
from toolbench.mcp.features.resources import (
    MCPPromptObservation,
    Prompt,
    prompt_observation,
    read_prompts,
)
from toolbench.redaction.detect import Secrecy


class PromptList(RemoteList[Prompt]):
    """The prompts of one server, in the server's order. Source: MCP specification, prompts."""

    method = "list_prompts"
    key = capability = "prompts"

    def parse(self, offers: list[Any]) -> list[Prompt]:
        """Return the prompts in *offers*, the rows of the server's list."""
        return read_prompts(offers)

    def get(self, name: str, /, **arguments: str) -> MCPPromptObservation:
        """Get the prompt *name* with *arguments* from the server.

        Raises:
            ServerError: If the server refuses or cannot be reached.
        """
        answerer = self._connection.inbox.answerer()
        return wait_answering(self._get, name, arguments, answerer=answerer)

    async def _get(
        self,
        name: str,
        arguments: Mapping[str, str],
        *,
        answerer: Answerer | None = None,
    ) -> MCPPromptObservation:
        inbox = self._connection.inbox
        for key, value in arguments.items():
            if not isinstance(value, str):
                msg = f"The argument {key!r} of a prompt must be a str, not {type(value).__name__}."
                raise ServerError(msg)
        inbox.keep_secret(Secrecy({}).secrets_in(arguments))
        result = await self._connection.ask_to(
            f"write the prompt {name!r}",
            lambda session, responses, state: session.get_prompt(
                name,
                dict(arguments),
                input_responses=responses,
                request_state=state,
                allow_input_required=True,
            ),
            self._seconds,
            answerer,
        )
        observation = prompt_observation(name, result)
        hide_in_views(observation, inbox.redactor)
        return observation
