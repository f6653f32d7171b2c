"""The link to authorize, where no cell waits for the connection: in other threads and the explorer."""

import re
import sys
import threading
import webbrowser
from html import unescape

import pytest
from patience import eventually
from test_runs.kernel import Kernel
from test_widgets.front import click
from test_widgets.tooling import buttons, shown

from test_mcp.test_authorization.conftest import say_yes
from toolbench.mcp.authorization.logout import log_out
from toolbench.widgets.explorer import Explorer

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


def page_in(text):
    return unescape(text).partition(WORDS)[2].split()[0]


def say_yes_to(page):
    threading.Thread(target=say_yes, args=(page,), daemon=True).start()


@pytest.mark.slow
def test_is_printed_for_another_thread_of_a_cell(guarded, monkeypatch):
    """The cell that started the thread shows the whole address, once."""
    monkeypatch.setenv("BROWSER", "true")
    entry = {"url": guarded[0], "auth": "oauth"}
    with Kernel(sys.executable) as kernel:
        request = kernel.start(IN_A_THREAD.format(entry=entry))

        def is_there():
            kernel.listen()
            return WORDS in kernel.printed(request)

        kernel.listen_until(is_there, "the address is printed")
        say_yes_to(page_in(kernel.printed(request)))
        assert kernel.reply(request)["status"] == "ok"
        kernel.listen_until(lambda: kernel.is_idle(request), "the cell is done")
        assert kernel.printed(request).count(WORDS) == 1
        assert kernel.printed(request).endswith("connected\n")


def test_is_in_the_explorer_after_a_click(client, guarded, person, monkeypatch, capsys):
    """The Server tab has the link until the person has authorized; nothing is printed."""
    session = client.connect("notes", {"url": guarded[0], "auth": "oauth"})
    log_out(session)
    capsys.readouterr()
    monkeypatch.setattr(webbrowser, "open", lambda page: True)
    explorer = Explorer(client, "notes")
    click(buttons(explorer)["Connect"])
    eventually(lambda: "Authorize in the browser" in shown(explorer))
    (page,) = re.findall(r'<a href="([^"]*/authorize[^"]*)"', shown(explorer))
    say_yes_to(unescape(page))
    eventually(lambda: session.status == "connected")
    eventually(lambda: "Authorize in the browser" not in shown(explorer))
    assert WORDS not in capsys.readouterr().err
    explorer.close()
