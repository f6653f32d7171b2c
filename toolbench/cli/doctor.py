"""`toolbench doctor`: check the installation, and explain problems."""

import os
import platform
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from shlex import quote
from typing import Literal

from rich.text import Text

from toolbench import __version__, tools
from toolbench.display.escape import visible
from toolbench.errors import ServerError
from toolbench.install_commands import how_to_install, how_to_install_extra
from toolbench.mcp.config.discovery import DiscoveredServer, discover
from toolbench.mcp.config.program import find_program

State = Literal["ok", "missing", "unconnected", "broken"]
_WORDS: dict[State, str] = {
    "ok": "fine",
    "missing": "not here",
    "unconnected": "not connected",
    "broken": "PROBLEM",
}
_STYLES: dict[State, str] = {
    "ok": "green",
    "missing": "dim",
    "unconnected": "yellow",
    "broken": "bold red",
}
_NEEDED = ("ipykernel", "ipywidgets", "ipython", "pydantic", "rich", "fastmcp-slim")
_FRONT_ENDS = ("jupyterlab", "notebook", "nbclassic", "voila")
_EXTRAS = {
    "cyclopts": "cli",
    "fastmcp": "demo",
    "pandas": "pandas",
    "playwright": "browser",
    "toktok-rs": "tokens",
    "uvicorn": "serve",
    "xllamacpp": "local",
    "html-to-markdown": "web",
}


_INSTALL_KERNEL = f"{quote(sys.executable)} -m ipykernel install --sys-prefix"


@dataclass(frozen=True)
class Check:
    """The result of one check of the installation.

    With the state `missing`, toolbench works without the checked part. With the state `broken`,
    toolbench or its forms do not work. `unconnected` is an MCP server: whether it works is not known.
    """

    subject: str
    state: State
    detail: str


def examine() -> list[Check]:
    """Run all checks and return their results; nothing is started, and no data leaves the machine."""
    return [
        *_versions(),
        *_front_ends(),
        *_kernels(),
        *_tools(),
        *_extras(),
        *_servers(),
    ]


def report(checks: list[Check]) -> Text:
    """Return *checks* as aligned lines for a terminal; long details may wrap."""
    subjects = [_line(check.subject) for check in checks]
    width = max(map(len, subjects))
    longest = max(map(len, _WORDS.values()))
    lines = (
        Text.assemble(
            f"{subject:{width}}  ",
            (f"{_WORDS[check.state]:{longest}}", _STYLES[check.state]),
            f"  {_line(check.detail)}".rstrip(),
        )
        for subject, check in zip(subjects, checks, strict=True)
    )
    return Text("\n").join(lines)


def _line(text: str) -> str:
    """Return *text*, which is not trusted, on one line with control characters visible."""
    return visible(" ".join(text.split()))


def verdict(checks: list[Check]) -> str:
    """Return the last sentence of the report about *checks*."""
    broken = [check.subject for check in checks if check.state == "broken"]
    if broken:
        return f"Fix this first: {', '.join(broken)}."
    missing = sum(check.state == "missing" for check in checks)
    rest = f"; not installed, and perhaps never needed: {missing}" if missing else ""
    unconnected = sum(check.state == "unconnected" for check in checks)
    if unconnected:
        rest += f"; MCP servers that were looked at and not connected: {unconnected}"
    return f"Everything that is needed is here{rest}."


def _installed(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def _versions() -> Iterator[Check]:
    old = sys.version_info < (3, 11)
    detail = f"{platform.python_version()} at {sys.executable}"
    yield Check("python", "broken" if old else "ok", detail)
    yield Check("toolbench", "ok", __version__)
    for package in _NEEDED:
        version = _installed(package)
        hint = how_to_install(package)
        yield Check(package, "ok" if version else "broken", version or hint)


def _front_ends() -> Iterator[Check]:
    for package in _FRONT_ENDS:
        version = _installed(package)
        hint = f"{how_to_install(package)}, if you want this front end"
        yield Check(package, "ok" if version else "missing", version or hint)
    extension = Path(sys.prefix, "share/jupyter/labextensions/@jupyter-widgets")
    if not _installed("jupyterlab") and not _installed("notebook"):
        return
    if extension.is_dir():
        yield Check("widgets in JupyterLab", "ok", _installed("jupyterlab-widgets") or "")
    else:
        again = how_to_install("--force-reinstall jupyterlab-widgets")
        hint = f"forms will be text only: {again}"
        yield Check("widgets in JupyterLab", "broken", hint)


def _kernels() -> Iterator[Check]:
    """Check that the notebook kernel `python3` is this Python. Often it is another Python."""
    from jupyter_client.kernelspec import (  # noqa: PLC0415 - comes with ipykernel, slow
        KernelSpecManager,
        NoSuchKernel,
    )

    try:
        spec = KernelSpecManager().get_kernel_spec("python3")
    except NoSuchKernel:
        hint = f"there is none: {_INSTALL_KERNEL}"
        yield Check("kernel python3", "broken", hint)
        return
    program = spec.argv[0]
    if program in ("python", "python3") or _same(program, sys.executable):
        yield Check("kernel python3", "ok", "is this Python")
    else:
        hint = f"is another Python, {program}: {_INSTALL_KERNEL}"
        yield Check("kernel python3", "missing", hint)


def _same(one: str, other: str) -> bool:
    # Do not resolve links: the Pythons of two environments may link to one file.
    return Path(one).absolute() == Path(other).absolute()


def _tools() -> Iterator[Check]:
    classes = (getattr(tools, name) for name in tools.__all__ if name.endswith("Tool"))
    # Some also have an older name
    for tool in dict.fromkeys(classes):
        usable = tool.is_usable()
        detail = "" if usable is True else str(usable)
        yield Check(f"tool {tool.name}", "ok" if usable else "missing", detail)


def _extras() -> Iterator[Check]:
    for package, extra in _EXTRAS.items():
        version = _installed(package)
        detail = version or how_to_install_extra(extra)
        yield Check(f"extra {extra}", "ok" if version else "missing", detail)


def _servers() -> Iterator[Check]:
    for server in discover():
        detail = f"{server.source}: {_looked_at(server)}"
        yield Check(f"MCP server {server.name}", "unconnected", detail)


def _looked_at(server: DiscoveredServer) -> str:
    """Return the problem of *server* that is seen without connecting it, or what was looked at."""
    if server.entry is None:
        return server.problem
    try:
        entry = server.entry.expanded(os.environ)
        if entry.transport == "stdio":
            find_program(entry.command, {**os.environ, **entry.env}, entry.cwd)
    except (ServerError, OSError) as error:
        return f"{server.summary}: {error}"
    reached = "its address was not tried"
    if entry.transport == "stdio":
        reached = "its program is there and was not started"
    return f"{server.summary} (it can be read, no variable is missing, {reached})"
