"""Find the secrets of a run before its tool is called; ask the user for those without a value."""

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

# Seconds between checks whether a run that waits for another run's question is cancelled
_LOOK = 0.2


class SecretQuestions:
    """The open questions for secrets; runs that need the same secret ask for it only once."""

    def __init__(self) -> None:
        """Begin without questions."""
        self._lock = Lock()
        self._open: dict[str, Future[Answer]] = {}

    def answer_for(self, secret: Secret, run: Run) -> Answer:
        """Return the user's answer to the question for *secret*, which *run* needs.

        If another run is already asking for this secret, wait for that answer instead of asking
        again.

        Raises:
            RunCancelled: If *run* is cancelled during the wait.
            SecretError: If another run already asks for *secret*, and its question could not be
                answered while this thread waits.
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
            # If there is no answer, another run that waits asks now
            asked.cancel()
        return answer


secret_questions = SecretQuestions()
"""The open questions of this process."""


def secrets_for(run: Run) -> dict[str, str]:
    """Return the values of the secrets of *run*, by their names; ask the user for missing ones.

    From now on, *run* and the runs that contain it mask these values.

    Raises:
        SecretError: If a secret has no value, and the user does not give one.
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
    # Short values too, as they were declared as secrets
    redactor = Redactor(values.values(), shortest=1)
    around: Run | None = run
    while values and around is not None:
        # A tool may return what another tool returned to it
        around.secrets.include(redactor)
        around.filled_in.update(values.values())
        around = around.parent
    return values


def _ask(secret: Secret, run: Run) -> None:
    """Ask the user for *secret*, and put the answer into the store.

    Raises:
        SecretError: If nobody can be asked, or the user does not give the secret.
    """
    # Users of another program must not be asked for the secrets of this one
    if run.is_from_outside:
        raise missing(secret.name, run.tool.name, "another program made the call")
    answer = secret_questions.answer_for(secret, run)
    if run.cancelled:
        raise RunCancelled
    if not answer:
        raise missing(secret.name, run.tool.name, f"it was {answer.words}")


def _awaited(asked: "Future[Answer]", secret: Secret, run: Run) -> Answer | None:
    """Return the answer to another run's question; None if that run was cancelled while asking."""
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
    """Yield the secrets of *tool* that have no value yet, so that the user is asked for them."""
    for secret in tool.secrets.values():
        if secret_store.find(secret.name) is None:
            yield secret


def ask_before(tool: ToolDefinition[Any, Any]) -> None:
    """Ask for the missing secrets of *tool* before the tool is called many times.

    Raises:
        SecretError: If a secret has no value, and the user does not enter one.
    """
    for secret in missing_secrets(tool):
        answer = answer_here(question_for(secret, tool))
        if not answer:
            raise missing(secret.name, tool.name, f"it was {answer.words}")
        _keep(secret, answer)


def _keep(secret: Secret, answer: Answer) -> None:
    """Keep the value in *answer* for the session, and in the keyring if the user wants that."""
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
    """Return where the next call gets *secret* from, for a form; never the value itself."""
    found = secret_store.find(secret.name)
    if found is None:
        return "asked at the first run"
    return found.place
