"""Show a server of tools and its calls as text, and as HTML that needs no kernel."""

from collections.abc import Callable, MutableMapping
from typing import TYPE_CHECKING, TypeVar
from weakref import WeakKeyDictionary

from toolbench.core.content import TextContent
from toolbench.core.schema import Observation
from toolbench.display.ansi import from_ansi
from toolbench.display.caps import shorten
from toolbench.display.css import CODE_FONT, LINE, REMARK, TEXT_COLOR, TEXT_FONT
from toolbench.display.escape import NO_MATHS, Html, escape, visible
from toolbench.display.objects import call_html
from toolbench.display.page import Card, Tone, badge, cards_html, fold, notice, short
from toolbench.display.render import to_html, to_text
from toolbench.runs.record import state_tone, state_words
from toolbench.serving.access.client_config import CLIENTS, ClientConfig
from toolbench.serving.call import ServedCall
from toolbench.values import clip
from toolbench.wording import counted, duration

if TYPE_CHECKING:
    from toolbench.serving.served_tools import Served

T = TypeVar("T")

IN_A_CELL = 50
"""The number of recent calls that a saved notebook shows."""
# The most characters of a client's name
_NAME = 40
# The most characters of the arguments, and of the result, in a row
_BRIEF = 160
# The most characters of a result in each of its views, and of the printed output
_LIMIT = 5_000
_BOX = f"{TEXT_FONT};{TEXT_COLOR};border:{LINE};border-radius:8px;padding:12px 16px"


def served_bundle(served: "Served") -> dict[str, str]:
    """Return the view of *served* for a cell without widgets: the server and its calls."""
    calls = served.calls[-IN_A_CELL:]
    left_out = served.count - len(calls)
    lines = [repr(served)]
    if not served.is_closed:
        lines += [
            f"Clients start: toolbench connect {served.name}",
            'To paste: print(served.client_config("claude")), or "cursor", "vscode", "codex", '
            '"mcp"',
        ]
        if served.proxy_hint:
            lines.append(served.proxy_hint)
    if left_out:
        lines.append(_left_out(left_out))
    lines += map(call_line, calls)
    if left_out:
        note = notice(_left_out(left_out), "neutral")
    else:
        note = Html("")
    rows = "".join(written_once(_rows, call, call_row) for call in reversed(calls))
    # Iterates over a copy, because other threads may add calls
    for reference in _rows.keyrefs():
        call = reference()
        if call is not None and call not in calls:
            _rows.pop(call, None)
    if served.is_closed:
        clients = ""
    else:
        clients = clients_html(served)
    html = f'<div {NO_MATHS} style="{_BOX}">{head_html(served)}{clients}{note}{rows}</div>'
    return {"text/plain": "\n".join(lines), "text/html": html}


def _left_out(number: int) -> str:
    return f"{counted(number, 'call')} before these are in history()."


def head_html(served: "Served") -> Html:
    """Return the heading: the state of the server, its URL, and the numbers of tools and calls."""
    word, tone = served_state(served)
    facts = [counted(len(served.tools), "tool"), counted(served.count, "call")]
    if served.is_closed:
        where = ""
    else:
        where = f"<code>{escape(served.url)}</code>"
    return Html(
        f'<div style="display:flex;flex-wrap:wrap;gap:4px 8px;align-items:baseline;border-bottom:{LINE};'
        f'padding:0 0 6px;margin:0 0 8px"><strong>Served as {short(served.name)}</strong> {badge(word, tone)}'
        f'<span style="{REMARK};overflow-wrap:anywhere">{where}</span>'
        f'<span style="{REMARK};margin-left:auto">{escape(", ".join(facts))}</span></div>'
    )


def served_state(served: "Served") -> tuple[str, Tone]:
    """Return the state of *served* in one word, and a colour for the word."""
    if served.is_closed:
        return "stopped", "neutral"
    if served.is_paused:
        return ("paused", "warning")
    return ("serving", "success")


def clients_html(served: "Served") -> Html:
    """Return the configurations for clients, without secrets, in a part that opens on a click."""
    style = f"{CODE_FONT};margin:0;white-space:pre-wrap;overflow-wrap:anywhere"
    cards = []
    for client in CLIENTS:
        config = ClientConfig(client, served.name)
        text = Html(f'<pre style="{style}">{escape(str(config))}</pre>')
        cards.append(Card(client, text, config.place))
    if served.proxy_hint:
        hint = notice(served.proxy_hint, "info")
    else:
        hint = Html("")
    title = f"Connect an agent: toolbench connect {served.name}"
    return Html(hint + fold(title, cards_html(cards)))


