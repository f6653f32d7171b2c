"""What is said behind JupyterHub and Binder, where a proxy has another name than this machine."""

import httpx2
import pytest

from test_serving.clients import HEADERS
from toolbench import tool
from toolbench.serving import serve


@tool(read_only=True)
def ping() -> str:
    """Say pong."""
    return "pong"


@pytest.fixture
def hub(monkeypatch):
    """The environment of a kernel that a hub started."""
    for name in ("BINDER_LAUNCH_HOST", "BINDER_REPO_URL", "JUPYTERHUB_PUBLIC_URL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("JUPYTERHUB_SERVICE_PREFIX", "/user/me/")
    return monkeypatch


def shown(served):
    """What a cell shows, as text and as HTML."""
    bundle = served._repr_mimebundle_()
    assert "This kernel runs on" in bundle["text/html"]
    return bundle["text/plain"]


def test_nothing_is_said_elsewhere(monkeypatch):
    """On a machine of one's own."""
    monkeypatch.delenv("JUPYTERHUB_SERVICE_PREFIX", raising=False)
    with serve([ping], name="hint") as served:
        assert served.proxy_hint == ""
        assert "This kernel runs on" not in served._repr_mimebundle_()["text/plain"]


def test_a_hub_is_to_be_allowed(hub):
    """With the address that follows from it."""
    with serve([ping], name="hint") as served:
        text = shown(served)
        port = httpx2.URL(served.url).port
    assert "runs on JupyterHub" in text
    assert 'allowed_hosts=["HOST"]' in text
    assert f"https://HOST/user/me/proxy/{port}/mcp with two headers" in text


def test_the_header_of_the_hub_stays_free(hub):
    """JupyterHub reads a token of its own in `Authorization`, and takes none in the address."""
    with serve([ping], name="hint") as served:
        text = shown(served)
    assert "Authorization: token TOKEN-OF-JUPYTER (File > Hub Control Panel" in text
    assert "X-Toolbench-Token: served.token" in text


def test_its_name_is_used_if_it_is_known(hub):
    """JupyterHub 5 tells it."""
    hub.setenv("JUPYTERHUB_PUBLIC_URL", "https://hub.example.org/user/me/")
    with serve([ping], name="hint") as served:
        assert 'allowed_hosts=["hub.example.org"]' in shown(served)


def test_binder_is_named(hub):
    """It is a hub too."""
    hub.setenv("BINDER_LAUNCH_HOST", "https://mybinder.org/")
    with serve([ping], name="hint") as served:
        assert "runs on Binder" in shown(served)


def test_what_is_allowed_gets_in(hub):
    """By the name of the hub, as the proxy passes it on; the token is never said."""
    with serve([ping], name="hint", allowed_hosts=["hub.example.org"]) as served:
        text = shown(served)
        headers = HEADERS | {"authorization": f"Bearer {served.token}"}
        message = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}
        codes = [
            httpx2.post(served.url, headers=headers | {"host": host}, json=message)
            for host in ("hub.example.org", "other.example.org")
        ]
        assert served.token not in text
    assert "https://hub.example.org/user/me/proxy/" in text
    assert "allow the name" not in text
    assert (codes[0].status_code == 421, codes[1].status_code) == (False, 421)
