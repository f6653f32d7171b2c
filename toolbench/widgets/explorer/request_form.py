"""A form for the arguments of prompts and resource templates, with the server's completions."""

from collections.abc import Callable, Mapping
from contextlib import nullcontext
from time import monotonic
from typing import Any

from ipywidgets import Combobox

from toolbench.jsonschema.node import read
from toolbench.mcp.lists.completions import Completions
from toolbench.mcp.lists.prompts import Prompt
from toolbench.mcp.lists.resources import ResourceTemplate
from toolbench.mcp.server_session import MCPServerSession
from toolbench.widgets.explorer.requests import Failure, ServerRequest
from toolbench.widgets.fields.rules import registry
from toolbench.widgets.fields.slot import Slot
from toolbench.widgets.fields.text_box import Line, is_showable
from toolbench.widgets.form.form import SchemaForm
from toolbench.widgets.kit.ticker import ticker

Propose = Callable[[str, str, Mapping[str, str]], Completions]
"""A function that returns proposals for an argument.

It is called with the argument's name, the typed text, and the values of the other arguments.
"""

# Seconds without a key before the server is asked
_PAUSE = 0.25
# Arguments with proposals
_MAX_PROPOSALS = 8
# Above every built-in rule for strings except that for secrets, which no widget's state may contain
_RANK = 79


class RequestForm:
    """A form with text fields, of which the first few offer completions from the server."""

    def __init__(
        self, schema: Mapping[str, Any], propose: Propose | None, typed: Mapping[str, str]
    ) -> None:
        """Make a form for *schema*, with the values *typed*.

        Args:
            schema: The schema of the arguments: an object whose values are strings.
            propose: A function that asks the server for proposals; None for a form without them.
            typed: The values that the user typed into an earlier form. Arguments that are not in
                *schema* are left out.
        """
        self._propose = propose
        self._boxes: dict[str, Proposed] = {}
        self._server_request: ServerRequest[dict[str, Completions]] = ServerRequest(nullcontext())
        self._edited = 0.0
        self._waiting = False
        rules = registry.copy()
        if propose is not None:
            rules.add(_RANK, lambda view, part, path: len(path) == 1, self._box)
        known = {name: typed[name] for name in read(schema).names if name in typed}
        self.form = SchemaForm(schema, known, registry=rules)
        self.form.observe(lambda _: self._typed())
        self.widget = self.form.widget
        self._ask()

    @property
    def values(self) -> dict[str, str]:
        """The typed arguments, ready to be sent to the server."""
        return {name: str(value) for name, value in self.form.value.items()}

    @property
    def is_ready(self) -> bool:
        """Whether the values can be sent. If not, reading this property shows the form's errors."""
        if self.form.errors:
            self.form.reveal_errors(focus=True)
            return False
        return True

    def _box(self, slot: Slot) -> "Proposed":
        box = Proposed(slot)
        if len(self._boxes) < _MAX_PROPOSALS:
            self._boxes[str(slot.key)] = box
        return box

    def _typed(self) -> None:
        """Ask for proposals after a short pause in typing."""
        self._edited = monotonic()
        if self._propose is not None and not self._waiting:
            self._waiting = True
            ticker.watch(self._wait)

    def _wait(self) -> bool:
        if monotonic() - self._edited < _PAUSE:
            return True
        self._waiting = False
        self._ask()
        return False

    def _ask(self) -> None:
        propose, typed = self._propose, self.values
        if propose is None or not self._boxes:
            return

        def ask() -> dict[str, Completions]:
            found = {}
            for name in self._boxes:
                others = dict(typed)
                found[name] = propose(name, others.pop(name, ""), others)
            return found

        self._server_request.start(ask, self._offer)

    def _offer(self, result: dict[str, Completions] | Failure) -> None:
        # After a failure, the form works without proposals
        if not isinstance(result, Failure):
            for name, values in result.items():
                self._boxes[name].offer(values)

    def close(self) -> None:
        """Close the form, and ignore proposals that arrive later."""
        self._server_request.forget()
        self._propose = None
        self.form.close()


def proposals(session: MCPServerSession, target: Prompt | ResourceTemplate) -> Propose | None:
    """Return a function that asks the server for proposals for *target*.

    Return None if the server does not offer completions.
    """
    if "completions" not in session.capabilities:
        return None
    return lambda name, typed, others: session.complete(target, name, typed, **others)


class Proposed(Line):
    """One line of text with the server's proposals. The user may also type other text."""

    kind = Combobox

    def __init__(self, slot: Any) -> None:
        super().__init__(slot)
        self._proposals: tuple[str, ...] = ()
        self._others = ""

    def options(self) -> dict[str, Any]:
        """Return the trait `options` of the widget: the latest proposals."""
        return {"options": self._proposals}

    @property
    def hint(self) -> str:
        """A remark if the server has more proposals than it sent; empty otherwise."""
        return self._others

    def offer(self, values: Completions) -> None:
        """Set the proposals to *values*. If the server has more proposals, show a remark."""
        fit = (v for v in values if is_showable(v) and "\n" not in v)
        self._proposals = tuple(dict.fromkeys(fit))
        if self._widget is not None:
            self._widget.options = self._proposals
        others = _others(values)
        if others != self._others:
            self._others = others
            with self.frame.edit():
                self.slot.display.draw()


def _others(values: Completions) -> str:
    """Return a remark if the server has more proposals than it sent; empty otherwise."""
    if not values.has_more:
        return ""
    known = ""
    if values.total is not None:
        known = f" of {values.total:,}"
    return f"the list has {len(values):,}{known} proposals: type more to get others"
