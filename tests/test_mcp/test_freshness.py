"""`ttlMs`: what is fresh is not asked for again; time, changes and a refresh end it."""

import sys
from pathlib import Path

import pytest
from patience import eventually

from test_mcp.servers.good import mcp as good
from toolbench.mcp.connection.connection import lifetime_of
from toolbench.mcp.lists import remote_list, resources, tools
from toolbench.mcp.lists.resources import FreshReads

DATED = Path(__file__).parent / "servers" / "dated.py"
MINUTE = 60_000


def dated(milliseconds=MINUTE):
    """The entry of a server whose answers are fresh so long."""
    words = [str(DATED), str(milliseconds)]
    return {"command": sys.executable, "args": words, "mode": "auto"}


@pytest.fixture
def clock(monkeypatch):
    """The time by which answers grow old, to be set."""
    now = [1000.0]
    for module in (remote_list, resources, tools):
        monkeypatch.setattr(module, "monotonic", lambda: now[0])
    return now


def asked(session, method):
    """How often the server was asked."""
    return len(session.traffic.find(method=method, kind="request", direction="sent"))


class TestReads:
    def test_are_asked_once_while_they_are_fresh(self, client, clock):
        """The same contents come without a request; after the time they are asked for again."""
        session = client.connect("dated", dated())
        first = session.read_resource("d://a")
        first.blocks[0]["resource"]["text"] = "changed by the caller"
        second = session.read_resource("d://a")
        assert second.text.startswith("answer ")
        assert second.text != first.blocks[0]["resource"]["text"]
        assert asked(session, "resources/read") == 1
        session.read_resource("d://b")
        assert asked(session, "resources/read") == 2
        clock[0] += 61
        assert session.read_resource("d://a").text != second.text
        assert asked(session, "resources/read") == 3

    def test_are_asked_for_on_demand_and_after_a_refresh(self, client, clock):
        """`anew=` and `refresh()` do not look at the time; a new connection forgets all."""
        session = client.connect("dated", dated())
        read_resource = session.resources.read
        texts = [read_resource("d://a").text, read_resource("d://a", anew=True).text]
        session.refresh()
        texts += [read_resource("d://a").text, read_resource("d://a").text]
        session.reconnect()
        read_resource("d://a")
        assert len(set(texts)) == 3
        assert asked(session, "resources/read") == 4

    def test_end_when_the_server_says_that_they_changed(self, client, clock):
        """`updated` ends the resource, and one that it is a part of; others stay."""
        session = client.connect("dated", dated())
        session.resources.subscribe("d://a")
        before = session.read_resource("d://a").text
        other = session.read_resource("d://b").text
        update = {"uri": "d://a/part"}
        eventually(lambda: session.traffic.find(method="subscriptions/listen"))
        notification = {"method": "notifications/resources/updated", "params": update}
        session.call("tell", notification)
        eventually(lambda: session.resources.updated)
        assert session.read_resource("d://a").text != before
        assert session.read_resource("d://b").text == other

    @pytest.mark.parametrize("ttl", [0, -5])
    def test_without_a_time_are_always_asked(self, client, ttl):
        """An answer that is stale at once is never kept."""
        session = client.connect("dated", dated(ttl))
        texts = {session.read_resource("d://a").text for _ in range(3)}
        assert len(texts) == 3

    def test_of_the_older_protocol_are_always_asked(self, client):
        """It has no such hints."""
        session = client.connect("good", {"server": good}, mode="legacy")
        for _ in range(2):
            session.read_resource("good://readme")
        assert asked(session, "resources/read") == 2

    def test_in_a_recording_are_always_asked(self, client, clock, tmp_path):
        """A replay takes another time, and must give the same answers."""
        session = client.connect("dated", dated(), record=tmp_path / "r.jsonl")
        texts = [session.read_resource("d://a").text for _ in range(2)]
        client.disconnect("dated")
        replayed = client.connect("dated", replay=tmp_path / "r.jsonl")
        assert [replayed.read_resource("d://a").text for _ in range(2)] == texts
        assert texts[0] != texts[1]


class TestLists:
    def test_with_a_tiny_time_are_not_asked_for_at_each_use(self, client, clock):
        """Once a second at the most: a view may use a list several times."""
        session = client.connect("dated", dated(1))
        clock[0] += 0.5
        names = [item.name for _ in range(5) for item in session.resources]
        assert len(set(names)) == asked(session, "resources/list") == 1
        clock[0] += 1.1
        assert session.resources[0].name != names[0]

    def test_that_could_not_be_renewed_are_asked_for_again(self, client, clock):
        """A failed request does not make an old list of tools fresh for ever."""
        session = client.connect("dated", dated())
        requests = []
        # And it fails
        session.renew_tools = lambda: requests.append(clock[0])
        for later in (61, 1, 31, 1):
            clock[0] += later
            list(session.tools)
        assert len(requests) == 2

    @pytest.mark.parametrize(
        ("name", "method"),
        [("resources", "resources/list"), ("prompts", "prompts/list")],
    )
    def test_are_asked_for_again_after_their_time(self, client, clock, name, method):
        """Until then a use sends nothing; a change and a refresh end the time too."""
        session = client.connect("dated", dated())
        items = getattr(session, name)
        names = [item.name for item in [*items, *items]]
        assert len(set(names)) == asked(session, method) == 1
        clock[0] += 61
        assert items[0].name != names[0]
        assert asked(session, method) == 2
        session.refresh()
        assert len(items) == 1
        assert asked(session, method) == 3
        eventually(lambda: session.traffic.find(method="subscriptions/listen"))
        notification = {"method": f"notifications/{name}/list_changed", "params": {}}
        session.call("tell", notification)
        eventually(lambda: items.known_items is None)
        assert len(items) == 1
        assert asked(session, method) == 4

    def test_of_tools_are_listed_again_behind_the_use_that_finds_them_old(self, client, clock):
        """The use itself waits for nothing; the new list comes soon."""
        session = client.connect("dated", dated())
        before = [tool.name for tool in session.tools]
        clock[0] += 61
        assert [tool.name for tool in session.tools] == before
        eventually(lambda: [tool.name for tool in session.tools] != before)
        assert asked(session, "tools/list") == 2
        repr(session.tools)
        assert asked(session, "tools/list") == 2

    def test_of_tools_cannot_make_a_client_ask_without_end(self, client, clock):
        """A time of a millisecond counts as some seconds."""
        session = client.connect("dated", dated(1))
        clock[0] += 1
        assert len(list(session.tools)) == 2
        session.read_resource("d://a")
        assert asked(session, "tools/list") == 1


class TestTimes:
    @pytest.mark.parametrize(
        ("hint", "seconds"),
        [
            (1500, 1.5),
            (10**12, 86_400),
            (0, None),
            (-1, None),
            ("9", None),
            (True, None),
        ],
    )
    def test_are_read_from_a_hint(self, hint, seconds):
        """A day at most; what is no positive number is no time."""
        assert lifetime_of({"ttlMs": hint}) == seconds
        assert lifetime_of({}) is None

    def test_hold_a_bounded_number_of_reads(self, clock):
        """The oldest goes."""
        reads = FreshReads()
        for number in range(150):
            reads.keep(f"x://{number}", {"ttlMs": 1000})
        assert reads.get("x://49") is None
        assert reads.get("x://50") == {"ttlMs": 1000}
