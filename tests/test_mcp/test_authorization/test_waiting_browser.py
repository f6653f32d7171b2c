"""The link to authorize, in a kernel whose browser is a command that waits until it is closed."""

import os
import re
import shlex
import signal
import sys
import threading
from contextlib import suppress
from html import unescape

import pytest
from kernels import FORGET
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
WORDS = "authorize in the browser: "
IN_A_THREAD = """
from threading import Thread
from toolbench.mcp import MCPClient
client = MCPClient(timeout=60)
thread = Thread(target=client.connect, args=("notes", {entry!r}))
thread.start()
thread.join()
print(client.servers["notes"].status)
"""


@pytest.fixture(scope="module")
def file_of_the_browser(tmp_path_factory):
    """Where the browser writes its process id and the page."""
    return tmp_path_factory.mktemp("browser") / "opened"


@pytest.fixture(scope="module")
def started(file_of_the_browser):
    """A kernel with that browser."""
    program = file_of_the_browser.with_name("browser.py")
    program.write_text(BROWSER)
    words = [sys.executable, str(program), str(file_of_the_browser), "%s"]
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("BROWSER", shlex.join(words))
        with Kernel(sys.executable) as kernel:
            yield kernel


@pytest.fixture
def kernel(started):
    """The kernel, without servers."""
    started.run(FORGET)
    started.run("%load_ext toolbench")
    return started


@pytest.fixture
def opened(file_of_the_browser):
    """That file, as soon as there is a browser; it is ended afterwards."""
    yield file_of_the_browser
    if file_of_the_browser.exists():
        with suppress(ProcessLookupError):
            os.kill(int(file_of_the_browser.read_text().split()[0]), signal.SIGKILL)
        file_of_the_browser.unlink()


def say_yes_to(page):
    threading.Thread(target=say_yes, args=(page,), daemon=True).start()


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
    say_yes_to(page)
    assert kernel.reply(request)["status"] == "ok"
    kernel.listen_until(lambda: EMPTY in drawn(kernel, request), "the line is empty")
    assert kernel.value(
        "[s.status for s in __import__('toolbench').mcp.servers.connected.sessions]"
    ) == ["connected"]


@pytest.mark.slow
@pytest.mark.usefixtures("opened")
def test_is_printed_for_another_thread_of_a_cell(started, guarded):
    """The cell that started the thread shows the whole address, once, even without the extension."""
    kernel = started
    kernel.run(FORGET)
    request = kernel.start(IN_A_THREAD.format(entry={"url": guarded[0], "auth": "oauth"}))

    def page():
        """The address, as soon as it is printed."""
        kernel.listen()
        return unescape(kernel.printed(request)).partition(WORDS)[2].split()

    kernel.listen_until(page, "the address is printed")
    say_yes_to(page()[0])
    assert kernel.reply(request)["status"] == "ok"
    kernel.listen_until(lambda: kernel.is_idle(request), "the cell is done")
    assert kernel.printed(request).count(WORDS) == 1
    assert kernel.printed(request).endswith("connected\n")
