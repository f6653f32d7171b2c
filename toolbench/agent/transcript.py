"""Write the transcript of a conversation as static HTML, without scripts or a kernel."""

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from toolbench.agent.conversation_file import readable_event_of
from toolbench.agent.delegate import DelegateObservation
from toolbench.agent.events import (
    ActionEvent,
    AgentErrorEvent,
    AnswerEvent,
    CallEdit,
    Event,
    MessageEvent,
    ObservationEvent,
    UserRejectObservation,
)
from toolbench.agent.masking import Masking
from toolbench.agent.steps import Steps
from toolbench.core.schema import Observation
from toolbench.display.ansi import from_ansi
from toolbench.display.blocks import blocks_html
from toolbench.display.caps import cap
from toolbench.display.css import CODE_FONT, LINE, REMARK, TEXT_COLOR, TEXT_FONT
from toolbench.display.escape import NO_MATHS, Html, escape
from toolbench.display.json_tree import parse_json
from toolbench.display.markdown import markdown_html
from toolbench.display.observations import result_html
from toolbench.display.page import (
    Tone,
    badge,
    fold,
    key_values,
    notice,
    short,
    whole_page,
)
from toolbench.display.render import to_html as rendered
from toolbench.display.render import to_text
from toolbench.display.tables import returned_frame, shape_text
from toolbench.redaction.redactor import Redactor
from toolbench.runs.record import STATE_WORDS, state_tone, state_words
from toolbench.runs.unfinished_observation import UnfinishedObservation
from toolbench.values import clip
from toolbench.wording import counted, time_taken

if TYPE_CHECKING:
    from toolbench.agent.conversation import Conversation


# --- a result on one line, for the closed row of a call --------------------------------

# Characters of a list or object inside of a result
_LONGEST = 40
# Characters of text that are read for its line
_ROOM = 1_600
# Parts of a JSON value that are written
_MOST = 40


def result_line(observation: Observation) -> str:
    """Summarise *observation* in one line.

    The summary depends on the kind of the result:

    - JSON object: The names and values, as `name=value`.
    - JSON list: The number of items, and the first items.
    - table: The size, and the first rows.
    - other text: The first lines.

    The number of images is put in front. If the observation is empty, the summary is empty.
    """
    parts: list[str] = []
    images = sum(len(b.image_urls) for b in observation.content if b.type == "image")
    if images:
        parts.append(counted(images, "image"))
    if not observation.is_error:
        frame = returned_frame(observation)
        if frame is not None:
            parts.append(shape_text(frame))
    parts.append(_text_line(observation.text))
    return " · ".join(filter(None, parts))


def _text_line(text: str) -> str:
    value = parse_json(text)
    if isinstance(value, Mapping):
        return ", ".join(_pairs(value))
    if isinstance(value, list):
        items = ", ".join(map(_part_of, value[:_MOST]))
        return ": ".join(filter(None, [counted(len(value), "item"), items]))
    lines = (line.strip() for line in from_ansi(text[:_ROOM]).plain.splitlines())
    return " · ".join(line.removeprefix("- ") for line in lines if line)


def _pairs(value: Mapping[str, Any]) -> Iterator[str]:
    for name in [*value][:_MOST]:
        yield f"{name}={_part_of(value[name])}"


def _part_of(value: Any) -> str:
    """Return *value*, an item of a JSON list or object, as text; only the size if it is long."""
    text = clip(value, _ROOM)
    if len(text) <= _LONGEST or not isinstance(value, Mapping | list):
        return text
    if isinstance(value, list):
        return counted(len(value), "item")
    return counted(len(value), "field")


# Events; the output of a cell is saved with the notebook
_IN_A_CELL = 200
# Characters of a message, and of a result in each of its views
_LIMIT = 20_000
# Characters of a call, and of its result, in a row
_BRIEF = 160
_ASKS = "waits for your answer"
# How deep a conversation can be inside of others
_DEEPEST = 3
_BOX = f"{TEXT_FONT};{TEXT_COLOR};border:{LINE};border-radius:8px;padding:12px 16px"


def to_html(conversation: "Conversation") -> str:
    """Return the transcript as a whole HTML page."""
    redactor = conversation.known_secrets
    body = _whole(conversation, conversation.events, redactor, is_page=True)
    title = escape(f"Conversation with {conversation.sender.model.name}")
    page = whole_page(title, body, width="60rem", images="data: https:")
    return redactor.html(page)


