"""The network of an app that declares addresses: none, until a person allows them."""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

import pytest
from patience import eventually

from browser.tab import Tab
from browser.trap import Trap
from toolbench.mcp.apps.preview import App, network_in, preview

CODE = """<!doctype html><p id="state">waiting</p><img src="ALLOWED/picture"><img src="OTHER/picture">
<script src="ALLOWED/code.js"></script><script src="OTHER/code.js"></script>
<link rel="prefetch" href="OTHER/prefetch"><link rel="stylesheet" href="OTHER/style.css"><script>
const tries = ["ALLOWED/fetch", "OTHER/fetch"].map((url) => fetch(url, {mode: "no-cors"}).catch(() => 0));
const frame = document.createElement("iframe");
frame.src = "ALLOWED/frame";
document.body.append(frame);
new Image().src = "OTHER/image";
try { new Worker("ALLOWED/worker.js"); } catch {}
try { new WebSocket("ws" + "OTHER/socket".slice(4)); } catch {}
navigator.sendBeacon?.("OTHER/beacon", "x");
Promise.all(tries).then(() => { document.querySelector("#state").textContent = "tried"; });
</script>"""
REQUESTS = {"GET /picture", "GET /code.js", "GET /fetch"}


class _Page(BaseHTTPRequestHandler):
    """Answers each request with one page."""

    def __init__(self, html: str, *args: object) -> None:
        self._html = html.encode()
        super().__init__(*args)  # type: ignore[arg-type]

    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.end_headers()
        self.wfile.write(self._html)

    def log_message(self, *args: object) -> None:
        """Write nothing."""


@contextmanager
def served(html: str) -> Iterator[str]:
    """The address of a page with *html*, on this machine as a Jupyter server's pages are."""
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(_Page, html)) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()


@pytest.mark.parametrize("is_online", [False, True], ids=["offline", "allowed"])
def test_an_app_reaches_what_is_allowed_and_no_more(page: Tab, *, is_online: bool) -> None:
    """The declared address gets requests only after a yes, and no other one ever does."""
    with Trap() as target, Trap() as other:
        html = CODE.replace("ALLOWED", target.address).replace("OTHER", other.address)
        addresses = [target.address]
        csp = {"connectDomains": addresses, "resourceDomains": addresses}
        app = App("ui://x/app", html, network_in(csp))
        outer = f"<!doctype html>{preview(app, is_online=is_online)}"
        with served(outer) as address:
            page.page.goto(address)
            inner = page.page.frame_locator("iframe").frame_locator("iframe")
            inner.get_by_text("tried").wait_for()
            requests = REQUESTS if is_online else set()
            eventually(
                lambda: target.caught - {"nothing"} >= requests,
                what="the allowed requests have come",
            )
            assert target.caught - {"nothing"} == requests
        assert other.caught <= {"nothing"}
