"""The panel of a server of tools: how an agent connects, and each call that arrives."""

from collections.abc import Callable, Sequence
from threading import Lock, RLock
from time import monotonic
from typing import Any

import ipywidgets as w

from toolbench.display.css import REMARK
from toolbench.display.escape import Html, escape
from toolbench.display.page import notice
from toolbench.runs.record import RunRecord
from toolbench.serving.call import ServedCall
from toolbench.serving.served_tools import Served
from toolbench.serving.served_view import call_whole, clients_html, head_html, served_bundle
from toolbench.widgets.agent_calls.call_lines import call_lines
from toolbench.widgets.agent_calls.live_call import LiveCall
from toolbench.widgets.kit.notebook_variables import Variables
from toolbench.widgets.kit.parts import Parts, put
from toolbench.widgets.kit.plain_style import PANEL
from toolbench.widgets.kit.ticker import ticker
from toolbench.widgets.live_view import LiveView
from toolbench.widgets.transcript.opened_call import CallButton, OpenedCall
from toolbench.wording import counted

# Characters of each view of the result, and of the printed output
_LIMIT = 20_000


class ArrivedCall:
    """The details of one call, with buttons to open the call in a panel and to close this view."""

    def __init__(self, call: ServedCall, variables: Variables, close: Callable[[], object]) -> None:
        """Show *call*. A person can keep the result of the call in *variables*.

        The button `Close` calls *close*.
        """
        self.call, self._variables = call, variables
        self._parts = parts = Parts()
        self._whole = parts.html()
        self._panel = CallButton(
            lambda label, tip: parts.button(label, tip=tip),
            ("Open in panel", "Close panel"),
            call.tool,
            self._opened,
            self._arrange,
        )
        leave = parts.button("Close", tip=f"Close call {call.id}")
        leave.on_click(lambda _: close())
        self._place = parts.column()
        head = parts.html(Html(f'<div class="toolbench-head"><strong>#{call.id}</strong></div>'))
        self.widget: Any = parts.column(
            parts.row(head, self._panel.button, leave), self._whole, self._place
        )
        self.refresh()

    def refresh(self) -> None:
        """Show the present state of the call."""
        put(self._whole, call_whole(self.call, limit=_LIMIT))

    def _opened(self) -> OpenedCall:
        run, result = self.call.run, self.call.observation
        arguments = RunRecord.of(run).known_arguments
        return OpenedCall(run.tool.latest(), arguments, result, self._variables)

    def _arrange(self) -> None:
        opened = self._panel.opened
        self._place.children = () if opened is None else (opened.widget,)

    def close(self) -> None:
        """Close all widgets of this view."""
        self._panel.close()
        self._parts.close()


MOST = 10
"""The maximum number of calls with buttons. Waiting calls come before running calls, and older calls first."""
# Seconds that a call runs before it gets buttons
_SOON = 0.5
# Seconds from one renewal of the saved output to the next
_SAVE_EVERY = 2.0


