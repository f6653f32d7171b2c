import gc
import threading
import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st
from patience import join

from test_runs import tools
from toolbench.redaction import redactor
from toolbench.runs.output import RICH_LIMIT, Output
from toolbench.runs.run import Run

NAMES = st.sampled_from(["a", "b", "c"])
UPDATES = st.lists(st.tuples(st.none() | NAMES, st.text("xyz", max_size=30)), max_size=40)


def displayed(output):
    return [chunk for chunk in output.chunks() if chunk.stream == "display"]


def html(text):
    return {"text/plain": text, "text/html": f"<b>{text}</b>"}


class TestOutput:
    def test_keeps_order_and_streams(self):
        """Pieces come back in the order they were written, with their streams."""
        output = Output()
        output.write("stdout", "a")
        output.write("stderr", "b")
        assert [c[:2] for c in output.chunks()] == [
            ("stdout", "a"),
            ("stderr", "b"),
        ]

    @given(st.lists(st.text("ab", max_size=30), max_size=30), st.integers(2, 40))
    def test_keeps_both_ends_of_a_flood(self, pieces, limit):
        """Whatever is written: the start and the end are kept, and every character counted."""
        output = Output(limit)
        for piece in pieces:
            output.write("stdout", piece)
        whole = "".join(pieces)
        texts = [c.text for c in output.chunks() if c.stream == "stdout"]
        joined = "".join(texts)
        assert len(joined) + output.omitted == len(whole)
        assert whole[: limit // 2] == joined[: limit // 2]
        assert output.omitted or joined == whole
        assert whole.endswith(joined[limit // 2 :])

    def test_of_what_is_collected_meanwhile_waits_for_nobody(self):
        """Garbage that prints when it is collected, in the middle of a print, blocks nothing."""
        output = Output(8)

        class Last:
            def __init__(self):
                self.me = self

            def __del__(self):
                output.write("stdout", "last words")

        class Collecting(str):
            def __getitem__(self, index):
                gc.collect()
                return str(self)[index]

        def work():
            Last()
            output.write("stdout", Collecting("first"))

        thread = threading.Thread(target=work, daemon=True)
        thread.start()
        join(thread)
        assert output.text == "firs\n… 7 characters left out …\nords"


class TestDisplays:
    @given(UPDATES, st.integers(2, 60))
    def test_are_bounded_however_often_they_are_updated(self, updates, limit):
        """Never more than the limit and half of it; of a name, only what was shown last."""
        output, newest = Output(limit), {}
        for name, text in updates:
            if name is None:
                output.write("stdout", text)
            else:
                output.display({"text/plain": text}, name)
                newest[name] = f"{text}\n"
        chunks = [chunk for chunk in output.chunks() if chunk.stream != "log"]
        assert sum(len(chunk.text) for chunk in chunks) <= limit * 3 // 2
        named_chunks = [chunk for chunk in chunks if chunk.name is not None]
        assert len({chunk.name for chunk in named_chunks}) == len(named_chunks)
        assert all(chunk.text == newest[chunk.name] for chunk in named_chunks)

    @given(UPDATES)
    def test_are_replaced_in_their_place(self, updates):
        """While there is room, what was said stays in order, an update where the first was."""
        output, expected = Output(), {}
        for number, (name, text) in enumerate(updates):
            if name is None:
                output.write("stdout", text)
                expected[number] = text
            else:
                output.display({"text/plain": text}, name)
                expected[name] = f"{text}\n"
        assert output.text == "".join(expected.values())

    def test_that_grow_too_long_are_moved_to_the_end(self):
        """An update that has no room where it was is the newest output."""
        output = Output(20)
        output.display(html("1"), "id")
        output.write("stdout", "2345678")
        output.display(html("9999"), "id")
        assert output.text == "23456789999\n"

    @pytest.mark.slow
    def test_have_a_limit_for_their_markup(self):
        """More of it is kept as text, and what makes room by an update is there again."""
        output = Output()
        for number in range(400):
            output.display(html(f"{number}" + "x" * 20_000), f"{number}"[-1])
            output.display(html(f"{number}" + "x" * 900), f"{number}")
        sizes = [len(chunk.html) for chunk in displayed(output)]
        assert sum(sizes) <= RICH_LIMIT
        assert all(sizes)

    def test_of_a_flood_are_let_go(self):
        """What is shown no more takes no memory."""
        output = Output(1_000)
        tracemalloc.start()
        try:
            for number in range(100):
                output.display(html("x" * 20_000), f"{number}")
                output.write("stdout", "y" * 2_000)
            assert tracemalloc.get_traced_memory()[0] < 500_000
        finally:
            tracemalloc.stop()

    @pytest.mark.parametrize("text", ["short", "long" * 500])
    def test_are_shown_anew_when_they_were_let_go(self, text):
        """An update of what is gone comes at the end."""
        output = Output(1_000)
        output.write("stdout", "x" * 500)
        output.display(html("gone"), "id")
        output.write("stdout", "y" * 2_000)
        output.display(html(text), "id")
        assert output.text.endswith(f"{text[-20:]}\n")


class TestOfRun:
    def test_loses_and_doubles_nothing_at_an_interrupt(self, monkeypatch):
        """What was printed before an interrupt that comes while it is searched is shown all the same."""
        run = Run(tools.add, {"password": "sesame-4711"}, source="button")
        run.output.write("stdout", "sesame-4711 opens; sesame")
        assert run.output.text == "<secret-hidden> opens; "
        run.output.write("stdout", "-4711, ")
        run.output.write("stdout", "too\n")
        with monkeypatch.context() as patched:
            patched.setattr(redactor, "_replaced", interrupted)
            with pytest.raises(KeyboardInterrupt):
                _ = run.output.text
        run.output.write("stdout", "done\n")
        assert run.output.text == "<secret-hidden> opens; <secret-hidden>, too\ndone\n"


def interrupted(*_):
    raise KeyboardInterrupt
