"""List, read and subscribe to the resources of a server, and list its resource templates."""

from collections.abc import Iterable, Mapping
from copy import deepcopy
from dataclasses import dataclass, field
from json import loads
from math import inf
from time import monotonic
from typing import TYPE_CHECKING, Any

from toolbench.core.background_loop import portal
from toolbench.core.content import Content, TextContent, decoded, describe
from toolbench.core.schema import hide_in_views
from toolbench.mcp.connection.connection import lifetime_of
from toolbench.mcp.connection.open_calls import Call
from toolbench.mcp.connection.reconnection import ReconnectingConnection
from toolbench.mcp.connection.subscriptions import Subscriptions
from toolbench.mcp.elicitation import Answerer, wait_answering
from toolbench.mcp.lists.remote_list import RemoteList
from toolbench.mcp.results import MCPObservation
from toolbench.redaction.detect import secrets_in_argument
from toolbench.values import clip

if TYPE_CHECKING:
    from uritemplate import URITemplate

# The most answers that are kept
_MOST_READS = 100


@dataclass(frozen=True, kw_only=True)
class Resource:
    """A resource that can be read from a server. Source: MCP specification, resources."""

    uri: str
    name: str
    title: str = ""
    description: str = ""
    mime_type: str = ""
    size: int | None = None
    """The size in bytes; None if the server does not declare it."""
    raw: Mapping[str, Any] = field(default_factory=dict, repr=False)


@dataclass(frozen=True, kw_only=True)
class ResourceTemplate:
    """A template with variables for the URIs of similar resources."""

    uri_template: str
    """The URI with `{variables}`, in the syntax of RFC 6570."""
    name: str
    title: str = ""
    description: str = ""
    mime_type: str = ""
    raw: Mapping[str, Any] = field(default_factory=dict, repr=False)

    @property
    def variables(self) -> list[str]:
        """The names of the variables, in the order of the template.

        The list is empty if the template is invalid according to RFC 6570.
        """
        template = _template(self.uri_template)
        if template is None:
            return []
        return list(template.variable_names)

    @property
    def schema(self) -> dict[str, Any]:
        """The JSON Schema of the variables, for a form."""
        return object_of_strings(dict.fromkeys(self.variables, ""), self.variables)

    def expand(self, /, **variables: str) -> str:
        """Return the URI in which *variables* are replaced by their values.

        Raises:
            ValueError: If a variable is missing, or the template is invalid.
        """
        template = _template(self.uri_template)
        if template is None:
            msg = (
                f"The server's template {self.uri_template!r} is not valid by RFC 6570: "
                "read a URI that you write yourself."
            )
            raise ValueError(msg)
        if missing := [name for name in self.variables if name not in variables]:
            msg = f"The template {self.uri_template!r} also needs {', '.join(missing)}."
            raise ValueError(msg)
        return template.expand(dict(variables))


class MCPResourceObservation(MCPObservation):
    """The contents of a resource, as read from the server."""

    uri: str

    @property
    def data(self) -> Any:
        """The contents of the resource as a Python value.

        JSON is parsed, other text is a string, and binary data is bytes. If the server sent several
        contents or none, the value is a list with one item for each content.
        """
        contents = [_content_of(block["resource"]) for block in self.blocks]
        if len(contents) == 1:
            return contents[0]
        return contents


def read_resources(items: Iterable[Any]) -> list[Resource]:
    """Return the resources in the *items* of a list; items without a URI are left out."""
    resources = []
    for item in items:
        if isinstance(item, Mapping) and isinstance(item.get("uri"), str):
            size = item.get("size")
            if not isinstance(size, int):
                size = None
            about = described(item, item["uri"])
            resources.append(Resource(uri=item["uri"], size=size, **about))
    return resources


def read_templates(items: Iterable[Any]) -> list[ResourceTemplate]:
    """Return the templates in the *items* of a list; items without a URI are left out."""
    templates = []
    for item in items:
        if isinstance(item, Mapping) and isinstance(item.get("uriTemplate"), str):
            about = described(item, item["uriTemplate"])
            templates.append(ResourceTemplate(uri_template=item["uriTemplate"], **about))
    return templates


