"""The buttons that start and stop runs, and a notice that says why a run did not start."""

from collections.abc import Callable, Sequence
from time import monotonic

import ipywidgets as w

from toolbench.display.escape import Html, escape
from toolbench.errors import ended
from toolbench.widgets.fields import notes
from toolbench.widgets.form.form import WrongField
from toolbench.widgets.kit.clicks import QUIET
from toolbench.widgets.kit.parts import HIDDEN, SUBMIT, Parts, show_if

# Fields named beside Run
_LINKS = 5
# The style sheet hides it while consent is asked
_CANCEL = "toolbench-cancel"


class RunControls:
    """The buttons Run, Cancel and "Send anyway". A double click counts as one click.

    Attributes:
        can_run: Whether the tool can run at all.
    """

    def __init__(
        self,
        parts: Parts,
        start: Callable[[bool], bool],
        cancel: Callable[[], object],
    ) -> None:
        """Make the buttons.

        Args:
            parts: The factory of the widgets.
            start: A function that starts a run and returns whether the run began. The function
                gets True if the server must check the arguments, and False if the form must.
            cancel: A function that cancels the run.
        """
        self._parts, self._start = parts, start
        self._begun = -QUIET
        self.can_run = True
        self._run = parts.button("Run", look="primary", kind=SUBMIT)
        self._cancel = parts.button("Cancel", kind=HIDDEN, disabled=True)
        self._cancel.add_class(_CANCEL)
        self._run.on_click(lambda _: self._click(unchecked=False))
        self._cancel.on_click(lambda _: cancel())
        self.buttons = [self._run, self._cancel]
        self.notice = parts.make(w.HBox, "toolbench-refusal")
        self._refused: tuple[str, list[str]] | None = None

    def settle(self, *, is_busy: bool) -> None:
        """Enable the buttons that can be used now, and disable the others."""
        self._run.disabled = is_busy or not self.can_run
        self.offer_cancel(is_offered=is_busy)

    def offer_cancel(self, *, is_offered: bool) -> None:
        """Show Cancel, or hide it."""
        # One message
        with self._cancel.hold_sync():
            self._cancel.disabled = not is_offered
            show_if(self._cancel, is_shown=is_offered)

    def refuse(self, reason: str, fields: Sequence[WrongField], *, judged_elsewhere: bool) -> None:
        """Show beside Run why no run was started.

        Args:
            reason: The reason, without a full stop.
            fields: The fields to fix; each becomes a link.
            judged_elsewhere: Whether a server can check the arguments. If so, show a button
                to send the arguments anyway.
        """
        if (reason, [field.name for field in fields]) == self._refused:
            return
        self._clear()
        self._refused = reason, [field.name for field in fields]
        first_fields = fields[:_LINKS]
        rest = len(fields) - len(first_fields)
        text = f"{reason}:" if first_fields else ended(reason)
        self.notice.children = [
            self._parts.html(Html(f'<span class="toolbench-wrong">{escape(text)}</span>')),
            *map(self._link, first_fields),
            *([self._parts.html(escape(f"and {rest} more"))] if rest else []),
            *([self._anyway()] if judged_elsewhere else []),
        ]

    def _anyway(self) -> w.Widget:
        tip = "Send it unchanged: the server will check it"
        button = self._parts.button("Send anyway", tip=tip)
        button.on_click(lambda _: self._click(unchecked=True))
        return button

    def _link(self, field: WrongField) -> w.Widget:
        link = self._parts.button(notes.label(field.name), tip="Go to", kind="toolbench-link")
        link.on_click(lambda _: field.focus())
        return link

    def _clear(self) -> None:
        removed, self.notice.children = self.notice.children, ()
        self._parts.drop(removed)
        self._refused = None

    @property
    def is_refusing(self) -> bool:
        """Whether the notice is shown."""
        return bool(self.notice.children)

    def accept(self) -> None:
        """Remove the notice that `refuse` shows."""
        if self.is_refusing:
            self._clear()

    def expect_click(self) -> None:
        """Let the next click start a run, even if it comes soon after the click before.

        After a person has answered a question or edited a field, a quick click is not a double click.
        """
        self._begun = -QUIET

    def _click(self, *, unchecked: bool) -> None:
        if monotonic() - self._begun < QUIET:
            # The second click of a double click, after a quick run
            return
        before = self._begun
        # Before the start, because a run may ask and get an answer at once
        self._begun = monotonic()
        if not self._start(unchecked):
            self._begun = before
