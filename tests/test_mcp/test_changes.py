"""News of a server, in bundles."""

from queue import Queue
from threading import Event

from patience import PATIENCE

from toolbench.mcp.monitoring.changes import Changes


class TestChanges:
    def test_a_flood_is_one_piece_of_news(self):
        """Thousands of notes are passed on in one call that names each kind once."""
        changes, notice, calls = Changes(interval=0.01), Event(), []
        changes.listen(lambda names: (calls.append(names), notice.set()))
        for _ in range(10_000):
            changes.note("log")
            changes.note("traffic")
        assert notice.wait(PATIENCE)
        assert calls[0] == {"log", "traffic"}
        assert len(calls) < 1_000

    def test_one_that_fails_silences_no_other(self, caplog):
        """A listener that raises is logged and told no more; the others hear everything."""
        changes, failures, news = Changes(interval=0.01), [], Queue()

        def fail(names):
            failures.append(names)
            raise ValueError("closed")

        changes.listen(fail)
        changes.listen(news.put)
        for name in ("log", "tools"):
            changes.note(name)
            assert news.get(timeout=PATIENCE) == {name}
        assert failures == [{"log"}]
        assert [record.exc_info[0] for record in caplog.records] == [ValueError]

    def test_nobody_is_told_after_stopping(self):
        """What `listen` returns ends it; stopping twice does no harm."""
        changes, first, second = Changes(interval=0.01), Event(), Event()
        stop = changes.listen(lambda names: first.set())
        changes.listen(lambda names: second.set())
        stop()
        stop()
        changes.note("log")
        assert second.wait(PATIENCE)
        assert not first.is_set()
