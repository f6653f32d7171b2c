"""A pool of processes does the work of tools; what cannot be sent there says so."""

import multiprocessing
import threading
from concurrent.futures import ProcessPoolExecutor
from functools import partial

from toolbench import history, tool
from toolbench.core.builtins import FinishTool, ThinkTool
from toolbench.runs.parallel import run_tools

[FINISH], [THINK] = FinishTool.create(), ThinkTool.create()


def texts(observations):
    return [observation.text for observation in observations]


class TestElsewhere:
    def test_other_processes_do_the_work(self):
        """A process pool runs the tools; records and order stay here."""
        history().clear()
        spawn = multiprocessing.get_context("spawn")
        with ProcessPoolExecutor(1, mp_context=spawn) as pool:
            calls = [
                (THINK, {}),
                (FINISH, {"message": "a"}),
                (THINK, {"thought": "b"}),
            ]
            bad, *observations = run_tools(calls, executor=pool)
        assert bad.is_error and "thought: is required" in bad.text
        assert texts(observations) == ["a", "Your thought has been logged."]
        tools = [r.tool for r in history() if r.tool in ("finish", "think")]
        assert sorted(tools) == ["finish", "think", "think"]

    def test_what_cannot_travel_is_said(self):
        """A tool that does not pickle is an error of that call, in our words on every Python."""
        spawn = multiprocessing.get_context("spawn")
        local = tool(name="local")(lambda: 1)
        unpicklable = FINISH.set_executor(partial(print, threading.Lock()))
        calls = [
            (local, {}),
            (unpicklable, {"message": "m"}),
            (FINISH, {"message": "m"}),
        ]
        with ProcessPoolExecutor(1, mp_context=spawn) as pool:
            *refused, fine = run_tools(calls, executor=pool)
        for one, name in zip(refused, ("local", "finish"), strict=True):
            assert one.is_error
            assert one.text.startswith(f"{name} cannot be sent to another process: ")
            assert one.text.endswith("in a module, or run it in threads.")
        assert fine.text == "m"
