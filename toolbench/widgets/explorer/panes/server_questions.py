"""Show the questions that a server asks while a request runs, such as a request for a prompt."""

from collections.abc import Callable
from threading import Event
from typing import TypeVar

from toolbench.mcp.elicitation import Answer, Question, answering, for_person
from toolbench.widgets.form.question import QuestionBox
from toolbench.widgets.kit.parts import Parts

T = TypeVar("T")


class ServerQuestions:
    """Shows the questions that a server asks while one request runs, and takes the answers."""

    def __init__(self, parts: Parts) -> None:
        """Make the place for questions. It is empty until the server asks a question."""
        self._box = QuestionBox(parts)
        self.widget = self._box.widget
        self._left = Event()

    def around(self, ask: Callable[[], T]) -> Callable[[], T]:
        """Return a function that calls *ask* and meanwhile shows the server's questions here.

        If a question of an earlier request is open, cancel it now.
        """
        self.leave()
        self._left = left = Event()

        def answer(question: Question) -> Answer:
            return self._box.ask(for_person(question), left.is_set)

        def answered() -> T:
            with answering(answer):
                return ask()

        return answered

    def leave(self) -> None:
        """Cancel the open question."""
        self._left.set()
