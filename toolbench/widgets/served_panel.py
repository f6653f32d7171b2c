"""The panel of a server of tools: how an agent connects, and each call that arrives.

Calls that wait for the user, or that have been running for a while, are at the top. The user can
allow such a call, answer it by hand, or stop it. Every call has a line in a list, and a click on it
opens the call.
"""

from collections.abc import Callable
from contextlib import ExitStack
from functools import partial
from threading import Lock, RLock
from time import monotonic
from typing import Any
from weakref import WeakKeyDictionary

from toolbench.core.schema import Observation
from toolbench.display.css import CODE_FONT, REMARK
from toolbench.display.escape import Html, escape, on_one_line
from toolbench.display.page import badge, notice, short
from toolbench.errors import ToolbenchError
from toolbench.runs.questions import Answer, ConsentLabels, Question
from toolbench.runs.record import RunRecord
from toolbench.serving.call import ServedCall
from toolbench.serving.call_results import output_schema_of
from toolbench.serving.served_tools import Served
from toolbench.serving.served_view import (
    call_whole,
    clients_html,
    head_html,
    outcome,
    printed_html,
    served_bundle,
    subject,
    tone,
    words,
    written_once,
)
from toolbench.widgets.form.by_hand import ByHand
from toolbench.widgets.form.question import QuestionView, agreeing, question_text
from toolbench.widgets.kit.message_lines import Line, MessageLines
from toolbench.widgets.kit.notebook_variables import Variables
from toolbench.widgets.kit.parts import PANEL, Parts, mark, put
from toolbench.widgets.kit.ticker import ticker
from toolbench.widgets.live_view import LiveView
from toolbench.widgets.tool_calls import CallButton, OpenedCall
from toolbench.wording import counted, duration

MOST = 10
"""The maximum number of calls with buttons.

Waiting calls have precedence over running ones, and older calls over newer ones.
"""
# Seconds that a call runs before it gets buttons
_SOON = 0.5
# Seconds from one renewal of the saved output to the next
_SAVE_EVERY = 2.0
# Pieces of 100 lines each, so 1,000 calls: the server keeps no more
_PIECES = 10
# Characters of a call that are shown above its buttons
_BRIEF = 200
# The last lines that the tool of a running call printed, and their characters
_LINES = 8
_PRINTED = 2_000
# Characters of each view of the result of an open call, and of its printed output
_LIMIT = 20_000


