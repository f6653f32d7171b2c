"""A round: the calls of one message of a model, until each is answered."""

from collections.abc import Sequence
from dataclasses import replace

from toolbench.agent.events import (
    ActionEvent,
    AnswerEvent,
    CallEdit,
    ObservationEvent,
)
from toolbench.core.builtins import FinishAction
from toolbench.core.content import Content
from toolbench.core.schema import Observation
from toolbench.display.observations import read_by_model
from toolbench.jsonschema.types import Json
from toolbench.llm.answers import respond_all
from toolbench.llm.models.transport.text_answers import answerable


class Round:
    """The calls of one message of the model, and the answers so far."""

    def __init__(self, message: Json, calls: Sequence[ActionEvent]) -> None:
        """Make a round of *calls*, which are all calls of *message*. Each call waits for an answer."""
        self.message = message
        self.calls = list(calls)
        self._ids = frozenset(call.id for call in calls)
        self.answers: dict[int, AnswerEvent] = {}
        """The answers by the number of the call's event."""
        self.edited: set[int] = set()
        """The numbers of the calls whose arguments a person changed."""

    @property
    def waiting(self) -> list[ActionEvent]:
        """The calls without an answer."""
        return [call for call in self.calls if call.id not in self.answers]

    def edit(self, edit: CallEdit) -> None:
        """Change a waiting call as *edit* says."""
        changed = edit.tool_call
        self.calls = [
            replace(call, tool_call=changed, action=changed.action)
            if call.id == edit.action_id
            else call
            for call in self.calls
        ]
        self.edited.add(edit.action_id)

    def answer(self, answer: AnswerEvent) -> None:
        """Add *answer*, if it is the first answer to a call of the round."""
        if answer.action_id is not None and answer.action_id in self._ids:
            self.answers.setdefault(answer.action_id, answer)

    @property
    def is_finished(self) -> bool:
        """Whether one of the calls ended the task."""
        return any(
            isinstance(call.action, FinishAction)
            and isinstance(answer := self.answers.get(call.id), ObservationEvent)
            and not answer.observation.is_error
            for call in self.calls
        )

    @property
    def event_ids(self) -> list[int]:
        """The event numbers of the calls and answers in this round."""
        return [
            *(call.id for call in self.calls),
            # 0: not logged yet
            *(a.id for a in self.answers.values() if a.id),
        ]

    def messages(self) -> list[Json]:
        """Return the messages of the round: the model's message, and the answers to its calls.

        If the model wrote its calls as text, each answer is sent as a text with the role of the user.
        """
        pairs = [(call.tool_call, _readable(self.answers[call.id].answer)) for call in self.calls]
        messages = [self.message, *respond_all(pairs)]
        provider = self.calls[0].tool_call.metadata.provider
        return [*map(dict, answerable(messages, provider))]


def _readable(observation: Observation) -> Observation:
    """Return *observation* in a form for the model, even if its own `to_llm_content` fails."""
    if type(observation).to_llm_content is Observation.to_llm_content:
        return observation
    return _Read(content=list(read_by_model(observation)), is_error=observation.is_error)


class _Read(Observation):
    """An observation whose content is sent to the model unchanged."""

    @property
    def to_llm_content(self) -> Sequence[Content]:
        """The content without a header for a failed call: the content already says that it failed."""
        return self.content
