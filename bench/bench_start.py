"""How a notebook starts: in fresh processes, beside the same without us."""

import sys
from pathlib import Path

import pytest
from fresh import Program
from measuring import CPU, WALL, by_turns

# Its servers
sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from test_mcp.peers import light

ROUNDS = 5
KERNEL = """
import ipykernel.kernelapp, ipykernel.ipkernel, ipykernel.zmqshell, ipywidgets
from IPython.core.interactiveshell import InteractiveShell
shell = InteractiveShell.instance()
"""
NEEDED = f"""{KERNEL}
import pydantic, pydantic.types, rich.console, rich.table, rich.text

class Model(pydantic.BaseModel):
    n: int
"""
LOAD = f"{KERNEL}shell.run_line_magic('load_ext', 'toolbench')\n"
TOOL = (
    "def echo(text: str, count: int = 1) -> str:\n    'Return the text.'\n    return text * count\n"
)
BY_HAND = (
    "import ipywidgets as w\n"
    "w.VBox([w.Text(description='text'), w.IntText(description='count'), w.Button(), w.HTML()])\n"
)
PANEL = f"from toolbench import bench, tool\n{TOOL}bench(tool(echo))\n"
SERVERS = {"mcpServers": {"s": light("s", "add")}}
CLIENT = f"""
import asyncio
from fastmcp import Client
async def connect():
    async with Client({SERVERS!r}) as client:
        await client.list_tools()
asyncio.run(connect())
"""
CONNECT = f"""
from toolbench.mcp import create_mcp_tools
with create_mcp_tools({SERVERS!r}) as client:
    assert len(client) == 1
"""


@pytest.mark.parametrize(
    ("work", "ours", "peer", "peer_name", "goal", "clock"),
    [
        (
            "%load_ext toolbench and the first panel",
            LOAD + PANEL,
            KERNEL + BY_HAND,
            "ipywidgets, a form by hand",
            None,
            CPU,
        ),
        (
            "the first connection of a process",
            CONNECT,
            CLIENT,
            "FastMCP's client",
            1.1,
            WALL,
        ),
    ],
)
def test_start(ledger, work, ours, peer, peer_name, goal, clock):
    """The whole process, from the start of Python to its end."""
    mine, theirs = (Program([sys.executable, "-c", each], clock) for each in (ours, peer))
    ledger.compare(
        f"{work}: the whole process{', by the clock' * (clock is WALL)}",
        ours=mine,
        peer=theirs,
        peer_name=peer_name,
        goal=goal,
        rounds=ROUNDS,
        clock=clock,
    )


def test_load_ext(ledger):
    """The whole process; the same rounds give its processor time and that by the clock."""
    ours, plain, needed = (Program([sys.executable, "-c", code]) for code in (LOAD, KERNEL, NEEDED))
    by_turns([ours, plain, needed], ROUNDS)
    for work, peer, peer_name, goal in (
        ("%load_ext toolbench", plain, "a kernel with ipywidgets", 1.2),
        (
            "%load_ext toolbench, beside what its tools are made of",
            needed,
            "a kernel with ipywidgets, rich and a pydantic model",
            None,
        ),
    ):
        for clock, unit, how in ((CPU, "s CPU", ""), (WALL, "s wall", ", by the clock")):
            ledger.beside(
                f"{work}: the whole process{how}",
                ours.median(clock),
                unit,
                peer=peer.median(clock),
                peer_name=peer_name,
                goal=goal,
            )