class ServedPanel(LiveView):
    """The live view of a server of tools: the calls that wait for a person, and a line for every call.

    Any thread may call the callbacks of the panel and report changes of calls.
    """

    def __init__(self, served: Served, variables: Variables | None = None) -> None:
        """Show *served*.

        Args:
            served: The server.
            variables: The variables that keep results. By default, the variables of the notebook.
        """
        self._served, self._variables = served, variables or Variables()
        self._lock = RLock()
        # A second lock: threads that call `_heard` may hold locks
        self._news_lock = Lock()
        self._parts = parts = Parts()
        self._is_saved, self._save_at = True, 0.0
        self._is_watched = self._has_news = self._is_closed = False
        self._news: dict[int, ServedCall] = {}
        self._unfinished: dict[int, ServedCall] = {}
        self._live: dict[int, LiveCall] = {}
        self._head, self._waiting = parts.html(), parts.html()
        self._pause = self._button("Pause", self._pause_or_resume)
        self._stop = self._button("Stop serving", served.close)
        self._stop.tooltip = "Stop serving: calls under way are stopped"
        self._clients = parts.html(clients_html(served))
        self._calls = parts.column()
        self._more = parts.html()
        self._lines = call_lines(parts)
        self._number = self._lines.number
        self._number.observe(lambda _: self._open(), "value")
        self._opened = parts.column(kind="toolbench-opened")
        self._arrived: ArrivedCall | None = None
        super().__init__(
            parts,
            self._lock,
            [
                *(parts.html(PANEL), self._head),
                *(parts.row(self._pause, self._stop, self._waiting), self._clients),
                *(self._calls, self._more, self._lines.widget, self._opened),
            ],
            *("toolbench-panel", "toolbench-served"),
        )
        self._forget = served.listen(self._heard)
        self._news = {call.id: call for call in served.calls}
        self.refresh()

    def _button(self, label: str, act: Callable[[], object]) -> w.Button:
        button: w.Button = self._parts.button(label)
        button.on_click(lambda _: act())
        return button

    def _pause_or_resume(self) -> None:
        if self._served.is_paused:
            self._served.resume()
        else:
            self._served.pause()

    # --- news ---------------------------------------------------------------------------

    def _heard(self, call: ServedCall | None) -> None:
        """Remember that *call* has changed. If *call* is None, the server has changed.

        The next tick shows the change, so the thread that calls this need not wait.
        """
        with self._news_lock:
            self._has_news = True
            if call is not None:
                self._news[call.id] = call
            if self._is_watched:
                return
            self._is_watched = True
        ticker.watch(self._tick)

    def _tick(self) -> bool:
        """Show the changes; return True if the ticker must call this again."""
        if self.comm is None:
            return False
        self.refresh()
        self._save()
        with self._news_lock:
            self._is_watched = bool(self._has_news or self._unfinished or not self._is_saved)
            return self._is_watched

    def refresh(self) -> None:
        """Show the present state; only changes are sent to the page."""
        with self._news_lock:
            news, self._news, self._has_news = self._news, {}, False
        with self._lock:
            # The panel was closed after the ticker called this
            if self._is_closed:
                return
            self._is_saved = self._is_saved and not news
            for call in news.values():
                self._note(call)
            self._lines.add(news[number] for number in sorted(news))
            self._show_head()
            self._show_live()
            if self._arrived is not None and self._arrived.call.id in news:
                self._arrived.refresh()

    def _note(self, call: ServedCall) -> None:
        """Put *call* into the list of unfinished calls, or take it out if it has ended.

        Each tick looks at the unfinished calls. So the panel shows the end of a call
        even if no notification of the end arrives.
        """
        if call.is_over:
            self._unfinished.pop(call.id, None)
        else:
            self._unfinished[call.id] = call

    def _show_head(self) -> None:
        served = self._served
        put(self._head, head_html(served))
        self._pause.description = "Resume" if served.is_paused else "Pause"
        tip = (
            "Let calls run again"
            if served.is_paused
            else "Have calls that arrive from now on wait for you"
        )
        self._pause.tooltip = f"{self._pause.description}: {tip}"
        self._pause.disabled = self._stop.disabled = served.is_closed
        if served.is_closed:
            put(self._clients, Html(""))

    def _show_live(self) -> None:
        """Show the calls that wait for a person, and the calls that run for long.

        If there are too many calls, the calls that wait are preferred.
        """
        calls = list(self._unfinished.values())
        waiting = [call for call in calls if call.questions]
        running = [c for c in calls if not c.questions and c.seconds > _SOON]
        self._say(len(waiting))
        chosen = {call.id: call for call in [*waiting, *running][:MOST]}
        old = [self._live.pop(id_) for id_ in [*self._live] if id_ not in chosen]
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
        text = f"{counted(rest, 'more call')} wait or run; they are listed below."
        more = Html("")
        if rest:
            more = notice(text, "neutral")
        put(self._more, more)

    def _say(self, waiting: int) -> None:
        """Show how many calls wait for the person. Screen readers announce this number."""
        text = ""
        if waiting == 1:
            text = "1 call waits for you"
        elif waiting:
            text = f"{counted(waiting, 'call')} wait for you"
        html = f'<span role="status" aria-live="polite" style="{REMARK}">{escape(text)}</span>'
        put(self._waiting, Html(html))

    def _save(self) -> None:
        """Update the view in the saved notebook, but not too often; at once when the server stops."""
        is_due = self._served.is_closed or monotonic() >= self._save_at
        if is_due and not self._is_saved:
            self._is_saved, self._save_at = True, monotonic() + _SAVE_EVERY
            self.renew()

    # --- the call that is open ------------------------------------------------------------

    def _open(self) -> None:
        """Open the call whose number was typed; without a number, close the open call."""
        number = self._number.value.strip().lstrip("#")
        calls: Sequence[ServedCall] = self._served.calls
        call = next((one for one in calls if str(one.id) == number), None)
        with self._lock:
            old, self._arrived = self._arrived, None
            if call is not None:
                close = lambda: setattr(self._number, "value", "")  # noqa: E731
                self._arrived = ArrivedCall(call, self._variables, close)
            widgets = () if self._arrived is None else (self._arrived.widget,)
            self._opened.children = widgets
        if old is not None:
            old.close()

    # --- as a widget ------------------------------------------------------------------------

    def _release(self) -> None:
        # The server keeps running
        self._forget()
        with self._lock:
            self._is_closed = True
            for live in self._live.values():
                live.close()
            self._live.clear()
            if self._arrived is not None:
                self._arrived.close()

    def _static(self) -> dict[str, Any]:
        return served_bundle(self._served)
