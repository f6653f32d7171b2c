"""Show an MCP App, the HTML of a server's tool, in a preview, by default without a network.

The app runs in a frame inside another frame; neither has an origin. The outer frame is a small page
of ours, the host. The host answers the app's first request, and sends it the call of the tool and
the result. If our front-end module connects the host to the kernel by a message port, the host also
forwards the app's tool calls, reads, messages and links, limited in size and rate. Otherwise, it
refuses them. The Content-Security-Policy of both frames forbids loading, sending and navigating,
except to addresses that the user has allowed. The policy does not cover WebRTC, so WebRTC is
removed from the app's page, and the app cannot create a new page that has it. One risk remains:
when an app tries to navigate, a browser may look up the address and connect to it before the
browser refuses. Source: MCP Apps, SEP-1865.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from toolbench.core.content import decoded
from toolbench.core.tool import ToolDefinition
from toolbench.display.escape import Html, escape
from toolbench.display.page import Tone, notice
from toolbench.mcp.lists.resources import MCPResourceObservation
from toolbench.mcp.results import MCPToolObservation
from toolbench.wording import human_size

PROTOCOL = "2026-01-26"
MIME = "text/html;profile=mcp-app"
# The most characters of an app
LARGEST = 5_000_000
_SANDBOX = "allow-scripts"
_NESTED = re.compile("srcdoc", re.IGNORECASE)
_HARMLESS = "srcd0c"
_GUARD = (
    '<meta http-equiv="Content-Security-Policy" content="'
    "require-trusted-types-for 'script'; trusted-types default\">"
    """<script>
for (const name of ["RTCPeerConnection", "webkitRTCPeerConnection", "XSLTProcessor"]) delete window[name];
window.trustedTypes?.createPolicy("default", {
  createHTML: (html, kind, sink) => /srcdoc/i.test(sink) ? ""
    : html.replace(/srcdoc/gi, "srcd0c").replace(/<!ENTITY/gi, "<!--"),
  createScript: (text) => text,
  createScriptURL: (url) => url,
});
document.currentScript.remove();
</script>"""
)
"""Code that runs before the app, and applies the policy to all pages that the app creates."""

_REFUSED = "This is a preview: an app can only read the call and its result."


# --- the addresses that an app asks for, and the policy of its frame -------------------------

# An address must be an http(s) origin to become part of the policy. Its characters can then not end
# a directive or name another source.
_LABEL = r"[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?"
_ORIGIN = re.compile(
    rf"https?://(?P<any>\*\.)?(?P<host>{_LABEL}(?:\.{_LABEL})*)(?::(?P<port>\d{{1,5}}))?"
)
_LAST_PORT = 65_535
# The most addresses of each kind
_MOST = 20
# The most characters that are shown of a refused address
_LONGEST = 100


@dataclass(frozen=True)
class AppNetwork:
    """The addresses in the `_meta.ui.csp` of an app."""

    connect: tuple[str, ...] = ()
    """Origins to which the app's code may send requests."""
    resources: tuple[str, ...] = ()
    """Origins of the app's scripts, styles, images, media and fonts."""
    refused: tuple[str, ...] = ()
    """Other sources that the app requests, which are never allowed."""

    @property
    def addresses(self) -> tuple[str, ...]:
        """The addresses that the user may allow, without repeats."""
        return tuple(dict.fromkeys([*self.connect, *self.resources]))


NO_NETWORK = AppNetwork()
"""No addresses, as for every app until the user allows some."""


def network_in(csp: Any) -> AppNetwork:
    """Return the addresses in *csp*, the `_meta.ui.csp` of an app."""
    if not isinstance(csp, Mapping):
        return NO_NETWORK
    allowed: dict[str, dict[str, None]] = {"connectDomains": {}, "resourceDomains": {}}
    refused, never = dict[str, None](), dict[str, None]()
    for key, value in csp.items():
        for text in _texts(value):
            origin = origin_of(text)
            if key not in allowed:
                never[text[:_LONGEST]] = None
            elif origin is None:
                refused[text[:_LONGEST]] = None
            else:
                allowed[key][origin] = None
    return AppNetwork(
        connect=tuple(allowed["connectDomains"])[:_MOST],
        resources=tuple(allowed["resourceDomains"])[:_MOST],
        refused=tuple({**refused, **never})[:_MOST],
    )


