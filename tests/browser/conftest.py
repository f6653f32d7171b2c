"""A Chromium, the front ends it looks at, and notebooks to open in them."""

import re
import subprocess
from collections.abc import Generator, Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest
from playwright.sync_api import Error, expect, sync_playwright

from browser.chromium import Chromium
from browser.lab import ClassicPage, Hands, NotebookPage, VoilaPage
from browser.server import JupyterServer
from browser.tab import Tab

ROOT = Path(__file__).parents[2]
HERE = Path(__file__).parent
PICTURES = ROOT / "build" / "screenshots"
ACTION_MILLISECONDS = 20_000
SHOWN_CHARACTERS = 4_000


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Function, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Have a failure say what page and server did: on another machine nobody can look."""
    report = yield
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
    except Error as error:  # the page may be what failed
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


@pytest.fixture
def page(chromium: Chromium) -> Iterator[Tab]:
    """A tab in a context of its own: no cookies, no storage of another test."""
    context = chromium.browser().new_context(viewport={"width": 1280, "height": 960})
    context.set_default_timeout(ACTION_MILLISECONDS)
    expect.set_options(timeout=ACTION_MILLISECONDS)
    context.add_init_script(path=HERE / "rig.js")
    yield Tab(context)
    context.close()


@pytest.fixture(scope="session")
def nbroot(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder both front ends serve; tests give their notebooks names of their own."""
    return tmp_path_factory.mktemp("notebooks")


@pytest.fixture(scope="session")
def screenshots() -> Path:
    """Where pictures are left for people to look at."""
    PICTURES.mkdir(parents=True, exist_ok=True)
    return PICTURES


@pytest.fixture(scope="session")
def lab_server(
    nbroot: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[JupyterServer]:
    """JupyterLab, started once for all tests that use it."""
    with JupyterServer("lab", nbroot, tmp_path_factory.mktemp("home")) as server:
        yield server


@pytest.fixture(scope="session")
def notebook7_server(
    nbroot: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[JupyterServer]:
    """Notebook 7, started once for all tests that use it."""
    with JupyterServer("notebook", nbroot, tmp_path_factory.mktemp("home")) as server:
        yield server


@pytest.fixture
def lab(
    page: Tab, lab_server: JupyterServer, screenshots: Path
) -> Iterator[NotebookPage]:
    """A notebook page of JupyterLab; its kernel ends with the test."""
    notebook = NotebookPage(page, lab_server, screenshots)
    yield notebook
    notebook.shut_down()


@pytest.fixture
def notebook7(
    page: Tab, notebook7_server: JupyterServer, screenshots: Path
) -> Iterator[NotebookPage]:
    """A notebook page of Notebook 7, which opens in about half of Lab's time."""
    notebook = NotebookPage(page, notebook7_server, screenshots)
    yield notebook
    notebook.shut_down()


@pytest.fixture(scope="session")
def voila_server(
    nbroot: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[JupyterServer]:
    """Voila, started once for all tests that use it."""
    _installed("voila")
    with JupyterServer("voila", nbroot, tmp_path_factory.mktemp("home")) as server:
        yield server


@pytest.fixture(scope="session")
def nbclassic_server(
    nbroot: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[JupyterServer]:
    """The classic front end, started once for all tests that use it."""
    _installed("nbclassic")
    with JupyterServer("nbclassic", nbroot, tmp_path_factory.mktemp("home")) as server:
        yield server


def _installed(package: str) -> None:
    if find_spec(package) is None:
        pytest.fail(f"{package} is missing: it is in the group dev", pytrace=False)


@pytest.fixture
def voila(
    page: Tab, voila_server: JupyterServer, screenshots: Path
) -> Iterator[VoilaPage]:
    """A page of Voila; its kernel ends with the test."""
    voila_page = VoilaPage(page, voila_server, screenshots)
    yield voila_page
    voila_page.shut_down()


@pytest.fixture
def nbclassic(
    page: Tab, nbclassic_server: JupyterServer, screenshots: Path
) -> Iterator[ClassicPage]:
    """A notebook page of the classic front end; its kernel ends with the test."""
    notebook = ClassicPage(page, nbclassic_server, screenshots)
    yield notebook
    notebook.shut_down()
