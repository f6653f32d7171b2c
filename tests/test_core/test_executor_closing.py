"""What an executor holds is given back, and who forgets that is told."""

import gc
import subprocess
import sys
import warnings
from dataclasses import dataclass

import pytest
from patience import PATIENCE

from toolbench import Action, Observation, ToolDefinition, ToolExecutor


class GoAction(Action):
    a: int = 1


class Free(ToolExecutor[GoAction, Observation]):
    """Holds nothing."""

    def __call__(self, action, conversation=None):
        return Observation()


@dataclass(frozen=True)
class Frozen(ToolExecutor):
    name: str = "x"

    def __call__(self, action):
        return self.name

    def close(self):
        """Nothing to give back."""


class Holding(ToolExecutor[GoAction, Observation]):
    def __init__(self):
        self.closed = []

    def __call__(self, action, conversation=None):
        return Observation()

    def close(self, *how, hard=False):
        self.closed.append((how, hard))
        return "closed"


class HoldingMore(Holding):
    def close(self):
        return super().close()


class Closes:
    def close(self):
        """Give back what it holds."""


class Mixed(Closes, ToolExecutor[GoAction, Observation]):
    def __call__(self, action, conversation=None):
        return Observation()


def warnings_of(use):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        use()
        gc.collect()
    return [str(w.message) for w in caught if w.category is ResourceWarning]


class TestClosing:
    @pytest.mark.parametrize("cls", [Holding, HoldingMore, Mixed])
    def test_forgotten_is_warned_about(self, cls):
        """What has something to close and is not closed says so when it goes."""
        assert warnings_of(cls) == [f"{cls.__name__} was forgotten without close()."]

    @pytest.mark.parametrize("cls", [Holding, HoldingMore, Mixed])
    def test_closed_goes_quietly(self, cls):
        """Closing by hand or by `with` is enough, through super() too."""
        assert warnings_of(lambda: cls().close()) == []

        def in_a_block():
            with cls() as executor:
                executor(GoAction())

        assert warnings_of(in_a_block) == []

    def test_frozen_can_be_closed(self):
        """An executor that lets nobody change it is closed all the same."""
        assert warnings_of(lambda: Frozen().close()) == []
        assert warnings_of(Frozen) == ["Frozen was forgotten without close()."]

    def test_at_the_end_of_the_interpreter_nothing_is_said_of_ours(self):
        """An executor that outlives the module of its class goes without an error of its own."""
        code = "\n".join(
            [
                "import os, sys",
                "from toolbench import ToolExecutor",
                "class Plain(ToolExecutor):",
                "    def __call__(self, action, conversation=None): pass",
                "class Holding(Plain):",
                "    def close(self): pass",
                "os.kept = Plain(), Holding(), Holding()",
                "os.kept[1].close()",
                "sys.kept = os, sys.modules['toolbench.core.executor']",
            ]
        )
        done = subprocess.run(
            [sys.executable, "-W", "error", "-c", code],
            capture_output=True,
            text=True,
            timeout=PATIENCE,
            check=True,
        )
        assert (done.stdout, done.stderr) == ("", "")

    def test_of_classes_made_later_is_the_same(self):
        """A cell defines them at any time."""

        class Later(Holding):
            """Has the `close` of its base."""

        class LaterFree(Free):
            """Has none."""

        assert warnings_of(Later) == ["Later was forgotten without close()."]
        assert warnings_of(LaterFree) == []

    def test_nothing_to_close_is_nothing_to_warn_about(self):
        """An executor that holds nothing may be forgotten."""
        assert warnings_of(Free) == []
        assert warnings_of(lambda: ToolDefinition(name="t", executor=print)) == []

    def test_a_block_closes_whatever_happens(self):
        """Leaving by an exception closes too."""
        executor = Holding()
        with pytest.raises(OSError, match="x"), executor:
            raise OSError("x")
        assert executor.closed == [((), False)]

    def test_is_known_while_it_goes_on(self):
        """A call that waits for a lock must not open again what is being closed."""
        values = []

        class Looking(Holding):
            def close(self):
                values.append(self._closed)

        executor = Looking()
        values.append(executor._closed)
        executor.close()
        assert values == [False, True]

    def test_leaves_a_flag_of_that_name_to_its_owner(self):
        """A class that guards its own `close` with `_closed` still closes."""

        class Guarded(Holding):
            def __init__(self):
                super().__init__()
                self._closed = False

            def close(self):
                if not self._closed:
                    self._closed = True
                    super().close("once")

        executor = Guarded()
        executor.close()
        executor.close()
        assert executor.closed == [(("once",), False)]

    def test_keeps_its_own_signature(self):
        """A close that takes arguments and returns something still does."""
        executor = Holding()
        assert executor.close("now", hard=True) == "closed"
        assert executor.closed == [(("now",), True)]
