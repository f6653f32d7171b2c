"""The commands that install a package into this Python: by pip or, if pip is missing, by uv."""

import json
import sys
from importlib.metadata import PackageNotFoundError, distribution
from importlib.util import find_spec
from pathlib import Path
from shlex import quote
from shutil import which
from urllib.parse import urlsplit


def how_to_install(what: str) -> str:
    """Return the command that installs *what*, for the place where the user is working.

    In a process with an IPython shell, it is a command for a cell; in any other process, it is a
    command for a terminal. If pip is missing, the result begins with a command that installs pip.

    Args:
        what: The arguments for `pip install`, such as `pandas` or `--pre pandas`.
    """
    return ", then ".join(install_commands(what, for_cell=_has_shell()))


def how_to_install_extra(extra: str) -> str:
    """Return the command that installs toolbench with *extra*, one of its optional parts."""
    return how_to_install(quote(f"jupyter-toolbench[{extra}]"))


def install_commands(what: str, *, for_cell: bool, python: str | None = None) -> list[str]:
    """Return the commands that install *what* into this Python.

    Args:
        what: The arguments for `pip install`, quoted for a shell.
        for_cell: Whether the commands are for a notebook cell or, if false, for a terminal.
        python: The command that starts this Python; by default, its path.
    """
    start = quote(python or sys.executable)
    bang, pip = "", f"{start} -m pip"
    if for_cell:
        bang, pip = "!", "%pip"
    by_pip = f"{pip} install {what}"
    # A page has %pip
    if find_spec("pip") is not None or sys.platform == "emscripten":
        return [by_pip]
    if which("uv") is not None:
        return [f"{bang}uv pip install --python {quote(sys.executable)} {what}"]
    return [f"{bang}{start} -m ensurepip", by_pip]


def own_source() -> str:
    """Return the path or the URL from which toolbench was installed, as an argument for pip.

    The result is empty if toolbench came from a package index such as PyPI, because pip then finds
    it by its name.
    """
    try:
        # PEP 610: there is no such file after an installation from an index
        record = json.loads(distribution("jupyter-toolbench").read_text("direct_url.json") or "{}")
    except PackageNotFoundError:
        return str(Path(__file__).parents[1])
    url = str(record.get("url", ""))
    if url.startswith("file:"):
        from urllib.request import url2pathname  # noqa: PLC0415 - heavy: http and email

        return url2pathname(urlsplit(url).path)
    if vcs := record.get("vcs_info"):
        return f"{vcs['vcs']}+{url}@{vcs['commit_id']}"
    return url


def _has_shell() -> bool:
    ipython = sys.modules.get("IPython")
    return ipython is not None and ipython.get_ipython() is not None
