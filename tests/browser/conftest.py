"""A Chromium, the front ends it looks at, and notebooks to open in them."""

import re
import subprocess
from collections.abc import Generator, Iterator
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from typing import Any, TypeVar

import pytest
from patience import PATIENCE
from playwright.sync_api import Error, expect, sync_playwright

from browser.chromium import Chromium
from browser.lab import ClassicPage, Hands, NotebookPage, VoilaPage
from browser.server import FrontEnd, JupyterServer
from browser.tab import WINDOW, Tab

ROOT = Path(__file__).parents[2]
HERE = Path(__file__).parent
PICTURES = ROOT / "build" / "screenshots"
# By this, fixtures know a failed test
FAILED = pytest.StashKey[bool]()
# A page keeps something of each notebook that it has shown
TESTS_OF_A_PAGE = 40
SHOWN_CHARACTERS = 4_000
Opened = TypeVar("Opened", NotebookPage, VoilaPage, ClassicPage)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Function, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Have a failure say what page and server did: on another machine nobody can look."""
    report = yield
    if report.failed:
        item.stash[FAILED] = True
    if report.when == "call" and report.failed:
        for page in item.funcargs.values():
            if isinstance(page, Hands):
                report.sections += _last_seen(page, re.sub(r"[/:]+", "-", item.nodeid))
    return report


def _last_seen(page: Hands, name: str) -> list[tuple[str, str]]:
    picture = PICTURES / f"failed-{name}.png"
    try:
        page.tab.page.screenshot(path=picture)
        page_text = page.tab.page.locator("body").inner_text()
    except Error as error:
        # The page may be what failed
        page_text = str(error)
    return [
        (f"the log of {page.server.front_end}", page.server.log[-SHOWN_CHARACTERS:]),
        ("the page's console", "\n".join(page.tab.console_errors)[:SHOWN_CHARACTERS]),
        (f"the page, see {picture.relative_to(ROOT)}", page_text[-SHOWN_CHARACTERS:]),
    ]


@pytest.fixture(scope="session")
def chromium() -> Iterator[Chromium]:
    """The machine's Chromium; without one the tests fail and say how to get it."""
    command = ["sh", str(ROOT / "scripts/chromium.sh"), "--find"]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    if result.returncode:
        pytest.fail(result.stderr.strip(), pytrace=False)
    with sync_playwright() as playwright:
        chromium = Chromium(playwright, result.stdout.strip())
        yield chromium
        chromium.close()


def _new_tab(chromium: Chromium) -> Tab:
    """A tab in a context of its own: no cookies, no storage of another one."""
    milliseconds = 1000 * PATIENCE
    context = chromium.browser().new_context(viewport=WINDOW)
    context.set_default_timeout(milliseconds)
    expect.set_options(timeout=milliseconds)
    context.add_init_script(path=HERE / "rig.js")
    return Tab(context)


@pytest.fixture
def page(chromium: Chromium) -> Iterator[Tab]:
    """A tab of this test alone."""
    tab = _new_tab(chromium)
    yield tab
    tab.page.context.close()


@pytest.fixture(scope="session")
def shared_tabs() -> Iterator[list[Tab]]:
    """The tab that tests share, while none of them has it."""
    tabs: list[Tab] = []
    yield tabs
    for tab in tabs:
        _close(tab)


def _close(tab: Tab) -> None:
    """Close the context of *tab*; its Chromium may be gone."""
    with suppress(Error):
        tab.page.context.close()


@pytest.fixture(scope="session")
def nbroot(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder both front ends serve; tests give their notebooks names of their own."""
    return tmp_path_factory.mktemp("notebooks")


@pytest.fixture(scope="session")
def screenshots() -> Path:
    """Where pictures are left for people to look at."""
    PICTURES.mkdir(parents=True, exist_ok=True)
    return PICTURES


def _server_of(front_end: FrontEnd, package: str | None = None) -> Any:
    """Return a fixture: this front end, started once for all tests that use it."""

    @pytest.fixture(scope="session")
    def server(nbroot: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[JupyterServer]:
        if package is not None and find_spec(package) is None:
            pytest.fail(f"{package} is missing: it is in the group dev", pytrace=False)
        home = tmp_path_factory.mktemp("home")
        with JupyterServer(front_end, nbroot, home) as running:
            yield running

    return server


def _page_of(server: str, kind: type[Opened]) -> Any:
    """Return a fixture: a page of the front end *server*; its kernel ends with the test."""

    @pytest.fixture
    def opened(page: Tab, request: pytest.FixtureRequest, screenshots: Path) -> Iterator[Opened]:
        notebook = kind(page, request.getfixturevalue(server), screenshots)
        yield notebook
        notebook.shut_down()

    return opened


lab_server = _server_of("lab")
notebook7_server = _server_of("notebook")
voila_server = _server_of("voila", "voila")
nbclassic_server = _server_of("nbclassic", "nbclassic")


@pytest.fixture
def lab(
    chromium: Chromium,
    shared_tabs: list[Tab],
    lab_server: JupyterServer,
    request: pytest.FixtureRequest,
    screenshots: Path,
) -> Iterator[NotebookPage]:
    """A page of JupyterLab that tests share; each opens notebooks of its own in it.

    After a test its notebooks are closed and their kernels ended, but for one that it shares. A page
    serves a number of tests: none after one that failed.
    """
    tab = shared_tabs.pop() if shared_tabs else _new_tab(chromium)
    if not tab.is_alive:
        tab = _new_tab(chromium)
    tab.tests += 1
    notebook = NotebookPage(tab, lab_server, screenshots)
    yield notebook
    if request.node.stash.get(FAILED, False) or tab.tests == TESTS_OF_A_PAGE:
        notebook.shut_down()
        _close(tab)
    else:
        if tab.shared:
            notebook.tidy()
        else:
            notebook.clear()
        tab.forget()
        shared_tabs.append(tab)


@pytest.fixture(params=["once", pytest.param("closely", marks=pytest.mark.long)])
def looks(lab: NotebookPage, request: pytest.FixtureRequest) -> None:
    """How a test looks at each state: with axe-core once; or in each theme and size, with pictures."""
    lab.looks_closely = request.param == "closely"


# Of the test alone: for scripts that come before the page, and for pages without our module
new_lab = _page_of("lab_server", NotebookPage)
# Opens in half of Lab's time
notebook7 = _page_of("notebook7_server", NotebookPage)
voila = _page_of("voila_server", VoilaPage)
nbclassic = _page_of("nbclassic_server", ClassicPage)
