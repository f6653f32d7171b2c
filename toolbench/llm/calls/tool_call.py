"""Turn a model's message into tool calls. Each is an action that is ready to run, or an error.

If a call can mean two things, it becomes an error; no meaning is guessed. The error's message helps
the model to correct the call. All repairs are listed in `call.repairs`.
"""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from toolbench.core.schema import Action, Observation
from toolbench.core.security import SecurityRisk
from toolbench.core.tool import ToolDefinition
from toolbench.errors import ArgumentsError, Path, Problem, ToolNotFoundError, did_you_mean
from toolbench.jsonschema.types import Json
from toolbench.llm.calls.repairs import Mending, NotJsonError, Repair, arguments_in
from toolbench.llm.calls.written_calls import written_calls as calls_in
from toolbench.llm.compose import respond
from toolbench.llm.message import (
    Message,
    Part,
    Provider,
    Response,
    TextPart,
    ThinkingPart,
    ToolCallPart,
)
from toolbench.llm.names import ALIASES, meant_by
from toolbench.llm.read import read_message
from toolbench.llm.wire import WIRES
from toolbench.llm.wire.wire import string
from toolbench.redaction.detect import hide
from toolbench.runs.perform import perform
from toolbench.runs.run import Source, run_here
from toolbench.values import clip

AnyTool = ToolDefinition[Any, Any]
Tools = Mapping[str, AnyTool]
_UNQUOTED = "the arguments are not a JSON object (not quoted here: one of them is a secret)"
# Names listed when a tool does not exist
_MAX_NAMES = 20


class FunctionCallValidationError(ArgumentsError):
    """The arguments of a call cannot be read, or are not valid; `problems` lists each fault.

    OpenHands uses the same name for this error.

    Examples:
        >>> from toolbench import tool
        >>> from toolbench.llm import parse_tool_calls
        >>> @tool
        ... def roll(sides: int) -> str:
        ...     "Roll a die."
        ...     return "6"
        >>> [call] = parse_tool_calls({"name": "roll", "arguments": {"sides": "six"}}, [roll])
        >>> call.error.problems
        (Problem(path=('sides',), message='should be an integer, not "six"'),)
    """

    def __str__(self) -> str:
        number = "1 problem"
        if len(self.problems) != 1:
            number = f"{len(self.problems)} problems"
        lines = "".join(f"\n- {problem}" for problem in self.problems)
        return (
            f"The call of {self.tool!r} was not run, {number} with its arguments:{lines}"
            "\nCorrect this and send the whole call again."
        )


class FunctionCallNotExistsError(ToolNotFoundError):
    """A model called a tool that was not offered to it.

    OpenHands uses the same name for this error.

    Examples:
        >>> from toolbench import tool
        >>> from toolbench.llm import parse_tool_calls
        >>> @tool
        ... def weather(city: str) -> str:
        ...     "The weather in a city."
        ...     return "sunny"
        >>> [call] = parse_tool_calls({"name": "wether", "arguments": {"city": "Oslo"}}, [weather])
        >>> type(call.error).__name__
        'FunctionCallNotExistsError'
        >>> print(call.error)
        There is no tool called 'wether'. Did you mean 'weather'? The tools are: weather.
    """

    def __init__(self, name: str, known: Iterable[str]) -> None:
        """Create the error; its message suggests the most similar name in *known*."""
        self.name = name
        self.known = tuple(known)
        super().__init__(str(self))

    def __str__(self) -> str:
        near = did_you_mean(self.name, self.known)
        names = ", ".join(self.known[:_MAX_NAMES]) or "none"
        more = len(self.known) - _MAX_NAMES
        if more > 0:
            names += f" and {more} more"
        return f"There is no tool called {self.name!r}.{near} The tools are: {names}."


CallError = FunctionCallValidationError | FunctionCallNotExistsError


