"""The network of an app that declares addresses: none, until a person allows them."""

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


def test_an_app_reaches_nothing_before_it_is_allowed(page: Tab) -> None:
    """An address that the app declares gets no request, and no other one does."""
    with Trap() as target, Trap() as other:
        html = CODE.replace("ALLOWED", target.address).replace("OTHER", other.address)
        addresses = [target.address]
        csp = {"connectDomains": addresses, "resourceDomains": addresses}
        app = App("ui://x/app", html, network_in(csp))
        page.page.set_content(f"<!doctype html>{preview(app)}")
        inner = page.page.frame_locator("iframe").frame_locator("iframe")
        inner.get_by_text("tried").wait_for()
        assert target.caught <= {"nothing"}
        assert other.caught <= {"nothing"}
