"""The last lines of a server's stderr."""

import tracemalloc
from threading import Event

from toolbench.mcp.monitoring.stderr import StderrTail
from toolbench.redaction.redactor import Redactor


class TestStderrTail:
    def test_holds_what_was_written_to_the_pipe(self):
        """Every line is there once the pipe is closed, unfinished or no UTF-8 too."""
        tail = StderrTail()
        with tail.pipe() as file:
            file.buffer.write(b"one\n\xff\xfe two\nthree")
        assert list(tail) == ["one", "\ufffd\ufffd two", "three"]

    def test_a_flood_blocks_nobody_and_keeps_the_end(self):
        """Megabytes can be written; the last lines are kept and all are counted."""
        tail = StderrTail(lines=3)
        with tail.pipe() as file:
            for n in range(50_000):
                file.write(f"line {n} {'.' * 50}\n")
        assert tail.total == 50_000
        assert [line.split()[1] for line in tail] == ["49997", "49998", "49999"]

    def test_hides_secrets_also_across_the_cut_of_a_line(self):
        """A very long line is cut, and masked before: no first half of a secret is left."""
        tail = StderrTail(Redactor(["s3cret-value"]))
        tail.add("key is s3cret-value")
        tail.add("x" * 3995 + "s3cret-value" + "x" * 90_000)
        assert "s3c" not in tail.text
        assert tail.text.endswith(" characters)")

    def test_holds_the_start_of_a_line_that_never_ends(self):
        """Megabytes without an end of line take no memory; the next line is one of its own."""
        tail = StderrTail()
        tracemalloc.start()
        try:
            with tail.pipe() as file:
                for _ in range(300):
                    file.write("x" * 100_000)
                file.write("\nnext\n")
            _, peak = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
        endless, following = tail
        assert endless.endswith("… (30,000,000 characters)")
        assert following == "next"
        assert peak < 10_000_000

    def test_gives_the_lines_since_a_moment(self):
        """Evidence of one attempt leaves out what was there before, and empty lines."""
        tail = StderrTail()
        tail.add("old")
        before = tail.total
        assert tail.last(5, since=before) == []
        for line in ("new 1", "", "new 2"):
            tail.add(line)
        assert tail.last(5, since=before) == ["new 1", "new 2"]

    def test_tells_of_news(self):
        """Whoever shows the lines hears of new ones."""
        news = Event()
        StderrTail(on_change=news.set).add("x")
        assert news.is_set()
