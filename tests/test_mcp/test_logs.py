"""What a server logs through MCP."""

import pytest

from toolbench.display.filter import Filter
from toolbench.mcp.monitoring.log import LOG_KEYS, LOG_ORDERS, ServerLog


class TestServerLog:
    @pytest.mark.parametrize(
        ("data", "text"),
        [
            ("plain", "plain"),
            ({"a": [1, None]}, '{"a":[1,null]}'),
            ({"msg": "said", "extra": None}, "said"),
            ({"msg": "said", "extra": {"n": 1}}, 'said {"extra":{"n":1}}'),
            (None, "null"),
        ],
    )
    def test_takes_data_of_any_kind(self, data, text):
        """Whatever a server logs becomes one readable text."""
        log = ServerLog()
        log.add({"level": "info", "data": data})
        assert next(iter(log)).text == text

    def test_filters_by_level(self):
        """A level lets through what is as bad or worse; an unknown one counts as info."""
        log = ServerLog()
        for level in ("debug", "catastrophe", "warning", "emergency"):
            log.add({"level": level, "data": level})
        for words, levels in {
            "level>=info": ["catastrophe", "warning", "emergency"],
            "level>=warning": ["warning", "emergency"],
            "level:warn": ["warning"],
            "level!=emergency erg": [],
        }.items():
            only = Filter(words, LOG_KEYS, LOG_ORDERS)
            assert [e.text for e in log if only.matches(e)] == levels

    def test_is_bounded(self):
        """The last entries are kept, and all they say is cut."""
        log, much = ServerLog(entries=2), "L" * 100_000
        for level, logger, text in (
            ("info", "x", "first"),
            (much, much, much),
            ("info", "x", "last"),
        ):
            log.add({"level": level, "logger": logger, "data": text})
        long, last = log
        assert "(100,000 characters)" in long.text
        assert len(str(long)) < 11_000
        assert str(last) == "INFO x: last"
        assert log.total == 3
