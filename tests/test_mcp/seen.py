"""What a user sees of a server that misbehaves, in a short text that is the same every time."""

import re
import subprocess
import sys
from contextlib import contextmanager, nullcontext

from patience import PATIENCE

from test_mcp.peers import MISBEHAVING, misbehaving, misbehaving_http
from toolbench.errors import ServerError
from toolbench.mcp import MCPClient

WAYS = {
    "stdio": (nullcontext, ()),
    "stdio (newer)": (nullcontext, ("--modern",)),
    "HTTP": (misbehaving_http, ()),
    "HTTP (newer)": (misbehaving_http, ("--modern",)),
}
# The time limits that expire, in seconds; where a process must have started before, they are 6
LIMITS = {
    "never-init": 1.5, "never-list": 6, "pretty-json": 6, "no-newline": 6, "http-hang": 6,
    "hang-discover": 6, "slow": 0.5, "never": 0.5, "wrong_id": 0.5,
}  # fmt: skip
# What happens on a pipe, or to a process that is ours
ON_STDOUT = {
    "exit-at-start", "slow-start", "ignore-close", "stderr-flood", "junk-stdout", "binary-stdout",
    "binary-later", "crlf", "pretty-json", "no-newline", "slow-bytes", "batch", "notify-first",
}  # fmt: skip
# The next call needs a new process
ENDS = {"crash", "half_line_then_crash"}
# The server answers each HTTP request with one JSON text
NOT_OVER_HTTP = ENDS | {
    "flood", "odd_log", "odd_progress", "junk_between", "stderr_flood", "twice", "odd_numbers",
    "unknown_notification", "ask_sampling", "ask_form", "ask_bad_form", "ask_url", "ask_forever",
}  # fmt: skip
# Characters
LONGEST = 150


def described():
    """The modes and the tools of the server, each with what it does, in its own words."""
    command = [sys.executable, str(MISBEHAVING), "--list"]
    listing = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    modes, _, tools = listing.partition("tools of the mode calls:")
    return tuple(dict(re.findall(r"^ *(\S+) +(.+)$", part, re.M)) for part in (modes, tools))


def can_be_tried(name, way):
    """Tell whether the mode or tool *name* makes sense *way*."""
    if way.startswith("stdio"):
        return not name.startswith("http-")
    return name not in ON_STDOUT | NOT_OVER_HTTP


@contextmanager
def server(mode, way):
    """A client, and the entry or the URL of the server that misbehaves in *mode*."""
    serve, flags = WAYS[way]
    limit = _limit(mode, way)
    with MCPClient(
        timeout=limit, elicitation_handler=_decline, sampling_handler=_decline
    ) as client:
        if serve is nullcontext:
            yield client, misbehaving(mode, "--delay", "1", *flags)
        else:
            with serve(mode, *flags) as url:
                yield client, url
                client.sync_close()


def connecting(mode, way):
    """What is seen of a server that is connected, and of a call of its tool ping."""
    with server(mode, way) as (client, entry):
        try:
            session = client.connect("demo", entry)
        except ServerError as error:
            return short(error)
        session.call_seconds = _limit(mode, way)
        era = "modern" if "newer" in way else "legacy"
        ping = session.call("ping").text
        # Whatever is listed can be exported and shown
        for tool in session.tools[:40]:
            tool.to_mcp_tool(), tool.to_openai_tool(), tool.to_responses_tool(), repr(tool)
        return short(
            "Connected" if session.era == era else "Connected in the older protocol",
            f", tools: {len(session.tools)}",
            *(f", disabled: {len(session.tools.disabled)} ({t.reason})" for t in session.tools.disabled[:1]),
            *(f"; {problem}" for problem in session.problems),
            "" if ping == "pong" else f"; a call: {ping}",
        )  # fmt: skip


def _limit(mode, way):
    if mode.startswith("never-") and way.startswith("HTTP"):
        # There it answers, with no body
        return PATIENCE
    return LIMITS.get(mode, PATIENCE)


def calling(session, name):
    """What is seen of a call of the tool *name*; ping still answers after it."""
    session.call_seconds = LIMITS.get(name, PATIENCE)
    observation = session.call(name)
    if name != "change_silently" and name not in ENDS:
        # Checked by the output schema, too
        observation = session.tool(name)({})
    session.call_seconds = PATIENCE
    assert session.call("ping").text == "pong"
    line = short("Failed: " if observation.is_error else "", observation.text)
    return line + "".join(f" ⚠ {short(w)}" for w in observation.warnings[:1])


def _decline(question):
    return None


def short(*parts):
    """One printable line of *parts*, without what differs from time to time."""
    line = " ".join("".join(map(str, parts)).split())
    line = re.sub(r"127\.0\.0\.1:\d+", "127.0.0.1:PORT", line)
    line = re.sub(r'"srv-\d+"', '"srv-N"', line)
    # The number of the request, which the answer has, is longer after ten calls
    line = re.sub(r"column \d+", "column N", line)
    line = re.sub(r"on its stdout: \d+ lines", "on its stdout: N lines", line)
    line = "".join(c if c.isprintable() else f"\\u{ord(c):04x}" for c in line)
    return line if len(line) <= LONGEST else f"{line[:LONGEST]}…"
