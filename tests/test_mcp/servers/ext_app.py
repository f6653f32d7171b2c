"""A server whose app is written with `@modelcontextprotocol/ext-apps`: `ext_app.py app-with-deps.js`."""

import re
import sys
from pathlib import Path

from fastmcp import FastMCP

CODE, _, NAMES = Path(sys.argv[1]).read_text(encoding="utf-8").rpartition("export{")
APP = re.search(r"(\w+) as App\b", NAMES)[1]
USE = """
const say = (id, text) => { document.getElementById(id).textContent = text; };
const app = new APP({name: "counter", version: "1.0.0"});
app.ontoolinput = ({arguments: words}) => say("input", JSON.stringify(words));
app.ontoolresult = ({content}) => say("result", content[0].text);
app.onhostcontextchanged = ({theme}) => say("theme", theme);
app.onerror = (error) => say("error", String(error));
const on = (id, act) => document.getElementById(id).addEventListener("click", () => act().catch((e) => say("error", String(e))));
on("add", async () => say("said", (await app.callServerTool({name: "add", arguments: {x: "1"}})).content[0].text));
on("read", async () => say("said", (await app.readServerResource({uri: "data://rows"})).contents[0].text));
on("message", async () => {
  const {isError} = await app.sendMessage({role: "user", content: [{type: "text", text: "From the app"}]});
  say("said", isError ? "not sent" : "sent");
});
on("link", async () => say("said", (await app.openLink({url: "https://counter.invalid/"})).isError ? "not opened" : "opened"));
app.connect().then(() => say("theme", app.getHostContext().theme + " in " + app.getHostVersion().name), (e) => say("error", String(e)));
"""
PAGE = """<!doctype html><html><head><meta charset="utf-8"><title>Counter</title></head><body><h1>Counter</h1>
<p id="theme">?</p><p id="input">?</p><p id="result">?</p><p id="said">?</p><p id="error"></p>
<button id="add">Add</button><button id="read">Read</button><button id="message">Message</button><button id="link">Link</button>
<script type="module">CODE</script></body></html>"""
ADDS = {"readOnlyHint": False, "destructiveHint": False}
server = FastMCP("ext")


@server.tool(annotations=ADDS, meta={"ui": {"resourceUri": "ui://ext/app"}})
def show(word: str = "hello") -> str:
    """Show the counter."""
    return f"shown {word}"


@server.tool(annotations=ADDS, meta={"ui": {"visibility": ["app"]}})
def add(x: str) -> str:
    """Count on."""
    return f"added {x}"


@server.resource("data://rows", mime_type="text/plain")
def rows() -> str:
    """Some rows."""
    return "three rows"


@server.resource("ui://ext/app", mime_type="text/html;profile=mcp-app")
def app() -> str:
    """The counter."""
    code = f"{CODE}\n{USE.replace('APP', APP)}".replace("</script", "<\\/script")
    return PAGE.replace("CODE", code)


if __name__ == "__main__":
    server.run(show_banner=False)
