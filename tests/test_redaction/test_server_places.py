"""No secret of a server shows where people look at one: `%mcp`, the explorer, files, its tools."""

import json
import sys
from functools import partial
from pathlib import Path

import pytest
from IPython.utils.capture import capture_output
from patience import PATIENCE, eventually
from shells import new_shell
from test_widgets.conftest import wire as wire
from test_widgets.tooling import shown

from test_redaction.leaky_server import END
from test_redaction.writings import leaks
from toolbench.core.registry import find_tool
from toolbench.widgets.explorer import Explorer
from toolbench.widgets.kit.ticker import ticker

SECRET = "hunter2-tHe_sEcret"
OWN = f"{SECRET}-of-the-server"
LOOKS = ("list", "list leaky", "log leaky", "log leaky --stderr", "log leaky --traffic", "snapshot leaky {0}/snapshot", "stubs leaky {0}/stubs.py")  # fmt: skip


@pytest.fixture
def shell():
    with new_shell() as shell:
        shell.run_line_magic("load_ext", "toolbench")
        yield shell
        shell.run_line_magic("unload_ext", "toolbench")


def seen_in(shell, code) -> str:
    """Everything that a cell shows and saves."""
    with capture_output() as captured:
        result = shell.run_cell(code).result
    outputs = [output.data for output in captured.outputs]
    bundle = getattr(result, "_repr_mimebundle_", dict)()
    return f"{captured.stdout} {captured.stderr} {outputs!r} {result!r} {bundle}"


def configuration(tmp_path, era) -> Path:
    root = Path(__file__).parents[1]
    entry = {
        "command": sys.executable,
        "args": ["-m", "test_redaction.leaky_server", era],
        "env": {"PYTHONPATH": f"{root}:{root.parent}", "API_TOKEN": OWN},
    }
    path = tmp_path / "servers.json"
    path.write_text(json.dumps({"mcpServers": {"leaky": entry}}))
    return path


def has_ended(session, calls) -> bool:
    return session.stderr.text.splitlines().count(END) == calls


@pytest.mark.parametrize("era", ["legacy", "modern"])
def test_no_look_at_a_server_shows_a_secret(era, shell, wire, tmp_path):
    """Not one of a call nor its own: said whole, or in the words of its tools."""
    servers, recording = configuration(tmp_path, era), tmp_path / "recording"
    texts = {
        "connect": seen_in(shell, f"%mcp connect --config {servers} --approve --record {recording}"),
        "call": seen_in(shell, f"%tool tell --yes password={SECRET}"),
        "failure": seen_in(shell, f"%tool fail --yes password={SECRET}"),
    }  # fmt: skip
    tool = find_tool("tell")
    session = tool.executor.client
    eventually(partial(has_ended, session, 2))
    texts |= {look: seen_in(shell, f"%mcp {look.format(tmp_path)}") for look in LOOKS}
    texts |= {line: seen_in(shell, line) for line in ("%tools", "%tools history --json")}
    exported = [tool.to_dict(), tool.to_mcp_tool(), tool.to_openai_tool()]
    texts["tool"] = f"{tool!r} {tool._repr_mimebundle_()} {exported}"
    texts["session"] = f"{session!r} {session.tools!r}"
    explorer = Explorer({"leaky": session})
    try:
        assert ticker.wait_idle(PATIENCE)
        texts["explorer"] = f"{shown(explorer)} {wire.text()}"
    finally:
        explorer.close()
    shell.run_cell("%mcp disconnect --all")
    for path in (recording, tmp_path / "snapshot", tmp_path / "stubs.py"):
        texts[path.name] = path.read_text() if path.exists() else ""
    pieces = {place: leaks(text, OWN) for place, text in texts.items()}
    assert {place: piece for place, piece in pieces.items() if piece} == {}
    for place in ("call", "log leaky", "log leaky --stderr", "recording"):
        assert "secret-hidden" in texts[place]
