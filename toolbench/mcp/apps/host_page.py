"""The page of the outer frame of an app: our small host, which passes messages on."""

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