@dataclass(frozen=True)
class CallMetadata:
    """Facts about the message that contains a call, and the call's place in it.

    Examples:
        >>> from toolbench import tool
        >>> from toolbench.llm import as_openai_call, parse_tool_calls
        >>> @tool
        ... def roll(sides: int) -> str:
        ...     "Roll a die."
        ...     return "6"
        >>> message = {"role": "assistant", "tool_calls": [as_openai_call(roll, {"sides": 6})]}
        >>> [call] = parse_tool_calls(message, [roll])
        >>> call.metadata.provider, call.metadata.index, call.metadata.total
        ('openai', 0, 1)
    """

    provider: Provider
    sent_name: str
    """The name that the model used."""
    index: int = 0
    """The index of the call among the calls of its message, starting at 0."""
    total: int = 1
    """The number of calls in the message."""
    response_id: str | None = None
    model: str | None = None
    finish: str | None = None
    """Why the model stopped, in the provider's word. This shows whether a call may be cut off."""


@dataclass(frozen=True, kw_only=True)
class ToolCall:
    """A model's call of a tool. It has either an `action` that is ready to run, or an `error`.

    Examples:
        >>> from toolbench import tool
        >>> from toolbench.llm import parse_tool_calls
        >>> @tool
        ... def double(number: int) -> int:
        ...     "Double a number."
        ...     return 2 * number
        >>> function = {"name": "double", "arguments": '{"number": 21}'}
        >>> message = {"role": "assistant", "tool_calls": [{"id": "call_1", "function": function}]}
        >>> [call] = parse_tool_calls(message, [double])
        >>> call.answer(call.run())
        {'role': 'tool', 'tool_call_id': 'call_1', 'content': '42'}
    """

    id: str | None
    """The provider's id for the call, which the answer must repeat; Gemini may send none."""
    name: str
    """The tool's own name; if there is no such tool, the name that the model used."""
    arguments: dict[str, Any] = field(default_factory=dict)
    """The repaired arguments, under the names that the tool declares; empty if not readable."""
    tool: ToolDefinition[Any, Any] | None = field(default=None, repr=False)
    action: Action | None = field(default=None, repr=False)
    error: CallError | None = None
    repairs: tuple[Repair, ...] = ()
    """All repairs that were made to the call."""
    thought: str = ""
    """The text and thinking in the model's message. Only the message's first call has them."""
    security_risk: SecurityRisk | None = None
    """The model's rating of the call, if the model was asked for a rating."""
    summary: str | None = None
    """The purpose of the call in the model's words, if the model was asked for it."""
    metadata: CallMetadata

    @property
    def observation(self) -> Observation | None:
        """The error as an observation; None if the call can be run."""
        if self.error is None:
            return None
        return Observation.from_text(str(self.error), is_error=True)

    def run(self, conversation: Any = None, *, source: Source = "model") -> Observation:
        """Run the call and return its observation; the run is recorded in `history()`.

        If the call has an `error`, it is not run, and its observation is the error.

        Args:
            conversation: The conversation that the tool's executor gets as its second argument.
            source: Who started the run. The history records this.

        Raises:
            NotImplementedError: If the tool has no executor.
        """
        if self.tool is None or self.action is None:
            return self.observation or Observation()
        self.tool.as_executable()
        return perform(
            run_here(self.tool, self.action, source, conversation, risk=self.security_risk)
        )

    def answer(self, observation: Observation | None = None) -> Json:
        """Return the message that answers the call; see `respond`.

        Args:
            observation: The result of the call. It may be left out if the call has an `error`.

        Raises:
            ValueError: If the call has neither an error nor an observation.
        """
        return respond(self, observation)

    @property
    def shown_arguments(self) -> Json:
        """The arguments with the secrets among them masked."""
        schema: Json = {}
        if self.tool:
            schema = self.tool.input_schema
        shown: Json = hide(self.arguments, schema)
        return shown

    def __repr__(self) -> str:
        text = clip(self.shown_arguments, 200)
        state = "ready"
        if self.error:
            state = "error"
        if self.repairs:
            state += f", {len(self.repairs)} repaired"
        return f"<ToolCall {self.name} {text} {state}>"


