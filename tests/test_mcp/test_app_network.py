"""The addresses of an app: what may become a part of its policy, and what never does."""

import re

import pytest

from toolbench.mcp.apps.preview import (
    NO_NETWORK,
    App,
    AppNetwork,
    app_in,
    network_in,
    origin_of,
    policy_of,
    preview,
)
from toolbench.mcp.lists.resources import resource_observation

API, CDN = "https://api.example.com", "https://*.cdn.example.com:8443"
ESCAPES = [
    "*", "https://*", "https://*.", "https://*.com", "https:", "https://", "http:*", "data:",
    "blob:", "'unsafe-eval'", "'self'", "https://a.com; script-src *", "https://a.com script.com",
    "https://a.com,https://b.com", "https://a.com\n", "\nhttps://a.com", 'https://a.com">', "https://a.com'",
    "wss://a.com", "ws://a.com", "ftp://a.com", "javascript:alert(1)", "file:///etc/passwd",
    "https://a.com/path", "https://a.com?x", "https://a.com#x", "https://user@a.com", "https://a.com:*",
    "https://a.com:65536", "https://a.com:", "https://*.*.com", "https://a.*.com", "https://-a.com",
    "https://a..com", "https://\u0430pple.com", "https://a.com\x00", "https://[::1]", "a.com", "//a.com", "",
    "https://a.com\u2028", "https://a.com&quot;", "HTTPS://A.COM;", "https://a.com\t",
]  # fmt: skip


def app(csp, html="<p>hello</p>"):
    """The app of a resource with this `_meta.ui.csp`."""
    part = {
        "uri": "ui://x/app",
        "mimeType": "text/html;profile=mcp-app",
        "text": html,
        "_meta": {"ui": {"csp": csp}},
    }
    return app_in(resource_observation("ui://x/app", {"contents": [part]}))


def policies(html):
    """The policies in the page of a preview, of the outer and the inner frame."""
    pattern = (
        r"Content-Security-Policy\\*(?:&quot;)? content=\\*(?:&quot;)(default-src.*?)\\*(?:&quot;)"
    )
    return re.findall(pattern, html)


# Each case is a rule of its own
@pytest.mark.every_case
@pytest.mark.parametrize("number", range(len(ESCAPES)))
def test_an_address_that_could_mean_more_is_refused(number):
    """Quotes, blanks, stars of everything, other schemes and paths are no origin of http."""
    address = ESCAPES[number]
    assert origin_of(address) is None
    network = network_in({"connectDomains": [address], "resourceDomains": [address]})
    assert network.addresses == ()
    assert network.refused == (address,)
    assert policy_of(network) == policy_of(NO_NETWORK)
    assert "connect-src" not in preview(app({"connectDomains": [address]}), is_online=True)


def test_the_policy_holds_exactly_what_was_allowed():
    """Requests go to the one kind of address, files come from the other, and nothing else."""
    network = network_in({"connectDomains": [API + "/"], "resourceDomains": [CDN]})
    assert network == AppNetwork(connect=(API,), resources=(CDN,))
    directives = dict(part.split(" ", 1) for part in policy_of(network).split("; "))
    assert directives == {
        "default-src": "'none'",
        "script-src": f"'unsafe-inline' {CDN}",
        "style-src": f"'unsafe-inline' {CDN}",
        "img-src": f"data: blob: {CDN}",
        "media-src": f"data: blob: {CDN}",
        "font-src": f"data: {CDN}",
        "connect-src": API,
        "base-uri": "'none'",
        "form-action": "'none'",
    }


def test_without_a_yes_an_app_has_no_network():
    """The preview names what it asks for, and grants nothing; both frames have one policy."""
    csp = {
        "connectDomains": [API],
        "resourceDomains": [CDN, "*"],
        "frameDomains": [API],
    }
    offline = preview(app(csp))
    assert f"It asks for {API}, {CDN}: a preview has no network." in offline
    assert f"It also asks for *, {API}: that is never allowed." in offline
    assert set(policies(offline)) == {policy_of(NO_NETWORK)}
    online = preview(app(csp), is_online=True)
    assert f"it may reach {API}, {CDN}" in online
    assert len(policies(online)) == 2
    assert set(policies(online)) == {policy_of(app(csp).network)}


@pytest.mark.parametrize("csp", [None, [], "x", {"connectDomains": "https://a.com"}, {"connectDomains": [3, None]}], ids=str)  # fmt: skip
def test_a_declaration_of_no_use_is_no_network(csp):
    """Nothing is guessed from it."""
    assert app(csp) == App("ui://x/app", "<p>hello</p>", NO_NETWORK)


def test_a_long_declaration_is_cut():
    """So is an address that is refused."""
    many = [f"https://a{number}.example.com" for number in range(100)]
    network = network_in({"connectDomains": [*many, "x" * 1000], "frameDomains": ["y" * 1000]})
    assert len(network.connect) == 20
    assert network.refused == ("x" * 100, "y" * 100)
