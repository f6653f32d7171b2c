"""%mcp doctor: which steps of a connection work, and what to do about the others."""

from argparse import Namespace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from toolbench.errors import ServerError
from toolbench.magics.commands import Argument, Command
from toolbench.magics.line import UsageError
from toolbench.magics.mcp_connect import HOW, WEB, entry_of, is_object
from toolbench.magics.table import Listing
from toolbench.threads import NO_THREADS, have_threads
from toolbench.wording import CROSS

if TYPE_CHECKING:
    from toolbench.magics.mcp_magics import MCPMagics

_SHOWN = {"ok": "ok", "failed": f"{CROSS} failed", "skipped": ""}


def _doctor(magics: "MCPMagics", options: Namespace) -> Listing:
    if not have_threads():
        msg = (
            f"No server can be checked: {NO_THREADS}. Start the notebook in JupyterLab on a "
            "computer or on Binder."
        )
        raise ServerError(msg)
    from toolbench.mcp.doctor import diagnose  # noqa: PLC0415 - brings toolbench.mcp

    if bool(options.target) == bool(options.program):
        msg = "Which server? %mcp doctor NAME, or a URL, or -- and the command that starts it."
        raise UsageError(msg)
    name, entry = _named(magics, options)
    seconds = options.timeout or magics.settings.connect_timeout or magics.client.timeout
    steps = list(diagnose(name, entry, seconds=seconds))
    listing = Listing(("step", "state", "ms", "what was seen", "what to do"), steps)
    # A program reads the names of the parts too
    listing.rows[:] = steps
    rows, problem = [], ""
    for step in steps:
        rows.append((step.name, _SHOWN[step.state], step.milliseconds or "", step.words))
        if step.state == "failed" and not problem:
            problem = f"{step.name}: {step.advice or step.words}"
    listing.overview = Listing((f"step of {name}", *listing.columns[1:4]), rows, problem=problem)
    return listing


def _named(magics: "MCPMagics", options: Namespace) -> tuple[str, Any]:
    """Return the name of the server in the line, and the configuration entry to connect it."""
    name, known = options.target, magics.client.known
    if name in known:
        return name, known[name].portable_entry
    if options.program:
        name = Path(options.program[0]).name
    elif not name.startswith(WEB) and not is_object(name, magics.namespace):
        from toolbench.mcp.config.discovery import discover  # noqa: PLC0415 - brings toolbench.mcp

        found = {server.name: server.entry for server in discover()}
        if found.get(name) is None:
            # It says which there are
            magics.server(name)
        return name, found[name]
    options.name = name
    return name, entry_of(options, magics.namespace)


COMMANDS = {
    "doctor": Command(
        "check each step of a connection: NAME, a URL, or -- COMMAND ARG... It calls no tool, "
        "approves nothing, and begins no login",
        _doctor,
        (
            Argument(
                "target",
                nargs="?",
                offers="server",
                metavar="NAME|URL",
                help="a server of this notebook or of %%mcp discover, or a URL",
            ),
            *HOW,
        ),
    ),
}
"""The command of `%mcp` that looks at a connection."""
