"""The built site on a port of this machine, in a Chromium that reaches nothing else."""

import subprocess
import threading
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SITE = ROOT / "build" / "site"
FLAGS = [
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
    "--no-proxy-server",
    "--disable-gpu",
]
# Ms: Python starts in the page, on a machine that may be busy
TIMEOUT = 90_000


class Quiet(SimpleHTTPRequestHandler):
    """A server of files that says nothing."""

    def log_message(self, *_):
        """Say nothing."""


@pytest.fixture(scope="session")
def origin():
    """The address of the built site; without a site the tests are skipped and say so."""
    if not (SITE / "lite" / "index.html").exists():
        pytest.skip("there is no built site: run `make site` first")
    handler = partial(Quiet, directory=str(SITE))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


@pytest.fixture(scope="session")
def chromium(origin):
    """The machine's Chromium."""
    sync_api = pytest.importorskip("playwright.sync_api")
    find = ["sh", str(ROOT / "scripts" / "chromium.sh"), "--find"]
    program = subprocess.run(find, capture_output=True, text=True, check=False)
    if program.returncode:
        pytest.skip("there is no Chromium here")
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=program.stdout.strip(), args=FLAGS, chromium_sandbox=False
        )
        yield browser
        browser.close()


@pytest.fixture
def page(chromium, origin):
    """A new page; a request to another origin fails its test."""
    outside = []

    def gate(route):
        if route.request.url.startswith((origin, "data:", "blob:")):
            route.continue_()
        else:
            outside.append(route.request.url)
            route.abort()

    context = chromium.new_context(viewport={"width": 1300, "height": 1000})
    context.route("**/*", gate)
    page = context.new_page()
    page.set_default_timeout(TIMEOUT)
    yield page
    context.close()
    assert outside == []
