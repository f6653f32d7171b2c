"""A web page that opens as many connections to a kernel's server as its browser lets it."""

from concurrent.futures import ThreadPoolExecutor

import pytest
from patience import PATIENCE
from test_serving.clients import talk_at
from test_serving.test_floods import PROOF, PROVED, added, serving  # noqa: F401 - a fixture

from browser.chromium import Chromium

pytestmark = pytest.mark.long
PAGE = "http://127.0.0.1:9/"
SCRIPT = """(url) => {
  window.kept = [];
  for (let i = 0; i < 300; i++) {
    kept.push(new WebSocket(url.replace("http", "ws")));
    kept.push(new EventSource(url));
    fetch(url, {method: "POST", mode: "no-cors", body: "x".repeat(100000)}).catch(() => 0);
    new Image().src = url + "?" + i;
  }
}"""


def test_a_page_leaves_the_kernel_as_it_was(serving, chromium: Chromium):  # noqa: F811
    """Cells print and an agent calls while the page goes on, and after it is closed."""
    kernel, url, token = serving
    context = chromium.browser().new_context()
    page = context.new_page()
    page.route(PAGE, lambda route: route.fulfill(body="<!doctype html>", content_type="text/html"))
    page.goto(PAGE)
    page.evaluate(SCRIPT, url)
    with ThreadPoolExecutor(1) as pool:
        for _ in range(2):
            # Playwright's loop holds this thread
            assert pool.submit(talk_at, url, token, added).result(PATIENCE) == 3
            assert PROVED in kernel.run(PROOF)
            page.evaluate(SCRIPT, url)
        context.close()
        assert pool.submit(talk_at, url, token, added).result(PATIENCE) == 3
    assert PROVED in kernel.run(PROOF)