class ServedPanel(LiveView):
    """The live view of a server of tools: calls that wait for the user, and a list of all calls.

    Any thread may call the panel's callbacks, and report changes of calls.
    """

    def __init__(self, served: Served, variables: Variables | None = None) -> None:
        """Show *served*.

        Args:
            served: The server.
            variables: Where the user can store results. By default, variables of the notebook.
        """
        self._served, self._variables = served, variables or Variables()
        self._lock = RLock()
        # A separate lock, because threads that call `_note_change` may hold other locks
        self._news_lock = Lock()
        self._parts = parts = Parts()
        self._is_saved, self._save_at = True, 0.0
        self._is_closed = False
        self._unfinished: dict[int, ServedCall] = {}
        self._live: dict[int, LiveCall] = {}
        self._arrived: ArrivedCall | None = None
        self._head, self._waiting, self._more = parts.html(), parts.html(), parts.html()
        self._pause = parts.button("Pause", self._pause_or_resume)
        tip = "Stop serving: running calls are stopped"
        self._stop = parts.button("Stop serving", served.close, tip=tip, is_urgent=True)
        self._clients = parts.html(clients_html(served))
        self._calls = parts.column()
        self._lines: MessageLines = MessageLines(
            parts,
            _line_of,
            label="Calls",
            opens="Open call",
            noun="call",
            nothing="No call has arrived yet.",
            pieces=_PIECES,
        )
        self._lines.number.observe(lambda _: self._open(), "value")
        self._opened = parts.column(kind="toolbench-opened")
        children = [
            parts.html(PANEL),
            self._head,
            parts.row(self._pause, self._stop, self._waiting),
            self._clients,
            self._calls,
            self._more,
            self._lines.widget,
            self._opened,
        ]
        super().__init__(parts, self._lock, children, "toolbench-panel", "toolbench-served")
        self._stop_listening = served.listen(self._note_change)
        self._news = {call.id: call for call in served.calls}
        self.refresh()

    def _pause_or_resume(self) -> None:
        if self._served.is_paused:
            self._served.resume()
        else:
            self._served.pause()

    # --- news ---------------------------------------------------------------------------

    def _note_change(self, call: ServedCall | None) -> None:
        """Remember that *call* or, if it is None, the server has changed.

        The ticker shows the change at its next tick, so that the calling thread need not wait.
        """
        if call is not None:
            with self._news_lock:
                self._news[call.id] = call
        ticker.watch(self._tick)

    def _tick(self) -> bool:
        """Show the changes. Return whether the ticker must call this again."""
        if self.comm is None:
            return False
        self.refresh()
        self._save()
        return bool(self._unfinished or not self._is_saved)

    def refresh(self) -> None:
        """Show the current state. Only changes are sent to the page."""
        with self._news_lock:
            news, self._news = self._news, {}
        with self._lock:
            # The panel may have been closed after the ticker called this
            if self._is_closed:
                return
            known = self._unfinished | news
            self._unfinished = {id_: call for id_, call in known.items() if not call.is_over}
            # Include calls that have ended, for which no notification may arrive
            changed = news.keys() | (known.keys() - self._unfinished.keys())
            self._is_saved = self._is_saved and not changed
            self._lines.add(known[id_] for id_ in sorted(changed))
            self._show_head()
            self._show_live()
            if self._arrived is not None and self._arrived.call.id in changed:
                self._arrived.refresh()

    def _show_head(self) -> None:
        served = self._served
        put(self._head, head_html(served))
        if served.is_paused:
            label, tip = "Resume", "Let calls run again"
        else:
            label, tip = "Pause", "Hold new calls until you decide"
        self._pause.description, self._pause.tooltip = label, f"{label}: {tip}"
        self._pause.disabled = self._stop.disabled = served.is_closed
        if served.is_closed:
            put(self._clients, Html(""))

    def _show_live(self) -> None:
        """Show the calls that wait for the user, and those that have been running for a while.

        If there are too many, waiting calls come first.
        """
        waiting, running = list[ServedCall](), list[ServedCall]()
        for call in self._unfinished.values():
            if call.questions:
                waiting.append(call)
            elif call.seconds > _SOON:
                running.append(call)
        self._show_count(len(waiting))
        chosen = {call.id: call for call in [*waiting, *running][:MOST]}
        old = [self._live.pop(id_) for id_ in self._live.keys() - chosen.keys()]
        for id_, call in chosen.items():
            if id_ in self._live:
                self._live[id_].refresh()
            else:
                self._live[id_] = LiveCall(call)
        # views that are shown already keep their places
        children = tuple(live.widget for live in self._live.values())
        if self._calls.children != children:
            self._calls.children = children
        for live in old:
            live.close()
        rest = len(waiting) + len(running) - len(chosen)
        more = Html("")
        if rest:
            text = f"{counted(rest, 'more call')} wait or run; they are listed below."
            more = notice(text, "neutral")
        put(self._more, more)

    def _show_count(self, waiting: int) -> None:
        """Show how many calls wait for the user. Screen readers announce the number."""
        text = ""
        if waiting == 1:
            text = "1 call waits for you"
        elif waiting:
            text = f"{counted(waiting, 'call')} wait for you"
        html = f'<span role="status" aria-live="polite" style="{REMARK}">{escape(text)}</span>'
        put(self._waiting, Html(html))

    def _save(self) -> None:
        """Save the current view in the notebook, at most every two seconds and at the end."""
        is_due = self._served.is_closed or monotonic() >= self._save_at
        if is_due and not self._is_saved:
            self._is_saved, self._save_at = True, monotonic() + _SAVE_EVERY
            self.renew()

    # --- the call that is open ------------------------------------------------------------

    def _open(self) -> None:
        """Open the call whose number was typed. Without a number, close the open call."""
        number = self._lines.number.value.strip().lstrip("#")
        calls = {str(call.id): call for call in self._served.calls}
        with self._lock:
            old, self._arrived = self._arrived, None
            shown = []
            if number in calls:
                self._arrived = ArrivedCall(calls[number], self._variables, self._leave)
                shown.append(self._arrived.widget)
            self._opened.children = shown
        if old is not None:
            old.close()

    def _leave(self) -> None:
        self._lines.number.value = ""

    # --- as a widget ------------------------------------------------------------------------

    def _release(self) -> None:
        # The server keeps running
        self._stop_listening()
        with self._lock:
            self._is_closed = True
            for live in self._live.values():
                live.close()
            self._live.clear()

    def _views(self) -> "list[ArrivedCall]":
        if self._arrived is None:
            return []
        return [self._arrived]

    def _static(self) -> dict[str, Any]:
        return served_bundle(self._served)


_lines: WeakKeyDictionary[ServedCall, Line] = WeakKeyDictionary()


def _line_of(call: ServedCall) -> Line:
    """Return the line of *call* in the list. The line of an ended call is made only once."""
    return written_once(_lines, call, _new_line)


def _new_line(call: ServedCall) -> Line:
    took = ""
    if call.is_over:
        took = duration(call.seconds)
    return Line(
        number=call.id,
        at=int(call.started.timestamp()),
        is_sent=False,
        subject=on_one_line(subject(call)),
        outcome=on_one_line(outcome(call)),
        duration=took,
        is_failed=call.state == "error" and not call.by_hand,
    )


