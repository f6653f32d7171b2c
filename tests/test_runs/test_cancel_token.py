from toolbench.runs.control import CancelToken
from toolbench.runs.run import numbers


class TestCancelToken:
    def test_is_cancelled_once(self):
        """The first reason counts, and each is told once."""
        token, calls = CancelToken(), []
        token.on_cancel(lambda: calls.append("x"))
        assert not token.cancelled
        for reason in ("first", "second"):
            for callback in token.request(reason):
                callback()
        assert (token.cancelled, token.reason, calls) == (True, "first", ["x"])

    def test_tells_the_late_at_once(self):
        """Nobody waits for what has happened."""
        token, calls = CancelToken(), []
        token.request()
        token.on_cancel(lambda: calls.append("x"))()
        assert calls == ["x"]

    def test_may_be_taken_back(self):
        """Who is through is not told any more; to take it back twice does no harm."""
        token = CancelToken()
        forget = token.on_cancel(list)
        forget()
        forget()
        assert token.request() == []

    def test_tells_each_callback_once(self):
        """Before and after it was cancelled; one that was taken back is not told."""
        token, calls = CancelToken(), []
        token.on_cancel(lambda: calls.append("first"))
        token.on_cancel(lambda: calls.append("never"))()
        token.cancel("enough")
        token.cancel("again")
        token.on_cancel(lambda: calls.append("late"))
        assert calls == ["first", "late"]
        assert token.cancelled
        assert token.reason == "enough"

    def test_is_not_held_up_by_a_callback_that_fails(self):
        """The others are told all the same."""
        token, calls = CancelToken(), []
        token.on_cancel(lambda: 1 / 0)
        token.on_cancel(lambda: calls.append("told"))
        token.cancel()
        assert calls == ["told"]


def test_numbers_begin_again():
    """A test may number its runs from 1."""
    numbers.take()
    numbers.reset()
    assert [numbers.take(), numbers.take()] == [1, 2]
