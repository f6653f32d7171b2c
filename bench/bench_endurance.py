"""What grows over time: memory and threads after much work, and wakeups of a kernel at rest."""

import gc
import logging
import sys
import threading
import warnings
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import comm
import pytest
from fastmcp import Context, FastMCP
from jupyter_client import KernelManager
from wire import Wire

from toolbench import history, run_tool, tool
from toolbench.mcp import MCPClient
from toolbench.widgets.kit.ticker import ticker
from toolbench.widgets.panel import ToolPanel

# Its servers
sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from test_mcp.peers import light

STATUS = Path("/proc/self/status")
# Of the work, before the memory is read: caches and rings of records fill
WARM = 0.2
# Bytes that the memory may differ: the allocator gives back whole blocks only
SLACK = 5_000_000
# Seconds that a kernel at rest is watched
REST = 5

pytestmark = pytest.mark.skipif(not STATUS.is_file(), reason="needs /proc")


@tool
def add(a: int, b: int = 1) -> int:
    """Add two numbers."""
    return a + b


@pytest.fixture(autouse=True)
def wire(monkeypatch):
    wire = Wire()
    monkeypatch.setattr(comm, "create_comm", wire.comm)
    # pytest keeps every log message of a server in this process
    logging.disable()
    with warnings.catch_warnings():
        # A log message of a server is a deprecated one
        warnings.simplefilter("ignore")
        yield wire
    logging.disable(logging.NOTSET)
    ticker.wait_idle(20)
    history().clear()


def memory() -> int:
    """Return the bytes of this process in memory, without the history, which has a limit of its own."""
    ticker.wait_idle(20)
    history().clear()
    gc.collect()
    lines = STATUS.read_text("utf-8").splitlines()
    return int(next(line for line in lines if line.startswith("VmRSS")).split()[1]) << 10


def endure(ledger, what: str, times: int, work: Callable[[], object]) -> None:
    """Do *work* so many times; enter how much memory and how many threads it left at last."""
    for _ in range(int(times * WARM)):
        work()
    before, threads = memory(), threading.active_count()
    for _ in range(times - int(times * WARM)):
        work()
    grown = max(memory() - before, 0)
    note = f"after the first {WARM:.0%} of them"
    ledger.limit(f"{what}: memory", grown, "B", SLACK, note)
    left = max(threading.active_count() - threads, 0)
    ledger.limit(f"{what}: threads left", left, "threads", 0)


def test_runs(ledger):
    """10,000 runs."""
    endure(ledger, "10,000 runs", 10_000, lambda: run_tool(add, a=1))


def test_panels(ledger):
    """1,000 panels opened, run and closed."""

    def work() -> None:
        panel = ToolPanel(add, {"a": 1})
        run = panel.run()
        assert run is not None
        assert run.done.wait(20)
        panel.close()

    endure(ledger, "1,000 panels", 1_000, work)


def test_servers(ledger):
    """500 servers, each a process of its own, ten at a time."""
    with MCPClient(timeout=60) as client:

        def work() -> None:
            client.add({f"s{n}": light(f"s{n}", "add") for n in range(10)})
            for n in range(10):
                client.disconnect(f"s{n}")

        endure(ledger, "500 servers (in tens)", 50, work)


def test_messages(ledger):
    """100,000 messages: a call, 98 lines of its log, and the answer, a thousand times."""
    server = FastMCP("talker")

    @server.tool
    async def talk(context: Context) -> str:
        for n in range(98):
            await context.info(f"line {n}")
        return "done"

    with MCPClient(timeout=60) as client:
        call = client.connect("talker", server).tool("talk")
        endure(ledger, "100,000 messages (in hundreds)", 1_000, lambda: call({}))


def test_a_kernel_at_rest(ledger):
    """The extension is loaded, a panel is open, a tool has run: at most one wakeup a second more."""
    plain, ours = wakeups(
        "pass",
        "%load_ext toolbench\n"
        "from toolbench import bench, run_tool, tool\n"
        "@tool\n"
        "def add(a: int) -> int:\n"
        "    'Add.'\n"
        "    return a\n"
        "panel = bench(add)\n"
        "run_tool(add, a=1)",
    )
    ledger.limit(
        "a kernel at rest: wakeups a second more than without toolbench",
        max(ours - plain, 0),
        "wakeups",
        1,
        f"{ours:.1f} beside {plain:.1f}: ipykernel's own",
    )


def wakeups(*codes: str) -> list[float]:
    """Return how often a second the threads of a kernel wake up after it has run each of *codes*.

    Each has a kernel of its own; they are at rest at the same time.
    """
    pause = threading.Event()
    with ExitStack() as stack:
        pids = [stack.enter_context(kernel_after(code)) for code in codes]
        # What the cells have left to do
        pause.wait(2)
        before = [switches(pid) for pid in pids]
        pause.wait(REST)
        after = [switches(pid) for pid in pids]
    pairs = zip(before, after, strict=True)
    return [sum(n - old.get(task, n) for task, n in new.items()) / REST for old, new in pairs]


@contextmanager
def kernel_after(code: str) -> Iterator[int]:
    """Start a kernel that has run *code*; return its process."""
    manager = KernelManager()
    manager.start_kernel()
    try:
        client = manager.client()
        client.start_channels()
        client.wait_for_ready(timeout=60)
        reply = client.execute_interactive(code, timeout=120, output_hook=lambda _: None)
        assert reply["content"]["status"] == "ok", reply["content"]
        yield manager.provisioner.pid
        client.stop_channels()
    finally:
        manager.shutdown_kernel(now=True)


def switches(pid: int) -> dict[str, int]:
    """Return for each thread of a process how often it went to sleep so far."""
    counts = {}
    for task in Path(f"/proc/{pid}/task").iterdir():
        text = (task / "status").read_text("utf-8")
        [line] = (x for x in text.splitlines() if x.startswith("voluntary_ctxt"))
        counts[task.name] = int(line.split()[1])
    return counts
