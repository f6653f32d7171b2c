"""What may not grow without being noticed: comms, bytes, messages, threads, files.

These counts do not depend on the machine, as times do (bench/). `counts.json` holds what each
was when it was last looked at. Other counts are guarded where their subject is tested: forms of
real tools in test_widgets/test_form_corpus.py, a run in test_runs/test_perform.py, which packages
an import loads in test_public_api.py, and how many modules a start loads in test_start_budgets.py.
"""

import gc
import json
import os
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import comm
import ipywidgets
import pytest
from fastmcp import FastMCP
from patience import PATIENCE, eventually
from pydantic import Field
from test_mcp.peers import good, light, serving
from test_widgets.front import Wire

from toolbench import Action, ToolDefinition, bench
from toolbench.mcp import MCPClient
from toolbench.widgets.form import SchemaForm
from toolbench.widgets.panel import ToolPanel

RECORD = Path(__file__).with_name("counts.json")
RENEW = "TOOLBENCH_COUNTS"
# Other versions of Python and of packages
SLACK = {"bytes": 1.05}
OPEN_FILES = Path("/proc/self/fd")


class TenFields(Action):
    """One field of each common kind."""

    query: str = Field(description="What to look for.")
    path: str = Field(".", description="Where to start.")
    limit: int = Field(20, ge=1, description="How many.")
    score: float | None = Field(None, description="How good at least.")
    deep: bool = Field(False, description="Go down.")
    sort: str = Field("name", json_schema_extra={"enum": ["name", "size"]})
    labels: list[str] = Field([], description="All of them.")
    extra: dict[str, str] = Field({}, description="Headers to send.")
    since: str | None = Field(None, json_schema_extra={"format": "date"})
    note: str = Field("", max_length=500, description="For the log.")


def tool_named(name: str) -> ToolDefinition:
    return ToolDefinition(
        name=name,
        description="Find things.",
        action_type=TenFields,
        executor=lambda action: action.query,
    )


WIDGETS: dict[str, Callable[[], Any]] = {
    "a form of ten fields": lambda: SchemaForm(TenFields.model_json_schema()).widget,
    "the panel of a tool of ten fields": lambda: bench(tool_named("find")),
    "a bench of 1,000 tools": lambda: bench(*(tool_named(f"t{n}") for n in range(1_000))),
}


def check(counted: dict[str, int]) -> None:
    """Compare with the record; write it instead if the environment says so."""
    record = json.loads(RECORD.read_text()) if RECORD.is_file() else {}
    if os.environ.get(RENEW) == "renew":
        renewed = {**record, **counted}
        text = json.dumps(dict(sorted(renewed.items())), indent=2)
        RECORD.write_text(f"{text}\n")
        return
    grown = [
        f"{what}: {count:,} were {record[what]:,}"
        if what in record
        else f"{what}: {count:,}, not on record"
        for what, count in counted.items()
        if what not in record or count > record[what] * SLACK.get(what.partition(" ")[0], 1)
    ]
    assert not grown, (
        f"{'; '.join(grown)}. If that is worth it, renew the record: "
        f"{RENEW}=renew python -m pytest tests/test_counts.py"
    )


class TestWidgets:
    @pytest.fixture
    def wire(self, monkeypatch):
        wire = Wire()
        monkeypatch.setattr(comm, "create_comm", wire.comm)
        yield wire
        ipywidgets.Widget.close_all()

    @pytest.mark.parametrize("what", WIDGETS)
    def test_comms_and_bytes(self, what, wire):
        """What is sent to the page to show it."""
        WIDGETS[what]()
        sent = sum(len(json.dumps(data, default=str)) for _, _, data in wire.messages)
        check({f"comms of {what}": wire.opened(), f"bytes of {what}": sent})

    def test_messages_of_a_run(self, wire, monkeypatch):
        """What a click on Run sends to the page if the run has ended when the click is over."""
        monkeypatch.setattr("toolbench.widgets.panel.run.SWIFT", 60)
        panel = ToolPanel(tool_named("find"), {"query": "x"})
        panel.run()
        wire.messages.clear()
        panel.run()
        check({"messages of a run that ends at once": len(wire.messages)})


ERAS = {"the newer era": "auto", "the older era": "legacy"}


@pytest.fixture(scope="module")
def url():
    """The place of a server that answers over HTTP."""
    server = FastMCP("good")
    server.tool(lambda a: a, name="add")
    with serving(server) as url:
        yield url


@pytest.mark.slow
class TestMessages:
    @pytest.mark.parametrize(
        ("transport", "era"),
        [
            ("stdio", "the newer era"),
            ("HTTP", "the newer era"),
            ("HTTP", "the older era"),
            pytest.param("stdio", "the older era", marks=pytest.mark.long),
        ],
    )
    def test_to_connect_list_and_call(self, transport, era, url, monkeypatch):
        """Every JSON-RPC message in both directions, until the answer is there.

        But what a process gets that takes seconds to start, on a slow machine: a nudge, and
        the older handshake.
        """
        monkeypatch.setattr("toolbench.mcp.wire.sdk_session._SILENCE", 60)
        monkeypatch.setattr("mcp.client.session.DISCOVER_TIMEOUT_SECONDS", 60)
        monkeypatch.setattr("toolbench.mcp.connection.connection._PROBE", 60)
        with MCPClient(timeout=3 * PATIENCE) as client:
            entry = good() if transport == "stdio" else url
            session = client.connect("good", entry, mode=ERAS[era])
            assert not session.tool("add")({"a": 1}).is_error
            count = len(session.traffic)
        check({f"messages over {transport} in {era}": count})


@pytest.mark.skipif(not OPEN_FILES.is_dir(), reason="needs /proc to count open files")
class TestLeftBehind:
    @pytest.mark.long
    def test_by_connections(self):
        """Threads and files after five connections, beyond those after the first."""

        def connect():
            with MCPClient(timeout=PATIENCE) as client:
                client.connect("light", light("light", "add")).tool("add")({})

        def left():
            gc.collect()
            return threading.active_count(), len(list(OPEN_FILES.iterdir()))

        connect()
        threads, files = left()
        for _ in range(5):
            connect()
        eventually(lambda: left()[0] <= threads and left()[1] <= files)
