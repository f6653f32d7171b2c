"""The resources of one server, their templates, and news of them."""

from typing import Any

from toolbench.core.background_loop import portal
from toolbench.mcp.connection.blocking_wait import wait_answering
from toolbench.mcp.connection.reconnection import ReconnectingConnection
from toolbench.mcp.connection.subscriptions import Subscriptions
from toolbench.mcp.elicitation import Answerer
from toolbench.mcp.features.item_list import RemoteList
from toolbench.mcp.features.resources import (
    MCPResourceObservation,
    Resource,
    ResourceTemplate,
    read_resources,
    read_templates,
    resource_observation,
)
from toolbench.redaction.detection.settings import secrets_in_argument
from toolbench.redaction.result_redactors import results


class TemplateList(RemoteList[ResourceTemplate]):
    """Families of resources, with variables to fill in."""

    method = "list_resource_templates"
    key = "resourceTemplates"
    capability = "resources"

    def parse(self, offers: list[Any]) -> list[ResourceTemplate]:
        """Return the templates in what the server listed."""
        return read_templates(offers)


class ResourceList(RemoteList[Resource]):
    """What can be read of the server. Source: MCP specification, resources."""

    method = "list_resources"
    key = capability = "resources"

    def __init__(
        self,
        connection: ReconnectingConnection,
        seconds: float,
        subscriptions: Subscriptions,
    ) -> None:
        """Ask over *connection*, *seconds* at most each time; hear of changes by *subscriptions*."""
        super().__init__(connection, seconds)
        self._subscriptions = subscriptions
        self.templates = TemplateList(connection, seconds)
        """Families of resources, with variables to fill in: a sequence too."""

    def parse(self, offers: list[Any]) -> list[Resource]:
        """Return the resources in what the server listed."""
        return read_resources(offers)

    def read(self, uri: str) -> MCPResourceObservation:
        """Read what *uri* names, listed or not.

        Raises:
            ServerError: If the server refuses or cannot be reached.
        """
        answerer = self._connection.inbox.answerer()
        return wait_answering(self._read, uri, answerer=answerer)

    def subscribe(self, uri: str) -> None:
        """Subscribe to changes of the resource *uri*: listeners are called, `updated` has it.

        Raises:
            ServerError: If the server refuses; in the newer protocol it does that in silence.
        """
        portal.call(self._subscriptions.add, uri)

    def unsubscribe(self, uri: str) -> None:
        """Hear no more of the resource *uri*."""
        portal.call(self._subscriptions.remove, uri)

    @property
    def updated(self) -> list[str]:
        """The resources that changed since they were subscribed to, each once."""
        return list(self._subscriptions.updated)

    def forget(self) -> None:
        """List resources and templates anew at the next look."""
        super().forget()
        self.templates.forget()

    async def _read(
        self, uri: str, *, answerer: Answerer | None = None
    ) -> MCPResourceObservation:
        inbox = self._connection.inbox
        inbox.keep_secret(secrets_in_argument(uri))
        result = await self._connection.ask_to(
            f"read {uri!r}",
            lambda session, responses, state: session.read_resource(
                uri,
                input_responses=responses,
                request_state=state,
                allow_input_required=True,
            ),
            self._seconds,
            answerer,
        )
        observation = resource_observation(uri, result)
        results.show(observation, inbox.redactor)
        return observation
