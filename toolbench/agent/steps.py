"""Time, tokens and cost of the steps of a conversation, as bars in the transcript."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from toolbench.agent.events import ActionEvent, Event, MessageEvent, ObservationEvent, begins_answer
from toolbench.agent.state import Row
from toolbench.display.css import REMARK
from toolbench.display.escape import Html, escape
from toolbench.llm.models import Usage
from toolbench.wording import counted, duration

# The colours of the parts of a bar
_MODEL = "rgba(35,110,200,.8)"
_CALLS = "rgba(30,130,60,.8)"
_OTHER = "rgba(110,115,125,.7)"
_GRID = "display:grid;grid-template-columns:repeat(auto-fit,minmax(7em,9em));gap:2px 12px"
_TRACK = "height:3px;background:rgba(128,128,128,.2);display:flex;margin-top:1px"


@dataclass
class Step:
    """One step: an answer of the model, with the calls in it."""

    number: int
    """The number of the step, from 1."""
    model_seconds: float | None
    """The seconds until the answer arrived; None if unknown, as in older files."""
    usage: Usage
    """The tokens and cost of the answer."""
    call_seconds: float = 0.0
    """The total seconds for which the calls of the step worked."""

    @property
    def seconds(self) -> float | None:
        """The seconds of the model and of the calls; None if neither is known."""
        if self.model_seconds is None and not self.call_seconds:
            return None
        return (self.model_seconds or 0.0) + self.call_seconds


class Steps:
    """The steps of a conversation; the bars of each kind are scaled to the largest value."""

    def __init__(self, events: Sequence[Event], spent: Iterable[Row]) -> None:
        """Find the steps in *events*; *spent* is the result of `Spending.rows`."""
        usages = defaultdict[int, Usage](Usage)
        for after, read, written, cost in spent:
            # An answer is added to the log as soon as it is paid for
            usages[after + 1] += Usage(read, written, cost)
        self._firsts: dict[int, Step] = {}
        self.numbers: dict[int, int] = {}
        """The step number of each event of the model, by the event's number."""
        step: Step | None = None
        for event in events:
            if isinstance(event, ActionEvent | MessageEvent) and begins_answer(event):
                step = Step(len(self._firsts) + 1, event.seconds, usages[event.id])
                self._firsts[event.id] = step
                self.numbers[event.id] = step.number
            elif isinstance(event, ActionEvent):
                self.numbers[event.id] = len(self._firsts)
            elif isinstance(event, ObservationEvent) and step is not None and not event.by_hand:
                step.call_seconds += event.seconds
        self._largest = defaultdict[str, float](float)
        for step in self._firsts.values():
            for kind, amount in {"time": step.seconds or 0.0, **_amounts(step.usage)}.items():
                self._largest[kind] = max(self._largest[kind], amount)

    def facts(self, total: Usage) -> str:
        """Return the sums of all steps in words; *total* includes the spending of other models."""
        facts = [counted(len(self._firsts), "step")]
        times = [step.seconds for step in self._firsts.values() if step.seconds is not None]
        if times:
            facts.append(duration(sum(times)))
        facts += [_words(kind, amount) for kind, amount in _amounts(total).items()]
        return ", ".join(facts)

    def html_before(self, event: Event) -> Html:
        """Return a line with the bars of the step that begins with *event*; else an empty line."""
        step = self._firsts.get(event.id)
        if step is None:
            return Html("")
        cells = self._time(step)
        for kind, amount in _amounts(step.usage).items():
            text = _words(kind, amount)
            cells += _cell(text, _part(amount, self._largest[kind], _OTHER), tip=text)
        return Html(
            f'<div style="{REMARK};{_GRID};margin:0 0 6px">'
            f"<span>Step {step.number:,}</span> {cells}</div>"
        )

    def _time(self, step: Step) -> str:
        if step.seconds is None:
            return ""
        bar, words = "", []
        if step.model_seconds is not None:
            words.append(f"the model {duration(step.model_seconds)}")
            bar += _part(step.model_seconds, self._largest["time"], _MODEL)
        if step.call_seconds:
            words.append(f"its calls {duration(step.call_seconds)}")
            bar += _part(step.call_seconds, self._largest["time"], _CALLS)
        return _cell(duration(step.seconds), bar, tip=" + ".join(words))


def _amounts(usage: Usage) -> dict[str, float]:
    """Return the input tokens, output tokens and cost of *usage*, without unknown amounts."""
    amounts = {"in": usage.input_tokens, "out": usage.output_tokens, "cost": usage.cost}
    return {kind: amount for kind, amount in amounts.items() if amount is not None}


def _words(kind: str, amount: float) -> str:
    if kind == "cost":
        return f"${amount:.4f}"
    return f"{counted(int(amount), 'token')} {kind}"


def _cell(text: str, bar: str, *, tip: str) -> str:
    """Return *text* with a bar below it. Screen readers skip the bar, which repeats the text."""
    return (
        f'<span title="{escape(tip)}" style="white-space:nowrap">'
        f'{escape(text)}<span aria-hidden="true" style="{_TRACK}">{bar}</span></span> '
    )


def _part(value: float, largest: float, color: str) -> str:
    """Return a segment of a bar, as long as the share of *value* in *largest*."""
    share = 100 * value / (largest or 1.0)
    return f'<span style="height:3px;width:{share:.1f}%;background:{color}"></span>'
