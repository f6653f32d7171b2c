"""A model that gives the answers of a script, for tests and lessons."""

from collections.abc import Iterable, Mapping, Sequence
from copy import deepcopy
from threading import Lock
from typing import Any

from toolbench.errors import ModelScriptError
from toolbench.jsonschema.types import Json
from toolbench.llm.message import Provider
from toolbench.llm.models.model import (
    Answer,
    Messages,
    OfferedTools,
    OnChunk,
    as_answer,
    not_cancelled,
    offered,
    report,
)
from toolbench.runs.control import Cancellable
from toolbench.values import copied
from toolbench.wording import counted

_NO_NAME = "scripted"


class ScriptedModel:
    """A model for tests and demos, which answers each request with the next item of a script.

    Args:
        script: The answers, one for each request. An answer is a string, an `Answer`, a message in
            the provider's format, or an exception to raise.
        name: The display name of the model.
        provider: The provider whose message format the model uses.

    Examples:
        >>> from toolbench.llm import ScriptedModel, user_message
        >>> model = ScriptedModel(["Hello!", TimeoutError("no answer")])
        >>> model.complete([user_message("Hi")]).text
        'Hello!'
        >>> model.requests[0][0]
        [{'role': 'user', 'content': 'Hi'}]
    """

    def __init__(
        self,
        script: Iterable[Mapping[str, Any] | Answer | str | Exception],
        *,
        name: str = _NO_NAME,
        provider: Provider = "openai",
    ) -> None:
        self.name, self.provider = name, provider
        self.requests: list[tuple[list[Json], list[Json]]] = []
        """The messages and the tools of every request so far; equal messages are stored only
        once."""
        self._script = list(script)
        self._lock = Lock()

    def __repr__(self) -> str:
        left = len(self._script) - len(self.requests)
        return f"<ScriptedModel {self.name}: {counted(max(left, 0), 'answer')} left>"

    def complete(
        self,
        messages: Messages,
        tools: OfferedTools = (),
        *,
        on_chunk: OnChunk | None = None,
        cancel: Cancellable | None = None,
    ) -> Answer:
        """Return the next message of the script.

        Raises:
            ModelScriptError: If the script has no more messages.
            ModelStoppedError: If *cancel* is already cancelled.
        """
        not_cancelled(cancel, self.name)
        with self._lock:
            place = len(self.requests)
            last: tuple[list[Json], list[Json]] = ([], [])
            if self.requests:
                last = self.requests[-1]
            tool_list = offered(tools, self.provider)
            sent = (_shared(messages, last[0]), _shared(tool_list, last[1]))
            self.requests.append(sent)
        if place >= len(self._script):
            owner = self.name
            if owner == _NO_NAME:
                owner = "this ScriptedModel"
            msg = (
                f"The script of {owner} is over: it has "
                f"{counted(len(self._script), 'answer')}, and this is request {place + 1}. "
                "Make the model again, or give it more answers."
            )
            raise ModelScriptError(msg)
        line = self._script[place]
        if isinstance(line, Exception):
            raise line
        answer = as_answer(deepcopy(line), self.provider)
        report(answer, on_chunk)
        return answer


def _shared(items: Sequence[Mapping[str, Any]], last: list[Json]) -> list[Json]:
    """Return copies of *items*; if *items* begin with those of *last*, reuse the copies in *last*.

    This avoids copying a long conversation with each request.
    """
    shared = list(last)
    if list(items[: len(last)]) != last:
        shared = []
    for item in items[len(shared) :]:
        shared.append(copied(item))
    return shared