def origin_of(address: str) -> str | None:
    """Return *address* as an origin for a Content-Security-Policy, or None if it is not allowed.

    A `*` may only stand for subdomains: `https://*.example.org` is allowed, `https://*.org` is not
    allowed.
    """
    text = address.lower().removesuffix("/")
    match = _ORIGIN.fullmatch(text)
    if match is None or int(match["port"] or 0) > _LAST_PORT:
        return None
    if match["any"] and "." not in match["host"]:
        return None
    return text


def policy_of(network: AppNetwork) -> str:
    """Return the Content-Security-Policy for an app that may access only *network*.

    The policy also prevents the app from loading other pages in frames: it sets no `frame-src`, and
    therefore `default-src 'none'` applies to frames.
    """
    sources = " ".join(["", *network.resources])
    connect = ""
    if network.connect:
        connect = f"connect-src {' '.join(network.connect)}; "
    return (
        f"default-src 'none'; script-src 'unsafe-inline'{sources}; "
        f"style-src 'unsafe-inline'{sources}; img-src data: blob:{sources}; "
        f"media-src data: blob:{sources}; font-src data:{sources}; "
        f"{connect}base-uri 'none'; form-action 'none'"
    )


def _texts(value: Any) -> list[str]:
    if not isinstance(value, list):
        return []
    return [text for text in value if isinstance(text, str)]


# --- the app ---------------------------------------------------------------------------------


@dataclass(frozen=True)
class App:
    """The HTML of an app, and the addresses that it requests."""

    uri: str
    html: str
    network: AppNetwork = NO_NETWORK
    """The addresses in the server's `_meta.ui.csp`."""


@dataclass(frozen=True)
class AppAddress:
    """The address to which the front-end module sends the requests of one app."""

    kernel: str
    """The key by which the front-end module finds the kernel's widget."""
    app: str
    """The random name of the bridge."""


def app_uri(tool: ToolDefinition[Any, Any]) -> str | None:
    """Return the URI of the app of *tool*; None if *tool* has no app."""
    meta = tool.meta or {}
    # The older form of the key
    uri = meta.get("ui/resourceUri")
    if isinstance(meta.get("ui"), Mapping):
        uri = meta["ui"].get("resourceUri") or uri
    if isinstance(uri, str) and uri.startswith("ui://"):
        return uri
    return None


def app_in(resource: MCPResourceObservation) -> App | None:
    """Return the app in *resource*; None if *resource* does not contain an app's HTML."""
    for block in resource.blocks:
        part = block.get("resource")
        if isinstance(part, Mapping) and _is_app(part):
            html = _text_of(part)
            if html is not None:
                return App(resource.uri, html, _network(part))
    return None


def preview(
    app: App,
    *,
    arguments: Mapping[str, Any] | None = None,
    result: MCPToolObservation | None = None,
    address: AppAddress | None = None,
    is_online: bool = False,
) -> Html:
    """Return a sandboxed frame that shows *app* with the arguments and the result of one call.

    If the app is too large, return a notice instead.

    Args:
        app: The app.
        arguments: The arguments of the call. The default is an empty object.
        result: The result of the call, if there is one.
        address: The address to which the app's requests are sent. If None, the app can only read
            the call and its result.
        is_online: Whether the user has allowed this preview to access the addresses in
            `app.network`.
    """
    if len(app.html) > LARGEST:
        reason = f"The app has {human_size(len(app.html))}: too large for a preview."
        return notice(reason, "warning")
    network = NO_NETWORK
    if is_online:
        network = app.network
    page = _quoted(_host_page(app, arguments, result, network, is_live=address is not None))
    remark = _remark(app.network, is_online=is_online)
    title = escape(f"Preview of {app.uri}")
    return Html(
        f'{remark}<iframe title="{title}"{_marks(address)} sandbox="{_SANDBOX}" allow="" '
        f'referrerpolicy="no-referrer" srcdoc="{page}"></iframe>'
    )


def _marks(address: AppAddress | None) -> str:
    """Return the HTML attributes by which the front-end module finds the iframe of an app."""
    if address is None:
        return ""
    return (
        f' data-toolbench-kernel="{escape(address.kernel)}"'
        f' data-toolbench-app="{escape(address.app)}"'
    )