def bundle(
    conversation: "Conversation", events: Sequence[Event] | None = None, *, is_running: bool = False
) -> dict[str, str]:
    """Return the transcript as text and as HTML, to be displayed below a cell.

    If there are too many events, only the last events are included.

    Args:
        conversation: The conversation.
        events: The events to show. If left out, all events are shown.
        is_running: Whether calls without an answer are shown as running instead of pending.
    """
    if events is None:
        events = conversation.events
    recent = events[-_IN_A_CELL:]
    redactor = conversation.known_secrets
    masking = Masking(redactor)
    texts = [event_text(masked(event, masking)) for event in recent]
    html: str = _whole(conversation, recent, redactor, is_running=is_running)
    left_out = len(events) - len(recent)
    if left_out:
        note = f"{counted(left_out, 'event')} before these are not shown."
        texts.insert(0, note)
        html = notice(note, "neutral") + html
    text = "\n".join(texts)
    return {
        "text/plain": redactor.text(text or repr(conversation)),
        "text/html": redactor.html(html),
    }


def masked(event: Event, masking: Masking) -> Event:
    """Return *event* with secrets masked; do this before you cut text, which may split a secret."""
    if isinstance(event, MessageEvent):
        return replace(event, content=masking.content(event.content))
    if isinstance(event, ActionEvent | CallEdit):
        arguments = masking.values(event.tool_call.arguments)
        call = replace(event.tool_call, arguments=arguments)
        event = replace(event, tool_call=call)
    if isinstance(event, ActionEvent):
        return replace(event, thought=masking.values(event.thought))
    if isinstance(event, UserRejectObservation):
        return replace(event, reason=masking.values(event.reason))
    if isinstance(event, AgentErrorEvent):
        return replace(event, error=masking.values(event.error))
    if not isinstance(event, ObservationEvent):
        return event
    observation = event.observation
    changes: dict[str, Any] = {"content": [*masking.content(observation.content)]}
    if isinstance(observation, DelegateObservation):
        changes["transcript"] = [masking.event(data) for data in observation.transcript]
    return replace(event, observation=observation.model_copy(update=changes))


def event_text(event: Event) -> str:
    """Return *event* as text."""
    return to_text(event.visualize, limit=_LIMIT)


def _whole(
    conversation: "Conversation",
    events: Iterable[Event],
    redactor: Redactor,
    *,
    is_page: bool = False,
    is_running: bool = False,
) -> Html:
    masking = Masking(redactor)
    masked_events = [masked(event, masking) for event in events]
    asking = conversation.calls.asking
    steps = steps_of(conversation)
    body = events_html(masked_events, is_running=is_running, asking=asking, steps=steps)
    foot = foot_html(conversation, is_page=is_page)
    head = head_html(conversation, steps)
    head = Html(f'<div style="border-bottom:{LINE};margin:0 0 10px">{head}</div>')
    return Html(f'<div {NO_MATHS} style="{_BOX}">{head}{body}{foot}</div>')


def steps_of(conversation: "Conversation") -> Steps:
    """Return time, tokens and cost of each step of *conversation*, including steps not shown."""
    state = conversation.agent_state
    return Steps(state.log.after(0), state.spending.rows())


def head_html(conversation: "Conversation", steps: Steps) -> Html:
    """Return the line above a transcript: the model, and the sums of all *steps*."""
    facts = steps.facts(conversation.usage)
    return Html(
        '<div style="display:flex;flex-wrap:wrap;gap:8px;align-items:baseline;'
        'padding:0 0 6px"><strong>Conversation</strong> '
        f"{badge(conversation.sender.model.name, 'info', tip='The model')}"
        f'<span style="{REMARK};margin-left:auto">{escape(facts)}</span></div>'
    )


def foot_html(conversation: "Conversation", *, is_page: bool = False) -> Html:
    """Return the last request to the model as HTML that is collapsed until the reader opens it.

    Args:
        conversation: The conversation.
        is_page: Whether the HTML is for a separate page. If so, the exact request is included,
            which would be too long for a cell.
    """
    requests = conversation.requests
    if not requests:
        return Html("")
    request = requests[-1]
    content = request.to_html(exact=is_page)
    return fold(f"What the model was sent last: {request.summary}", content)


