"""A long text costs a page, a cell and a panel as little as a shorter one, wherever it stands."""

import pytest

from test_agent.scripts import call, calls, talk
from toolbench import tool
from toolbench.widgets.transcript.conversation_panel import ConversationPanel

# Characters
MEGABYTE = 1_000_000
# Characters of what is shown of it, all kinds of output each
LARGEST = 150_000


def words(size):
    return "word " * (size // 5)


@tool(read_only=True)
def read(path: str) -> str:
    """Read a file."""
    return words(int(path))


def long_question(size):
    c = talk(["Ah."])
    c.send_message(words(size))
    return c


def long_answer(size):
    return talk([words(size)])


def thought(size):
    return talk([calls(call("add", {"a": 1}), text=words(size)), "Done."])


def sent_as_argument(size):
    return talk([calls(call("read", {"path": words(size)})), "Done."], [read])


def called(size):
    return talk([calls(call(words(size))), "Done."])


def read_from_a_tool(size):
    return talk([calls(call("read", {"path": str(size)})), "Done."], [read])


def refused(size):
    c = talk([calls(call("add", {"a": 1})), "Done."])
    c.ask()
    c.reject_pending(words(size))
    return c


def answered_by_hand(size):
    c = talk([calls(call("add", {"a": 1})), "Done."])
    c.ask()
    c.answer_pending(None, words(size))
    return c


def waiting(size):
    c = talk([calls(call("read", {"path": words(size)}))], [read])
    c.ask()
    return c


PLACES = (
    waiting,
    long_question,
    long_answer,
    thought,
    sent_as_argument,
    called,
    read_from_a_tool,
    refused,
    answered_by_hand,
)


def widgets_below(widget):
    yield widget
    for child in getattr(widget, "children", ()):
        yield from widgets_below(child)


def sizes(conversation):
    """How many characters the page, the two kinds of a cell's output, and the panel have."""
    bundle = conversation._repr_mimebundle_()
    panel = ConversationPanel(conversation)
    state = sum(len(str(getattr(w, "value", ""))) for w in widgets_below(panel))
    panel.close()
    return [len(conversation.to_html()), *map(len, bundle.values()), state]


@pytest.mark.parametrize("place", PLACES)
def test_is_shown_by_its_ends_wherever_it_stands(place):
    """Of one megabyte no more is shown than of a tenth of one, but for the digits of counts."""
    long, longer = place(MEGABYTE // 10), place(MEGABYTE)
    for conversation in (long, longer):
        if not conversation.pending:
            conversation.run()
    before, after = sizes(long), sizes(longer)
    assert max(after) < LARGEST
    assert all(abs(b - a) < 500 for b, a in zip(before, after, strict=True))


def test_the_conversation_itself_keeps_all_of_it():
    """Only what is shown is cut: the model read the whole."""
    c = long_question(MEGABYTE)
    c.run()
    assert len(c.events[1].text) == MEGABYTE
    assert words(MEGABYTE) in str(c.agent.llm.requests[0])


def test_the_row_of_a_call_is_cut_once():
    """It shows the beginning of a result; how much is left out of a cut text is not cut again."""
    c = read_from_a_tool(6_000)
    c.run()
    row = c.to_html().partition("<summary")[2].partition("</summary>")[0]
    assert "word word" in row and row.count("…") == 1 and "left out" not in row
