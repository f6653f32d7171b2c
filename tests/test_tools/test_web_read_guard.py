import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("html_to_markdown", reason="the extra `web` is not installed")

from test_tools.web_read_site import serving
from toolbench.tools.web_read import WebReadAction, WebReadExecutor
from toolbench.tools.web_read.addresses import is_public

CLOSED = ("::", "::ffff:0:", "64:ff9b:1::", "64:ff9b:1:2:3:4:")
"""Prefixes of addresses that hold one of IPv4 and are of the own network, whatever it is."""
WRAPPINGS = (*CLOSED, "::ffff:", "64:ff9b::")


@pytest.fixture(name="site", scope="module")
def _site():
    with serving() as site:
        site.html("/", "<p>private matter")
        yield site


def resolving(**names):
    """A resolver that knows *names* only; a list gives the answers of each time asked."""
    answers = {name.replace("_", "."): list(addresses) for name, addresses in names.items()}

    async def resolve(host, port):
        if host not in answers:
            raise OSError(host)
        addresses = answers[host]
        return addresses.pop(0) if len(addresses) > 1 else addresses[0]

    return resolve


def read(url: str, **options):
    return WebReadExecutor(**options)(WebReadAction(url=url))


class TestIsPublic:
    # Each case is a rule of its own
    @pytest.mark.every_case
    @pytest.mark.parametrize(
        "address",
        [
            *(
                "127.0.0.1",
                "127.8.9.1",
                "0.0.0.0",
                "10.1.2.3",
                "172.16.0.1",
                "192.168.1.1",
            ),
            *(
                "169.254.169.254",
                "100.64.0.1",
                "192.0.2.1",
                "224.0.0.1",
                "255.255.255.255",
            ),
            *(
                "::",
                "::1",
                "fe80::1",
                "fe80::1%eth0",
                "fc00::1",
                "ff02::1",
                "2001:db8::1",
            ),
            *("::ffff:127.0.0.1", "::ffff:a00:1", "64:ff9b::7f00:1", "2002:7f00:1::"),
            *("2001:0:4136:e378:8000:63bf:80ff:fffe", "nonsense", ""),
            *("::127.0.0.1", "::8.8.8.8", "::ffff:0:127.0.0.1", "::ffff:0:8.8.8.8"),
            *(
                "64:ff9b:1::7f00:1",
                "64:ff9b:1::808:808",
                "64:ff9b:1:ffff::1",
                "fec0::1",
            ),
            # Python 3.11.7 calls them global
            *("192.0.0.8", "192.0.0.192"),
            *("100::1", "5f00::1", "4000::1", "2606:4700::5efe:7f00:1", "240.0.0.1"),
            *("2606:4700::200:5efe:a00:1", "2002:a9fe:a9fe::1", "64:ff9b::a9fe:a9fe"),
            # Python 3.13 calls no such address global, 3.11.7 all
            "2002:808:808::1",
        ],
    )
    def test_says_no_to_what_is_near(self, address):
        """This machine, private, link-local, reserved; wrapped in IPv6 or not."""
        assert not is_public(address)

    @pytest.mark.parametrize(
        "address",
        [
            *("8.8.8.8", "2606:4700::1111", "::ffff:8.8.8.8", "64:ff9b::808:808"),
            "2606:4700::5efe:808:808",
        ],
    )
    def test_says_yes_to_the_open_internet(self, address):
        """Also through a translator's prefix."""
        assert is_public(address)

    @given(st.ip_addresses(v=4))
    def test_no_wrapping_opens_what_is_near(self, inner):
        """An address that is refused is refused in every form of IPv6 that can hold it."""
        packed = f"{int(inner) >> 16:x}:{int(inner) & 0xFFFF:x}"
        wrapped = [f"{prefix}{inner}" for prefix in WRAPPINGS]
        wrapped += [f"2002:{packed}::1", f"2606:4700::5efe:{packed}"]
        if not is_public(str(inner)):
            assert not any(map(is_public, wrapped))
        assert not any(map(is_public, wrapped[: len(CLOSED)]))


class TestGuard:
    @pytest.mark.parametrize(
        "host",
        ["127.0.0.1", "localhost", "127.1", "2130706433", "0x7f.1", "[::1]", "0"],
    )
    def test_refuses_this_machine_in_every_spelling(self, site, host):
        """What counts is the address a name leads to, not how it is written."""
        count = len(site.requests)
        port = site.url.rpartition(":")[2]
        result = read(f"http://{host}:{port}/")
        assert result.is_error
        assert (
            "private network" in result.text
            or "no host" in result.text
            or "no address" in result.text
        )
        assert len(site.requests) == count

    def test_refuses_a_name_that_leads_here(self, site):
        """One address that is not public is enough."""
        for addresses in (
            ["127.0.0.1"],
            ["8.8.8.8", "127.0.0.1"],
            ["::ffff:127.0.0.1"],
        ):
            result = read("http://nice.example/", resolver=resolving(nice_example=[addresses]))
            assert result.is_error
            assert "'nice.example' leads to" in result.text

    def test_looks_at_every_redirect(self, site, monkeypatch):
        """A public page may not send the reader to a private one."""
        only_first = {"here.example": True}
        monkeypatch.setattr(
            "toolbench.tools.web_read.addresses.is_public",
            lambda address: only_first.pop("here.example", False),
        )
        port = site.url.rpartition(":")[2]
        site.moved("/away", f"http://there.example:{port}/")
        count = len(site.requests)
        result = read(
            f"http://here.example:{port}/away",
            resolver=resolving(here_example=[["127.0.0.1"]], there_example=[["127.0.0.1"]]),
        )
        assert "'there.example' leads to 127.0.0.1" in result.text
        assert [path for path, _ in site.requests[count:]] == ["/away"]

    def test_refuses_a_redirect_to_a_file(self, site):
        """Only http and https, at every hop."""
        result = read(site.moved("/file", "file:///etc/passwd"), allow_private=True)
        assert "Only http" in result.text

    def test_connects_to_the_address_it_checked(self, site):
        """A name that means something else the next time it is looked up gains nothing."""
        port = site.url.rpartition(":")[2]
        names = resolving(changing_example=[["127.0.0.1"], ["203.0.113.1"]])
        result = read(f"http://changing.example:{port}/", resolver=names, allow_private=True)
        assert result.text.endswith("private matter")
        assert site.requests[-1][1]["Host"] == f"changing.example:{port}"

    def test_tries_the_next_address(self, site):
        """A host with several addresses is reached by any of them."""
        port = site.url.rpartition(":")[2]
        names = resolving(two_example=[["::1", "127.0.0.1"]])
        result = read(f"http://two.example:{port}/", resolver=names, allow_private=True)
        assert result.text.endswith("private matter")

    def test_uses_no_proxy_and_no_netrc(self, site, monkeypatch):
        """What the environment says of proxies does not move the connection."""
        monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:1")
        monkeypatch.setenv("ALL_PROXY", "http://127.0.0.1:1")
        assert not read(f"{site.url}/", allow_private=True).is_error