def resource_observation(uri: str, result: Mapping[str, Any]) -> MCPResourceObservation:
    """Return the observation of *result*, the answer to `resources/read`."""
    warnings: list[str] = []
    parts = list_in(result.get("contents"), warnings)
    blocks = [{"type": "resource", "resource": part} for part in parts]
    content: list[Content] = []
    if all(map(_has_text, parts)):
        content += [TextContent(text=part["text"]) for part in parts]
    else:
        for block in blocks:
            content += describe(block, warnings)
    if not content:
        warnings.append("The resource has no contents.")
    return MCPResourceObservation(uri=uri, content=content, blocks=blocks, warnings=warnings)


def _template(text: str) -> "URITemplate | None":
    """Return *text* as a template; None if it is invalid."""
    # The SDK's own parser is made for servers. It refuses 24 of the 66 example templates of RFC
    # 6570, because it cannot match URIs against them; this package accepts all.
    from uritemplate import URITemplate  # noqa: PLC0415 - only if a server has templates

    try:
        return URITemplate(text)
    except ValueError:
        # The length in `{name:length}` is not a number
        return None


def _has_text(part: Any) -> bool:
    return isinstance(part, Mapping) and isinstance(part.get("text"), str)


def _content_of(part: Any) -> Any:
    if not isinstance(part, Mapping):
        return part
    if not _has_text(part):
        return decoded(part.get("blob"))
    try:
        return loads(part["text"])
    except (ValueError, RecursionError):
        return part["text"]


def list_in(value: Any, warnings: list[str]) -> list[Any]:
    """Return *value* as a list; a single object becomes a list of one, with a warning."""
    if isinstance(value, dict):
        warnings.append(f"The server sent one object in place of a list: {clip(value)}.")
        return [value]
    if isinstance(value, list):
        return value
    return []


_DESCRIPTIVE = {
    "name": "name",
    "title": "title",
    "description": "description",
    "mime_type": "mimeType",
}


def described(item: Mapping[str, Any], name: str) -> dict[str, Any]:
    """Return the descriptive fields of *item*, an entry of a list; its name defaults to *name*."""
    fields: dict[str, Any] = {"name": name, "raw": dict(item)}
    for ours, theirs in _DESCRIPTIVE.items():
        value = item.get(theirs)
        if isinstance(value, str) and value:
            fields[ours] = value
    return fields


def object_of_strings(described: Mapping[str, str], required: list[str]) -> dict[str, Any]:
    """Return the schema of an object of strings; *described* maps their names to descriptions."""
    properties = {}
    for name, note in described.items():
        properties[name] = {"type": "string"}
        if note:
            properties[name]["description"] = note
    return {
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": False,
    }


class FreshReads:
    """A cache of a server's answers to `resources/read`, by URI, as long as the answers are fresh.

    The cache belongs to one session. It is emptied when the connection of the session ends. It is
    not shared between sessions, even if the server marks an answer as `public`.
    """

    def __init__(self) -> None:
        """Create an empty store."""
        self._answers: dict[str, tuple[float, dict[str, Any]]] = {}
        self.changes = 0
        """The number of times that `end` was called."""

    def get(self, uri: str) -> dict[str, Any] | None:
        """Return a copy of the answer for *uri*; None if there is no fresh answer."""
        stale_from, answer = self._answers.get(uri, (-inf, None))
        if monotonic() < stale_from:
            return deepcopy(answer)
        self._answers.pop(uri, None)
        return None

    def keep(self, uri: str, answer: dict[str, Any]) -> None:
        """Keep *answer* for *uri* for the time in its `ttlMs`; without `ttlMs`, do not keep it."""
        self._answers.pop(uri, None)
        seconds = lifetime_of(answer)
        if seconds is None:
            return
        while len(self._answers) >= _MOST_READS:
            del self._answers[next(iter(self._answers))]
        self._answers[uri] = monotonic() + seconds, deepcopy(answer)

    def end(self, changed: str | None = None) -> None:
        """Remove the answers for the URI *changed* and related URIs; None removes all answers.

        Two URIs are related if one begins with the other.
        """
        self.changes += 1
        for uri in list(self._answers):
            if changed is None or uri.startswith(changed) or changed.startswith(uri):
                self._answers.pop(uri, None)


