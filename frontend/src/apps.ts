// The page's end of the bridge to MCP Apps. An app runs in a frame inside a frame without an origin;
// the outer one is our host page (toolbench/mcp/apps/preview.py) and gets a port from here, so
// that no other frame can speak in its place. Requests go to the kernel, which judges them.

import { guardFocus, type Click } from "./app_focus";
import { holdUntilStill } from "./still";

export interface Kernel {
  get(name: string): unknown;
  send(content: unknown): void;
  on(event: string, hear: (content: unknown) => void): void;
}

interface Reply {
  kind: string;
  frame: string;
  text?: string;
}

interface Opened {
  element: HTMLIFrameElement;
  page: unknown; // what the host page in it calls itself: another one after it was loaded again
  port: MessagePort | null;
}

const FRAME = "iframe[data-toolbench-app]";
const [LOWEST, HIGHEST] = [60, 900]; // pixels
const CAPABILITIES = { serverTools: {}, serverResources: {}, openLinks: {}, message: { text: {} } };

/** Connect the apps of the kernel behind *kernel*, until *signal*; each kernel of a page has its own. */
export function connectApps(kernel: Kernel, signal: AbortSignal): void {
  const key = String(kernel.get("key") ?? "");
  if (!key) return;
  const opened = new Map<string, Opened>();
  const mine = (): HTMLIFrameElement[] =>
    [...document.querySelectorAll<HTMLIFrameElement>(FRAME)].filter((f) => f.dataset.toolbenchKernel === key);

  addEventListener("message", ({ source, data }) => {
    if (data?.toolbench !== "app-ready") return;
    const element = mine().find((frame) => frame.contentWindow === source);
    if (!element) return;
    const isOpening = [...opened.values()].some((one) => one.element === element && one.page === data.page);
    if (isOpening && data.page !== undefined) return;
    for (const [frame, one] of opened) if (!one.element.isConnected || one.element === element) forget(frame);
    const frame = crypto.getRandomValues(new Uint32Array(4)).join("-");
    opened.set(frame, { element, page: data.page, port: null });
    kernel.send({ kind: "open", app: element.dataset.toolbenchApp, frame });
  }, { signal });

  // anywidget passes nothing more on to a model whose module took two seconds to come, as on a busy
  // machine: the kernel answers by the model's layout, which is a plain one of ipywidgets.
  (kernel.get("layout") as Kernel).on("msg:custom", (content) => {
    const reply = content as Reply;
    const one = opened.get(reply?.frame);
    if (!one) return;
    if (reply.kind === "opened" && !one.port) one.port = handOver(one.element, reply.frame, kernel);
    else if (reply.kind === "answer") one.port?.postMessage({ answer: JSON.parse(reply.text ?? "null") });
  });

  const forget = (frame: string): void => {
    opened.get(frame)?.port?.close();
    opened.delete(frame);
  };
  const portOf = (element: HTMLIFrameElement): MessagePort | null =>
    [...opened.values()].find((one) => one.element === element)?.port ?? null;
  guardFocus((element) => portOf(element) !== null, (element) => lastClick(portOf(element)), (element) => {
    const notice = document.createElement("p");
    notice.setAttribute("role", "alert");
    notice.textContent = "The app was closed: it took the keyboard while you were elsewhere on the page.";
    element.replaceWith(notice);
    for (const [frame, one] of opened) if (one.element === element) forget(frame);
  }, signal);
  const observer = new MutationObserver(() => {
    for (const { port } of opened.values()) port?.postMessage({ context: { theme: theme() } });
  });
  observer.observe(document.body, { attributes: true, attributeFilter: ["data-jp-theme-light"] });
  signal.addEventListener("abort", () => {
    observer.disconnect();
    for (const frame of opened.keys()) forget(frame);
  });
  for (const frame of mine()) frame.contentWindow?.postMessage({ toolbench: "app-host" }, "*");
}

function handOver(element: HTMLIFrameElement, frame: string, kernel: Kernel): MessagePort {
  const { port1, port2 } = new MessageChannel();
  const app = element.dataset.toolbenchApp;
  port1.onmessage = ({ data }) => {
    if (!element.isConnected) port1.close();
    else if (typeof data?.text === "string") kernel.send({ kind: "request", app, frame, text: data.text });
    else if (typeof data?.height === "number") resize(element, data.height);
    else if (data?.link) askToOpen(element, port1, data.link.id, String(data.link.url));
  };
  const context = {
    theme: theme(),
    locale: navigator.language,
    timeZone: Intl.DateTimeFormat().resolvedOptions().timeZone,
    userAgent: "toolbench",
    containerDimensions: { width: element.clientWidth, maxHeight: HIGHEST },
    deviceCapabilities: { touch: matchMedia("(any-pointer: coarse)").matches, hover: matchMedia("(hover: hover)").matches },
  };
  const host = { capabilities: CAPABILITIES, context };
  element.contentWindow?.postMessage({ toolbench: "app-port", host }, "*", [port2]);
  return port1;
}

/** Ask the host page in the frame when the person clicked in the app; it may never answer. */
function lastClick(port: MessagePort | null): Promise<Click> {
  return new Promise((resolve) => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = ({ data }) => resolve(data === "now" || data === "before" ? data : "none");
    port?.postMessage({ clicked: port2 }, [port2]);
  });
}

function theme(): "light" | "dark" {
  return document.body.dataset.jpThemeLight === "false" ? "dark" : "light";
}

function resize(element: HTMLIFrameElement, height: number): void {
  element.style.height = `${Math.round(Math.min(HIGHEST, Math.max(LOWEST, height)))}px`;
}

/** Ask the person, beside the frame, whether to open *address* in a new tab; one question at a time. */
function askToOpen(element: HTMLIFrameElement, port: MessagePort, id: unknown, address: string): void {
  const url = webAddress(address);
  const next = element.nextElementSibling;
  const isAsking = next instanceof HTMLElement && next.dataset.toolbenchLink !== undefined;
  const answer = (isError: boolean): void =>
    port.postMessage({ answer: { jsonrpc: "2.0", id, result: isError ? { isError } : {} } });
  if (!url || isAsking) {
    answer(true);
    return;
  }
  const bar = document.createElement("div");
  bar.dataset.toolbenchLink = "";
  bar.setAttribute("role", "alert");
  bar.append(`The app asks to open ${url.href} in a new tab. `);
  bar.style.overflowWrap = "anywhere";
  const choose = (label: string, act: () => void): HTMLButtonElement => {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = label;
    button.addEventListener("click", () => {
      bar.remove();
      act();
    });
    bar.append(button, " ");
    return button;
  };
  choose("Do not open", () => answer(true));
  const open = choose("Open", () => {
    window.open(url.href, "_blank", "noopener,noreferrer");
    answer(false);
  });
  element.after(bar);
  holdUntilStill(open);
}

function webAddress(address: string): URL | null {
  try {
    const url = new URL(address);
    return ["http:", "https:"].includes(url.protocol) && !url.username && !url.password ? url : null;
  } catch {
    return null;
  }
}
