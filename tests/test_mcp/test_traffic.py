"""What is kept of the traffic."""

import json

from toolbench.mcp.monitoring.traffic import Traffic
from toolbench.redaction.redactor import Redactor


class TestTraffic:
    def test_answers_know_what_they_answer(self):
        """An answer carries the method and the time of the request with its id."""
        traffic = Traffic()
        traffic.note("sent", "{}", kind="request", method="ping", request_id=1)
        traffic.note("received", "{}", kind="request", method="roots/list", request_id=1)
        traffic.note("received", "{}", kind="response", request_id=1)
        assert traffic[2].method == "ping"
        assert traffic[2].seconds >= 0

    def test_keeps_the_last_messages_only(self):
        """Old messages go when there are too many, or too much text in all."""
        few, small = Traffic(limit=3), Traffic(budget=100)
        for n in range(10):
            few.note("sent", f"{n}", kind="notification")
            small.note("sent", f"{n}" * 40, kind="notification")
        assert [m.text for m in few] == ["7", "8", "9"]
        assert [m.text[0] for m in small] == ["8", "9"]
        small.clear()
        for n in range(2):
            small.note("sent", f"{n}" * 40, kind="notification")
        assert [m.text[0] for m in small] == ["0", "1"]

    def test_hides_secrets_also_across_a_cut(self):
        """A masked value is masked before a long text is cut."""
        secret = "S" * 50
        traffic = Traffic(redactor=Redactor([secret]))
        traffic.note("sent", "x" * 49_990 + secret + "y" * 100_000, kind="notification")
        assert "SSSS" not in traffic[0].text

    def test_says_how_long_a_cut_message_was(self):
        """A very long text is cut in the middle; its size stays known."""
        traffic = Traffic()
        traffic.note("received", "z" * 1_000_000, kind="response")
        assert traffic[0].size == 1_000_000
        assert len(traffic[0].text) < 110_000

    def test_can_be_searched(self):
        """Messages are found by text, direction, kind and method."""
        traffic = Traffic()
        traffic.note("sent", "alpha", kind="request", method="a", request_id=1)
        traffic.note("received", "beta", kind="response", request_id=1)
        assert [m.text for m in traffic.find("bet")] == ["beta"]
        assert [m.text for m in traffic.find(direction="sent", kind="request")] == ["alpha"]
        assert [m.text for m in traffic.find(method="a")] == ["alpha", "beta"]

    def test_can_be_written_to_a_file(self):
        """Each line of the export is a message with its time and direction."""
        traffic = Traffic()
        traffic.note("sent", '{"id": 1}', kind="request", request_id=1)
        (line,) = traffic.to_ndjson().splitlines()
        assert json.loads(line)["message"] == {"id": 1}

    def test_can_be_written_however_deep_a_message_is(self):
        """What Python cannot read is exported as its text."""
        traffic, deep = Traffic(), "[" * 20_000 + "]" * 20_000
        traffic.note("received", deep, kind="noise")
        (line,) = traffic.to_ndjson().splitlines()
        assert json.loads(line)["message"] == deep