class TemplateList(RemoteList[ResourceTemplate]):
    """The resource templates of one server, in the server's order."""

    method = "resources/templates/list"
    key = "resourceTemplates"
    capability = "resources"

    def parse(self, offers: list[Any]) -> list[ResourceTemplate]:
        """Return the templates in *offers*, the entries of the server's list."""
        return read_templates(offers)


class ResourceList(RemoteList[Resource]):
    """The resources of one server, in the server's order. Source: MCP specification, resources."""

    method = "resources/list"
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
        """The sequence of resource templates."""

    def parse(self, offers: list[Any]) -> list[Resource]:
        """Return the resources in *offers*, the entries of the server's list."""
        return read_resources(offers)

    def read(self, uri: str, *, anew: bool = False) -> MCPResourceObservation:
        """Read the resource at *uri*, which may be missing in the server's list of resources.

        If an earlier answer is still fresh according to its `ttlMs`, it is returned without a
        request. If *anew* is True, the resource is always requested. Known secrets in *uri*, and
        parameters with names such as `token`, are masked in the record of the traffic.

        Raises:
            ServerError: If the server refuses or cannot be reached.
        """
        answerer = self._connection.inbox.answerer()
        if anew:
            self._reads.end(uri)
        return wait_answering(self._read, uri, answerer=answerer)

    def subscribe(self, uri: str) -> None:
        """Subscribe to changes of the resource *uri*.

        After a change, *uri* is added to `updated`, and the listeners are called.

        Raises:
            ServerError: If the server refuses. In the newer protocol (MCP 2026-07-28), a server may
                also refuse without an error.
        """
        portal.call(self._subscribe, uri)

    def unsubscribe(self, uri: str) -> None:
        """Unsubscribe from changes of the resource *uri*."""
        portal.call(self._subscriptions.remove, uri)

    @property
    def updated(self) -> list[str]:
        """The subscribed resources that have changed, without repeats."""
        return list(self._subscriptions.updated)

    def forget(self) -> None:
        """Discard the lists and the kept contents, so that they are requested when next used."""
        super().forget()
        self.templates.forget()
        self._reads.end()

    def note_update(self, uri: str) -> None:
        """Handle the server's notification that the resource *uri* changed."""
        self._reads.end(uri)
        self._subscriptions.note(uri)

    async def _subscribe(self, uri: str) -> None:
        self._connection.inbox.keep_secret(secrets_in_argument(uri))
        await self._subscriptions.add(uri)

    async def _read(self, uri: str, *, answerer: Answerer | None = None) -> MCPResourceObservation:
        self._connection.inbox.keep_secret(secrets_in_argument(uri))
        result = self._reads.get(uri)
        if result is None:
            result = await self._asked(uri, answerer)
        observation = resource_observation(uri, result)
        hide_in_views(observation, self._connection.inbox.redactor)
        return observation

    async def _asked(self, uri: str, answerer: Answerer | None) -> dict[str, Any]:
        """Read *uri* from the server; keep the answer if its `ttlMs` allows it."""
        changes = self._reads.changes
        call = Call(seconds=self._seconds, answerer=answerer)
        result = await self._connection.request(
            "resources/read", {"uri": uri}, call, verb=f"read {uri!r}"
        )
        is_modern = self._connection.current.is_modern
        is_answered = "inputResponses" in call.answers
        is_kept = is_modern and not is_answered and not self._connection.is_recorded
        if is_kept and changes == self._reads.changes:
            self._reads.keep(uri, result)
        return result
