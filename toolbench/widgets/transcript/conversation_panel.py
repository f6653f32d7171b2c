"""The panel of a conversation: its transcript, the waiting calls, and buttons to run or stop."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from contextvars import copy_context
from functools import partial
from threading import RLock, Thread
from time import monotonic
from typing import TYPE_CHECKING, Any

import ipywidgets as w

from toolbench.agent.conversation import Conversation
from toolbench.agent.events import ActionEvent, AnswerEvent
from toolbench.agent.masking import Masking
from toolbench.agent.transcript import (
    bundle,
    call_html,
    call_numbers,
    head_html,
    masked,
    other_html,
    steps_of,
)
from toolbench.display.css import REMARK
from toolbench.display.escape import Html, escape
from toolbench.display.page import fold, notice
from toolbench.display.timeline import Span, Timeline
from toolbench.llm.models import Answer as ModelAnswer
from toolbench.llm.models.person import PersonModel, PersonRequest, asked_by
from toolbench.runs.control import CancelToken
from toolbench.runs.questions import Answer, Question, decline
from toolbench.threads import daemon_thread, have_threads
from toolbench.values import sentence
from toolbench.widgets.form.question import QuestionBox
from toolbench.widgets.kit.notebook_variables import Variables
from toolbench.widgets.kit.parts import PANEL, Parts, put
from toolbench.widgets.kit.ticker import ticker
from toolbench.widgets.live_view import LiveView
from toolbench.widgets.transcript.live import EVERY, StreamedText
from toolbench.widgets.transcript.rows import Rows
from toolbench.widgets.transcript.waiting import RequestBox, WaitingCall

if TYPE_CHECKING:
    from toolbench.widgets.timeline import TimelineView

# The start of a fork's name if the conversation has no variable
_STEM = "chat"
_WAIT = "The model or a tool is working: wait, or press Stop."


class ConversationPanel(LiveView):
    """The live transcript of a conversation, in which the user decides on each call before it runs.

    The model and the tools run in one separate thread. Any thread may call the panel's callbacks.
    """

    def __init__(
        self,
        conversation: Conversation,
        variables: Variables | None = None,
        *,
        origin: "ConversationPanel | None" = None,
    ) -> None:
        """Show *conversation*. The model is asked only after the user presses a button.

        Args:
            conversation: The conversation, which must have an agent.
            variables: Where forks and results are stored. By default, variables of the notebook.
            origin: If *conversation* is a fork, the panel of the original conversation, which
                contains this panel.
        """
        self._conversation, self._origin = conversation, origin
        self._log = conversation.agent_state.log
        self._lock = RLock()
        self._parts = parts = Parts()
        self._thread: Thread | None = None
        self._stopping = CancelToken()
        self._is_closed = False
        self._streamed, self._due = StreamedText(), 0.0
        self._state = -1, False, frozenset[int](), False
        self._calls: dict[int, WaitingCall] = {}
        self._variables = variables or Variables()
        self._rows = Rows(conversation, parts, self._variables, self.fork)
        self._forks: list[tuple[Html, ConversationPanel]] = []
        self._head = parts.html(kind="toolbench-conversation-head")
        self._stream, self._problem, self._foot = parts.html(), parts.html(), parts.html()
        self._waiting, self._fork_column = parts.column(), parts.column()
        self._question = QuestionBox(parts)
        self._request = RequestBox(parts)
        self._step = parts.button("Step", self.step, tip="Ask the model once; its calls wait")
        self._run = parts.button(
            "Run to the end", self.run, tip="Ask and run until the model is done"
        )
        tip = "Stop the request and the running tools immediately"
        self._stop = parts.button("Stop", self.stop, tip=tip, is_urgent=True)
        buttons = self._step, self._run, self._stop
        self._timeline: TimelineView | None = None
        transcript = parts.column(self._rows.widget, self._stream)
        self._tabs = parts.make(w.Tab, "toolbench-tabs", children=[transcript, parts.column()])
        self._tabs.titles = ("Transcript", "Timeline")
        self._tabs.observe(lambda _: self._open_timeline(), "selected_index")
        children = [
            parts.html(PANEL),
            parts.row(self._head, *buttons, kind="toolbench-conversation"),
            self._tabs,
            self._problem,
            self._waiting,
            self._question.widget,
            self._request.widget,
            self._foot,
            self._fork_column,
        ]
        super().__init__(parts, self._lock, children, "toolbench-panel", "toolbench-transcript")
        # A cell or another panel may let the model work, or decide on a call
        self._stop_listening = self._log.listen(lambda event: ticker.watch(self._tick))
        self.refresh()

    @property
    def _is_at_work(self) -> bool:
        thread = self._thread
        return thread is not None and thread.is_alive()

    @property
    def _is_anywhere_at_work(self) -> bool:
        """Whether the conversation is at work, by a button of this panel or by another cell."""
        return self._is_at_work or self._conversation.is_at_work

    @property
    def is_busy(self) -> bool:
        """Whether the model or a tool is working, here or in a fork."""
        return self._is_at_work or super().is_busy

    # --- what the buttons do ------------------------------------------------------------

    def step(self) -> None:
        """Run the waiting calls, then ask the model once. The new calls wait for the user."""
        self._work(self._one_step)

    def run(self) -> None:
        """Ask the model and run its calls, again and again, as `Conversation.run` does.

        The user is not asked about calls, unless the policy requires consent. If the user plays the
        role of the model, and this Python has no threads, do only one step.
        """
        if self._waits_for_no_answer:
            self.step()
        else:
            self._work(self._conversation.run)

    def stop(self) -> None:
        """Stop the request and the running tools at once, if there are any."""
        if self._is_at_work:
            self._stopping.cancel()
            self._conversation.interrupt()

    def fork(self, event: int, step: int) -> None:
        """Fork the conversation at the event with the number *event*, and show the fork below.

        *step* is the number of the step that contains the event. It is shown in the title of the
        fork.
        """
        self._work(lambda: self._begin_fork(event, step))

    def _begin_fork(self, event: int, step: int) -> None:
        fork = self._conversation.fork(event)
        stem = self._variables.name_of(self._conversation) or _STEM
        name = self._variables.put_anew(stem, fork)
        title = Html(
            f"<div><strong>Fork at step {step}</strong> "
            f'<span style="{REMARK}">in the variable <code>{escape(name)}</code>; say more '
            f"with <code>%%chat {escape(name)}</code></span></div>"
        )
        panel = ConversationPanel(fork, self._variables, origin=self)
        with self._lock:
            # This panel has been closed while the fork was made
            if self._is_closed:
                panel.close()
                return
            self._forks.append((title, panel))
            box = self._parts.column(self._parts.html(title), panel, kind="toolbench-fork")
            self._fork_column.children = (*self._fork_column.children, box)

    def _one_step(self) -> None:
        self._conversation.run_pending()
        self._ask()

    def _ask(self) -> None:
        if self._stopping.cancelled or self._conversation.pending:
            return
        if self._waits_for_no_answer:
            sent = self._conversation.next_request
            request = PersonRequest(sent.messages, sent.tools, sent.provider)
            self._request.show(request, self._take)
        else:
            self._conversation.ask()

    @property
    def _waits_for_no_answer(self) -> bool:
        """Whether the user plays the model, and Python has no thread to wait for the answers."""
        model = self._conversation.sender.model
        return not have_threads() and isinstance(model, PersonModel) and model.is_asked_here

    def _take(self, answer: ModelAnswer) -> None:
        """Pass *answer*, which the user wrote as the model, to the conversation."""

        def job() -> None:
            with asked_by(lambda request, cancel: answer):
                self._conversation.ask()

        self._work(job)

    def decide(self, act: Callable[[], object]) -> None:
        """Call *act*, which carries out the user's decision on a waiting call.

        If no other call waits, ask the model afterwards.
        """

        def job() -> None:
            act()
            self._ask()

        self._work(job)

    def _work(self, job: Callable[[], object]) -> None:
        with self._lock:
            if self._is_at_work:
                put(self._problem, notice(_WAIT, "neutral"))
                return
            self._stopping = CancelToken()
            self._conversation.forget_late_stop()
            put(self._problem, Html(""))
            work = copy_context().run
            self._thread = daemon_thread(work, self._carry_out, job, name="toolbench-chat")
            self._thread.start()
        ticker.watch(self._tick)

    def _carry_out(self, job: Callable[[], object]) -> None:
        try:
            with self._here():
                job()
        except Exception as error:  # noqa: BLE001 - an error of a thread is not shown
            put(self._problem, notice(sentence(error), "danger"))

    @contextmanager
    def _here(self) -> Iterator[None]:
        """During the `with` block, show questions and the model's arriving text in this panel."""
        calls, sender = self._conversation.calls, self._conversation.sender
        with ExitStack() as undo:
            undo.callback(setattr, calls, "asker", calls.asker)
            calls.asker = self._ask_person
            if not have_threads():
                # Waiting would prevent the answer from arriving
                calls.asker = decline
            undo.callback(setattr, sender, "on_chunk", sender.on_chunk)
            sender.on_chunk = self._streamed.add
            undo.enter_context(asked_by(self._request))
            yield

    def _ask_person(self, question: Question) -> Answer:
        return self._question.ask(question, self._stopping)

    # --- what it shows -------------------------------------------------------------------

    def _tick(self) -> bool:
        """Show new events. Return whether work continues, so that this must be called again."""
        if self.comm is None:
            return False
        is_over = not self._is_anywhere_at_work
        self.refresh()
        if is_over:
            self.renew()
        return not is_over

    def refresh(self) -> None:
        """Show the current state of the conversation. Only changes are sent to the page."""
        with self._lock:
            # The panel may have been closed after the ticker called this
            if self._is_closed:
                return
            is_busy = self._is_anywhere_at_work
            for button in (self._step, self._run):
                button.disabled = is_busy
            self._stop.disabled = not self._is_at_work
            events = self._log.after(0)
            asking = self._conversation.calls.asking
            is_answering = bool(self._request.widget.children)
            state = len(events), is_busy, asking, is_answering
            if len(events) != self._state[0] or not is_busy:
                self._streamed.clear()
            self._show_stream()
            if state == self._state:
                return
            self._state = state
            steps = steps_of(self._conversation)
            put(self._head, head_html(self._conversation, steps))
            waiting: Sequence[ActionEvent] = ()
            if not is_busy:
                waiting = self._conversation.pending
            self._show_foot(is_sent=is_busy or is_answering)
            self._rows.show(events, steps, {call.id for call in waiting}, asking)
            self._show_waiting(waiting, call_numbers(events))

    def _show_stream(self) -> None:
        if self._streamed.is_empty:
            put(self._stream, Html(""))
        elif monotonic() >= self._due:
            self._due = monotonic() + EVERY
            text = self._streamed.visible_text(self._conversation)
            style = "white-space:pre-wrap;overflow-wrap:anywhere"
            put(self._stream, Html(f'<div style="{style}">{escape(text)}</div>'))

    def _show_waiting(self, pending: Sequence[ActionEvent], numbers: Mapping[int, int]) -> None:
        """Show the *pending* calls, and close the views of calls that changed or no longer wait."""
        old, self._calls = self._calls, {}
        for call in pending:
            view = old.get(call.id)
            if view is not None and view.call is call:
                del old[call.id]
            else:
                view = WaitingCall(call, numbers[call.id], self._conversation, self.decide)
            self._calls[call.id] = view
        self._waiting.children = [view.widget for view in self._calls.values()]
        for view in old.values():
            view.close()

    def _open_timeline(self) -> None:
        """Make the timeline when its tab is first opened."""
        # Few transcripts need these modules
        from toolbench.agent.spans import spans_of_conversation  # noqa: PLC0415 - as said
        from toolbench.widgets.timeline import TimelineView  # noqa: PLC0415 - as above

        with self._lock:
            if self._timeline is None and not self._is_closed:
                timeline = Timeline(source=partial(spans_of_conversation, self._conversation))
                self._timeline = TimelineView(timeline, self._lock, self._answer_html)
                self._tabs.children[1].children = [self._timeline]

    def _answer_html(self, span: Span) -> Html:
        """Return the HTML that the transcript shows for *span*, an answer of the model.

        Return an empty string if the event no longer exists.
        """
        events, masking = self._log.after(0), Masking(self._conversation.known_secrets)
        shown = {f"event:{event.id}": masked(event, masking) for event in events}.get(span.key)
        if shown is None:
            return Html("")
        if not isinstance(shown, ActionEvent):
            return other_html(shown)
        answers = [e for e in events if isinstance(e, AnswerEvent) and e.action_id == shown.id]
        answer: Any = next((masked(e, masking) for e in answers), None)
        return call_html(shown, answer, number=call_numbers(events)[shown.id])

    def _show_foot(self, *, is_sent: bool) -> None:
        """Show what the model is sent next. If a request has been sent (*is_sent*), show nothing.

        A user who plays the model sees the sent request above, with the fields for the answer.
        """
        if is_sent:
            put(self._foot, Html(""))
            return
        request = self._conversation.next_request
        title = f"What the model is sent next: {request.summary}"
        content = self._conversation.known_secrets.html(request.to_html())
        put(self._foot, fold(title, Html(content)))

    # --- as a widget -----------------------------------------------------------------------

    def renew(self) -> None:
        """Replace the view in the saved notebook with the current one, including its forks."""
        if self._origin is None:
            super().renew()
        else:
            self._origin.renew()

    def _views(self) -> list[Any]:
        views: list[Any] = [*(panel for _, panel in self._forks), *self._rows.views]
        if self._timeline is not None:
            views.append(self._timeline)
        return views

    def _release(self) -> None:
        self._stop_listening()
        if self._is_at_work:
            self.stop()
        with self._lock:
            self._is_closed = True
            self._request.close()
            for call in self._calls.values():
                call.close()

    def _static(self) -> dict[str, Any]:
        static = bundle(self._conversation)
        for title, panel in self._forks:
            static["text/html"] += f"{title}{panel.still}"
        return static