class ArrivedCall:
    """The details of one call, with a button that opens the call in its tool's panel."""

    def __init__(self, call: ServedCall, variables: Variables, close: Callable[[], object]) -> None:
        """Show *call*. The user can store its result in *variables*.

        The button *Close* calls *close*.
        """
        self.call, self._variables = call, variables
        self._parts = parts = Parts()
        self._whole, self._place = parts.html(), parts.column()
        self._panel = CallButton(
            parts, ("Open in panel", "Close panel"), call.tool, self._opened, self._arrange
        )
        leave = parts.button("Close", close, tip=f"Close call {call.id}")
        head = parts.html(Html(f'<div class="toolbench-head"><strong>#{call.id}</strong></div>'))
        top = parts.row(head, self._panel.button, leave)
        self.widget: Any = parts.column(top, self._whole, self._place)
        self.refresh()

    def refresh(self) -> None:
        """Show the current state of the call."""
        put(self._whole, call_whole(self.call, limit=_LIMIT))

    def _opened(self) -> OpenedCall:
        run, result = self.call.run, self.call.observation
        arguments = RunRecord.of(run).known_arguments
        return OpenedCall(run.tool.latest(), arguments, result, self._variables)

    def _arrange(self) -> None:
        self._place.children = [view.widget for view in self._panel.views]

    @property
    def is_busy(self) -> bool:
        """Whether a run is active in the panel of the call."""
        return any(view.is_busy for view in self._panel.views)

    def close(self) -> None:
        """Close all widgets of this view."""
        self._panel.close()
        self._parts.close()


class LiveCall:
    """The view of one active call: its question, if there is one, and its buttons."""

    def __init__(self, call: ServedCall) -> None:
        """Show *call*."""
        self.call = call
        self._parts = parts = Parts()
        self._question: Question | None = None
        self._asking = ExitStack()
        self._by_hand = ByHand(
            call.tool,
            answer=self._answer,
            refuse=self._refuse,
            schema=partial(output_schema_of, call.run.tool),
        )
        self._head, self._problem = parts.html(), parts.html()
        self._printed, self._version = parts.html(), -1
        self._fields = parts.column()
        tip = "Write the result instead of running the tool"
        self._hand = parts.button("Answer by hand", self._by_hand.ask_for_answer, tip=tip)
        self._refusal = parts.button("", self._ask_for_reason)
        self._buttons = parts.row(self._hand, self._refusal)
        upper = self._head, self._printed, self._fields, self._buttons
        lower = self._by_hand.widget, self._problem
        self.widget = parts.column(*upper, *lower, kind="toolbench-question")
        self._ask(None)
        self.refresh()

    def refresh(self) -> None:
        """Show the current state of the call. Only changes are sent to the page."""
        question = next(iter(self.call.questions), None)
        if question is not self._question:
            self._question = question
            self._ask(question)
        put(self._head, _head_html(self.call))
        version = self.call.run.version
        if version != self._version:
            self._version = version
            put(self._printed, printed_html(self.call, lines=_LINES, limit=_PRINTED))

    def _ask(self, question: Question | None) -> None:
        """Show *question* with its fields and buttons.

        If it is None, show the buttons of a running call.
        """
        old, self._asking = self._asking, ExitStack()
        mark(self.widget, "toolbench-waiting", is_marked=question is not None)
        word, fields, buttons = "Stop", list[Any](), [self._hand, self._refusal]
        if question is not None and question.consent is not None:
            word = "Refuse"
            accept, *fields = self._consenting(question, question.consent)
            buttons = [accept, *buttons]
        elif question is not None:
            view = QuestionView(question, partial(self.call.reply, question))
            self._asking.callback(view.close)
            fields = view.widgets
        self._refusal.description, self._refusal.tooltip = word, f"{word}: {self.call.tool}"
        self._fields.children, self._buttons.children = fields, buttons
        old.close()

    def _consenting(self, question: Question, consent: ConsentLabels) -> list[Any]:
        """Return the button that allows the call, followed by the contents of the question."""
        parts = Parts()
        self._asking.callback(parts.close)
        accept, *more = agreeing(consent, parts, partial(self.call.reply, question))
        return [accept, *question_text(question, parts), *more]

    def _answer(self, observation: Observation) -> None:
        put(self._problem, Html(""))
        try:
            self.call.answer(observation)
        except ToolbenchError as error:
            put(self._problem, notice(str(error), "danger"))

    def _ask_for_reason(self) -> None:
        self._by_hand.ask_for_reason(f"{self._refusal.description} it")

    def _refuse(self, reason: str) -> None:
        """Refuse the call if it waits for consent; otherwise stop it. *reason* may be empty."""
        question = self._question
        if question is not None and question.consent is not None:
            self.call.reply(question, Answer("decline", {"reason": reason}))
        else:
            why = "stopped by the user"
            if reason:
                why += f": {reason}"
            self.call.stop(why)

    def close(self) -> None:
        """Close all widgets of this view."""
        self._asking.close()
        self._by_hand.close()
        self._parts.close()


def _head_html(call: ServedCall) -> Html:
    patience = call.patience
    clock = f"{call.seconds:.0f} s"
    if patience is not None:
        clock = f"refused in {patience:.0f} s without an answer"
    progress = call.run.progress_view.state.text
    facts = " · ".join(filter(None, (clock, progress)))
    return Html(
        f'<div>{badge(words(call), tone(call))}<span style="{CODE_FONT};overflow-wrap:anywhere">'
        f'{short(subject(call), _BRIEF)}</span> <span style="{REMARK}">{escape(facts)}</span></div>'
    )
