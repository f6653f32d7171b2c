"""Who is let in: whoever shows the token, from this machine or a host that was named."""

from urllib.parse import urlsplit

import pytest

from test_serving.clients import post
from toolbench import tool
from toolbench.serving import serve


@tool(read_only=True)
def shout(text: str) -> str:
    """Say it again."""
    return text


@pytest.fixture(scope="module")
def served():
    with serve([shout], name="guarded") as served:
        yield served


def refused(served, status, **headers):
    """Whether a request with the right token and *headers* gets *status*."""
    token = {"authorization": f"Bearer {served.token}"}
    return post(served, **token | headers).status_code == status


class TestToken:
    def test_is_needed(self, served):
        """Without it there is no answer, whatever is asked."""
        assert post(served).status_code == 401

    @pytest.mark.parametrize("wrong", ["x", "Bearer", "ü"])
    def test_another_is_refused(self, served, wrong):
        """Only the very token will do."""
        header = f"Bearer {wrong}".encode()
        assert post(served, authorization=header).status_code == 401

    def test_in_another_scheme_is_refused(self, served):
        """It is a bearer token."""
        assert post(served, authorization=f"Basic {served.token}").status_code == 401


class TestOwnHeader:
    """A hub in between takes the usual header for itself."""

    def test_lets_in_with_the_token(self, served):
        """Whatever the usual one says."""
        own = {"x-toolbench-token": str(served.token)}
        for usual in ({}, {"authorization": "token of-the-hub"}):
            assert post(served, **own, **usual).status_code not in (401, 403, 421)

    @pytest.mark.parametrize("wrong", ["", "x", "Bearer {token}", "{token}x"])
    def test_refuses_another(self, served, wrong):
        """Also beside the right one in the usual header."""
        own = {"x-toolbench-token": wrong.format(token=served.token)}
        usual = {"authorization": f"Bearer {served.token}"}
        assert post(served, **own).status_code == 401
        assert post(served, **own, **usual).status_code == 401

    def test_changes_nothing_for_foreign_pages(self, served):
        """They are refused as before."""
        own = {"x-toolbench-token": str(served.token)}
        foreign = post(served, **own, origin="http://evil.example")
        assert foreign.status_code == 403
        assert post(served, **own, host="evil.example").status_code == 421


class TestHost:
    @pytest.mark.parametrize("host", ["evil.example", "127.0.0.1.evil.example", ""])
    def test_a_foreign_one_is_refused(self, served, host):
        """A page whose name leads to this machine reaches nothing."""
        port = urlsplit(served.url).port
        assert refused(served, 421, host=f"{host}:{port}")

    def test_is_looked_at_before_the_token(self, served):
        """A page that guesses tokens learns nothing."""
        assert post(served, host="evil.example").status_code == 421

    def test_one_that_was_named_is_let_in(self):
        """As a proxy names itself."""
        with serve([shout], name="proxied", allowed_hosts=["hub.example.org"]) as served:
            assert not refused(served, 421, host="hub.example.org")
            assert refused(served, 421, host="other.example.org")
            assert post(served, host="hub.example.org").status_code == 401


class TestOrigin:
    @pytest.mark.parametrize("origin", ["http://evil.example", "null", "file://"])
    def test_a_foreign_page_is_refused(self, served, origin):
        """A page of another site may not call, even with the token."""
        assert refused(served, 403, origin=origin)

    def test_a_page_of_this_machine_is_let_in(self, served):
        """As the MCP inspector is."""
        assert not refused(served, 403, origin="http://localhost:6274")
