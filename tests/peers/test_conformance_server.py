"""The public server conformance suite, against tools that are served as a notebook serves them."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from patience import PATIENCE

from peers.conftest import NODES, PEERS, ROOT

pytestmark = pytest.mark.usefixtures("installed")

SUITE = PEERS / "npm/conformance/node_modules/@modelcontextprotocol/conformance"
TOOLS = Path(__file__).with_name("conformance_tools.py")
BEARER = Path(__file__).with_name("bearer.mjs")
REVISIONS = {"2025-11-25": 30, "2026-07-28": 37}
# Not required yet, and about tools
ALSO = {
    "2025-11-25": ["json-schema-2020-12", "server-session-lifecycle"],
    "2026-07-28": [
        "json-schema-2020-12",
        "http-header-validation",
        "http-custom-header-server-validation",
    ],
}
_PROMPTS = "a notebook serves tools, and no prompts"
_RESOURCES = "a notebook serves tools, and no resources"
_SAMPLING = "a tool of toolbench asks a person, and never the agent's model"
_ROOTS = "a tool of toolbench asks for no roots"
LACKS = {
    "completion-complete": _PROMPTS,
    "tools-call-sampling": _SAMPLING,
    "resources-read-text": _RESOURCES,
    "resources-read-binary": _RESOURCES,
    "resources-templates-read": _RESOURCES,
    "resources-subscribe": _RESOURCES,
    "resources-unsubscribe": _RESOURCES,
    "prompts-get-simple": _PROMPTS,
    "prompts-get-with-args": _PROMPTS,
    "prompts-get-embedded-resource": _PROMPTS,
    "prompts-get-with-image": _PROMPTS,
    "server-stateless": f"two of its checks need a tool that samples: {_SAMPLING}",
    "input-required-result-basic-elicitation": "it wants a key of its own for the question; ours "
    "is always `question`. The scenarios for several rounds and for state pass",
    "input-required-result-basic-sampling": _SAMPLING,
    "input-required-result-basic-list-roots": _ROOTS,
    "input-required-result-multiple-input-requests": f"{_SAMPLING}; {_ROOTS}",
    "input-required-result-non-tool-request": _PROMPTS,
    "input-required-result-capability-check": _SAMPLING,
}
PARTS = {
    "server-stateless": [
        "ServerRejectsUndeclaredCapability",
        "MissingCapabilityHttp400",
    ]
}


def required(revision):
    """The scenarios a revision requires of a server."""
    file = SUITE / "requirements" / f"{revision}.yaml"
    return yaml.safe_load(file.read_text())["server"] if file.is_file() else []


@pytest.mark.parametrize(("revision", "number"), REVISIONS.items())
def test_the_whole_revision_is_tried_of_servers(revision, number):
    """No scenario is left out, and what a notebook lacks is one of them."""
    assert len(required(revision)) == number
    assert LACKS.keys() <= {name for each in REVISIONS for name in required(each)}


SCENARIOS = [(r, s) for r in REVISIONS for s in [*required(r), *ALSO[r]]]


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    """Where the tools are, and the token."""
    env = {**os.environ, "XDG_STATE_HOME": str(tmp_path_factory.mktemp("state"))}
    process = subprocess.Popen(
        [sys.executable, str(TOOLS)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=env,
    )
    yield process.stdout.readline().split()
    process.stdin.close()
    assert process.wait(PATIENCE) == 0
    process.stdout.close()


def run(served, revision, scenario):
    """Run one scenario, as the suite counts it."""
    url, token = served
    options = ["--spec-version", revision, "--timeout", "60000"]
    return subprocess.run(
        [
            *(str(NODES[0]), "--import", str(BEARER), str(SUITE / "dist" / "index.js")),
            *("server", "--url", url, "--scenario", scenario, *options),
        ],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "SERVED_TOKEN": token, "PYTHONPATH": str(ROOT)},
    )


@pytest.mark.parametrize(("revision", "scenario"), SCENARIOS)
def test_server_conformance(served, revision, scenario):
    """Every check passes, but for what a notebook lacks: that fails, and nothing beside it."""
    done = run(served, revision, scenario)
    text = done.stdout[-6000:] + done.stderr[-3000:]
    if scenario not in LACKS:
        assert done.returncode == 0, text
        return
    assert done.returncode == 1, f"it passes now: {text}"
    if scenario in PARTS:
        assert f", {len(PARTS[scenario])} failed" in done.stdout, text
        assert all(name in done.stdout for name in PARTS[scenario]), text
