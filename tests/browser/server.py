"""A Jupyter front end on loopback that knows nothing of the user's own Jupyter."""

import ctypes
import json
import os
import secrets
import signal
import subprocess
import sys
import urllib.request
from contextlib import suppress
from pathlib import Path
from typing import Literal, Self
from urllib.parse import quote, urlencode

from patience import eventually

FrontEnd = Literal["lab", "notebook", "voila", "nbclassic"]

USER_SETTINGS = "lab/user-settings/@jupyterlab"
SETTINGS = {
    # Asks the reader in a toast whether to fetch news, over whatever is tested.
    f"{USER_SETTINGS}/apputils-extension/notification.jupyterlab-settings": {
        "fetchNews": "false",
        "checkForUpdates": False,
        "doNotDisturbMode": True,
    },
    # A test says itself when it saves.
    f"{USER_SETTINGS}/docmanager-extension/plugin.jupyterlab-settings": {"autosave": False},
    # Outputs that are not drawn cannot be tested.
    f"{USER_SETTINGS}/notebook-extension/tracker.jupyterlab-settings": {"maxNumberOutputs": 10_000},
    "jupyter_server_config.json": {
        # The server looks for language servers with npm; the page misses what it found.
        "ServerApp": {"jpserver_extensions": {"jupyter_lsp": False}},
        # A file that a test removes while the server lists its folder gives a dialog over the page.
        "ContentsManager": {"hide_globs": ["*"]},
    },
    "labconfig/page_config.json": {
        "disabledExtensions": {
            "@jupyterlab/lsp-extension": True,
            "@jupyterlab/fileeditor-extension:language-server": True,
            "@jupyterlab/notebook-extension:language-server": True,
        }
    },
}
MODULES = {
    "lab": "jupyterlab",
    "notebook": "notebook",
    # Of which Voila is an extension
    "voila": "jupyter_server",
    "nbclassic": "nbclassic",
}
PAGES = {
    "lab": "lab/tree/",
    "notebook": "notebooks/",
    "voila": "voila/render/",
    # Its place beside Notebook 7
    "nbclassic": "nbclassic/notebooks/",
}
OPTIONS = {
    # window.jupyterapp, which the page object asks
    "lab": ["--expose-app-in-browser", "--no-browser"],
    "notebook": ["--expose-app-in-browser", "--no-browser"],
    "voila": ["--ServerApp.open_browser=False"],
    "nbclassic": ["--no-browser"],
}
STOP_SECONDS = 15


class JupyterServer:
    """A front end as a process; a context manager that starts and stops it.

    Attributes:
        front_end: Which of them.
        root: The folder whose notebooks it serves.
        home: Where it keeps everything Jupyter, IPython and the kernels keep in HOME.
        address: Its URL, once it answers.
        token: What a request needs.
    """

    def __init__(self, front_end: FrontEnd, root: Path, home: Path) -> None:
        self.front_end = front_end
        self.root = root
        self.home = home
        self.token = secrets.token_hex()
        self._log = home / "server.log"
        self._runtime = home / "runtime"

    def __enter__(self) -> Self:
        self._write_settings()
        with self._log.open("wb") as log:
            self._process = subprocess.Popen(
                self._command(),
                cwd=self.root,
                env=self._environment(),
                stdout=log,
                stderr=log,
                start_new_session=True,
                preexec_fn=_die_with_parent if sys.platform == "linux" else None,
            )
        try:
            self.address = eventually(self._answering, what="Jupyter answers")
        except BaseException as error:
            self._stop()
            error.add_note(self.log[-3000:])
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self._stop()

    def url(self, notebook: str) -> str:
        """The address of a notebook, by its path under the root."""
        # `reset` drops what an earlier page left in the workspace.
        query = urlencode({"token": self.token, "reset": ""})
        return f"{self.address}{PAGES[self.front_end]}{quote(notebook)}?{query}"

    @property
    def end(self) -> str | None:
        """In words how it ended, if it has."""
        code = self._process.poll()
        return None if code is None else f"Jupyter has ended with exit code {code}."

    @property
    def log(self) -> str:
        """What it and its kernels said so far, but for the token.

        Tornado logs the whole address of a request that failed.
        """
        return self._log.read_text(errors="replace").replace(self.token, "…")

    def _write_settings(self) -> None:
        for name, values in SETTINGS.items():
            path = self.home / ".jupyter" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(json.dumps(values))

    def _command(self) -> list[str]:
        return [
            *(sys.executable, "-m", MODULES[self.front_end]),
            *OPTIONS[self.front_end],
            "--ServerApp.ip=127.0.0.1",
            "--ServerApp.port=0",
            f"--ServerApp.root_dir={self.root}",
            "--ServerApp.terminals_enabled=False",
            *(["--allow-root"] if os.geteuid() == 0 else []),
        ]

    def _environment(self) -> dict[str, str]:
        """The tests' environment without what would change Jupyter or the kernels.

        A proxy would get the kernels' requests to loopback, and ipykernel treats the
        process's output differently under pytest.
        """
        foreign = ("JUPYTER", "IPYTHON", "XDG_", "PYTEST_")
        variables = {
            name: value
            for name, value in os.environ.items()
            if not name.startswith(foreign) and not name.lower().endswith("_proxy")
        }
        return variables | {
            "HOME": str(self.home),
            "JUPYTER_RUNTIME_DIR": str(self._runtime),
            "JUPYTER_TOKEN": self.token,
        }

    def _answering(self) -> str | None:
        """The server's address once it answers; it chose the port itself."""
        if (code := self._process.poll()) is not None:
            message = f"Jupyter ended with exit code {code} instead of serving."
            raise RuntimeError(message)
        info = self._runtime / f"jpserver-{self._process.pid}.json"
        # Not there yet, or not whole
        with suppress(OSError, ValueError):
            address: str = json.loads(info.read_text())["url"]
            status = f"{address}api/status?token={self.token}"
            direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))
            with direct.open(status, timeout=2):
                return address
        return None

    def _stop(self) -> None:
        """End the server, and so its kernels, and whatever shares its group."""
        with suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGTERM)
        try:
            self._process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()


def _die_with_parent() -> None:
    """Ask Linux for a SIGTERM when the test run dies, however it dies."""
    set_parent_death_signal = 1
    ctypes.CDLL(None).prctl(set_parent_death_signal, signal.SIGTERM)
