"""Find the program that a server's configuration names, and tell whether it needs its folder."""

import os
import re
import shutil
import sys
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from pathlib import Path

from toolbench.install_commands import how_to_install

_PACKAGES = {"uvx": "uv", "uv": "uv", "pipx": "pipx"}
"""Programs that are installed with a Python package, each with the name of the package."""

_MAKERS = {
    **dict.fromkeys(("npx", "npm", "node"), "Node.js (https://nodejs.org)"),
    **dict.fromkeys(("bunx", "bun"), "Bun (https://bun.sh)"),
    "deno": "Deno (https://deno.com)",
    "docker": "Docker (https://docs.docker.com/get-started/get-docker/)",
    "podman": "Podman (https://podman.io)",
    "dnx": "the .NET SDK (https://dotnet.microsoft.com)",
}
"""Programs that start servers, each with the product that contains it."""

_OF_PROJECTS = frozenset(
    {
        "npm",
        "pnpm",
        "yarn",
        "bun",
        "deno",
        "uv",
        "poetry",
        "pdm",
        "hatch",
        "rye",
        "pipenv",
    }
    | {
        "pixi",
        "make",
        "just",
        "task",
        "cargo",
        "go",
        "dotnet",
        "mvn",
        "gradle",
        "bundle",
    }
)
"""Programs that run commands of the project in the current directory."""


def find_program(command: str, env: Mapping[str, str], cwd: str | None) -> str:
    """Return the path of the program *command*.

    The program is searched for on the PATH and in the folder of this Python.

    Raises:
        FileNotFoundError: If there is no such program; the message says what to do.
        NotADirectoryError: If *cwd* is not a directory.
        PermissionError: If the file may not be executed.
    """
    if cwd is not None and not Path(cwd).is_dir():
        msg = f"the working directory {cwd!r} does not exist. Create it, or change 'cwd'."
        raise NotADirectoryError(msg)
    beside = Path(cwd or Path.cwd()) / command
    is_path = bool(os.path.dirname(command))  # noqa: PTH120 - Path takes "./x" for "x"
    searched = command
    if is_path:
        searched = str(beside)
    if program := shutil.which(searched, path=env.get("PATH")):
        return str(Path(program).absolute())
    # `%pip install uv` puts uvx next to Python
    beside_python = str(Path(sys.executable).parent)
    if not is_path and (program := shutil.which(command, path=beside_python)):
        return program
    if is_path and beside.is_file():
        msg = f"{command!r} may not be executed. Make it executable, or name its interpreter."
        raise PermissionError(msg)
    first, *rest = command.split() or [""]
    near = str(Path(cwd or Path.cwd()) / first)
    if rest and (shutil.which(first, path=env.get("PATH")) or shutil.which(near)):
        msg = (
            f"'command' is a whole line that begins with {first!r}. Write only the program in "
            "'command', and each other word in 'args'."
        )
        raise FileNotFoundError(msg)
    msg = f"command not found: {command!r}. {_advice(command)}"
    raise FileNotFoundError(msg)


def own_program(name: str) -> str:
    """Return the path of the program *name* in the folder of this Python, or else *name*."""
    beside = Path(sys.executable).parent / name
    if Path(name).name == name and beside.is_file():
        return str(beside)
    return name


def environment_of(words: Iterable[str]) -> dict[str, str]:
    """Return the environment variables in *words*, each of which is NAME or NAME=VALUE.

    NAME alone becomes a reference to the variable of this process.
    """
    env = {}
    for word in words:
        name, equals, value = word.partition("=")
        if not equals:
            value = f"${{env:{name}}}"
        env[name] = value
    return env


def program_name(command: str) -> str:
    """Return the name of the program in *command*, without its folder and a Windows suffix."""
    return re.split(r"[/\\]", command)[-1].removesuffix(".exe").removesuffix(".cmd")


def _advice(command: str) -> str:
    """Return a sentence on what to install or use instead if *command* was not found."""
    program = program_name(command)
    if package := _PACKAGES.get(program):
        return (
            f"{program} comes with the package {package}: {how_to_install(package)}. Without it, "
            "install the server with pip, and start it with: python -m MODULE"
        )
    if maker := _MAKERS.get(program):
        return (
            f"{program} comes with {maker}: install that, or start the server in another way that "
            "its README names, for example with uvx or a URL"
        )
    return "Is it installed and on PATH?"


def starts_what_is_in(place: Path, command: str, arguments: Sequence[str]) -> bool:
    """Tell whether *command* starts a file, a module or a project in the directory *place*."""
    for before, word in pairwise(("", command, *arguments)):
        module = ""
        if before == "-m":
            module = word
        if word.startswith("-m") and len(word) > len("-m"):
            module = word.removeprefix("-m")
        top = module.partition(".")[0]
        # Of `--script=server.py`
        value = word.partition("=")[2] or word
        paths = [place / value]
        if top:
            paths += [place / top, place / f"{top}.py"]
        # Not of Path: a word may be too long for a path
        if not os.path.isabs(value) and any(map(os.path.exists, paths)):  # noqa: PTH117
            return True
    return Path(command).stem.lower() in _OF_PROJECTS
