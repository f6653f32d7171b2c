"""What is picked is the line that was seen, however the list changes meanwhile."""

import html
import json
import re
from threading import RLock, Thread

import pytest
from payloads import PAYLOADS
from test_display.inert import problems

from test_widgets.front import (
    is_of,
    key_field,
    labels,
    listing,
    page,
    pick,
    receive,
    search_field,
    type_into,
    walk,
)
from toolbench.widgets.kit.parts import HIDDEN, Parts
from toolbench.widgets.kit.search_list import Item, PickList


def made(*names, lock=None):
    """A list of *names*, and what was picked of it."""
    picked = []
    shown = PickList(Parts(), "Things", picked.append, lock or RLock())
    offer(shown, *names)
    return shown, picked


def offer(shown, *names):
    shown.offer([Item(name, name) for name in names], "None.")


def enter(shown):
    """Press Enter in the search field."""
    content = {"data": {"method": "custom", "content": {"event": "submit"}}}
    search_field(shown)._handle_msg({"content": content, "buffers": []})


class TestPick:
    def test_is_of_the_list_a_click_was_made_in(self):
        """One that is under way when the list changes picks what was there."""
        shown, picked = made("read", "write")
        seen = listing(shown)
        offer(shown, "delete", "read", "write")
        receive(seen, index=0)
        assert picked == ["read"]
        assert listing(shown).index == 1

    def test_is_nothing_that_is_gone(self):
        """A click under way on what is not offered any more does nothing."""
        shown, picked = made("read", "write")
        seen = listing(shown)
        offer(shown, "write")
        receive(seen, index=0)
        assert picked == []

    def test_stays_when_the_list_changes(self):
        """It is not picked again, and not lost while it is not seen."""
        shown, picked = made("read", "write")
        pick(listing(shown), "write")
        type_into(search_field(shown), "read")
        assert listing(shown).index is None
        offer(shown, "a", "b", "write")
        type_into(search_field(shown), "")
        assert listing(shown).index == 2
        assert picked == ["write"]

    def test_happens_under_the_lock(self):
        """A click, and Enter, on whatever thread they come."""
        lock = RLock()
        shown, picked = made("read", "write", lock=lock)
        with lock:
            clicks = [
                Thread(target=receive, args=(listing(shown),), kwargs={"index": 1}),
                Thread(target=enter, args=(shown,)),
            ]
            for click in clicks:
                click.start()
                click.join(0.2)
            assert picked == []
        for click in clicks:
            click.join(20)
        assert picked

    def test_may_come_from_the_page(self):
        """The page's own list writes the key of what is picked; one it never had does nothing."""
        shown, picked = made("read", "write")
        receive(key_field(shown), value="write")
        receive(key_field(shown), value="delete")
        assert picked == ["write"]
        assert listing(shown).index == 1

    def test_is_the_first_at_first(self):
        """Where the holder wants no empty page; what was picked before stays."""
        shown, picked = made("read", "write")
        shown.pick_first()
        receive(key_field(shown), value="write")
        shown.pick_first()
        assert picked == ["read", "write"]


class TestTextsForThePage:
    def test_say_what_is_listed_and_picked(self):
        """All items once, then ranges of those that match: two lines, a mark, a heading."""
        shown, _ = made()
        items = [
            Item("0", "add", "Adds.", title="Add two", mark="read-only", group="shop"),
            Item("1", "erase", "Erases.\nAll."),
            Item("2", "added"),
        ]
        shown.offer(items, "None.")
        assert texts(shown) == [
            ["0", "Add two", "add", "read-only", "shop"],
            ["1", "erase", "Erases.", "", ""],
            ["2", "added", "", "", ""],
        ]
        assert state(shown) == [[[0, 2]], None]
        sent = sent_items(shown)
        type_into(search_field(shown), "add")
        assert state(shown) == [[[0, 0], [2, 2]], None]
        receive(key_field(shown), value="2")
        assert state(shown)[1] == "2"
        assert sent_items(shown) is sent

    @pytest.mark.parametrize("payload", PAYLOADS)
    def test_are_inert(self, payload):
        """Whatever a key, a name or a heading says, it is no markup, and comes through."""
        shown, picked = made()
        shown.offer([Item(payload or "x", payload, payload, group=payload)], "None.")
        assert problems(page(shown.widget)) == []
        receive(key_field(shown), value=texts(shown)[0][0])
        assert picked == [payload or "x"]


def sent_items(shown):
    """The element that holds the items for the page's module."""
    values = [getattr(widget, "value", None) for widget in walk(shown.widget)]
    return next(v for v in values if "data-toolbench-items" in str(v))


def texts(shown):
    """The items as the page reads them."""
    inside = re.fullmatch("<div [^>]*>(.*)</div>", sent_items(shown), re.DOTALL)
    return json.loads(html.unescape(inside[1]))


def state(shown):
    """Which items the page lists, and which is picked."""
    inside = re.search('data-toolbench-matches="([^"]*)"', page(shown.widget))
    return json.loads(html.unescape(inside[1]))


class TestList:
    def test_says_why_there_is_nothing(self):
        """And what is not there is not seen: neither a list nor a search field."""
        shown, _ = made()
        assert "None." in page(shown.widget)
        lists = [w for w in walk(shown.widget) if is_of(w, "toolbench-list")]
        seen = (search_field(shown), *lists)
        assert len(lists) == 2
        assert all(is_of(part, HIDDEN) for part in seen)
        shown.offer([], "Not connected.")
        assert "Not connected." in page(shown.widget)
        offer(shown, "read", "write")
        assert "Not connected." not in page(shown.widget)
        assert HIDDEN not in listing(shown)._dom_classes

    @pytest.mark.parametrize(
        ("text", "label"),
        [
            ("safe \u202egnp.exe\u200b", "x — safe ⟨U+202E⟩gnp.exe⟨U+200B⟩"),
            ("a\x00b", "x — a^@b"),
        ],
    )
    def test_hides_no_character(self, text, label):
        """What would hide, or turn the text around, is spelled out."""
        shown = PickList(Parts(), "Things", print, RLock())
        shown.offer([Item("x", "x", text)], "None.")
        assert labels(listing(shown)) == [label]