def parse_tool_calls(
    message: Any,
    tools: Iterable[AnyTool] | Tools,
    *,
    aliases: Mapping[str, str] = ALIASES,
    provider: Provider | None = None,
    written_calls: bool = False,
) -> list[ToolCall]:
    """Return the calls in *message*, in their order; an empty list if there are none.

    A call that names an unknown tool or has wrong arguments raises no exception. It is returned
    with an `error`.

    Args:
        message: A response, a message or a single call, in the format of OpenAI (chat completions
            or Responses), Anthropic, Gemini or MCP. It may be a dict, JSON text or an SDK object.
        tools: The tools that were offered to the model. If several have the same name, the first
            one is used.
        aliases: Maps other names that models use for a tool to the tool's real name.
        provider: The provider whose format the message has. By default, the format is recognized
            from the keys of the message. A message that has only a name and arguments counts as
            MCP.
        written_calls: Whether to look for calls in the text of the message, if it has no other
            calls. Set this only for a model that is known to write its calls as text. The text of
            any other model may quote a call from a page or a file. JSON in the text is a call if
            it is the whole text, or if it is at the end and follows a mark such as `<tool_call>`.

    Raises:
        BodyError: If no known provider sends such a *message*.

    Examples:
        >>> from toolbench import tool
        >>> from toolbench.llm import parse_tool_calls
        >>> @tool
        ... def double(number: int) -> int:
        ...     "Double a number."
        ...     return 2 * number
        >>> block = {"type": "tool_use", "id": "toolu_1", "name": "double", "input": {"number": 21}}
        >>> [call] = parse_tool_calls({"role": "assistant", "content": [block]}, [double])
        >>> call.action, call.metadata.provider
        (DoubleAction(number=21), 'anthropic')
    """
    response = read_message(message)
    if written_calls and not response.message.calls:
        response = _with_written(response)
    if isinstance(tools, Mapping):
        tools = tools.values()
    listed = list(tools)
    offered = {tool.name: tool for tool in listed}
    if len(offered) < len(listed):
        # The first of several with the same name
        for tool in reversed(listed):
            offered[tool.name] = tool
    provider = provider or response.message.provider or "openai"
    calls: list[ToolCall] = []
    for sent in response.message.calls:
        calls.append(_call(sent, response, len(calls), offered, provider, aliases))
    return calls


def _with_written(response: Response) -> Response:
    """Return *response*, with the calls in the model's text turned into real calls."""
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


def _call(
    sent: ToolCallPart,
    response: Response,
    index: int,
    offered: Tools,
    provider: Provider,
    aliases: Mapping[str, str],
) -> ToolCall:
    name = string(sent.name)
    metadata = CallMetadata(
        provider=provider,
        sent_name=name,
        index=index,
        total=len(response.message.calls),
        response_id=response.id,
        model=response.model,
        finish=response.finish,
    )
    id_, thought = sent.id, ""
    if id_ is not None:
        id_ = str(id_)
    if index == 0:
        thought = response.message.thought
    repairs = [Repair((), text) for text in response.repairs]
    tool, is_exact = _meant(name, offered, provider, aliases)
    if tool is not None:
        if not is_exact:
            repairs.append(Repair((), f"the tool {name!r} was read as {tool.name!r}"))
        name = tool.name
    outcome = _outcome(sent, tool, offered, metadata, repairs)
    return ToolCall(
        id=id_,
        name=name,
        tool=tool,
        thought=thought,
        repairs=tuple(repairs),
        metadata=metadata,
        **outcome,
    )


def _meant(
    name: str, offered: Tools, provider: Provider, aliases: Mapping[str, str]
) -> tuple[AnyTool | None, bool]:
    """Return the tool that a model means by *name* (or None), and whether the name is exact."""
    if name in offered:
        return offered[name], True
    sent = _by_sent_name(offered, provider)
    if name in sent:
        return sent[name], True
    every = {**sent, **offered}
    match = meant_by(name, every, aliases)
    if match is None:
        return None, False
    return every[match], False


