"""MCP Apps: show the HTML of a server's tool in a preview, which has no network by default.

The app runs in a frame inside a frame, both without an origin. The outer frame is our small
host: it answers the first request and passes on the call and its result. If our front-end module
gives it a port, it also passes on calls of tools, reads, messages and links, limited in size and
rate. Without a port, it refuses them. The policy of both frames forbids to load, send or navigate,
except for the addresses that the user has allowed. No policy covers WebRTC, so WebRTC is removed
from the app's page, and the app cannot make a new page with WebRTC. One risk is left: when an
app tries to navigate, a browser may look up the address and connect to it before it refuses.
Source: MCP Apps, SEP-1865.
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
from toolbench.mcp.apps.app_network import (
    NO_NETWORK,
    AppNetwork,
    network_in,
    policy_of,
)
from toolbench.mcp.apps.host_page import HOST
from toolbench.mcp.lists.resources import MCPResourceObservation
from toolbench.mcp.results import MCPToolObservation
from toolbench.wording import human_size

PROTOCOL = "2026-01-26"
MIME = "text/html;profile=mcp-app"
# Characters of an app
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
"""Code that runs before the app. Every HTML text that the app turns into a page goes through the
policy in this code."""

_REFUSED = "This is a preview: an app can only read the call and its result."


@dataclass(frozen=True)
class App:
    """The HTML of an app, and the addresses it asks for."""

    uri: str
    html: str
    network: AppNetwork = NO_NETWORK
    """The addresses in the server's `_meta.ui.csp`."""


@dataclass(frozen=True)
class AppAddress:
    """The address to which the front-end module sends the requests of one app."""

    kernel: str
    """The key of the kernel's widget for the front-end module."""
    app: str
    """The random name of the bridge."""


def app_uri(tool: ToolDefinition[Any, Any]) -> str | None:
    """Return the URI of the app of *tool*; None if *tool* has no app."""
    meta = tool.meta or {}
    ui = meta.get("ui")
    if isinstance(ui, Mapping):
        uri = ui.get("resourceUri")
    else:
        uri = None
    # The older form
    uri = uri or meta.get("ui/resourceUri")
    if isinstance(uri, str) and uri.startswith("ui://"):
        return uri
    return None


def app_in(resource: MCPResourceObservation) -> App | None:
    """Return the app in *resource*; None if *resource* has no HTML of an app."""
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
    """Return a sandboxed frame that shows *app* with a call and its result.

    If the app is too large, return a notice instead.

    Args:
        app: The app.
        arguments: The arguments of the call; by default the app gets an empty object.
        result: The result of the call, if there is one.
        address: The address for the app's requests. Without it, the app can only read the call and
            its result.
        is_online: Whether the user has allowed the addresses of `app.network` for this preview.
    """
    if len(app.html) > LARGEST:
        reason = f"The app has {human_size(len(app.html))}: too large for a preview."
        return notice(reason, "warning")
    if is_online:
        network = app.network
    else:
        network = NO_NETWORK
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
    """Return notes about the addresses that the app asks for and gets; empty if there are none."""
    remarks = []
    if names := ", ".join(network.addresses):
        remarks.append(
            f"For this preview it may reach {names}, and send there what it gets."
            if is_online
            else f"It asks for {names}: a preview has no network."
        )
    if names := ", ".join(network.refused):
        remarks.append(f"It also asks for {names}: that is never allowed.")
    if is_online:
        tone: Tone = "warning"
    else:
        tone = "neutral"
    return "".join(notice(text, tone) for text in remarks)


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
    payload = {
        "page": f"<!doctype html>{head}{_GUARD}{_NESTED.sub(_HARMLESS, app.html)}",
        "protocol": PROTOCOL,
        "sandbox": _SANDBOX,
        "refused": _REFUSED,
        "arguments": dict(arguments or {}),
        "result": None if result is None else call_result(result),
        "live": is_live,
    }
    packed = json.dumps(payload, default=str).replace("<", "\\u003c")
    return HOST.replace("HEAD", head, 1).replace('"PAYLOAD"', packed, 1)
