"""An app with a network that a person allowed: it reaches these addresses, and no others."""

import pytest

from browser.polling import poll
from browser.tab import Tab
from browser.trap import Trap
from toolbench.mcp.apps.app_network import network_in
from toolbench.mcp.apps.preview import App, preview

CODE = """<!doctype html><p id="state">waiting</p><img src="ALLOWED/picture"><img src="OTHER/picture">
<script src="ALLOWED/code.js"></script><script src="OTHER/code.js"></script>
<link rel="prefetch" href="OTHER/prefetch"><link rel="stylesheet" href="OTHER/style.css"><script>
const tries = ["ALLOWED/fetch", "OTHER/fetch"].map((url) => fetch(url, {mode: "no-cors"}).catch(() => 0));
const frame = document.createElement("iframe");
frame.src = "ALLOWED/frame";
document.body.append(frame);
navigator.sendBeacon?.("OTHER/beacon", "x");
Promise.all(tries).then(() => { document.querySelector("#state").textContent = "tried"; });
</script>"""


@pytest.mark.parametrize("is_online", [False, True], ids=["blocked", "allowed"])
def test_an_app_reaches_what_was_allowed_and_no_more(
    page: Tab, *, is_online: bool
) -> None:
    """Files and requests of the allowed address arrive after a yes; a second address gets nothing."""
    with Trap() as allowed, Trap() as other:
        html = CODE.replace("ALLOWED", allowed.address).replace("OTHER", other.address)
        addresses = [allowed.address]
        csp = {"connectDomains": addresses, "resourceDomains": addresses}
        app = App("ui://x/app", html, network_in(csp))
        page.page.set_content(f"<!doctype html>{preview(app, is_online=is_online)}")
        inner = page.page.frame_locator("iframe").frame_locator("iframe")
        inner.get_by_text("tried").wait_for()
        expected = (
            {"GET /picture", "GET /code.js", "GET /fetch"} if is_online else set()
        )
        poll(
            lambda: allowed.caught - {"nothing"} == expected,
            until="the allowed requests have come",
            seconds=20,
        )
        assert other.caught <= {"nothing"}
