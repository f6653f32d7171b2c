"""Turn a server's answer to a call into an observation, without losing any part."""

from collections.abc import Iterable, Mapping, Sequence
from math import isnan
from shlex import quote
from typing import Any, Literal

from pydantic import Field
from pydantic_core import PydanticSerializationError, to_json

from toolbench.core.coercion import answer_data, frame_of, is_said_by
from toolbench.core.content import Content, TextContent, describe
from toolbench.core.schema import Observation
from toolbench.jsonschema.validate import SchemaValidator
from toolbench.runs.unfinished_observation import UnfinishedObservation
from toolbench.values import clip

Reader = Literal["user", "assistant"]
# A block without a priority is neither required nor optional
_BETWEEN = 0.5


def is_for(block: Mapping[str, Any], reader: Reader) -> bool:
    """Tell whether *block* is for *reader*; a block without a valid audience is for all."""
    audience = _annotations(block).get("audience")
    if not isinstance(audience, list):
        return True
    # An audience without a valid reader is ignored
    return reader in audience or not ("user" in audience or "assistant" in audience)


def priority_of(block: Mapping[str, Any]) -> float:
    """Return the priority of *block*, from 0 (optional) to 1 (required); 0.5 if not valid."""
    priority = _annotations(block).get("priority")
    if isinstance(priority, bool) or not isinstance(priority, int | float):
        return _BETWEEN
    if isnan(priority) or not 0 <= priority <= 1:
        return _BETWEEN
    return float(priority)


def _annotations(block: Mapping[str, Any]) -> Mapping[str, Any]:
    annotations = block.get("annotations")
    if isinstance(annotations, Mapping):
        return annotations
    return {}


# Messages of servers of FastMCP and of the Python SDK
_OLDER_WAY = (
    "via server-initiated requests is unavailable on 2026-07-28 connections",
    "has no back-channel for server-initiated requests",
)
_FOR_PERSON = "The tool answered the user; no part of the answer is for you."
# Letters of a value that only Python's own JSON can write
_DEEP_TEXT = 100_000


class MCPObservation(Observation):
    """What a server answered to a call or another request, with its blocks unchanged."""

    blocks: list[dict[str, Any]] = Field(default_factory=list)
    """Every block as the server sent it: text, images, audio, links, resources or others."""
    structured: Any = None
    """The structured content, as JSON."""
    warnings: list[str] = Field(default_factory=list)
    """Problems with the answer, for the user. The answer is shown anyway."""
    lost: list[str] = Field(default_factory=list)
    """The warnings that a model sees too: it may expect data that the server lost at a restart."""

    def to_mcp_result(self) -> dict[str, Any]:
        """Return the answer as the server sent it."""
        result = super().to_mcp_result()
        if self.blocks and len(self.blocks) == len(self.content):
            result["content"] = [dict(block) for block in self.blocks]
        # Errors may have structured content too
        if (structured := self._structured()) is not None:
            result["structuredContent"] = structured
        return result

    def _structured(self) -> dict[str, Any] | None:
        if isinstance(self.structured, dict):
            return self.structured
        return None

    @property
    def text(self) -> str:
        """The text blocks of the content, joined by newlines."""
        return "\n".join(_texts_of(self.content))

    @property
    def to_llm_content(self) -> Sequence[Content]:
        """The content for the model, without the blocks that are only for the user.

        Blocks with a higher `annotations.priority` come first.
        """
        content = self._content_for("assistant")
        if self.content and not content:
            content = [TextContent(text=_FOR_PERSON)]
        lost = [TextContent(text=f"Note: {text}") for text in self.lost]
        if self.is_error:
            return [TextContent(text=self.ERROR_MESSAGE_HEADER), *content, *lost]
        return [*content, *lost]

    @property
    def _person_content(self) -> Sequence[Content]:
        return self._content_for("user")

    @property
    def _asides(self) -> list[str]:
        return self.warnings

    @property
    def _unread_data(self) -> Any:
        if self.structured is None:
            return None
        if is_said_by(_texts_of(self._person_content), self.structured):
            return None
        return self.structured

    def _content_for(self, reader: Reader) -> Sequence[Content]:
        """Return the content of the blocks that are meant for *reader*."""
        return [item for _, item in self._items_for(reader)]

    def _items_for(self, reader: Reader) -> list[tuple[Mapping[str, Any], Content]]:
        """Return the blocks for *reader*, each with its content, in reading order."""
        # Content that replaces the blocks
        if len(self.blocks) != len(self.content):
            return [({}, item) for item in self.content]
        items: list[tuple[Mapping[str, Any], Content]] = []
        for block, item in zip(self.blocks, self.content, strict=True):
            if is_for(block, reader):
                items.append((block, item))
        return items

    @property
    def data(self) -> Any:
        """The answer as Python objects.

        If the answer has structured content, this is the structured content. Some servers wrap it
        as `{"result": ...}`; the wrapper is removed, and a wrapped string that is a JSON object or
        list is parsed. If the answer has no structured content, but a single text block that is
        JSON, this is the parsed text. Otherwise, this is the text of the answer, or None if there
        is no text.
        """
        return answer_data(self.structured, self.blocks, self.text)

    @property
    def links(self) -> list[str]:
        """The URIs of the resources to which the answer links.

        `session.read_resource(uri)` reads one of them. A panel shows a button for each link, and
        reads the resource only when the button is pressed.
        """
        uris = []
        for block in self.blocks:
            if block.get("type") == "resource_link" and isinstance(block.get("uri"), str):
                uris.append(block["uri"])
        return uris

    @property
    def df(self) -> Any:
        """The answer as a pandas DataFrame, if it is a list of objects.

        Raises:
            MissingExtraError: If pandas is not installed.
            TypeError: If the answer is not a list of objects.
        """
        return frame_of(self.data)