def events_html(
    events: Sequence[Event],
    *,
    depth: int = 0,
    is_running: bool = False,
    asking: Container[int] = (),
    steps: Steps | None = None,
) -> Html:
    """Return a list of *events* as HTML. Each call and its answer are one entry.

    Args:
        events: The events.
        depth: The depth of the conversation: 0, or 1 if it is a delegated task, and so on.
        is_running: Whether calls without an answer are shown as running instead of pending.
        asking: The numbers of the running calls whose tools have asked the user a question.
        steps: The time, tokens and cost of each step, to be shown above the step's first event.
            None if they are not known.
    """
    answers: dict[int | None, AnswerEvent] = {}
    edits: dict[int, CallEdit] = {}
    for event in events:
        if isinstance(event, AnswerEvent):
            answers[event.action_id] = event
        elif isinstance(event, CallEdit):
            edits[event.action_id] = event
    numbers = call_numbers(events)
    parts: list[str] = []
    for event in events:
        if steps is not None:
            parts.append(steps.html_before(event))
        if isinstance(event, ActionEvent):
            answer, edit = answers.get(event.id), edits.get(event.id)
            number = numbers[event.id]
            parts.append(thought_html(event))
            parts.append(
                call_html(
                    *(event, answer, edit),
                    number=number,
                    depth=depth,
                    is_running=is_running,
                    is_asking=event.id in asking,
                )
            )
        elif getattr(event, "action_id", None) not in numbers:
            parts.append(other_html(event))
    return Html("".join(parts))


def call_numbers(events: Iterable[Event]) -> dict[int, int]:
    """Number the calls among *events* from 1, and return the numbers by the ids of the events."""
    numbers: dict[int, int] = {}
    for event in events:
        if isinstance(event, ActionEvent):
            numbers[event.id] = len(numbers) + 1
    return numbers


def other_html(event: Event) -> Html:
    """Return *event*, which is neither a call nor an answer to a call, as HTML."""
    if isinstance(event, MessageEvent):
        return _message(event)
    if isinstance(event, AgentErrorEvent):
        return notice(event.error, "danger")
    return Html(
        f'<div style="{REMARK};margin:0 0 8px">{rendered(event.visualize, limit=_LIMIT)}</div>'
    )


def _message(event: MessageEvent) -> Html:
    images = [block for block in event.content if block.type == "image"]
    pictures = ""
    if images:
        pictures = blocks_html(images)
    if event.source == "agent":
        words = ""
        if event.text:
            words = markdown_html(event.text)
        return Html(f'<div style="margin:0 0 10px">{words}{pictures}</div>')
    if event.source == "user":
        style = "background:rgba(30,110,220,.12);border-radius:10px 10px 2px 10px;margin-left:auto"
        who = ""
    else:
        style = f"border:{LINE};border-radius:8px"
        who = f'<div style="{REMARK}">from the workbench</div>'
    return Html(
        f'<div style="{style};width:fit-content;max-width:78%;padding:7px 11px;'
        'margin-bottom:10px;white-space:pre-wrap;overflow-wrap:anywhere">'
        f"{who}{escape(str(cap(event.text, _LIMIT)))}{pictures}</div>"
    )


def thought_html(event: ActionEvent) -> Html:
    """Return the text that the model wrote before its call; empty if there is none."""
    if not event.thought:
        return Html("")
    return Html(f'<div style="margin:0 0 6px">{markdown_html(event.thought)}</div>')


