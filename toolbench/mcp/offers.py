"""The lists of a server beside its tools, read when first looked at, and what they lead to."""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from toolbench.errors import ServerError, ended
from toolbench.mcp.handlers import Answerer
from toolbench.mcp.link import Link
from toolbench.mcp.resources import (
    MCPPromptObservation,
    MCPResourceObservation,
    Prompt,
    Resource,
    ResourceTemplate,
    prompt_observation,
    read_prompts,
    read_resources,
    read_templates,
    resource_observation,
)


class Offers:
    """The resources, templates and prompts of one server; its coroutines run in the loop."""

    def __init__(self, link: Link, seconds: float) -> None:
        """Ask over *link*, *seconds* at most each time."""
        self._link = link
        self._seconds = seconds
        self._items: dict[str, list[Any]] = {}

    def forget(self, name: str | None = None) -> None:
        """List *name*, or everything, anew when it is looked at next."""
        forgotten = {"resources": ("resources", "resourceTemplates")}
        for key in forgotten.get(name, (name,)) if name else list(self._items):
            self._items.pop(key, None)

    async def resources(self) -> list[Resource]:
        """Return what can be read."""
        return await self._listed(
            "resources",
            "resources",
            lambda session, params: session.list_resources(params=params),
            read_resources,
        )

    async def templates(self) -> list[ResourceTemplate]:
        """Return the families of resources."""
        return await self._listed(
            "resourceTemplates",
            "resources",
            lambda session, params: session.list_resource_templates(params=params),
            read_templates,
        )

    async def prompts(self) -> list[Prompt]:
        """Return the prompts."""
        return await self._listed(
            "prompts",
            "prompts",
            lambda session, params: session.list_prompts(params=params),
            read_prompts,
        )

    async def _listed(
        self,
        key: str,
        capability: str,
        send: Callable[[Any, Any], Awaitable[Any]],
        read: Callable[[list[Any]], list[Any]],
    ) -> list[Any]:
        if key not in self._items:
            connection = await self._link.live()
            if capability not in connection.described().get("capabilities", {}):
                return []
            items, problem = await connection.pages(key, send, self._seconds)
            if problem is not None and not items:
                msg = f"Server {self._link.inbox.server!r} does not list its {key}: {ended(problem)}"
                raise ServerError(msg)
            self._items[key] = read(items)
        return list(self._items[key])

    async def read(
        self, uri: str, *, answerer: Answerer | None = None
    ) -> MCPResourceObservation:
        """Read what *uri* names; *answerer* answers what the server asks meanwhile."""
        result = await self._link.ask_to(
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
        return resource_observation(uri, result)

    async def write(
        self,
        name: str,
        arguments: Mapping[str, str],
        *,
        answerer: Answerer | None = None,
    ) -> MCPPromptObservation:
        """Let the server write a prompt; *answerer* answers what it asks meanwhile."""
        result = await self._link.ask_to(
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
        return prompt_observation(name, result)

    async def propose(
        self,
        target: Prompt | ResourceTemplate | str,
        argument: str,
        value: str,
        others: Mapping[str, str],
    ) -> list[str]:
        """Return what the server proposes for an argument."""
        connection = await self._link.live()
        if "completions" not in connection.described().get("capabilities", {}):
            return []
        reference = _reference(target)
        try:
            result = await self._link.ask_to(
                "complete",
                lambda session, responses, state: session.complete(
                    reference,
                    {"name": argument, "value": value},
                    dict(others) or None,
                ),
                self._seconds,
            )
        except ServerError:
            return []  # a proposal is a kindness, its absence no failure
        completion = result.get("completion")
        values = completion.get("values") if isinstance(completion, Mapping) else None
        return [str(v) for v in values] if isinstance(values, list) else []


def _reference(target: Prompt | ResourceTemplate | str) -> Any:
    from mcp_types import (  # noqa: PLC0415 - the SDK, loaded by now
        PromptReference,
        ResourceTemplateReference,
    )

    if (isinstance(target, str) and "{" in target) or isinstance(
        target, ResourceTemplate
    ):
        uri = target if isinstance(target, str) else target.uri_template
        return ResourceTemplateReference(type="ref/resource", uri=uri)
    name = target if isinstance(target, str) else target.name
    return PromptReference(type="ref/prompt", name=name)
