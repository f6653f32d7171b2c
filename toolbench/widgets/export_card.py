"""The card of an exported package in a live page, with a button that runs the package's tests."""

import os
import signal
import subprocess
import sys
from collections import deque
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from threading import RLock
from typing import Any

from toolbench.core.secrets import secret_store
from toolbench.display.escape import Html
from toolbench.display.page import badge, notice
from toolbench.export.package import PackageFolder
from toolbench.export.package_html import package_html
from toolbench.install_commands import how_to_install
from toolbench.processes.guard import process_guard
from toolbench.redaction.known import remembered
from toolbench.redaction.redactor import Redactor
from toolbench.threads import daemon_thread
from toolbench.widgets.kit.feed import Feed, line_html, text_html
from toolbench.widgets.kit.parts import PANEL, Parts, put, show_if
from toolbench.widgets.kit.ticker import ticker
from toolbench.widgets.live_view import LiveView

# The most lines of the tests' output that wait for the next tick
_WAITING = 2_000


class ExportCard(LiveView):
    """The description of an exported package, and a button that runs its tests in a new process."""

    def __init__(self, package: PackageFolder, text: str = "") -> None:
        """Show *package*. *text* is the card as plain text, by default that of *package*."""
        self._package = package
        # Absolute, because `%cd` may change the folder
        self._folder = Path(package).absolute()
        self._text = text
        self._process: subprocess.Popen[str] | None = None
        self._is_cancelled = False
        self._lines: deque[str] = deque(maxlen=_WAITING)
        self._lock = RLock()
        self._parts = parts = Parts()
        tip = "With pytest, in a separate process"
        self._start = parts.button("Run its tests", self._run_tests, tip=tip)
        self._cancel = parts.button("Cancel", self._cancel_tests, is_urgent=True)
        self._state, self._output = parts.html(), Feed(parts, nothing="")
        show_if(self._cancel, is_shown=False)
        children = [parts.html(PANEL), parts.html(package_html(package))]
        # Such a package's tests run where it is installed, and a page has no processes
        if not package.openhands and sys.platform != "emscripten":
            children.append(parts.row(self._start, self._cancel, self._state))
            children.append(self._output.widget)
        super().__init__(parts, self._lock, children, "toolbench-panel", "toolbench-export")

    def _run_tests(self) -> None:
        if self._process is not None:
            return
        why = ""
        if find_spec("pytest") is None:
            why = f"Its tests need pytest: {how_to_install('pytest')}"
        elif not self._folder.is_dir():
            why = f"There is no folder {self._folder} any more: export the package again."
        if why:
            put(self._state, notice(why, "warning"))
            return
        self._is_cancelled = False
        self._output.restart([])
        # The tests look for secrets in the environment only; this session may have them from
        # elsewhere
        found = {name: secret_store.find(name) for name in self._package.variables}
        values = {name: one.value for name, one in found.items() if one is not None}
        self._process = process = subprocess.Popen(
            [sys.executable, "-m", "pytest", "-q", "-rs", "--color=yes"],
            cwd=self._folder,
            env={**os.environ, **values},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            encoding="utf-8",
            errors="replace",
            # So that an interrupt of a cell does not reach the tests
            start_new_session=True,
        )
        process_guard.add(process.pid)
        self._show_state(is_over=False)
        redactor = remembered.redactor.joined(Redactor(values.values()))
        daemon_thread(self._read, process, redactor, name="toolbench-tests").start()
        ticker.watch(self._tick)

    def _read(self, process: "subprocess.Popen[str]", redactor: Redactor) -> None:
        """Collect the output lines of *process* until it ends. *redactor* hides secrets in them."""
        assert process.stdout is not None  # noqa: S101 - `Popen` got PIPE
        with process.stdout as written:
            for line in written:
                self._lines.append(redactor.text(line.rstrip("\n")))
        process.wait()
        process_guard.discard(process.pid)
        ticker.look_now()

    def _tick(self) -> bool:
        """Show the new lines. Return whether more lines may come."""
        with self._lock:
            process = self._process
            if process is None:
                return False
            is_over = process.returncode is not None
            lines = []
            while self._lines:
                lines.append(line_html(text_html(self._lines.popleft())))
            if lines:
                self._output.add(lines)
            if is_over:
                self._show_state(is_over=True)
                self._process = None
            return not is_over

    def _show_state(self, *, is_over: bool) -> None:
        self._start.disabled = not is_over
        show_if(self._cancel, is_shown=not is_over)
        html = badge("running", "info")
        if is_over and self._process is not None:
            code = self._process.returncode
            html = badge("tests failed", "danger")
            if self._is_cancelled:
                html = badge("cancelled", "warning")
            elif code == 0:
                html = badge("tests passed", "success")
        put(self._state, Html(f'<span role="status">{html}</span>'))

    def _cancel_tests(self) -> None:
        """Kill the tests and all processes that they have started."""
        process = self._process
        if process is None or process.returncode is not None:
            return
        self._is_cancelled = True
        with suppress(ProcessLookupError):
            if sys.platform == "win32":
                process.kill()
            else:
                os.killpg(process.pid, signal.SIGKILL)

    def _release(self) -> None:
        self._cancel_tests()

    def _static(self) -> dict[str, Any]:
        bundle = self._package._repr_mimebundle_()
        return {**bundle, "text/plain": self._text or bundle["text/plain"]}
