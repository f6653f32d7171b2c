"""Turn a model's message into actions that can run, or errors that the model can correct.

A call that can mean two things is an error, never a guess. All repairs are listed in
`call.repairs`.
"""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from toolbench.core.schema import Action
from toolbench.core.security import SecurityRisk
from toolbench.core.tool import ToolDefinition
from toolbench.errors import ArgumentsError, Problem
from toolbench.llm.answers import respond, respond_all
from toolbench.llm.calls.json_text import NotJsonError, read_json
from toolbench.llm.calls.repairs import Mending, Repair
from toolbench.llm.calls.tool_call import (
    CallMetadata,
    FunctionCallNotExistsError,
    FunctionCallValidationError,
    ToolCall,
)
from toolbench.llm.calls.written_calls import written_calls as calls_in
from toolbench.llm.formats.arguments import from_provider, sent_names
from toolbench.llm.message import Message, Part, Response, TextPart, ThinkingPart, ToolCallPart
from toolbench.llm.providers import ALIASES, Provider, meant_by, tool_name
from toolbench.llm.read import ToolCallAccumulator, read_message
from toolbench.llm.wire.wire import string
from toolbench.values import clip

__all__ = [
    "CallMetadata",
    "FunctionCallNotExistsError",
    "FunctionCallValidationError",
    "Repair",
    "ToolCall",
    "ToolCallAccumulator",
    "parse_tool_calls",
    "respond",
    "respond_all",
]

_UNQUOTED = "the arguments are not a JSON object (not quoted here: one of them is a secret)"


AnyTool = ToolDefinition[Any, Any]
Tools = Iterable[AnyTool] | Mapping[str, AnyTool]


class Offer:
    """The tools that were offered to a model. `find` knows every name that the model may use for them."""

    def __init__(
        self, tools: Tools, provider: Provider, aliases: Mapping[str, str] = ALIASES
    ) -> None:
        """Offer *tools* under *provider*'s names. If tools have the same name, only the first is offered."""
        if isinstance(tools, Mapping):
            tools = tools.values()
        self._tools: dict[str, AnyTool] = {}
        for tool in tools:
            self._tools.setdefault(tool.name, tool)
        self.provider, self._aliases = provider, aliases
        self._sent: dict[str, AnyTool] | None = None

    @property
    def names(self) -> list[str]:
        """The names of the tools, as the model got them."""
        return list(self._by_sent_name())

    def find(self, name: str) -> tuple[AnyTool | None, str | None]:
        """Return the tool that *name* means, and a note if *name* is not the exact name of the tool.

        The tool is None if *name* means no tool.
        """
        tool = self._tools.get(name) or self._by_sent_name().get(name)
        if tool is not None:
            return tool, None
        sent = self._by_sent_name()
        match = meant_by(name, {**self._tools, **sent}, self._aliases)
        if match is None:
            return None, None
        tool = self._tools.get(match) or sent[match]
        return tool, f"{name!r} was read as {tool.name!r}"

    def takes_secret(self, tool: AnyTool | None) -> bool:
        """Return whether *tool* takes a secret; if it is None, whether any tool does."""
        if tool is not None:
            return tool.secrecy.has_secrets
        return any(tool.secrecy.has_secrets for tool in self._tools.values())

    def _by_sent_name(self) -> dict[str, AnyTool]:
        if self._sent is None:
            self._sent = {}
            for name, tool in self._tools.items():
                self._sent.setdefault(tool_name(name, self.provider), tool)
        return self._sent


def parse_tool_calls(
    message: Any,
    tools: Tools,
    *,
    aliases: Mapping[str, str] = ALIASES,
    provider: Provider | None = None,
    written_calls: bool = False,
) -> list[ToolCall]:
    """Return the calls in *message*, in their order; an empty list if there are none.

    A call of an unknown tool, or with wrong arguments, is returned with an `error`; no
    error is raised.

    Args:
        message: The response, its message, or the call alone, from a model of OpenAI (chat or
            Responses), Anthropic, Gemini or MCP; as dict, JSON text or SDK object.
        tools: The tools that were offered to the model.
        aliases: Other names for tools, each with the tool's real name.
        provider: The provider of the message. If it is left out, the keys of the message show the
            provider; a message that is only a name and arguments counts as MCP.
        written_calls: Whether the model is known to write calls into its text. Then, if the message
            has no calls, those in its text are read. Their JSON must be the whole text (bare or in
            a code fence), or follow a mark such as `<tool_call>` with no words after it. JSON in
            the middle of words is an example, not a call. Of any other model a text is a text: it
            may quote a page or a file that has such a call in it.

    Raises:
        BodyError: If no known provider sends such a *message*.
    """
    response = read_message(message)
    if written_calls and not response.message.calls:
        response = _with_written(response)
    provider = provider or response.message.provider or "openai"
    offer = Offer(tools, provider, aliases)
    sent_calls = response.message.calls
    return [_call(sent, response, i, offer) for i, sent in enumerate(sent_calls)]


def _with_written(response: Response) -> Response:
    """Return *response* with the calls that the model wrote into its text as calls."""
    message = response.message
    calls, words = calls_in(message.text)
    if not calls:
        return response
    parts: list[Part] = []
    for part in message.parts:
        if isinstance(part, ThinkingPart):
            parts.append(part)
    if words:
        parts.append(TextPart(words))
    for place, call in enumerate(calls):
        parts.append(ToolCallPart(call.name, call.arguments, f"text_{place}", call.problem))
    note = "the call was written as text"
    read = Message("assistant", tuple(parts), message.provider)
    return replace(response, message=read, repairs=[*response.repairs, note])


