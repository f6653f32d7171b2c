"""The link to authorize, in a kernel whose browser is a command that waits until it is closed."""

import os
import re
import shlex
import signal
import sys
import threading
from contextlib import suppress

import pytest
from patience import eventually
from test_runs.kernel import Kernel
from test_runs.test_cell_progress import EMPTY, drawn

from test_mcp.test_authorization.conftest import say_yes

BROWSER = """
import os, signal, sys
from pathlib import Path
Path(sys.argv[1]).write_text(f"{os.getpid()} {sys.argv[2]}")
signal.pause()
"""
CELLS = {
    "line": "%mcp connect notes {url} --auth oauth",
    "configuration": "%mcp connect --config {file} --approve",
    "Python": "from toolbench.mcp import create_mcp_tools; tools = create_mcp_tools({file!r}, approve=True)",
}


@pytest.fixture
def opened(tmp_path, monkeypatch):
    """The file in which the browser writes its process id and the page; it is ended afterwards."""
    program, file = tmp_path / "browser.py", tmp_path / "opened"
    program.write_text(BROWSER)
    words = [sys.executable, str(program), str(file), "%s"]
    monkeypatch.setenv("BROWSER", shlex.join(words))
    yield file
    if file.exists():
        with suppress(ProcessLookupError):
            os.kill(int(file.read_text().split()[0]), signal.SIGKILL)


@pytest.fixture
def kernel(opened):
    """A kernel with that browser."""
    with Kernel(sys.executable) as kernel:
        kernel.run("%load_ext toolbench")
        yield kernel


@pytest.mark.slow
@pytest.mark.parametrize("way", CELLS)
def test_is_whole_in_the_cell_while_the_browser_is_open(kernel, opened, guarded, tmp_path, way):
    """The person follows it, says yes, and is connected; then the link is gone."""
    url, _ = guarded
    file = tmp_path / "servers.json"
    file.write_text(f'{{"mcpServers": {{"notes": {{"url": "{url}", "auth": "oauth"}}}}}}')
    cell = CELLS[way].format(url=url, file=str(file))
    request = kernel.start(cell, stdin=True)

    def links():
        """The addresses of the page in what the cell has shown."""
        pattern = r'<a href="([^"]*/authorize[^"]*)"'
        return set(re.findall(pattern, str(drawn(kernel, request))))

    kernel.listen_until(links, "the link is shown")
    (page,) = (link.replace("&amp;", "&") for link in links())
    eventually(opened.exists)
    eventually(lambda: opened.read_text().endswith(page))
    threading.Thread(target=say_yes, args=(page,), daemon=True).start()
    assert kernel.reply(request)["status"] == "ok"
    kernel.listen_until(lambda: EMPTY in drawn(kernel, request), "the line is empty")
    assert kernel.value(
        "[s.status for s in __import__('toolbench').mcp.servers.connected.sessions]"
    ) == ["connected"]
