"""Output that grows on the page: complete, in order, and never sent twice."""

import json
import re
from html import unescape

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolbench.display.escape import Html
from toolbench.runs.output import Chunk, Output
from toolbench.widgets.kit.parts import Parts
from toolbench.widgets.panel import result as output_module
from toolbench.widgets.panel.result import LogView, divided


def text_of(view):
    """What a person reads in *view*."""
    markup = "".join(widget.value for widget in view.widget.children[0].children)
    return unescape(re.sub("<[^>]+>", "", markup))


def sent(wire):
    """Bytes of all that was sent."""
    return sum(len(json.dumps(data)) for _, _, data in wire.messages)


class TestLogView:
    def test_shows_everything_in_order(self):
        """Each piece after the other, whatever the streams."""
        view, output = LogView(Parts()), Output()
        for n in range(100):
            output.write("stderr" if n % 7 else "stdout", f"line {n}\n")
            view.show(output, over=n == 99)
        assert text_of(view) == "".join(f"line {n}\n" for n in range(100))

    def test_sends_little(self, wire):
        """300 lines of 100 bytes, ten a second: 0.2 MB at most, where naive is 4.6 MB."""
        view, output = LogView(Parts()), Output()
        for n in range(300):
            output.write("stdout", f"{n:04} {'x' * 94}\n")
            if n % 3 == 0:
                view.show(output, over=False)
        view.show(output, over=True)
        assert sent(wire) <= 200_000
        assert text_of(view).count("\n") == 300

    def test_shows_the_end_of_a_flood_while_it_lasts(self):
        """Of a megabyte the beginning and the end are shown, and how much is between."""
        view, output = LogView(Parts()), Output()
        for n in range(10_000):
            output.write("stdout", f"{n:05} {'x' * 93}\n")
        view.show(output, over=False)
        live = text_of(view)
        assert live.startswith("00000")
        assert "09999" in live
        assert "before this" in live
        assert len(live) < 30_000
        view.show(output, over=True)
        done = text_of(view)
        assert "09999" in done
        assert len(done) > len(live)

    def test_is_reached_by_the_keyboard(self):
        """A log that scrolls has one stop for Tab, however many pieces it has."""
        view, output = LogView(Parts()), Output()
        output.write("stdout", "x\n" * 3_000)
        view.show(output, over=True)
        pieces = view.widget.children[0].children
        assert len(pieces) > 2
        assert [piece.tabbable for piece in pieces] == [True] + [None] * (len(pieces) - 1)

    def test_is_empty_after_clear(self, wire):
        """The next run starts with nothing, and the widgets of the last are closed."""
        view, output, counts = LogView(Parts()), Output(), []
        output.write("stdout", "x\n" * 3_000)
        for _ in range(2):
            view.show(output, over=True)
            view.clear()
            assert view.widget.children[0].children == ()
            counts.append(len(wire.live))
        # The boxes, and what all its texts share
        assert counts[0] == counts[1] <= 4

    @pytest.mark.parametrize(
        ("became", "text"),
        [
            ({"text/html": "<b>two</b>"}, "before\ntwoafter\n"),
            # No piece of its own
            ({"text/plain": "two"}, "before\ntwo\nafter\n"),
        ],
    )
    def test_shows_what_was_displayed_where_it_stood(self, became, text):
        """An image between two lines stays between them; its update replaces it."""
        view, output = LogView(Parts()), Output()
        output.write("stdout", "before\n")
        output.display({"text/html": "<b>one</b>"}, "id")
        output.write("stdout", "after\n")
        view.show(output, over=False)
        assert text_of(view) == "before\noneafter\n"
        output.display(became, "id")
        view.show(output, over=True)
        assert text_of(view) == text

    def test_slows_down_after_a_while(self, monkeypatch):
        """A long run is redrawn four times a second, and once more at its end."""
        now = [0.0]
        monkeypatch.setattr(output_module, "monotonic", lambda: now[0])
        view, output, drawn = LogView(Parts()), Output(), []
        # Ten seconds
        for tick in range(100):
            now[0] = tick / 10
            output.write("stdout", f"{tick}\n")
            view.show(output, over=False)
            drawn.append(text_of(view))
        assert len(set(drawn[:30])) == 30
        assert len(set(drawn[31:])) < 30
        view.show(output, over=True)
        assert text_of(view).count("\n") == 100


class TestDivided:
    @given(st.lists(st.tuples(st.sampled_from("oe"), st.text("ab\n\r", max_size=400))))
    def test_loses_nothing(self, parts):
        """All pieces and the rest together are what was written."""
        chunks = [Chunk(stream, text) for stream, text in parts]
        pieces, rest = divided(chunks)
        joined = "".join(c.text for piece in (*pieces, rest) for c in piece)
        assert joined == "".join(text for _, text in parts)

    @given(st.lists(st.text("ab\n", max_size=900), min_size=1, max_size=12), st.data())
    def test_complete_pieces_never_change(self, texts, data):
        """What comes later changes only the last piece."""
        chunks = [Chunk("stdout", text) for text in texts]
        cut = data.draw(st.integers(0, len(chunks)))
        early, _ = divided(chunks[:cut])
        late, _ = divided(chunks)
        assert late[: max(len(early) - 1, 0)] == early[:-1]

    def test_gives_what_is_displayed_a_piece_of_its_own(self):
        """It is large, and must not be sent again with the text beside it."""
        picture = Chunk("display", "x\n", Html("<img>"))
        pieces, _ = divided([Chunk("stdout", "a\n"), picture, Chunk("stdout", "b\n")])
        assert [len(piece) for piece in pieces] == [1, 1, 1]
