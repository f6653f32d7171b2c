"""No text, from wherever, becomes anything but text."""

import json
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from payloads import PAYLOADS
from rich.console import Group
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from test_display.inert import problems, text_of
from toolbench.core.content import ImageContent, TextContent
from toolbench.display import (
    Card,
    badge,
    blocks_html,
    blocks_text,
    bundle,
    cards_html,
    escape,
    from_ansi,
    json_html,
    key_values,
    markdown_html,
    notice,
    read_image,
    section,
    table_html,
    to_html,
    visible,
)
from toolbench.display.escape import link


def _frame(text: str) -> SimpleNamespace:
    rows = [(text, text, 1)]
    return SimpleNamespace(columns=[text, "n"], shape=(1, 2), itertuples=lambda index, name: rows)


def _grid(text: str) -> Table:
    table = Table(text, title=text, caption=text)
    table.add_row(Text(text))
    table.add_row(text)
    return table


SHOWN_BY = {
    "to_html of a string": to_html,
    "to_html of a styled text": lambda text: to_html(Text(text, style="bold red")),
    "to_html of a linked text": lambda text: to_html(Text(text, style=_linked(text))),
    "to_html of a panel": lambda text: to_html(Panel(text, title=text)),
    "to_html of a table": lambda text: to_html(_grid(text)),
    "to_html of a group": lambda text: to_html(Group(text, Panel(Text(text)))),
    "to_html of markup": lambda text: to_html(Panel(f"[bold]{text}[/bold]")),
    "bundle": lambda text: bundle(text)["text/html"],
    "from_ansi": lambda text: to_html(from_ansi(text)),
    "from_ansi, capped": lambda text: to_html(from_ansi(text * 20, limit=100)),
    "escape": escape,
    "link": lambda text: link(text, escape(text)),
    "markdown": markdown_html,
    "markdown, capped": lambda text: markdown_html(text * 20, limit=100),
    "text block": lambda text: blocks_html([TextContent(text=text)]),
    "text block, verbatim": lambda text: blocks_html([TextContent(text=text)], verbatim=True),
    "image block": lambda text: blocks_html([ImageContent(image_urls=[text, text])]),
    "JSON block": lambda text: blocks_html([json.dumps({text: [text, {text: None}]})]),
    "JSON tree": lambda text: json_html({text: text, "list": [text, (text,)]}),
    "any block": lambda text: blocks_html(
        [{text: text}, text, _frame(text), SimpleNamespace(x=text)]
    ),
    "table": lambda text: table_html(_frame(text)),
    "image": lambda text: read_image(text).html,
    "image of a kind": lambda text: read_image(f"data:image/{text},{text}").html,
    "cards": lambda text: cards_html([Card(text, escape(text), text)]),
    "section": lambda text: section(text, escape(text)),
    "key_values": lambda text: key_values({text: text, "n": {text: [text]}}),
    "badge": badge,
    "notice": lambda text: notice(text, "danger"),
}


def _linked(target: str):
    from rich.style import Style

    return Style(link=target, color="blue")


class TestEveryFunction:
    # Each way to show a text must be safe
    @pytest.mark.every_case
    @pytest.mark.parametrize("show", SHOWN_BY.values(), ids=SHOWN_BY.keys())
    def test_payloads_stay_text(self, show):
        """No payload yields an element, attribute or address outside the whitelist."""
        problems_found = {text: bad for text in PAYLOADS if (bad := problems(show(text)))}
        assert problems_found == {}

    @pytest.mark.parametrize("show", SHOWN_BY.values(), ids=SHOWN_BY.keys())
    @given(text=st.text(max_size=200) | st.text("<>\"'`&[]()!\\$*_\x1b;m\r\b\n:/ax", max_size=200))
    def test_no_text_does(self, show, text):
        """Neither does any other text; and what comes out is UTF-8 without control codes."""
        html = show(text)
        assert problems(html) == []
        html.encode("utf-8")
        assert visible(html) == html


class TestNothingIsLost:
    @given(st.text(max_size=300))
    def test_escaping_shows_all_of_the_text(self, text):
        """What a person reads is the text, with only the hidden characters spelled out."""
        assert text_of(escape(text)) == visible(text)

    def test_a_verbatim_block_shows_all_of_the_text(self):
        """The view of what a model reads leaves nothing out."""
        for text in PAYLOADS:
            page_text = text_of(blocks_html([text], verbatim=True))
            assert visible(text).rstrip() in page_text
            printed = blocks_text([text], verbatim=True)
            assert "".join(visible(text).split()) in "".join(printed.split())


def test_the_suite_is_large_and_without_repeats():
    """At least sixty payloads, each of its own kind."""
    assert len(set(PAYLOADS)) == len(PAYLOADS) >= 60
