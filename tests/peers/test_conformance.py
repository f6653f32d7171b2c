"""The public client conformance suite, through our own client, headless."""

import os
import re
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
MORE = [
    # earlier revisions, as servers that are still about speak them
    ("2025-03-26", "auth/2025-03-26-oauth-metadata-backcompat"),
    ("2025-03-26", "auth/2025-03-26-oauth-endpoint-fallback"),
    ("2025-06-18", "initialize"),
    ("2025-06-18", "tools_call"),
    ("2025-06-18", "auth/token-endpoint-auth-basic"),
    ("2025-06-18", "auth/token-endpoint-auth-post"),
    ("2025-06-18", "auth/token-endpoint-auth-none"),
    # added after the revision was released, so not required by it
    ("2025-11-25", "json-schema-2020-12-preservation"),
    ("2026-07-28", "json-schema-2020-12-preservation"),
    # extensions
    ("2025-11-25", "auth/client-credentials-jwt"),
    ("2025-11-25", "auth/client-credentials-basic"),
    ("2025-11-25", "auth/enterprise-managed-authorization"),
]
"""What no revision requires and this client does all the same."""
_SKILLS = "SEP-2640 is about hosts that give a model skills; the client here shows them only"
NOT_TRIED = {
    "auth/dpop": "neither the SDK nor FastMCP binds a token to a key (DPoP)",
    "auth/dpop-nonce": "neither the SDK nor FastMCP binds a token to a key (DPoP)",
    "auth/wif-jwt-bearer": "the SDK's jwt-bearer grant needs a client secret, which a workload lacks",
    "sep-2640-client-no-prefetch": _SKILLS,
    "sep-2640-client-verify-digest": _SKILLS,
    "sep-2640-client-verify-size": _SKILLS,
    "sep-2640-client-verify-frontmatter": _SKILLS,
}
"""The other scenarios that the suite has for clients, with the reason."""


def required(revision):
    """The scenarios a revision requires of a client."""
    file = SUITE / "requirements" / f"{revision}.yaml"
    return yaml.safe_load(file.read_text())["client"] if file.is_file() else []


@pytest.mark.parametrize(("revision", "number"), REVISIONS.items())
def test_the_whole_revision_is_tried(revision, number):
    """No scenario is left out."""
    assert len(required(revision)) == number


def of_suite(*arguments):
    """What the suite, started with *arguments*, did."""
    path = os.pathsep.join([str(ROOT), str(ROOT / "tests")])
    return subprocess.run(
        [str(NODES[0]), str(SUITE / "dist" / "index.js"), *arguments],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": path},
    )


def test_every_scenario_is_tried_or_has_a_reason():
    """What a newer suite brings for clients must get a line here."""
    whole = of_suite("list").stdout
    _, _, rest = whole.partition("Client scenarios")
    names = re.findall(r"^  - (\S+)", rest.partition("\n\n")[0], re.M)
    tried = {s for r in REVISIONS for s in required(r)} | {s for _, s in MORE}
    assert set(names) == tried | NOT_TRIED.keys()
    assert not tried & NOT_TRIED.keys()


REQUIRED = [(r, s) for r in REVISIONS for s in required(r)]
NOTHING = pytest.param(
    *("", ""), marks=pytest.mark.skip("NO CONFORMANCE IS TESTED: run `make peers`")
)
SCENARIOS = [*REQUIRED, *MORE] if REQUIRED else [NOTHING]


@pytest.mark.parametrize(("revision", "scenario"), SCENARIOS)
def test_conformance(revision, scenario, tmp_path):
    """Every check of the scenario passes, as the suite counts it."""
    done = of_suite(
        *("client", "--command", shlex.join([sys.executable, str(CLIENT)])),
        *("--scenario", scenario, "--spec-version", revision, "--force"),
        *("--output-dir", str(tmp_path), "--timeout", "60000"),
    )
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
