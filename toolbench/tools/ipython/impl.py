"""The executor of Python cells: run the code, collect its output, report its result."""

import atexit
import sys
from asyncio import CancelledError
from collections.abc import Coroutine
from itertools import count
from threading import RLock
from typing import Any, Literal

from IPython.core.interactiveshell import InteractiveShell
from traitlets.config import Config

from toolbench.core.background_loop import Portal
from toolbench.core.content import TextContent
from toolbench.core.executor import ToolExecutor
from toolbench.runs.control import RunCancelled
from toolbench.runs.kernel import running_shell
from toolbench.tools.ipython.breaker import Breaker
from toolbench.tools.ipython.capture import captured, contents
from toolbench.tools.ipython.cell import explain, forget, new_name, run_cell
from toolbench.tools.ipython.definition import IPythonAction, IPythonObservation


class FreshShell:
    """An IPython shell with its own namespace and no history."""

    def __init__(self) -> None:
        """Make the shell. If the process has no IPython shell yet, this one becomes the process's shell."""
        config = Config(HistoryManager={"enabled": False}, colors="nocolor")
        self._is_the_one = not InteractiveShell.initialized()
        make = InteractiveShell.instance if self._is_the_one else InteractiveShell
        main = sys.modules["__main__"]
        try:
            self.shell: Any = make(config=config, user_ns={})
        finally:
            # The new shell has replaced it
            sys.modules["__main__"] = main
        atexit.unregister(self.shell.atexit_operations)

    def close(self) -> None:
        """Delete the namespace, and end the shell."""
        self.shell.user_ns.clear()
        self.shell.atexit_operations()
        if self._is_the_one:
            InteractiveShell.clear_instance()


Namespace = Literal["kernel", "fresh"]


class IPythonExecutor(ToolExecutor[IPythonAction, IPythonObservation]):
    """The executor of Python cells; it runs one cell at a time."""

    def __init__(self, *, namespace: Namespace | None = None) -> None:
        """Choose the namespace in which cells run.

        Args:
            namespace: `kernel` is the namespace of the notebook; `fresh` is a new, empty namespace.
                The default is `kernel` in a notebook, else `fresh`.
        """
        self.namespace: Namespace = namespace or (
            "kernel" if running_shell() is not None else "fresh"
        )
        self._fresh: FreshShell | None = None
        self._numbers = count(1)
        self._names: list[str] = []
        self._busy = RLock()
        self._breaker = Breaker()
        # The event loop of all cells: tasks go on after a cell
        self._loop = Portal()

    def __call__(self, action: IPythonAction, conversation: Any = None) -> IPythonObservation:
        """Run the code of *action* as a cell."""
        with self._busy:
            if self._closed:
                msg = "This Python session is closed. Create the tool again."
                return IPythonObservation.from_text(msg, is_error=True)
            shell = self._shell()
            name = new_name(self._numbers)
            self._names.append(name)
            with captured(shell) as output:
                error, text = self._run(shell, action, name, output)
            blocks = contents(output.parts)
        if error is None:
            return IPythonObservation(
                content=blocks or [TextContent(text="Done. Nothing to show.")]
            )
        return IPythonObservation(
            content=[*blocks, TextContent(text=("\n" if blocks else "") + text)],
            is_error=True,
            error=type(error).__name__,
            timeout=self._breaker.reason == "timeout",
        )

    def _run(
        self, shell: Any, action: IPythonAction, name: str, output: Any
    ) -> tuple[BaseException | None, str]:
        """Run the cell; return its error, and a text about the error (None and empty if it succeeds)."""
        try:
            with self._breaker.breakable(action.timeout):
                value = run_cell(shell, action.code, name, self._wait)
                if value is not None:
                    bundle, _ = shell.display_formatter.format(value)
                    if bundle:
                        output.display(bundle)
        except RunCancelled:
            raise
        except KeyboardInterrupt as error:
            if self._breaker.reason:
                return error, self._interrupted(error, action.timeout, name)
            # Kernel > Interrupt is for the whole cell
            if self._breaker.interrupted:
                raise
            return error, explain(error, name)
        except BaseException as error:  # noqa: BLE001 - a cell may raise anything: the model gets it
            return error, explain(error, name)
        return None, ""

    def _interrupted(self, error: KeyboardInterrupt, timeout: float | None, name: str) -> str:
        if self._breaker.reason == "timeout":
            why = f"The cell was interrupted after {timeout:g} s: raise the timeout, or do less."
        else:
            why = "The cell was interrupted."
        return f"{explain(error, name)}\n{why} What it assigned so far is kept."

    def _wait(self, coroutine: Coroutine[Any, Any, Any]) -> Any:
        async def awaited() -> tuple[Any, BaseException | None]:
            try:
                return await coroutine, None
            except (Exception, CancelledError):
                raise
            except BaseException as error:  # noqa: BLE001 - it would end the loop of all cells
                return None, error

        value, error = self._breaker.await_(self._loop.start(awaited))
        if error is not None:
            raise error
        return value

    def _shell(self) -> Any:
        if self.namespace == "kernel" and (shell := running_shell()) is not None:
            return shell
        if self._fresh is None:
            self._fresh = FreshShell()
        return self._fresh.shell

    def interrupt(self) -> None:
        """Raise KeyboardInterrupt in the cell that runs."""
        self._breaker.break_off()

    def close(self) -> None:
        """Delete the fresh namespace, if there is one; the namespace of the notebook is not changed."""
        self._breaker.break_off()
        with self._busy:
            self._loop.close()
            fresh, self._fresh = self._fresh, None
            if fresh is not None:
                fresh.close()
                forget(self._names)