def _quoted(page: str) -> str:
    """Return *page* escaped for an HTML attribute."""
    return page.replace("&", "&amp;").replace('"', "&quot;")


def _is_app(part: Mapping[str, Any]) -> bool:
    mime = str(part.get("mimeType") or "").replace(" ", "").lower()
    ours = str(part.get("uri") or "").startswith("ui://")
    return mime == MIME or (ours and mime.startswith("text/html"))


def _text_of(part: Mapping[str, Any]) -> str | None:
    if isinstance(part.get("text"), str):
        return str(part["text"])
    data = decoded(part.get("blob"))
    if data is None:
        return None
    return data.decode("utf-8", "replace")


def _network(part: Mapping[str, Any]) -> AppNetwork:
    meta = part.get("_meta")
    if not isinstance(meta, Mapping) or not isinstance(meta.get("ui"), Mapping):
        return NO_NETWORK
    return network_in(meta["ui"].get("csp"))


def _remark(network: AppNetwork, *, is_online: bool) -> str:
    """Return notes on the addresses that the app requests and may access; empty without any."""
    tone: Tone = "neutral"
    asked = "It asks for {}: a preview has no network."
    if is_online:
        tone, asked = "warning", "For this preview it may reach {}, and send there what it gets."
    remarks = ""
    if network.addresses:
        remarks += notice(asked.format(", ".join(network.addresses)), tone)
    if network.refused:
        names = ", ".join(network.refused)
        remarks += notice(f"It also asks for {names}: that is never allowed.", tone)
    return remarks


def _head(network: AppNetwork) -> str:
    return (
        f'<meta http-equiv="Content-Security-Policy" content="{policy_of(network)}">'
        '<meta http-equiv="x-dns-prefetch-control" content="off">'
        '<meta name="referrer" content="no-referrer">'
    )


def call_result(result: MCPToolObservation) -> dict[str, Any]:
    """Return *result* in the form of MCP's answer to `tools/call`."""
    message: dict[str, Any] = {"content": result.blocks, "isError": result.is_error}
    if result.structured is not None:
        message["structuredContent"] = result.structured
    if result.meta is not None:
        message["_meta"] = result.meta
    return message


def _host_page(
    app: App,
    arguments: Mapping[str, Any] | None,
    result: MCPToolObservation | None,
    network: AppNetwork,
    *,
    is_live: bool,
) -> str:
    head = _head(network)
    message = None
    if result is not None:
        message = call_result(result)
    payload = {
        "page": f"<!doctype html>{head}{_GUARD}{_NESTED.sub(_HARMLESS, app.html)}",
        "protocol": PROTOCOL,
        "sandbox": _SANDBOX,
        "refused": _REFUSED,
        "arguments": dict(arguments or {}),
        "result": message,
        "live": is_live,
    }
    packed = json.dumps(payload, default=str).replace("<", "\\u003c")
    return HOST.replace("HEAD", head, 1).replace('"PAYLOAD"', packed, 1)


