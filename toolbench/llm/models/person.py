"""The user as the model, who sees each request and writes the answer."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

from toolbench.errors import ModelError, ModelStoppedError, ToolNotFoundError
from toolbench.jsonschema.types import Json
from toolbench.llm.calls.written_calls import named_schema
from toolbench.llm.compose import model_message
from toolbench.llm.message import Provider, ToolCallPart
from toolbench.llm.models.model import (
    Answer,
    Messages,
    OfferedTools,
    OnChunk,
    not_cancelled,
    offered,
    whole_answer,
)
from toolbench.llm.read import read_message
from toolbench.runs.control import Cancellable
from toolbench.runs.current_run import active_run
from toolbench.runs.dialogue import answer_here, preset_here, withdrawable
from toolbench.runs.input_prompt import ask_in_cell
from toolbench.runs.questions import Answer as Reply
from toolbench.runs.questions import Question
from toolbench.values import copied


@dataclass(frozen=True)
class PersonRequest:
    """A request that the user answers in place of a model. It is exactly what a model would get.

    Examples:
        >>> from toolbench import tool
        >>> from toolbench.llm import PersonModel, to_openai, user_message
        >>> @tool
        ... def hotels(city: str) -> str:
        ...     "List the hotels in a city."
        ...     return "none"
        >>> def choose(request, cancel):
        ...     return request.answer(calls=[(request.tool_names[0], {"city": "Oslo"})])
        >>> messages = [user_message("A room in Oslo?")]
        >>> answer = PersonModel(choose).complete(messages, [to_openai(hotels)])
        >>> answer.message["tool_calls"][0]["function"]
        {'name': 'hotels', 'arguments': '{"city": "Oslo"}'}
    """

    messages: Sequence[Json]
    """The conversation in the provider's format, oldest message first."""
    tools: Sequence[Json]
    """The tools in the provider's format."""
    provider: Provider
    known_tools: Sequence[Json] = ()
    """The tools that the user has seen in an earlier request; `text` has only their names."""

    @property
    def tool_names(self) -> list[str]:
        """The names of the tools in the request."""
        return [named_schema(tool)[0] for tool in self.tools]

    def schema(self, name: str) -> Json:
        """Return the JSON Schema of the arguments of the tool *name*.

        Raises:
            ToolNotFoundError: If there is no such tool.
        """
        schemas = dict(map(named_schema, self.tools))
        if name not in schemas:
            msg = f"There is no tool {name!r}; there are: {', '.join(schemas) or 'none'}."
            raise ToolNotFoundError(msg)
        return schemas[name] or {"type": "object"}

    def answer(self, text: str = "", calls: Sequence[tuple[str, Mapping[str, Any]]] = ()) -> Answer:
        """Return an answer with *text* and *calls*; each call is a tool's name and arguments."""
        parts = [ToolCallPart(name, dict(arguments)) for name, arguments in calls]
        message = model_message(text, parts, self.provider)
        reason = "stop"
        if calls:
            reason = "tool_calls"
        return Answer(message, reason)

    @property
    def text(self) -> str:
        """The request as readable text: every message, then the tools; known tools only by name."""
        blocks = [f"[{message.get('role')}] {_words(message)}" for message in self.messages]
        lines, known = [], []
        for name, tool in zip(self.tool_names, self.tools, strict=True):
            if tool in self.known_tools:
                known.append(name)
            else:
                lines.append(json.dumps(tool, ensure_ascii=False))
        if known:
            lines.append(f"as before: {', '.join(known)}")
        tool_lines = "\n".join(lines) or "none"
        blocks.append(f"[tools]\n{tool_lines}")
        return "\n\n".join(blocks)


Answerer = Callable[[PersonRequest, Cancellable], Any]
"""A function that gives the answer: an `Answer`, a message or a string. It may block; after the
cancel token is cancelled, no caller waits for the answer."""


_asking_here: ContextVar[Answerer | None] = ContextVar("asking_here", default=None)


@contextmanager
def asked_by(answerer: Answerer) -> Iterator[None]:
    """Make each `PersonModel` use *answerer* while the `with` block runs.

    Runs that the block starts use it too. A `PersonModel` that has its own answerer is not
    affected.
    """
    token = _asking_here.set(answerer)
    try:
        yield
    finally:
        _asking_here.reset(token)


