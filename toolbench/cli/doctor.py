"""`toolbench doctor`: check the installation, and explain problems."""

import os
import platform
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from shlex import quote
from typing import Literal

from rich.text import Text

from toolbench import __version__, tools
from toolbench.display.escape import on_one_line
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
_WITH_LABEXTENSIONS = ("jupyterlab", "notebook")
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

    The state is `missing` if an optional part is not installed, and `broken` if toolbench or its
    forms do not work. It is `unconnected` for an MCP server whose configuration was checked without
    connecting to the server.
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
    subjects = [on_one_line(check.subject) for check in checks]
    width = max(map(len, subjects))
    longest = max(map(len, _WORDS.values()))
    lines = (
        Text.assemble(
            f"{subject:{width}}  ",
            (f"{_WORDS[check.state]:{longest}}", _STYLES[check.state]),
            f"  {on_one_line(check.detail)}".rstrip(),
        )
        for subject, check in zip(subjects, checks, strict=True)
    )
    return Text("\n").join(lines)


def verdict(checks: list[Check]) -> str:
    """Return the last sentence of the report about *checks*."""
    broken = [check.subject for check in checks if check.state == "broken"]
    if broken:
        return f"Fix this first: {', '.join(broken)}."
    times = Counter(check.state for check in checks)
    rest = ""
    if times["missing"]:
        rest += f"; not installed, and possibly not needed: {times['missing']}"
    if times["unconnected"]:
        rest += f"; MCP servers that were checked and not connected: {times['unconnected']}"
        rest += " (toolbench doctor NAME connects one)"
    return f"Everything that is needed is here{rest}."


def _of_package(package: str, otherwise: State, hint: str, *, subject: str = "") -> Check:
    """Check that *package* is installed.

    The result has the version of the package or, if it is not installed, *otherwise* and *hint*.
    """
    try:
        return Check(subject or package, "ok", version(package))
    except PackageNotFoundError:
        return Check(subject or package, otherwise, hint)


def _versions() -> Iterator[Check]:
    yield Check("python", "ok", f"{platform.python_version()} at {sys.executable}")
    yield Check("toolbench", "ok", __version__)
    for package in _NEEDED:
        yield _of_package(package, "broken", how_to_install(package))


def _front_ends() -> Iterator[Check]:
    shows_labextensions = False
    for package in _FRONT_ENDS:
        hint = f"{how_to_install(package)}, if you want this front end"
        check = _of_package(package, "missing", hint)
        if check.state == "ok" and package in _WITH_LABEXTENSIONS:
            shows_labextensions = True
        yield check
    if not shows_labextensions:
        return
    extension = Path(sys.prefix, "share/jupyter/labextensions/@jupyter-widgets")
    subject = "widgets in JupyterLab"
    if extension.is_dir():
        yield _of_package("jupyterlab-widgets", "ok", "", subject=subject)
    else:
        again = how_to_install("--force-reinstall jupyterlab-widgets")
        yield Check(subject, "broken", f"forms will be text only: {again}")


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
        state: State = "ok"
        if not usable:
            state = "missing"
        detail = ""
        if usable is not True:
            detail = str(usable)
        yield Check(f"tool {tool.name}", state, detail)


def _extras() -> Iterator[Check]:
    for package, extra in _EXTRAS.items():
        hint = how_to_install_extra(extra)
        yield _of_package(package, "missing", hint, subject=f"extra {extra}")


def _servers() -> Iterator[Check]:
    for server in discover():
        detail = f"{server.source}: {_looked_at(server)}"
        yield Check(f"MCP server {server.name}", "unconnected", detail)


def _looked_at(server: DiscoveredServer) -> str:
    """Check *server* without connecting it; return a problem, or what was checked."""
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
