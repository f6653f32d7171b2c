"""The public servers that `python scripts/peers.py` installs."""

import json
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PEERS = ROOT / ".peers"
SERVERS = ROOT.parent / "shared" / "servers" / "servers.json"


def recorded():
    """What is recorded of each server, with the paths of this machine."""
    if not SERVERS.is_file():
        return []
    return json.loads(SERVERS.read_text().replace("{BASE}", str(PEERS)))


@pytest.fixture(scope="session", autouse=True)
def installed():
    """These tests need the servers."""
    if not SERVERS.is_file():
        pytest.skip(f"NOT TESTED: {SERVERS} is missing")
    if not PEERS.is_dir():
        pytest.skip("NOT TESTED: install the servers with scripts/peers.py")
