"""What is shown of something huge costs what is shown, not what there is."""

import tracemalloc

import pytest
from rich.text import Text

from toolbench.core.content import TextContent
from toolbench.core.schema import Action, Observation
from toolbench.display import blocks, page
from toolbench.display.ansi import from_ansi
from toolbench.display.blocks import blocks_html, blocks_text
from toolbench.display.caps import cap, cap_joined
from toolbench.display.json_tree import json_html, json_text
from toolbench.display.live_results import observation_bundle
from toolbench.display.objects import (
    action_bundle,
    call_html,
    call_text,
)
from toolbench.display.observations import result_html
from toolbench.display.render import to_html, to_text
from toolbench.runs.output import Output
from toolbench.wording import estimate_tokens

# Characters: one copy of them is more than is allowed
SIZE = 25_000_000
# Bytes
MOST = 22_000_000


class Echo(Action):
    """Says it again."""

    text: str


def repeated(text: str) -> str:
    return text * (SIZE // len(text))


TEXTS = {
    "one line": "x",
    "lines": "The quick brown fox.\n",
    "not ASCII": "Ein Fuß, ☃.\n",
    "colours": "\x1b[31mred\x1b[0m plain\n",
    "progress": "\x1b[2K\r12 %",
    "backspaces": "x\b",
}
SHOWN_BY = {
    "to_html": to_html,
    "to_text": to_text,
    "from_ansi": lambda text: from_ansi(text, limit=50_000),
    "blocks": lambda text: blocks_html([text, TextContent(text=text)]),
    "blocks as text": lambda text: blocks_text([text], verbatim=True),
    "observation": lambda text: observation_bundle(Observation.from_text(text)),
    "error": lambda text: result_html(Observation.from_text(text, is_error=True)),
    "call": lambda text: call_html("echo", {"text": text}, Observation.from_text("")),
    "call as text": lambda text: call_text({"text": text}, Observation.from_text("")),
    "action": lambda text: action_bundle(Echo(text=text)),
    "title": page.short,
    "notice": page.notice,
    "displayed text": lambda text: Output().display({"text/plain": text}),
    "displayed HTML": lambda text: blocks.bundle_html({"text/html": text}),
    "displayed Markdown": lambda text: blocks.bundle_html({"text/markdown": text}),
    "displayed SVG": lambda text: blocks.bundle_html({"image/svg+xml": text}),
    "displayed image": lambda text: blocks.bundle_html({"image/png": text}),
    "displayed JSON": lambda text: Output().display({"application/json": {"a": text}}),
    "printed": lambda text: Output().write("stdout", text),
}


def peak(work) -> int:
    """Return how many bytes *work* has at a time, at most."""
    tracemalloc.start()
    try:
        work()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.fixture(scope="module", params=TEXTS.values(), ids=TEXTS.keys())
def text(request):
    return repeated(request.param)


@pytest.mark.parametrize("show", SHOWN_BY.values(), ids=SHOWN_BY.keys())
def test_a_text_is_never_copied_to_show_its_ends(show, text):
    """Whatever it is made of and wherever it is shown, the middle is not looked at."""
    show("warm")
    assert peak(lambda: show(text)) < MOST


class TestOtherThings:
    def test_text_that_hides(self):
        """A text that grows when it is spelled out is cut before that."""
        text = repeated("\u202e")
        assert peak(lambda: to_html(text, limit=20_000)) < MOST

    def test_json_that_is_written_down(self):
        """So much JSON is text to people; nothing reads it all."""
        text = f"[{repeated('12345, ')}0]"
        assert peak(lambda: result_html(Observation.from_text(text))) < MOST
        assert peak(lambda: blocks_html([text])) < MOST

    @pytest.mark.slow
    @pytest.mark.parametrize("show", [json_html, json_text])
    def test_json_that_is_a_value(self, show):
        """Neither is a list of millions, nor an object of them, gone through to its end."""
        many = [123_456_789] * 3_000_000
        assert peak(lambda: show(many)) < MOST
        assert peak(lambda: show({"a": {"b": many}})) < MOST

    def test_many_blocks(self):
        """A result in very many blocks is not joined to show its ends."""
        block = TextContent(text="The quick brown fox.\n" * 1_000)
        observation = Observation(content=[block] * (SIZE // 21_000))
        assert peak(lambda: observation_bundle(observation)) < MOST

    def test_styled_text(self):
        """A Rich text of a tool's own is cut before it is laid out."""
        text = Text(repeated("The quick brown fox.\n"), style="red")
        assert peak(lambda: to_html(text)) < 3 * SIZE


class TestNothingIsLost:
    def test_what_is_left_out_is_counted(self):
        """The two ends and the count of the rest make up the text, however long it is."""
        for text in ("x" * 5_000_000, "ab\n" * 1_000_000):
            capped = cap(text, 1_000)
            length = len(capped.head) + len(capped.tail)
            assert length + capped.omitted == len(text)
            assert text.startswith(capped.head)
            assert text.endswith(capped.tail)

    @pytest.mark.parametrize("count", [1, 7, 40, 100_000])
    def test_blocks_are_counted_as_one_text(self, count):
        """So it is with many texts, whether they are joined first or not."""
        texts = ["abc", "de\nf", ""] * count
        whole = "\n".join(texts)
        capped = cap_joined(texts, 300)
        length = len(capped.head) + len(capped.tail)
        assert length + capped.omitted == len(whole)
        assert whole.startswith(capped.head)
        assert whole.endswith(capped.tail)
        assert len(str(capped)) <= 300

    def test_a_model_reads_it_all(self):
        """What is left out is left out for people."""
        text = "x" * 5_000_000
        observation = Observation.from_text(text)
        observation_bundle(observation)
        assert observation.to_llm_content[0].text == text
        assert observation.text == text

    def test_tokens_of_a_long_text(self):
        """The estimate from samples is near that from all of a text."""
        text = "Ein Fuß, ☃. " * 1_000_000
        exact = len(text.encode()) / 4
        assert estimate_tokens(text) == pytest.approx(exact, rel=0.01)