def _by_sent_name(offered: Tools, provider: Provider) -> dict[str, AnyTool]:
    """Map each name that was sent to the model to the tool with that name."""
    sent: dict[str, AnyTool] = {}
    for name, tool in offered.items():
        sent.setdefault(WIRES[provider].tool_name(name), tool)
    return sent


def _outcome(
    sent: ToolCallPart,
    tool: AnyTool | None,
    offered: Tools,
    facts: CallMetadata,
    repairs: list[Repair],
) -> Json:
    """Return the fields of a `ToolCall` that result from the arguments of *sent*.

    These are an action or an error, and what belongs to it. Repairs are added to *repairs*.
    """
    try:
        if sent.problem is not None:
            raise NotJsonError(sent.problem)
        arguments, mended = arguments_in(sent.arguments)
    except NotJsonError as error:
        problem = str(error)
        # An unknown name may mean any of the tools
        if any(one.secrecy.has_secrets for one in offered.values() if tool in (one, None)):
            problem = _UNQUOTED
        return {"error": _misfit(facts, problem)}
    repairs += [Repair((), repair) for repair in mended]
    if tool is None:
        known = _by_sent_name(offered, facts.provider)
        unknown = FunctionCallNotExistsError(facts.sent_name, known)
        return {"arguments": arguments, "error": unknown}
    try:
        return _fitted(arguments, tool, facts, repairs)
    except RecursionError:
        return {"error": _misfit(facts, "the arguments are nested too deeply")}


def _misfit(facts: CallMetadata, problem: str) -> FunctionCallValidationError:
    return FunctionCallValidationError(facts.sent_name, [Problem((), problem)])


def _fitted(arguments: Json, tool: AnyTool, facts: CallMetadata, repairs: list[Repair]) -> Json:
    """Return the fields of a `ToolCall` with *arguments* repaired to fit the schema of *tool*."""
    wire = WIRES[facts.provider]
    arguments = wire.from_provider(arguments, tool)
    made: list[Repair] = []
    problems, asides = _asides(arguments, tool.input_node.properties, made)
    secret: Collection[Path] = ()
    if not tool.secrecy.is_harmless(arguments):
        secret = tool.secrecy.mask(arguments)[1]
    mending = Mending(secret)
    arguments = mending.mended(arguments, tool.input_node)
    action: Action | None = None
    try:
        action = tool.action_from_arguments(arguments)
    except ArgumentsError as error:
        problems += error.problems
    repairs += [*made, *mending.repairs]
    if problems:
        names = wire.sent_names(tool)
        told: list[Problem] = []
        for problem in problems:
            path = tuple(names.get(str(part), part) for part in problem.path)
            told.append(Problem(path, problem.message))
        failed = FunctionCallValidationError(facts.sent_name, told)
        return {"arguments": arguments, "error": failed, **asides}
    repairs += mending.odd
    return {"arguments": arguments, "action": action, **asides}


def _asides(
    arguments: Json, own: Mapping[str, Any], repairs: list[Repair]
) -> tuple[list[Problem], Json]:
    """Remove `summary` and `security_risk` from *arguments*, unless the tool declares them.

    *own* contains the arguments that the tool declares.

    Returns:
        The problems with the removed values, and the removed values by name.
    """
    asides: Json = {}
    if "summary" in arguments and "summary" not in own:
        asides["summary"] = str(arguments.pop("summary"))
    if "security_risk" in arguments and "security_risk" not in own:
        value = arguments.pop("security_risk")
        rating = str(value).strip().upper()
        if rating not in SecurityRisk.__members__:
            # The value is not quoted: a value in the wrong place may be a secret
            message = f"should be one of {', '.join(SecurityRisk)}"
            return [Problem(("security_risk",), message)], asides
        asides["security_risk"] = SecurityRisk(rating)
        if value != rating:
            repairs.append(Repair(("security_risk",), f"{clip(value)} was read as {rating}"))
    return [], asides