def _call(sent: ToolCallPart, response: Response, index: int, offer: Offer) -> ToolCall:
    message = response.message
    name = string(sent.name)
    metadata = CallMetadata(
        provider=offer.provider,
        sent_name=name,
        index=index,
        total=len(message.calls),
        response_id=response.id,
        model=response.model,
        finish=response.finish,
    )
    repairs = [Repair((), text) for text in response.repairs]
    tool, renamed = offer.find(name)
    if renamed:
        repairs.append(Repair((), f"the tool {renamed}"))
    facts: dict[str, Any] = {"id": sent.id, "name": name, "tool": tool, "metadata": metadata}
    if sent.id is not None:
        facts["id"] = str(sent.id)
    if tool is not None:
        facts["name"] = tool.name
    if index == 0:
        facts["thought"] = message.thought
    try:
        arguments = _arguments(sent, name, repairs)
    except FunctionCallValidationError as error:
        shown = error
        if offer.takes_secret(tool):
            shown = FunctionCallValidationError(name, [Problem((), _UNQUOTED)])
        return ToolCall(**facts, error=shown, repairs=tuple(repairs))
    if tool is None:
        unknown = FunctionCallNotExistsError(name, offer.names)
        return ToolCall(**facts, arguments=arguments, error=unknown, repairs=tuple(repairs))
    try:
        return _checked(facts, tool, arguments, repairs)
    except RecursionError:
        problem = Problem((), "the arguments are nested too deeply")
        deep = FunctionCallValidationError(name, [problem])
        return ToolCall(**facts | {"error": deep, "repairs": tuple(repairs)})


def _arguments(sent: ToolCallPart, name: str, repairs: list[Repair]) -> dict[str, Any]:
    """Return the arguments of the call *sent* as a dict, and add the repairs to *repairs*.

    Raises:
        FunctionCallValidationError: If the arguments cannot be read as a JSON object.
    """
    value = sent.arguments
    if sent.problem is not None:
        raise FunctionCallValidationError(name, [Problem((), sent.problem)])
    if isinstance(value, str) and not value.strip():
        value = None
    if isinstance(value, str):
        value = _read(value, name, repairs)
        if isinstance(value, str):
            value = _read(value, name, repairs)
            repairs.append(Repair((), "the arguments were JSON in a string"))
    if value is None:
        return {}
    if isinstance(value, dict) and all(isinstance(key, str) for key in value):
        return dict(value)
    problem = f"the arguments should be a JSON object, not {clip(value)}"
    raise FunctionCallValidationError(name, [Problem((), problem)])


def _read(text: str, name: str, repairs: list[Repair]) -> Any:
    try:
        value, mended = read_json(text)
    except NotJsonError as error:
        problem = f"the arguments are not a JSON object: {error}"
        raise FunctionCallValidationError(name, [Problem((), problem)]) from None
    for repair in mended:
        repairs.append(Repair((), f"the arguments: {repair}"))
    return value


def _checked(
    facts: dict[str, Any],
    tool: AnyTool,
    arguments: dict[str, Any],
    repairs: list[Repair],
) -> ToolCall:
    metadata: CallMetadata = facts["metadata"]
    arguments = from_provider(arguments, tool, metadata.provider)
    accepted = tool.input_node
    problems, asides = _asides(arguments, accepted.properties, repairs)
    mending = Mending()
    arguments = mending.mended(arguments, accepted)
    repairs += mending.repairs
    action: Action | None = None
    try:
        action = tool.action_from_arguments(arguments)
    except ArgumentsError as error:
        problems += error.problems
    if not problems:
        repairs += [_accepted(path, value) for path, value in mending.odd]
    facts |= {"arguments": arguments, "repairs": tuple(repairs), **asides}
    if not problems:
        return ToolCall(**facts, action=action)
    names = sent_names(tool, metadata.provider)
    masked_problems = [_with_sent_names(problem, names) for problem in problems]
    failed = FunctionCallValidationError(metadata.sent_name, masked_problems)
    return ToolCall(**facts, error=failed)


def _asides(
    arguments: dict[str, Any], own: Mapping[str, Any], repairs: list[Repair]
) -> tuple[list[Problem], dict[str, Any]]:
    """Remove `summary` and `security_risk` from *arguments*, unless they are names in *own*.

    *own* has the arguments that the tool itself declares.

    Returns:
        The problems with the removed values, and the removed values by name.
    """
    problems: list[Problem] = []
    asides: dict[str, Any] = {}
    if "summary" in arguments and "summary" not in own:
        asides["summary"] = str(arguments.pop("summary"))
    if "security_risk" in arguments and "security_risk" not in own:
        value = arguments.pop("security_risk")
        rating = str(value).strip().upper()
        if rating in SecurityRisk.__members__:
            asides["security_risk"] = SecurityRisk(rating)
            if value != rating:
                text = f"{clip(value)} was read as {rating}"
                repairs.append(Repair(("security_risk",), text))
        else:
            levels = ", ".join(SecurityRisk)
            message = f"should be one of {levels}, not {clip(value)}"
            problems.append(Problem(("security_risk",), message))
    return problems, asides


def _accepted(path: tuple[str | int, ...], value: Any) -> Repair:
    return Repair(path, f"{clip(value)} was accepted, though the schema asks for another type")


def _with_sent_names(problem: Problem, names: Mapping[str, str]) -> Problem:
    """Return *problem* with the argument names that the model got.

    *names* has the names that were changed for the provider, each with the name that was sent.
    """
    if not names:
        return problem
    path = tuple(names.get(str(part), part) for part in problem.path)
    return Problem(path, problem.message)
