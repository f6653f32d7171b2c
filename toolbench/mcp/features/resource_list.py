"""List, read and subscribe to the resources of one server, and list their templates."""

from typing import Any

from toolbench.core.background_loop import portal
from toolbench.core.schema import hide_in_views
from toolbench.errors import ServerError
from toolbench.mcp.connection.freshness import FreshReads
from toolbench.mcp.connection.reconnection import ReconnectingConnection
from toolbench.mcp.connection.subscriptions import Subscriptions
from toolbench.mcp.elicitation import Answerer, wait_answering
from toolbench.mcp.features.item_list import RemoteList
from toolbench.mcp.features.resources import (
    MCPResourceObservation,
    Resource,
    ResourceTemplate,
    read_resources,
    read_templates,
    resource_observation,
)
from toolbench.mcp.features.uri_variables import values_in
from toolbench.redaction.detect import Secrecy, secrets_in_argument


class TemplateList(RemoteList[ResourceTemplate]):
    """The resource templates of one server, in the server's order."""

    method = "list_resource_templates"
    key = "resourceTemplates"
    capability = "resources"
    _refused_at = -1

    def parse(self, offers: list[Any]) -> list[ResourceTemplate]:
        """Return the templates in *offers*, the rows of the server's list."""
        return read_templates(offers)

    async def secrets_in(self, uri: str) -> list[str]:
        """Return the secrets in *uri*: the values of template variables with secret names.

        If the templates are not known yet, they are requested now, once.
        """
        if self._items is None and self._refused_at != self._changes:
            try:
                await self._listed()
            except ServerError:
                # The resource can be read without templates
                self._refused_at = self._changes
        secrets: list[str] = []
        for template in self._items or ():
            secrecy = Secrecy(template.schema)
            for values in values_in(uri, template.uri_template):
                secrets += secrecy.secrets_in(values)
        return secrets


class ResourceList(RemoteList[Resource]):
    """The resources of one server, in the server's order. Source: MCP specification, resources."""

    method = "list_resources"
    key = capability = "resources"

    def __init__(
        self,
        connection: ReconnectingConnection,
        seconds: float,
        subscriptions: Subscriptions,
    ) -> None:
        """Use *connection*, with *seconds* for each request; *subscriptions* reports changes."""
        super().__init__(connection, seconds)
        self._subscriptions = subscriptions
        self._reads = FreshReads()
        self.templates = TemplateList(connection, seconds)
        """The resource templates, a sequence like this one."""

    def parse(self, offers: list[Any]) -> list[Resource]:
        """Return the resources in *offers*, the rows of the server's list."""
        return read_resources(offers)

    def read(self, uri: str, *, anew: bool = False) -> MCPResourceObservation:
        """Read the resource *uri*, which need not be in the list.

        If the last answer is still fresh by its `ttlMs`, it is used again, unless *anew*.

        Raises:
            ServerError: If the server refuses or cannot be reached.
        """
        answerer = self._connection.inbox.answerer()
        if anew:
            self._reads.end(uri)
        return wait_answering(self._read, uri, answerer=answerer)

    def subscribe(self, uri: str) -> None:
        """Subscribe to changes of *uri*: a change calls listeners and adds *uri* to `updated`.

        Raises:
            ServerError: If the server refuses. In the newer protocol a server refuses silently.
        """
        portal.call(self._subscribe, uri)

    def unsubscribe(self, uri: str) -> None:
        """Unsubscribe from changes of the resource *uri*."""
        portal.call(self._subscriptions.remove, uri)

    @property
    def updated(self) -> list[str]:
        """The subscribed resources that have changed, each once."""
        return list(self._subscriptions.updated)

    def forget(self) -> None:
        """Request the lists again at their next use, and use no kept contents of resources any more."""
        super().forget()
        self.templates.forget()
        self._reads.end()

    def note_update(self, uri: str) -> None:
        """Handle the server's notification that the resource *uri* changed."""
        self._reads.end(uri)
        self._subscriptions.note(uri)

    async def _subscribe(self, uri: str) -> None:
        await self._keep_secrets_in(uri)
        await self._subscriptions.add(uri)

    async def _keep_secrets_in(self, uri: str) -> None:
        inbox = self._connection.inbox
        inbox.keep_secret(secrets_in_argument(uri))
        inbox.keep_secret(await self.templates.secrets_in(uri))

    async def _read(self, uri: str, *, answerer: Answerer | None = None) -> MCPResourceObservation:
        await self._keep_secrets_in(uri)
        result = self._reads.get(uri)
        if result is None:
            result = await self._asked(uri, answerer)
        observation = resource_observation(uri, result)
        hide_in_views(observation, self._connection.inbox.redactor)
        return observation

    async def _asked(self, uri: str, answerer: Answerer | None) -> dict[str, Any]:
        """Read *uri* from the server; keep the answer if its `ttlMs` allows it."""
        changes, is_answered = self._reads.changes, False

        def send(session: Any, responses: Any, state: str | None) -> Any:
            nonlocal is_answered
            is_answered = responses is not None
            return session.read_resource(
                uri,
                input_responses=responses,
                request_state=state,
                allow_input_required=True,
            )

        result = await self._connection.ask_to(f"read {uri!r}", send, self._seconds, answerer)
        is_modern = self._connection.current.is_modern
        is_kept = is_modern and not is_answered and not self._connection.is_recorded
        if is_kept and changes == self._reads.changes:
            self._reads.keep(uri, result)
        return result