def _texts_of(content: Iterable[Content]) -> list[str]:
    return [item.text for item in content if isinstance(item, TextContent)]


class MCPToolObservation(MCPObservation):
    """The result of one call of a server's tool.

    Source: OpenHands SDK, `MCPToolObservation`.
    """

    tool_name: str
    meta: dict[str, Any] | None = None
    """The `_meta` of the result."""
    as_declared: bool = True
    """Whether the structured content fits the tool's output schema; if not, `warnings` says why."""

    @property
    def _is_as_declared(self) -> bool:
        return self.as_declared

    def _items_for(self, reader: Reader) -> list[tuple[Mapping[str, Any], Content]]:
        """Return the blocks for *reader*, highest priority first."""
        items = super()._items_for(reader)
        return sorted(items, key=lambda item: priority_of(item[0]), reverse=True)

    def to_mcp_result(self) -> dict[str, Any]:
        """Return the answer as the server sent it, with its `_meta`.

        Examples:
            >>> from toolbench.mcp import create_mcp_tools
            >>> from toolbench.testing import FakeMCPServer
            >>> server = FakeMCPServer("library")
            >>> server.answer("search", [{"title": "Emma", "copies": 2}])
            >>> with create_mcp_tools(server) as client:
            ...     found = client["search"](author="Austen")
            >>> found.data
            [{'title': 'Emma', 'copies': 2}]
            >>> found.to_mcp_result()["structuredContent"]
            {'result': [{'title': 'Emma', 'copies': 2}]}
        """
        result = super().to_mcp_result()
        if self.meta is None:
            return result
        return {**result, "_meta": dict(self.meta)}


class MCPUnfinishedObservation(UnfinishedObservation, MCPToolObservation):
    """The observation of a stopped call. A stop is not a failure of the server."""


