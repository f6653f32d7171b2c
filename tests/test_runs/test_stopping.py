from toolbench.runs.run import numbers
from toolbench.runs.stopping import StopSign


class TestStopSign:
    def test_goes_up_once(self):
        """The first reason counts, and each is told once."""
        sign, told = StopSign(), []
        sign.on_up(lambda: told.append("x"))
        assert not sign.is_up
        for reason in ("first", "second"):
            for callback in sign.put_up(reason):
                callback()
        assert (sign.is_up, sign.reason, told) == (True, "first", ["x"])

    def test_tells_the_late_at_once(self):
        """Nobody waits for what has happened."""
        sign, told = StopSign(), []
        sign.put_up()
        sign.on_up(lambda: told.append("x"))()
        assert told == ["x"]

    def test_may_be_taken_back(self):
        """Who is through is not told any more; to take it back twice does no harm."""
        sign = StopSign()
        forget = sign.on_up(list)
        forget()
        forget()
        assert sign.put_up() == []


def test_numbers_begin_again():
    """A test may number its runs from 1."""
    numbers.take()
    numbers.reset()
    assert [numbers.take(), numbers.take()] == [1, 2]
