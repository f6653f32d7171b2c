"""The public client conformance suite, through our own client, headless."""

import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from peers.conftest import NODES, PEERS, ROOT

pytestmark = pytest.mark.usefixtures("installed")

SUITE = PEERS / "npm/conformance/node_modules/@modelcontextprotocol/conformance"
CLIENT = Path(__file__).with_name("conformance_client.py")
REVISIONS = {"2025-11-25": 18, "2026-07-28": 32}


def required(revision):
    """The scenarios a revision requires of a client."""
    file = SUITE / "requirements" / f"{revision}.yaml"
    return yaml.safe_load(file.read_text())["client"] if file.is_file() else []


@pytest.mark.parametrize(("revision", "number"), REVISIONS.items())
def test_the_whole_revision_is_tried(revision, number):
    """No scenario is left out."""
    assert len(required(revision)) == number


SCENARIOS = [(r, s) for r in REVISIONS for s in required(r)] or [
    pytest.param(
        *("", ""), marks=pytest.mark.skip("NO CONFORMANCE IS TESTED: run `make peers`")
    )
]


@pytest.mark.parametrize(("revision", "scenario"), SCENARIOS)
def test_conformance(revision, scenario, tmp_path):
    """Every check of the scenario passes, as the suite counts it."""
    done = subprocess.run(
        [
            str(NODES[0]),
            str(SUITE / "dist" / "index.js"),
            "client",
            "--command",
            shlex.join([sys.executable, str(CLIENT)]),
            "--scenario",
            scenario,
            "--spec-version",
            revision,
            "--output-dir",
            str(tmp_path),
            "--timeout",
            "60000",
        ],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
