"""Find the secrets of a run before its tool is called; the user is asked for one that is nowhere."""

from collections.abc import Iterator
from concurrent.futures import CancelledError, Future
from concurrent.futures import TimeoutError as NotYet
from threading import Lock, current_thread, main_thread
from typing import Any

from toolbench.core.secrets import (
    Secret,
    keyring_here,
    missing,
    secret_store,
    store_in_keyring,
)
from toolbench.core.tool import ToolDefinition
from toolbench.redaction.redactor import Redactor
from toolbench.runs.control import RunCancelled
from toolbench.runs.dialogue import answer_here
from toolbench.runs.questions import Answer, Question
from toolbench.runs.run import Run

# Seconds between two looks at whether a run that waits for another one's question is cancelled
_LOOK = 0.2


class SecretQuestions:
    """The questions for secrets that are open now: runs that need the same one ask it once."""

    def __init__(self) -> None:
        """Begin without questions."""
        self._lock = Lock()
        self._open: dict[str, Future[Answer]] = {}

    def answer_for(self, secret: Secret, run: Run) -> Answer:
        """Return the answer of the user, whom *run* or another run asks for *secret*.

        Raises:
            RunCancelled: If *run* is cancelled meanwhile.
            SecretError: If another run asks, and this thread would keep the answer from it.
        """
        with self._lock:
            asked = self._open.get(secret.name)
            is_first = asked is None
            if asked is None:
                asked = self._open[secret.name] = Future()
        if not is_first:
            with run.dialogue.waiting():
                answer = _awaited(asked, secret, run)
            if answer is None:
                return self.answer_for(secret, run)
            return answer
        try:
            answer = run.dialogue.put(question_for(secret, run.tool))
            _keep(secret, answer)
            if not run.cancelled:
                asked.set_result(answer)
        finally:
            with self._lock:
                del self._open[secret.name]
            # Unless there is an answer, another run that waits asks now
            asked.cancel()
        return answer


secret_questions = SecretQuestions()
"""The open questions of this process."""


def secrets_for(run: Run) -> dict[str, str]:
    """Return the values of the secrets of *run*, by their names; *run* hides them from now on.

    Raises:
        SecretError: If one has no value, and nobody gives it.
    """
    values: dict[str, str] = {}
    for secret in run.tool.secrets.values():
        found = secret_store.find(secret.name)
        if found is None:
            _ask(secret, run)
            found = secret_store.find(secret.name)
        if found is None:
            raise missing(secret.name, run.tool.name)
        values[secret.name] = found.value
    # A short one too: it was declared as a secret
    redactor = Redactor(values.values(), shortest=1)
    around: Run | None = run
    while values and around is not None:
        # A tool may return what another one returned to it
        around.secrets.include(redactor)
        around.filled_in.update(values.values())
        around = around.parent
    return values


def _ask(secret: Secret, run: Run) -> None:
    """Ask the user for *secret*; the answer is then in the store.

    Raises:
        SecretError: If nobody can be asked, or the user does not give it.
    """
    # Another program's user has no business with the secrets of this one
    if run.is_from_outside:
        raise missing(secret.name, run.tool.name, "another program made the call")
    answer = secret_questions.answer_for(secret, run)
    if run.cancelled:
        raise RunCancelled
    if not answer:
        raise missing(secret.name, run.tool.name, f"it was {answer.words}")


def _awaited(asked: "Future[Answer]", secret: Secret, run: Run) -> Answer | None:
    """Return the answer to the question of another run; None if that was cancelled while it asked."""
    # A panel's answer arrives in the main thread
    if current_thread() is main_thread():
        why = "another run is asking for it: answer there, then call this again"
        raise missing(secret.name, run.tool.name, why)
    while not run.cancelled:
        try:
            return asked.result(_LOOK)
        except NotYet:
            continue
        except CancelledError:
            return None
    raise RunCancelled


def missing_secrets(tool: ToolDefinition[Any, Any]) -> Iterator[Secret]:
    """Yield the secrets of *tool* that are nowhere yet, so that the user is asked for them."""
    for secret in tool.secrets.values():
        if secret_store.find(secret.name) is None:
            yield secret


def ask_before(tool: ToolDefinition[Any, Any]) -> None:
    """Ask for the secrets of *tool* that are nowhere, before many calls of it.

    Raises:
        SecretError: If one has no value, and nobody gives it.
    """
    for secret in missing_secrets(tool):
        answer = answer_here(question_for(secret, tool))
        if not answer:
            raise missing(secret.name, tool.name, f"it was {answer.words}")
        _keep(secret, answer)


def _keep(secret: Secret, answer: Answer) -> None:
    """Keep the value in *answer* for the session, and in the keyring if the user says so."""
    if answer:
        secret_store.keep(secret.name, answer["secret"])
        if answer.get("store"):
            store_in_keyring(secret.name, answer["secret"])


def question_for(secret: Secret, tool: ToolDefinition[Any, Any]) -> Question:
    """Return the question for *secret* of *tool*."""
    field = {"type": "string", "format": "password", "title": secret.name}
    field["description"] = "Kept in memory until the kernel ends."
    properties: dict[str, Any] = {"secret": field}
    if keyring_here() is not None:
        properties["store"] = {
            "type": "boolean",
            "title": "Store it in the keyring",
            "description": "So that later sessions do not ask.",
        }
    return Question(
        f"What is the secret {secret.name}? No model sees it.",
        {"type": "object", "properties": properties, "required": ["secret"]},
        tool.title,
        is_for_person=True,
        is_recorded=False,
    )


def place_of_secret(secret: Secret) -> str:
    """Return where the next call gets *secret* from, as a form shows it; never the value."""
    found = secret_store.find(secret.name)
    if found is None:
        return "asked at the first run"
    return found.place