# The page of the outer frame: our small host, which passes messages on
HOST = """<!doctype html><html lang="en"><head>HEAD<title>Preview of an app</title>
<style>html, body { margin: 0; height: 100%; background: #fff; color: #222; font: 13px sans-serif; }
iframe { border: 0; width: 100%; height: 100%; display: block; }
p { margin: 0; padding: 2px 8px; background: #fff4d6; } p:empty { display: none; }
body { display: flex; flex-direction: column; } iframe { flex: 1; }</style></head>
<body><p role="status"></p><script>
"use strict";
const payload = "PAYLOAD";
const statusLine = document.querySelector("p");
const LARGEST = 200000, BURST = 30, PER_SECOND = 8, WAIT = 3000;
let frame = null, port = null, host = {}, isStarted = false;
let tokens = BURST, at = performance.now();
const app = {
  send(message) { frame.contentWindow?.postMessage({ jsonrpc: "2.0", ...message }, "*"); },
  tell(method, params) { this.send({ method, params }); },
};
function launch() {
  isStarted = true;
  statusLine.textContent = "";  // what was refused before the kernel answered is allowed now
  frame?.remove();
  frame = document.createElement("iframe");
  frame.title = "The app";
  frame.setAttribute("sandbox", payload.sandbox);
  frame.srcdoc = payload.page;
  document.body.append(frame);
}
function mayPass() {
  const now = performance.now();
  tokens = Math.min(BURST, tokens + (now - at) * PER_SECOND / 1000) - 1;
  at = now;
  if (tokens >= 0) return true;
  tokens = 0;
  return false;
}
function fail(id, message, code = -32000) { app.send({ id, error: { code, message } }); }
function pass({ id, method, params }) {
  let text = "";
  try { text = JSON.stringify({ jsonrpc: "2.0", id, method, params }); } catch {}
  if (!text || text.length > LARGEST) fail(id, "The message is too large.");
  else if (!mayPass()) fail(id, "Too many messages: wait.");
  else port.postMessage({ text });
}
function openLink({ id, params }) {
  const url = params?.url;
  if (typeof url !== "string" || url.length > 2000) fail(id, "A link needs a url.");
  else if (!mayPass()) fail(id, "Too many messages: wait.");
  else port.postMessage({ link: { id, url } });
}
const requests = {
  "ui/initialize": () => ({
    protocolVersion: payload.protocol,
    hostInfo: { name: "toolbench", version: "0" },
    hostCapabilities: host.capabilities ?? {},
    hostContext: { theme: "light", displayMode: "inline", availableDisplayModes: ["inline"],
      platform: "web", ...host.context },
  }),
  "ui/request-display-mode": () => ({ mode: "inline" }),
  "ping": () => ({}),
};
const passed = {
  "tools/call": pass, "resources/read": pass, "ui/message": pass, "ui/open-link": openLink,
};
const notices = {
  "ui/notifications/initialized": () => {
    app.tell("ui/notifications/tool-input", { arguments: payload.arguments });
    if (payload.result) app.tell("ui/notifications/tool-result", payload.result);
  },
  "ui/notifications/size-changed": ({ params }) => {
    const height = params?.height;
    if (port && Number.isFinite(height) && mayPass()) port.postMessage({ height });
  },
};
function hear(data) {
  const { id, method } = data;
  if (typeof method !== "string") return;
  const isRequest = typeof id === "number" || typeof id === "string";
  if (!isRequest) {
    if (Object.hasOwn(notices, method)) notices[method](data);
  } else if (Object.hasOwn(requests, method)) {
    app.send({ id, result: requests[method]() });
  } else if (port && Object.hasOwn(passed, method)) {
    passed[method](data);
  } else {
    statusLine.textContent = "Refused: " + method.slice(0, 80);
    fail(id, port ? "toolbench does not answer this." : payload.refused, -32601);
  }
}
// Looks of 200 ms since the user clicked in the app: looks and not time, since an app that is busy holds us up too.
let looks = 0, isTold = false;
const isActive = () => Boolean(navigator.userActivation?.isActive);
setInterval(() => {
  looks += 1;
  if (!isActive()) [looks, isTold] = [0, false];
}, 200);
function lastClick() {
  if (!isActive()) return "none";
  if (isTold || looks > 5) return "before";  // one click is one step into the app
  isTold = true;
  return "now";
}
function fromHost({ data }) {
  if (data.clicked) data.clicked.postMessage(lastClick());
  else if (data.answer) frame.contentWindow?.postMessage(data.answer, "*");
  else if (data.context) app.tell("ui/notifications/host-context-changed", data.context);
}
const page = String(Math.random());  // it says more than once that it is ready, and is to be opened once
function ready() { if (payload.live && !port) parent.postMessage({ toolbench: "app-ready", page }, "*"); }
addEventListener("message", ({ source, data, ports }) => {
  if (source === parent && source !== window) {
    if (data?.toolbench === "app-host") ready();
    else if (data?.toolbench === "app-port" && payload.live && !port && ports.length === 1) {
      [port] = ports;
      host = data.host;
      port.onmessage = fromHost;
      launch();
    }
  } else if (frame && source === frame.contentWindow && data?.jsonrpc === "2.0") hear(data);
});
ready();
if (payload.live) setTimeout(() => { if (!isStarted) launch(); }, WAIT);
else launch();
</script></body></html>"""
