"""Resources, resource templates and prompts of a server, and the results of using them."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from json import loads
from typing import TYPE_CHECKING, Any

from pydantic import Field

from toolbench.core.content import Content, TextContent, decoded, describe
from toolbench.mcp.results import MCPObservation, blocks_in
from toolbench.values import clip

if TYPE_CHECKING:
    from uritemplate import URITemplate


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

        The list is empty if the template is not valid by RFC 6570.
        """
        template = _template(self.uri_template)
        return [] if template is None else list(template.variable_names)

    @property
    def schema(self) -> dict[str, Any]:
        """The JSON Schema of the variables, for a form."""
        return _strings(dict.fromkeys(self.variables, ""), self.variables)

    def expand(self, /, **variables: str) -> str:
        """Return the URI with the values of *variables*.

        Raises:
            ValueError: If a variable is missing, or the template is not valid.
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


@dataclass(frozen=True, kw_only=True)
class PromptArgument:
    """One argument of a prompt; its value is always a text."""

    name: str
    description: str = ""
    required: bool = False


@dataclass(frozen=True, kw_only=True)
class Prompt:
    """A prompt: messages that a server can write. Source: MCP specification, prompts."""

    name: str
    title: str = ""
    description: str = ""
    arguments: tuple[PromptArgument, ...] = ()
    raw: Mapping[str, Any] = field(default_factory=dict, repr=False)

    @property
    def schema(self) -> dict[str, Any]:
        """The JSON Schema of the arguments, for a form."""
        return _strings(
            {argument.name: argument.description for argument in self.arguments},
            [argument.name for argument in self.arguments if argument.required],
        )


class MCPResourceObservation(MCPObservation):
    """The contents of a resource that was read."""

    uri: str

    @property
    def data(self) -> Any:
        """The contents: JSON as Python objects, other text as text, binary data as bytes.

        If the resource does not have exactly one content, this is a list of its contents.
        """
        contents = [_content_of(block["resource"]) for block in self.blocks]
        return contents[0] if len(contents) == 1 else contents


class MCPPromptObservation(MCPObservation):
    """The messages of a prompt; the content is the blocks of all messages, in order."""

    name: str
    description: str = ""
    messages: list[dict[str, Any]] = Field(default_factory=list)
    """The messages as the server sent them, each with its `role`."""


def read_resources(items: Iterable[Any]) -> list[Resource]:
    """Return the resources in a `resources/list`; items without a URI are left out."""
    return [
        Resource(
            uri=item["uri"],
            size=item["size"] if isinstance(item.get("size"), int) else None,
            **_described(item, item["uri"]),
        )
        for item in items
        if isinstance(item, Mapping) and isinstance(item.get("uri"), str)
    ]


def read_templates(items: Iterable[Any]) -> list[ResourceTemplate]:
    """Return the templates in a `resources/templates/list`; items without a URI are left out."""
    return [
        ResourceTemplate(uri_template=item["uriTemplate"], **_described(item, item["uriTemplate"]))
        for item in items
        if isinstance(item, Mapping) and isinstance(item.get("uriTemplate"), str)
    ]


def read_prompts(items: Iterable[Any]) -> list[Prompt]:
    """Return the prompts in a `prompts/list`; items without a name are left out."""
    prompts: list[Prompt] = []
    for item in items:
        if isinstance(item, Mapping) and isinstance(item.get("name"), str):
            about = _described(item, item["name"])
            about.pop("mime_type")
            prompts.append(Prompt(arguments=_arguments(item), **about))
    return prompts


def resource_observation(uri: str, result: Mapping[str, Any]) -> MCPResourceObservation:
    """Return the observation of *result*, the answer to `resources/read`."""
    warnings: list[str] = []
    parts = _as_list(result.get("contents"), warnings)
    blocks = [{"type": "resource", "resource": part} for part in parts]
    texts = [p for p in parts if isinstance(p, Mapping) and isinstance(p.get("text"), str)]
    content: list[Content] = (
        [TextContent(text=part["text"]) for part in texts]
        if len(texts) == len(parts)
        else [item for block in blocks for item in describe(block, warnings)]
    )
    if not content:
        warnings.append("The resource has no contents.")
    return MCPResourceObservation(uri=uri, content=content, blocks=blocks, warnings=warnings)


def prompt_observation(name: str, result: Mapping[str, Any]) -> MCPPromptObservation:
    """Return the observation of *result*, the answer to `prompts/get`."""
    warnings: list[str] = []
    items = _as_list(result.get("messages"), warnings)
    messages = [item for item in items if isinstance(item, dict)]
    blocks = [block for message in messages for block in _blocks_of(message, warnings)]
    return MCPPromptObservation(
        name=name,
        description=str(result.get("description") or ""),
        messages=messages,
        blocks=blocks,
        content=[item for block in blocks for item in describe(block, warnings)],
        warnings=warnings,
    )


def _template(text: str) -> "URITemplate | None":
    """Return *text* as a template; None if it is not valid."""
    # the SDK's own reader is for servers: it refuses 24 of the 66 templates that RFC 6570
    # gives as examples, because it cannot match a URI against them; this package takes all
    from uritemplate import URITemplate  # noqa: PLC0415 - only if a server has templates

    try:
        return URITemplate(text)
    except ValueError:
        # The length in `{name:length}` is not a number
        return None


def _content_of(part: Any) -> Any:
    text = part.get("text") if isinstance(part, Mapping) else None
    if not isinstance(text, str):
        return decoded(part.get("blob")) if isinstance(part, Mapping) else part
    try:
        return loads(text)
    except (ValueError, RecursionError):
        return text


def _as_list(value: Any, warnings: list[str]) -> list[Any]:
    """Return *value*, which should be a list of objects, and may be one of them; then add to *warnings*."""
    if isinstance(value, dict):
        warnings.append(f"The server sent one object in place of a list: {clip(value)}.")
        return [value]
    return value if isinstance(value, list) else []


def _blocks_of(message: Mapping[str, Any], warnings: list[str]) -> list[dict[str, Any]]:
    content = message.get("content")
    # One block is as good as a list of them
    return blocks_in([content] if isinstance(content, dict) else content or [], warnings)


def _described(item: Mapping[str, Any], name: str) -> dict[str, Any]:
    text = {
        ours: value if isinstance(value := item.get(theirs), str) else ""
        for ours, theirs in (
            ("name", "name"),
            ("title", "title"),
            ("description", "description"),
            ("mime_type", "mimeType"),
        )
    }
    return {**text, "name": text["name"] or name, "raw": dict(item)}


def _arguments(item: Mapping[str, Any]) -> tuple[PromptArgument, ...]:
    arguments = item.get("arguments")
    return tuple(
        PromptArgument(
            name=argument["name"],
            description=str(argument.get("description") or ""),
            required=argument.get("required") is True,
        )
        for argument in (arguments if isinstance(arguments, list) else [])
        if isinstance(argument, Mapping) and isinstance(argument.get("name"), str)
    )


def _strings(described: Mapping[str, str], required: list[str]) -> dict[str, Any]:
    """Return the schema of an object whose values are texts."""
    properties = {
        name: {"type": "string", **({"description": note} if note else {})}
        for name, note in described.items()
    }
    return {
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": False,
    }