# --- calls --------------------------------------------------------------------------


_rows: WeakKeyDictionary[ServedCall, Html] = WeakKeyDictionary()


def subject(call: ServedCall) -> str:
    """Return *call* on one line: the client, the tool and the arguments."""
    arguments = ", ".join(f"{name}={clip(value, _BRIEF)}" for name, value in call.arguments.items())
    if call.client:
        who = f"{shorten(visible(call.client), _NAME)}: "
    else:
        who = ""
    return f"{who}{call.tool}({shorten(arguments, _BRIEF)})"


def words(call: ServedCall) -> str:
    """Return the state of *call* in a few words."""
    if call.by_hand:
        return "answered by hand"
    if call.questions:
        return "waits for you"
    return state_words(call.state, call.run.outcome)


def tone(call: ServedCall) -> Tone:
    """Return a colour for the state of *call*."""
    if call.by_hand or call.questions:
        return "warning"
    return state_tone(call.state, call.run.outcome)


def outcome(call: ServedCall) -> str:
    """Return the outcome of *call* on one line, or only its state if it has not ended."""
    if not (call.is_over or call.by_hand):
        return words(call)
    return f"{words(call)}: {_brief(call.observation)}".removesuffix(": ")


def _brief(observation: Observation) -> str:
    blocks = observation.content
    text = observation.text[: 4 * _BRIEF]
    if not text and blocks:
        others = sum(not isinstance(block, TextContent) for block in blocks)
        if others:
            return counted(others, "image")
        return ""
    return " ".join(to_text(text, limit=2 * _BRIEF).split())


def call_line(call: ServedCall) -> str:
    """Return *call* as a line of text."""
    when = f"{call.started.astimezone():%H:%M:%S}"
    return f"#{call.id} {when} {subject(call)}, {duration(call.seconds)}, {outcome(call)}"


def written_once(
    written: MutableMapping[ServedCall, T],
    call: ServedCall,
    write: Callable[[ServedCall], T],
) -> T:
    """Return `write(call)`; if *call* has ended, store the result in *written* for reuse."""
    row = written.get(call)
    if row is None:
        row = write(call)
        if call.is_over:
            written[call] = row
    return row


def call_row(call: ServedCall) -> Html:
    """Return *call* as a compact row that opens to show the whole call."""
    line = f"{CODE_FONT};{REMARK};overflow:hidden;text-overflow:ellipsis;white-space:nowrap"
    return Html(
        f'<details style="border:{LINE};border-radius:7px;margin:0 0 6px">'
        '<summary style="cursor:pointer;padding:5px 10px">'
        f'<span style="{CODE_FONT}">{short(subject(call), _BRIEF)}</span> '
        f'{badge(words(call), tone(call))}<span style="{REMARK}">{duration(call.seconds)}</span>'
        f'<div style="{line};padding:3px 10px 0 16px">{short(_brief(call.observation), _BRIEF)}</div></summary>'
        f'<div style="border-top:{LINE};padding:8px 10px">{call_whole(call, limit=_LIMIT)}</div></details>'
    )


def call_whole(call: ServedCall, *, limit: int) -> Html:
    """Return HTML with all parts of *call*: the tool, the arguments, the result and printed output.

    Args:
        call: The call.
        limit: The maximum number of characters of printed output, and of each view of the result.
    """
    facts = [
        words(call),
        duration(call.seconds),
        f"from {call.client}" if call.client else "",
        call.run.decision,
    ]
    whole = call_html(
        call.run.tool,
        call.arguments,
        call.observation,
        remark=", ".join(filter(None, facts)),
        limit=limit,
    )
    printed = printed_html(call, lines=None, limit=limit)
    if printed:
        return Html(whole + fold("What it printed", printed))
    return whole


def printed_html(call: ServedCall, *, lines: int | None, limit: int) -> Html:
    """Return HTML with the output that *call* has printed until now, or an empty string.

    Args:
        call: The call.
        lines: The number of lines to show, from the end of the output. None shows all lines.
        limit: The maximum number of characters to show.
    """
    text = call.run.output.text
    if lines is not None:
        text = "".join(text.splitlines(keepends=True)[-lines:])
    if text:
        return to_html(from_ansi(text), limit=limit)
    return Html("")
