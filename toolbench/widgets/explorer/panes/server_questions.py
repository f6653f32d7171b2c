"""What a server asks while it reads a resource or writes a prompt, answered in the pane."""

from collections.abc import Callable
from threading import Event
from typing import TypeVar

from toolbench.mcp.elicitation import Answer, Question, answering, for_person
from toolbench.widgets.form.question import QuestionBox
from toolbench.widgets.kit.parts import Parts

T = TypeVar("T")


class ServerQuestions:
    """The questions of one request at a time; those of a request that is left are cancelled."""

    def __init__(self, parts: Parts) -> None:
        """Make the place of the questions; it is empty until something is asked."""
        self._box = QuestionBox(parts)
        self.widget = self._box.widget
        self._left = Event()

    def around(self, ask: Callable[[], T]) -> Callable[[], T]:
        """Return *ask*, with a person to answer; the request before it is left."""
        self.leave()
        self._left = left = Event()

        def answer(question: Question) -> Answer:
            return self._box.ask(for_person(question), left.is_set)

        def answered() -> T:
            with answering(answer):
                return ask()

        return answered

    def leave(self) -> None:
        """Cancel the open question; its request is over."""
        self._left.set()