def tool_observation(
    tool: str, result: Mapping[str, Any], promise: SchemaValidator | None = None
) -> MCPToolObservation:
    """Convert *result*, the server's answer to a call of *tool*, to an observation.

    *promise* is the validator for the tool's output schema. If the structured content of *result*
    does not match the schema, the observation has a warning and `as_declared=False`, but it is not
    an error.
    """
    warnings: list[str] = []
    is_error = result.get("isError") is True
    blocks = _blocks(result, warnings)
    structured = result.get("structuredContent")
    misfits: list[str] = []
    if promise is not None and not is_error:
        misfits = _misfits(result, promise)
    warnings += misfits
    content: list[Content] = []
    for block in blocks:
        content += describe(block, warnings)
    if not content:
        content = _in_place_of_nothing(structured, result, is_error=is_error)
    meta = result.get("_meta")
    if not isinstance(meta, dict):
        meta = None
    return MCPToolObservation(
        tool_name=tool,
        content=content,
        is_error=is_error,
        blocks=blocks,
        structured=structured,
        warnings=warnings,
        meta=meta,
        as_declared=not misfits,
    )


def failed_observation(tool: str, text: str, warnings: Sequence[str] = ()) -> MCPToolObservation:
    """Return the observation of a failed call: *text* is for the model, *warnings* for the user."""
    return MCPToolObservation(
        tool_name=tool,
        content=[TextContent(text=text)],
        is_error=True,
        warnings=list(warnings),
    )


def stopped_observation(tool: str, text: str) -> MCPUnfinishedObservation:
    """Return the observation of a stopped call, with the message *text*."""
    return MCPUnfinishedObservation(tool_name=tool, content=[TextContent(text=text)])


def with_way_back(observation: MCPToolObservation, server: str) -> MCPToolObservation:
    """Return *observation*. If it failed because of the protocol version, add advice as a warning.

    Some servers try to send a request to the client during a call. Only the older protocol (MCP
    2025-11-25 and before) allows this. The warning advises the user to reconnect *server* with that
    protocol. Models do not see warnings.
    """
    text = observation.text
    if not observation.is_error or not any(phrase in text for phrase in _OLDER_WAY):
        return observation
    command = f"%mcp reconnect {quote(server)} --mode legacy"
    warning = f"This server needs the older protocol to ask: run `{command}`, or add --mode legacy in a shell."
    return observation.model_copy(update={"warnings": [*observation.warnings, warning]})


def _blocks(result: Mapping[str, Any], warnings: list[str]) -> list[dict[str, Any]]:
    if result.get("content") is None:
        warnings.append("The result has no content list.")
        return []
    return blocks_in(result["content"], warnings)


def blocks_in(content: Any, warnings: list[str]) -> list[dict[str, Any]]:
    """Return the blocks of *content*; add to *warnings* if it is not a list of objects."""
    if isinstance(content, str):
        warnings.append("The content is a string, not a list of blocks.")
        return [{"type": "text", "text": content}]
    if not isinstance(content, list):
        warnings.append(f"The content is not a list of blocks: {clip(content)}.")
        if isinstance(content, dict):
            return [content]
        return [{"value": content}]
    blocks = []
    for block in content:
        if isinstance(block, dict):
            blocks.append(block)
        else:
            warnings.append(f"A block of the content is not an object: {clip(block)}.")
            blocks.append({"value": block})
    return blocks


def _misfits(result: Mapping[str, Any], promise: SchemaValidator) -> list[str]:
    """Return why the structured content of *result* does not fit the output schema."""
    if "structuredContent" not in result:
        return ["The tool promises structured content and sent none."]
    return [
        f"The structured content does not fit the tool's output schema: {problem}."
        for problem in promise.problems(result["structuredContent"])
    ]


def _in_place_of_nothing(
    structured: Any, result: Mapping[str, Any], *, is_error: bool
) -> list[Content]:
    if structured is not None:
        return [TextContent(text=_json(structured))]
    rest = {k: v for k, v in result.items() if k not in _ENVELOPE}
    if rest:
        return [TextContent(text=_json(rest))]
    if is_error:
        return [TextContent(text="The tool failed and did not say why.")]
    return [TextContent(text="Done.")]


_ENVELOPE = ("content", "isError", "_meta", "resultType", "ttlMs", "cacheScope")


def _json(value: Any) -> str:
    try:
        return to_json(value, indent=2, inf_nan_mode="constants", fallback=str).decode()
    except PydanticSerializationError:
        # Nested too deeply for pydantic
        return clip(value, _DEEP_TEXT)
