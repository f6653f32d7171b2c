"""Large results: from a call, a line, a panel and a server, beside the value's own JSON or repr."""

import marshal
import sys
import tracemalloc
from base64 import b64encode
from collections.abc import Callable
from functools import partial
from io import BytesIO
from itertools import repeat
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from ahocorasick_rs import BytesAhoCorasick
from bench_mcp import Raw, beside_raw, raw_process, serving
from fastmcp.client.transports import StreamableHttpTransport
from IPython.core.interactiveshell import InteractiveShell
from large_values import VALUES
from measuring import Cold
from PIL import Image
from pydantic import SecretStr
from pydantic_core import from_json, to_json
from trips import press_at_once, press_run
from wire import wired

from toolbench import run_tool, tool
from toolbench.display.images import read_image
from toolbench.mcp import MCPClient
from toolbench.widgets.panel import ToolPanel

# Of the time of the peer
GOAL = 1.5
# Bytes of one result in a saved notebook
SAVED = 1_000_000
# Each takes a tenth of a second and more; what is shown of a frame, a few milliseconds
ROUNDS, ROUNDS_OF_FRAME = 5, 25
SECRET = "sk-4f8e2a7b9c1d-large"


def written(value: Any) -> bytes | str:
    """What the value's own library makes of it: JSON, or what a cell shows of a frame."""
    if isinstance(value, pd.DataFrame):
        return repr(value) + value._repr_html_()
    return to_json(value, indent=2, bytes_mode="base64")


def searched(data: bytes) -> None:
    """Look for one secret, in one of its writings."""
    BytesAhoCorasick([SECRET.encode()]).find_matches_as_indexes(data)


def read_rows(value: list[dict[str, Any]]) -> None:
    """The least in Python that a table of JSON needs: its rows, its columns, and their types."""
    objects = from_json(written(value), cache_strings="keys")
    columns = set().union(*objects)
    set(
        zip(*(map(type, map(dict.get, objects, repeat(column))) for column in columns), strict=True)
    )


def read_and_searched(value: list[dict[str, Any]]) -> None:
    read_rows(value)
    searched(marshal.dumps(value))


def shown_small(value: bytes) -> None:
    """The least for an image: base64 for the model, and for the page a preview of 800 pixels."""
    b64encode(value)
    with Image.open(BytesIO(value)) as image:
        image.thumbnail((800, 800), reducing_gap=1.0)
        image.save(BytesIO(), "WEBP", method=1)


def shown_small_and_searched(value: bytes) -> None:
    shown_small(value)
    searched(marshal.dumps(value))


LINE, PANEL = "%tool to the output, with a secret", "Run in a panel"
# What these ways need at least
LEAST = {
    ("100,000 dicts", LINE): read_and_searched,
    ("100,000 dicts", PANEL): read_rows,
    ("an image of 20 MB", LINE): shown_small_and_searched,
    ("an image of 20 MB", PANEL): shown_small,
}


def each(work: Callable[[], object]) -> Cold:
    """Time single calls: each is long enough for the clock, and shows an image for the first time."""
    return Cold(read_image.cache_clear, lambda _: work())


def giving(value: Any):
    """A tool that returns *value*, and knows a secret if it gets one."""

    @tool(read_only=True)
    def give(token: SecretStr | None = None) -> Any:
        """Give the value."""
        return value

    return give


@pytest.fixture(scope="module")
def shell():
    shell = InteractiveShell.instance()
    shell.run_line_magic("load_ext", "toolbench")
    return shell


@pytest.mark.parametrize("name", VALUES)
def test_a_result(ledger, shell, name):
    """From each way: at most 1.5 times its own JSON, or pandas' repr; a megabyte in a notebook."""
    value = VALUES[name]()
    give = shell.user_ns["give"] = giving(value)
    wired()
    press_at_once()
    panel = ToolPanel(give)

    def line() -> Any:
        observation = shell.run_line_magic("tool", f"give token={SECRET}")
        return shell.display_formatter.format(observation)

    # A secret is known to every other way
    ways = {
        "tool(...)": lambda: give({}),
        "run_tool, with a secret": lambda: run_tool(give, {"token": SECRET}),
        LINE: line,
        PANEL: lambda: press_run(panel),
    }
    json, rounds = "to_json", ROUNDS
    if isinstance(value, pd.DataFrame):
        json, rounds = "pandas' repr and HTML", ROUNDS_OF_FRAME
    for way, work in ways.items():
        ledger.compare(
            f"{name}: {way}",
            ours=each(work),
            peer=each(partial(written, value)),
            peer_name=json,
            goal=GOAL,
            rounds=rounds,
        )
        if least := LEAST.get((name, way)):
            ledger.compare(
                f"{name}: {way}, beside the least",
                ours=each(work),
                peer=each(partial(least, value)),
                peer_name="the least in Python",
                rounds=ROUNDS,
            )
    data, _ = line()
    ledger.limit(f"{name}: in the saved notebook", len(to_json(data)), "B", SAVED)
    tracemalloc.start()
    line()
    memory = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    text = len(written(value))
    ledger.beside(f"{name}: memory", memory, "B", peer=text, peer_name="the length of its text")


SERVER = f"""
import sys
sys.path.insert(0, {str(Path(__file__).parent)!r})
from fastmcp import FastMCP
from fastmcp.tools import ToolResult
from large_values import VALUES
mcp = FastMCP("large")
dicts, nested = VALUES["100,000 dicts"](), VALUES["nested JSON of 10 levels"]()
text = VALUES["a text of 50 MB"]()
mcp.tool(lambda: dicts, name="dicts")
mcp.tool(lambda: nested, name="nested")
mcp.tool(lambda: ToolResult(content=text), name="text")
if len(sys.argv) > 1:
    mcp.run("http", port=int(sys.argv[1]), show_banner=False, log_level="critical")
else:
    mcp.run(show_banner=False)
"""
ENTRY = {"command": sys.executable, "args": ["-c", SERVER]}


def beside_client(ledger, work, session, raw, name):
    """Read a result and show it, beside FastMCP's client, which reads it."""
    session.call_seconds = 60
    tool = session.tool(name)
    beside_raw(
        ledger,
        f"{work}, to the output",
        lambda: run_tool(tool, {})._repr_mimebundle_(),
        lambda: raw.run(raw.client.call_tool(name, {})),
        GOAL,
        # Most of it is the server's work
        rounds=3,
    )
    raw.close()


def test_a_result_over_stdio(ledger):
    """At most 1.5 times the raw client."""
    with MCPClient(timeout=60) as client:
        session = client.connect("large", ENTRY)
        beside_client(ledger, "100,000 dicts over stdio", session, raw_process(ENTRY), "dicts")


def test_results_over_http(ledger):
    """At most 1.5 times the raw client."""
    with MCPClient(timeout=60) as client, serving(started=ENTRY) as url:
        session = client.connect("large", url)
        for name, work in (("text", "a text of 50 MB"), ("nested", "nested JSON of 10 levels")):
            raw = Raw(StreamableHttpTransport(url))
            beside_client(ledger, f"{work} over HTTP", session, raw, name)
        client.sync_close()
