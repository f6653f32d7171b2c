"""What every bench shares: the ledger of its module, and the environments of the peers."""

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import peers
import pytest
from ledger import SINK, Ledger, section
from probe import Probe
from report import as_text

CORPUS = Path(__file__).parents[2] / "shared" / "corpus" / "tools_public.jsonl"


@pytest.fixture(scope="session")
def ledgers() -> dict[str, Ledger]:
    return {}


@pytest.fixture
def ledger(request, ledgers) -> Ledger:
    """Takes the rows of this module."""
    name = section(request.module.__doc__)
    return ledgers.setdefault(name, Ledger(name))


@pytest.fixture(scope="module")
def probe(request) -> Iterator[Callable[..., Probe]]:
    """Start a probe in the Python of a peer; without it what follows is skipped."""
    open_: list[Probe] = []

    def start(peer: str, script: str, **env: str) -> Probe:
        try:
            python = peers.python_of(peer)
        except peers.AbsentError as error:
            pytest.skip(str(error))
        open_.append(Probe(python, script, env))
        return open_[-1]

    yield start
    for each in open_:
        each.close()


@pytest.fixture(scope="session")
def corpus() -> Path:
    """The real tools; without them what follows is skipped."""
    if not CORPUS.is_file():
        pytest.skip("the corpus of real tools (../shared/corpus) is not here")
    return CORPUS


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    """Enter what failed, and what was not measured, as rows of their own."""
    report = yield
    ledger = Ledger(section(item.module.__doc__))
    work = item.name.removeprefix("test_").replace("_", " ")
    if report.failed:
        ledger.error(work, report.longrepr.reprcrash.message.partition("\n")[0])
    elif report.skipped:
        ledger.absent(work, report.longrepr[2].removeprefix("Skipped: "))
    return report


def pytest_terminal_summary(terminalreporter):
    """Show the rows of a run by hand."""
    config = terminalreporter.config
    for row in config.stash.get(ROWS, []):
        terminalreporter.write_line(as_text(row))


ROWS = pytest.StashKey[list]()


@pytest.fixture(autouse=True)
def _told(request, ledgers):
    """Keep the rows for the summary of a run by hand."""
    yield
    if not os.environ.get(SINK):
        rows = [row for ledger in ledgers.values() for row in ledger.rows]
        request.config.stash[ROWS] = rows