class PersonModel:
    """A model that you play yourself: it shows you each request, and you write the answer.

    You are asked below the cell (by `input()`) or in the panel of the run. First, you write text or
    choose a tool to call; then, you give each argument of the tool. The first request shows the
    schemas of the tools, and later requests show only their names. To give the answers in advance,
    use `answering` of `toolbench.runs.questions`.

    Args:
        answerer: A function that gets each request and returns your answer. It replaces the
            questions in the cell or panel. You may also set the attribute `answerer` later.
        name: The display name of the model.
        provider: The provider whose message format the model uses.

    Examples:
        >>> from toolbench.llm import PersonModel, user_message
        >>> def ask_somebody(request, cancel):
        ...     return request.answer("Ask me again tomorrow.")
        >>> PersonModel(ask_somebody).complete([user_message("Will it rain?")]).text
        'Ask me again tomorrow.'
    """

    def __init__(
        self,
        answerer: Answerer | None = None,
        *,
        name: str = "you",
        provider: Provider = "openai",
    ) -> None:
        self.answerer: Answerer = ask_for_answer if answerer is None else answerer
        """The function that asks the user."""
        self.name, self.provider = name, provider
        # The tools that the last request in the cell showed
        self._known_tools: list[Json] = []

    def __repr__(self) -> str:
        return f"<PersonModel {self.name}>"

    @property
    def is_asked_here(self) -> bool:
        """Whether the user is asked in the cell or the run's panel, not by a given answerer."""
        return self.answerer is ask_for_answer

    def complete(
        self,
        messages: Messages,
        tools: OfferedTools = (),
        *,
        on_chunk: OnChunk | None = None,
        cancel: Cancellable | None = None,
    ) -> Answer:
        """Return the user's answer.

        Raises:
            ModelError: If nobody can answer here.
            ModelStoppedError: If the user gave no answer, or *cancel* was cancelled.
        """
        cancel = not_cancelled(cancel, self.name)
        copies = copied(messages)
        answerer = self.answerer
        if self.is_asked_here:
            answerer = _asking_here.get() or answerer
        offer, known = offered(tools, self.provider), list[Json]()
        # Remember the tools if the user reads the request
        if answerer is ask_for_answer and preset_here(_choice("", ())) is None:
            known, self._known_tools = self._known_tools, offer
        request = PersonRequest(copies, offer, self.provider, known)
        reply = answerer(request, cancel)
        # If it was cancelled while the user was asked, the answer is not used
        not_cancelled(cancel, self.name)
        return whole_answer(reply, self.provider, len(messages), on_chunk)


def ask_for_answer(request: PersonRequest, cancel: Cancellable) -> Answer:
    """Ask the user for the answer to *request*, in the cell or in the panel of the run."""
    names = request.tool_names
    chosen = _content_of(_choice(request.text, names), cancel)
    name, text = chosen.get("tool"), str(chosen.get("text") or "")
    if not name or cancel.cancelled:
        return request.answer(text)
    question = Question(f"The arguments of {name}:", request.schema(name))
    arguments = _content_of(question, cancel)
    return request.answer(text, [(name, arguments)])


def _choice(text: str, names: Sequence[str]) -> Question:
    properties: dict[str, Json] = {}
    if names:
        about = "The tool to call; leave it empty to answer only with text"
        properties["tool"] = {"type": "string", "enum": [*names], "description": about}
    properties["text"] = {"type": "string", "description": "What you say"}
    schema = {"type": "object", "properties": properties}
    return Question(f"You are the model. The request to the model is:\n\n{text}\n", schema)


def _content_of(question: Question, cancel: Cancellable) -> dict[str, Any]:
    run = active_run()
    if run is not None and preset_here(question) is None:
        reply = run.ask(question.message, question.schema)
    else:
        reply = answer_here(question, withdrawable(ask_in_cell, cancel))
    return _content(reply)


def _content(reply: Reply) -> dict[str, Any]:
    if reply:
        return dict(reply.content or {})
    if not reply.by_somebody:
        msg = (
            "Nobody can answer for the model here: input() works in a cell of a notebook "
            "with a user in front of it. Elsewhere give PersonModel an answerer."
        )
        raise ModelError(msg)
    msg = "You gave no answer for the model."
    raise ModelStoppedError(msg)


def _words(message: Json) -> str:
    """Return the text of a message, with calls and other content as JSON."""
    content = message.get("content")
    if isinstance(content, str) and not message.get("tool_calls"):
        return content
    rest = {key: value for key, value in message.items() if key != "role"}
    if message.get("role") in ("assistant", "model"):
        said = read_message(message).message
        lines = []
        if said.text:
            lines.append(said.text)
        for call in said.calls:
            lines.append(f"calls {call.name} {_json(call.arguments)}")
        return "\n".join(lines)
    return _json(rest)


def _json(value: Any) -> str:
    if isinstance(value, str):
        return value
    return json.dumps(value, ensure_ascii=False, default=str)
