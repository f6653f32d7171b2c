"""List the prompts of a server, and get their messages for given arguments."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from shlex import quote
from typing import Any

from pydantic import Field

from toolbench.core.content import Content, describe
from toolbench.core.schema import hide_in_views
from toolbench.errors import BodyError, ServerError, ToolNotFoundError, did_you_mean
from toolbench.mcp.connection.open_calls import Call
from toolbench.mcp.elicitation import Answerer, wait_answering
from toolbench.mcp.lists.remote_list import RemoteList
from toolbench.mcp.lists.resources import described, list_in, object_of_strings
from toolbench.mcp.results import MCPObservation, blocks_in
from toolbench.redaction.detect import Secrecy


@dataclass(frozen=True, kw_only=True)
class PromptArgument:
    """One argument of a prompt; its value is always a string."""

    name: str
    description: str = ""
    required: bool = False


@dataclass(frozen=True, kw_only=True)
class Prompt:
    """A template for messages that a server can write. Source: MCP specification, prompts."""

    name: str
    title: str = ""
    description: str = ""
    arguments: tuple[PromptArgument, ...] = ()
    raw: Mapping[str, Any] = field(default_factory=dict, repr=False)

    @property
    def schema(self) -> dict[str, Any]:
        """The JSON Schema of the arguments, for a form."""
        described, required = dict[str, str](), []
        for argument in self.arguments:
            described[argument.name] = argument.description
            if argument.required:
                required.append(argument.name)
        return object_of_strings(described, required)

    def check(self, arguments: Iterable[str]) -> None:
        """Check that the prompt has all *arguments*, and that no required argument is missing.

        *arguments* are only the names. The values are not checked.

        Raises:
            BodyError: If a required argument is missing, or the prompt does not have one of
                *arguments*.
        """
        given, known = set(arguments), [argument.name for argument in self.arguments]
        for name in sorted(given - {*known}):
            way = did_you_mean(name, known) or f" It takes {', '.join(known) or 'none'}."
            msg = f"Prompt {self.name!r} has no argument {name!r}.{way}"
            raise BodyError(msg)
        missing = [each.name for each in self.arguments if each.required and each.name not in given]
        if missing:
            msg = f"Prompt {self.name!r} needs {', '.join(missing)}."
            raise BodyError(msg)


class MCPPromptObservation(MCPObservation):
    """The messages of a prompt; its content has the blocks of all messages in order."""

    name: str
    description: str = ""
    messages: list[dict[str, Any]] = Field(default_factory=list)
    """The messages as the server sent them, each with its `role`."""


class PromptList(RemoteList[Prompt]):
    """The prompts of one server, in the server's order. Source: MCP specification, prompts."""

    method = "prompts/list"
    key = capability = "prompts"

    def parse(self, offers: list[Any]) -> list[Prompt]:
        """Return the prompts in *offers*, the entries of the server's list."""
        return read_prompts(offers)

    def named(self, name: str) -> Prompt:
        """Return the prompt with the name *name*.

        Raises:
            ToolNotFoundError: If the server does not list such a prompt.
            ServerError: If the server refuses to list its prompts, or cannot be reached.
        """
        prompts = {prompt.name: prompt for prompt in self.items()}
        if name not in prompts:
            server = self._connection.inbox.server
            near = did_you_mean(name, prompts) or f" %mcp prompts {quote(server)} lists them."
            msg = f"Server {server!r} has no prompt {name!r}.{near}"
            raise ToolNotFoundError(msg)
        return prompts[name]

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
        result = await self._connection.request(
            "prompts/get",
            {"name": name, "arguments": arguments},
            Call(seconds=self._seconds, answerer=answerer),
            verb=f"write the prompt {name!r}",
        )
        observation = prompt_observation(name, result)
        hide_in_views(observation, inbox.redactor)
        return observation


def read_prompts(items: Iterable[Any]) -> list[Prompt]:
    """Return the prompts in the *items* of a `prompts/list`; items without a name are left out."""
    prompts: list[Prompt] = []
    for item in items:
        if isinstance(item, Mapping) and isinstance(item.get("name"), str):
            about = described(item, item["name"])
            about.pop("mime_type", None)
            prompts.append(Prompt(arguments=_arguments(item), **about))
    return prompts


def prompt_observation(name: str, result: Mapping[str, Any]) -> MCPPromptObservation:
    """Return the observation of *result*, the answer to `prompts/get`."""
    warnings: list[str] = []
    messages, blocks, content = [], list[dict[str, Any]](), list[Content]()
    for message in list_in(result.get("messages"), warnings):
        if isinstance(message, dict):
            messages.append(message)
            blocks += _blocks_of(message, warnings)
    for block in blocks:
        content += describe(block, warnings)
    return MCPPromptObservation(
        name=name,
        description=str(result.get("description") or ""),
        messages=messages,
        blocks=blocks,
        content=content,
        warnings=warnings,
    )


def _blocks_of(message: Mapping[str, Any], warnings: list[str]) -> list[dict[str, Any]]:
    content = message.get("content") or []
    # A message may have one block instead of a list
    if isinstance(content, dict):
        content = [content]
    return blocks_in(content, warnings)


def _arguments(item: Mapping[str, Any]) -> tuple[PromptArgument, ...]:
    listed = item.get("arguments")
    if not isinstance(listed, list):
        return ()
    arguments = []
    for one in listed:
        if isinstance(one, Mapping) and isinstance(one.get("name"), str):
            description = str(one.get("description") or "")
            required = one.get("required") is True
            arguments.append(
                PromptArgument(name=one["name"], description=description, required=required)
            )
    return tuple(arguments)
