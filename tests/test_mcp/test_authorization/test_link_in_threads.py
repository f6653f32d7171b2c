"""The link to authorize, where no cell waits for the connection: in the explorer.

Another thread of a cell is in test_waiting_browser, which has a kernel.
"""

import re
import threading
import webbrowser
from html import unescape

from patience import eventually
from test_widgets.front import click
from test_widgets.tooling import buttons, shown

from test_mcp.test_authorization.conftest import say_yes
from toolbench.mcp.authorization.logout import log_out
from toolbench.widgets.explorer import Explorer

WORDS = "authorize in the browser: "


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
    threading.Thread(target=say_yes, args=(unescape(page),), daemon=True).start()
    eventually(lambda: session.status == "connected")
    eventually(lambda: "Authorize in the browser" not in shown(explorer))
    assert WORDS not in capsys.readouterr().err
    explorer.close()
