"""MCP Apps: the HTML a server has for a tool, as a preview that cannot reach anything.

The app runs in a frame inside a frame, both without an origin. The outer one holds nothing but
our stand-in for a host, which answers the first request and passes on the call and its result;
its policy lets neither frame load, send or navigate anywhere. No policy covers WebRTC: the
app's own page is without it, and can make no frame with a fresh page that has it. One
thing is left to a hostile app: a browser may look up, and connect to, the host of a page it wants
to go to, before it refuses to ask there for anything.
Source: MCP Apps, SEP-1865.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from toolbench.core.tool import ToolDefinition
from toolbench.display.escape import Html, escape
from toolbench.display.page import notice
from toolbench.display.sizes import human_size
from toolbench.mcp.features.resources import MCPResourceObservation
from toolbench.mcp.results import MCPToolObservation, decoded

PROTOCOL = "2026-01-26"
MIME = "text/html;profile=mcp-app"
LARGEST = 5_000_000  # characters of an app
POLICY = (
    "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; "
    "img-src data: blob:; media-src data: blob:; font-src data:; "
    "base-uri 'none'; form-action 'none'"
)
"""No address of any network is allowed; frames cannot leave, as `default-src` covers them."""

_HEAD = (
    f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">'
    '<meta http-equiv="x-dns-prefetch-control" content="off">'
    '<meta name="referrer" content="no-referrer">'
)
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
"""What runs before the app: whatever it makes a page of passes the policy."""

_REFUSED = (
    "This is a preview: an app may look at the call and its result, and do nothing."
)


@dataclass(frozen=True)
class App:
    """The HTML of an app, and what it would like to reach."""

    uri: str
    html: str
    domains: tuple[str, ...] = ()
    """Addresses the server asks for in `_meta.ui.csp`; the preview allows none."""


def app_uri(tool: ToolDefinition[Any, Any]) -> str | None:
    """Return the URI of the app of *tool*, if its server gave it one."""
    meta = tool.meta or {}
    ui = meta.get("ui")
    uri = ui.get("resourceUri") if isinstance(ui, Mapping) else None
    uri = uri or meta.get("ui/resourceUri")  # as it was written at first
    return uri if isinstance(uri, str) and uri.startswith("ui://") else None


def app_in(resource: MCPResourceObservation) -> App | None:
    """Return the app that was read, if *resource* is one."""
    for block in resource.blocks:
        part = block.get("resource")
        if isinstance(part, Mapping) and _is_app(part):
            html = _text_of(part)
            if html is not None:
                return App(resource.uri, html, _domains(part))
    return None


def preview(
    app: App,
    *,
    arguments: Mapping[str, Any] | None = None,
    result: MCPToolObservation | None = None,
) -> Html:
    """Return a sandboxed frame that shows *app* with a call and its result.

    Args:
        app: The app.
        arguments: Those of the call; an app that waits for some gets none without.
        result: What came of the call, if there is something.
    """
    if len(app.html) > LARGEST:
        reason = f"The app has {human_size(len(app.html))}: too much for a preview."
        return notice(reason, "warning")
    page = _quoted(_host_page(app, arguments, result))
    remark = ""
    if app.domains:
        reason = f"It asks for {', '.join(app.domains)}: a preview reaches nothing."
        remark = notice(reason, "neutral")
    title = escape(f"Preview of {app.uri}")
    return Html(
        f'{remark}<iframe title="{title}" sandbox="{_SANDBOX}" allow="" '
        f'referrerpolicy="no-referrer" srcdoc="{page}"></iframe>'
    )


def _quoted(page: str) -> str:
    """The page as an attribute: what would end that, or stand for another character, escaped."""
    return page.replace("&", "&amp;").replace('"', "&quot;")


def _is_app(part: Mapping[str, Any]) -> bool:
    mime = str(part.get("mimeType") or "").replace(" ", "").lower()
    ours = str(part.get("uri") or "").startswith("ui://")
    return mime == MIME or (ours and mime.startswith("text/html"))


def _text_of(part: Mapping[str, Any]) -> str | None:
    if isinstance(part.get("text"), str):
        return str(part["text"])
    data = decoded(part.get("blob"))
    return None if data is None else data.decode("utf-8", "replace")


def _domains(part: Mapping[str, Any]) -> tuple[str, ...]:
    meta = part.get("_meta")
    ui = meta.get("ui") if isinstance(meta, Mapping) else None
    csp = ui.get("csp") if isinstance(ui, Mapping) else None
    lists = csp.values() if isinstance(csp, Mapping) else ()
    domains = [
        str(d)[:100] for names in lists if isinstance(names, list) for d in names
    ]
    return tuple(dict.fromkeys(domains))[:20]


def _call_result(result: MCPToolObservation) -> dict[str, Any]:
    """The result in the words of the protocol."""
    message: dict[str, Any] = {"content": result.blocks, "isError": result.is_error}
    if result.structured is not None:
        message["structuredContent"] = result.structured
    if result.meta is not None:
        message["_meta"] = result.meta
    return message


def _host_page(
    app: App, arguments: Mapping[str, Any] | None, result: MCPToolObservation | None
) -> str:
    payload = {
        "page": f"<!doctype html>{_HEAD}{_GUARD}{_NESTED.sub(_HARMLESS, app.html)}",
        "protocol": PROTOCOL,
        "sandbox": _SANDBOX,
        "refused": _REFUSED,
        "arguments": dict(arguments or {}),
        "result": None if result is None else _call_result(result),
    }
    packed = json.dumps(payload, default=str).replace("<", "\\u003c")
    return _HOST.replace("HEAD", _HEAD, 1).replace('"GIVEN"', packed, 1)


_HOST = """<!doctype html><html lang="en"><head>HEAD<title>Preview of an app</title>
<style>html, body { margin: 0; height: 100%; background: #fff; color: #222; font: 13px sans-serif; }
iframe { border: 0; width: 100%; height: 100%; display: block; }
p { margin: 0; padding: 2px 8px; background: #fff4d6; } p:empty { display: none; }
body { display: flex; flex-direction: column; } iframe { flex: 1; }</style></head>
<body><p role="status"></p><script>
"use strict";
const given = "GIVEN";
const told = document.querySelector("p");
const frame = document.createElement("iframe");
const app = {
  send(message) { frame.contentWindow.postMessage({ jsonrpc: "2.0", ...message }, "*"); },
  tell(method, params) { this.send({ method, params }); },
};
const requests = {
  "ui/initialize": () => ({
    protocolVersion: given.protocol,
    hostInfo: { name: "toolbench", version: "0" },
    hostCapabilities: {},
    hostContext: { theme: "light", displayMode: "inline", platform: "web" },
  }),
  "ping": () => ({}),
};
const notices = {
  "ui/notifications/initialized": () => {
    app.tell("ui/notifications/tool-input", { arguments: given.arguments });
    if (given.result) app.tell("ui/notifications/tool-result", given.result);
  },
};
addEventListener("message", ({ source, data }) => {
  if (source !== frame.contentWindow || data?.jsonrpc !== "2.0") return;
  const { id, method } = data;
  if (typeof method !== "string") return;
  if (id === undefined) {
    if (Object.hasOwn(notices, method)) notices[method]();
  } else if (Object.hasOwn(requests, method)) {
    app.send({ id, result: requests[method]() });
  } else {
    told.textContent = "Refused: " + method.slice(0, 80);
    app.send({ id, error: { code: -32601, message: given.refused } });
  }
});
frame.title = "The app";
frame.setAttribute("sandbox", given.sandbox);
frame.srcdoc = given.page;
document.body.append(frame);
</script></body></html>"""