def call_html(
    event: ActionEvent,
    answer: AnswerEvent | None,
    edit: CallEdit | None = None,
    *,
    number: int,
    depth: int = 0,
    is_running: bool = False,
    is_asking: bool = False,
) -> Html:
    """Return an HTML row for a call, which expands to the whole call and its answer.

    The model's text before the call is not included; see `thought_html`.

    Args:
        event: The call.
        answer: The answer to the call, if there is one.
        edit: The user's change of the call, if there is one.
        number: The position of the call among all calls of the conversation.
        depth: The depth of the conversation: 0, or 1 if it is a delegated task, and so on.
        is_running: Whether a call without an answer is shown as running instead of pending.
        is_asking: Whether the call is running, and its tool has asked the user a question.
    """
    arguments = event.shown_arguments
    if edit is not None:
        arguments = edit.shown_arguments
    line = ", ".join(f"{name}={clip(v, _BRIEF)}" for name, v in arguments.items())
    table = notice("No arguments.", "neutral")
    if arguments:
        table = key_values(arguments)
    edited = seconds = result = brief = ""
    tone: Tone = "neutral"
    if edit is not None:
        edited = badge("edited", "warning")
        table = Html(table + fold("What the model had sent", key_values(event.shown_arguments)))
    if isinstance(answer, ObservationEvent) and not answer.by_hand:
        seconds = time_taken(answer.seconds, answer.waited)
    if answer is not None:
        tone = _state(answer)[1]
        result = _result(answer, depth)
        brief = _brief_html(answer.answer)
    return Html(
        f'<details style="border:{LINE};border-radius:7px;margin:0 0 10px;overflow:hidden">'
        '<summary style="cursor:pointer;display:block">'
        '<div style="display:flex;flex-wrap:wrap;gap:2px 8px;align-items:baseline;padding:6px 10px">'
        f"{badge(str(number), tone)}"
        f"<code>{short(event.tool_name)}</code>"
        f'<span style="{CODE_FONT};{REMARK};flex:1 1 0;min-width:8em;overflow:hidden;'
        f'text-overflow:ellipsis;white-space:nowrap">{short(line, _BRIEF)}</span>'
        f"<span>{edited}{_badge_of(answer, is_running=is_running, is_asking=is_asking)}"
        f'<span style="{REMARK}">{seconds}</span></span></div>{brief}</summary>'
        f'<div style="border-top:{LINE};padding:8px 10px">{table}{result}</div></details>'
    )


def _badge_of(answer: AnswerEvent | None, *, is_running: bool, is_asking: bool) -> Html:
    if isinstance(answer, ObservationEvent) and answer.by_hand:
        return badge("answered by hand", "warning")
    word, tone = _state(answer)
    if answer is None and is_asking:
        word = _ASKS
    elif answer is None and is_running:
        word, tone = STATE_WORDS["running"], "neutral"
    return badge(word, tone)


def _brief_html(observation: Observation) -> str:
    """Return the first words of *observation*, for the collapsed row of its call."""
    text = result_line(observation)
    if not text:
        return ""
    return (
        f'<div style="{CODE_FONT};{REMARK};padding:5px 10px 6px 34px;overflow:hidden;'
        f"text-overflow:ellipsis;white-space:nowrap;border-top:{LINE};"
        f'background:rgba(128,128,128,.06)">{short(text, _BRIEF)}</div>'
    )


def _state(answer: AnswerEvent | None) -> tuple[str, Tone]:
    if answer is None:
        return "waits for you", "warning"
    if isinstance(answer, UserRejectObservation):
        return answer.state_words, "warning"
    is_stopped = isinstance(answer, ObservationEvent) and answer.stopped
    if is_stopped or isinstance(answer.answer, UnfinishedObservation):
        return STATE_WORDS["cancelled"], "warning"
    if answer.answer.is_error:
        return STATE_WORDS["error"], "danger"
    return state_words("ok", answer.answer), state_tone("ok", answer.answer)


def _result(answer: AnswerEvent, depth: int) -> Html:
    if isinstance(answer, AgentErrorEvent):
        return notice(answer.error, "danger")
    if isinstance(answer, UserRejectObservation):
        return notice(answer.reason, "warning")
    return Html(result_html(answer.answer, limit=_LIMIT) + _inner(answer.answer, depth))


def _inner(observation: Observation, depth: int) -> str:
    """Return the conversation of a delegated task, collapsed; "" for other results."""
    if not isinstance(observation, DelegateObservation) or depth >= _DEEPEST:
        return ""
    events = [readable_event_of(data) for data in observation.transcript]
    return (
        f'<details style="margin-top:8px"><summary style="cursor:pointer">Its conversation: '
        f'{counted(len(events), "event")}</summary><div style="border-left:{LINE};'
        f'padding:8px 0 0 12px">{events_html(events, depth=depth + 1)}</div></details>'
    )
