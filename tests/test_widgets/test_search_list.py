"""What is picked is the line that was seen, however the list changes meanwhile."""

from threading import RLock, Thread

import pytest
from patience import join
from payloads import each_payload
from test_display.inert import problems

from test_widgets.front import (
    deliver,
    is_of,
    labels,
    listing,
    page,
    pick,
    pick_in_page,
    picker_of,
    receive,
    search_field,
    type_into,
    walk,
)
from toolbench.widgets.kit.parts import HIDDEN, Parts
from toolbench.widgets.kit.search_list import Item, PickList


def pick_list(*names, lock=None):
    """A list of *names*, and what was picked of it."""
    picked = []
    picks = PickList(Parts(), "Things", picked.append, lock or RLock())
    offer(picks, *names)
    return picks, picked


def offer(picks, *names):
    picks.offer([Item(name, name) for name in names], "None.")


def enter(picks):
    """Press Enter in the search field."""
    content = {"event": "submit", "settled": True}
    deliver(search_field(picks), {"method": "custom", "content": content})


class TestPick:
    def test_is_of_the_list_a_click_was_made_in(self):
        """One that is under way when the list changes picks what was there."""
        picks, picked = pick_list("read", "write")
        old_list = listing(picks)
        offer(picks, "delete", "read", "write")
        receive(old_list, index=0)
        assert picked == ["read"]
        assert listing(picks).index == 1

    def test_is_nothing_that_is_gone(self):
        """A click under way on what is not offered any more does nothing."""
        picks, picked = pick_list("read", "write")
        old_list = listing(picks)
        offer(picks, "write")
        receive(old_list, index=0)
        assert picked == []

    def test_stays_when_the_list_changes(self):
        """It is not picked again, and not lost while it is not seen."""
        picks, picked = pick_list("read", "write")
        pick(listing(picks), "write")
        type_into(search_field(picks), "read")
        assert listing(picks).index is None
        offer(picks, "a", "b", "write")
        type_into(search_field(picks), "")
        assert listing(picks).index == 2
        assert picked == ["write"]

    def test_happens_under_the_lock(self):
        """A click, and Enter, on whatever thread they come."""
        lock = RLock()
        picks, picked = pick_list("read", "write", lock=lock)
        with lock:
            clicks = [
                Thread(target=receive, args=(listing(picks),), kwargs={"index": 1}),
                Thread(target=enter, args=(picks,)),
            ]
            for click in clicks:
                click.start()
                # It ends only if the lock does not keep it back; else there is nothing to wait for
                click.join(0.2)
            assert picked == []
        for click in clicks:
            join(click)
        assert picked

    def test_may_come_from_the_page(self):
        """The page's own list writes the key of what is picked; one it never had does nothing."""
        picks, picked = pick_list("read", "write")
        pick_in_page(picks, "write")
        pick_in_page(picks, "delete")
        assert picked == ["write"]
        assert listing(picks).index == 1

    def test_is_the_first_at_first(self):
        """Where the holder wants no empty page; what was picked before stays."""
        picks, picked = pick_list("read", "write")
        picks.pick_first()
        pick_in_page(picks, "write")
        picks.pick_first()
        assert picked == ["read", "write"]


class TestTextsForThePage:
    def test_say_what_is_listed_and_picked(self, wire):
        """All items once, then ranges of those that match: two lines, a mark, a heading."""
        picks, _ = pick_list()
        items = [
            Item("0", "add", "Adds.", title="Add two", mark="read-only", group="shop"),
            Item("1", "erase", "Erases.\nAll."),
            Item("2", "added"),
        ]
        picks.offer(items, "None.")
        page = picker_of(picks)
        assert page.items == [
            ["0", "Add two", "add", "read-only", "shop", -1],
            ["1", "erase", "Erases.", "", "", -1],
            ["2", "added", "", "", "", -1],
        ]
        assert (page.matches, page.picked) == ([[0, 2]], None)
        wire.messages.clear()
        type_into(search_field(picks), "add")
        assert page.matches == [[0, 0], [2, 2]]
        pick_in_page(picks, "2")
        assert page.picked == "2"
        assert not any("items" in state for _, state in wire.updates())

    def test_have_each_icon_once(self):
        """An item has the number of its icon; icons that are too many characters are left out."""
        picks, _ = pick_list()
        icons = ("data:a", "", "data:b", "data:a", "data:" + "x" * 500_000, "data:c")
        picks.offer([Item(str(n), "x", icon=i) for n, i in enumerate(icons)], "None.")
        assert [row[5] for row in picker_of(picks).items] == [0, -1, 1, 0, -1, 2]
        assert picker_of(picks).icons == ["data:a", "data:b", "data:c"]

    @each_payload
    def test_are_inert(self, payload):
        """Whatever a key, a name or a heading says, it is no markup, and comes through."""
        picks, picked = pick_list()
        picks.offer([Item(payload or "x", payload, payload, group=payload)], "None.")
        assert problems(page(picks.widget)) == []
        pick_in_page(picks, picker_of(picks).items[0][0])
        assert picked == [payload or "x"]


class TestList:
    def test_says_why_there_is_nothing(self):
        """And what is not there is not seen: neither a list nor a search field."""
        picks, _ = pick_list()
        assert "None." in page(picks.widget)
        lists = [w for w in walk(picks.widget) if is_of(w, "toolbench-list")]
        parts = (search_field(picks), *lists)
        assert len(lists) == 2
        assert all(is_of(part, HIDDEN) for part in parts)
        picks.offer([], "Not connected.")
        assert "Not connected." in page(picks.widget)
        offer(picks, "read", "write")
        assert "Not connected." not in page(picks.widget)
        assert HIDDEN not in listing(picks)._dom_classes

    @pytest.mark.parametrize(
        ("text", "label"),
        [
            ("safe \u202egnp.exe\u200b", "x — safe ⟨U+202E⟩gnp.exe⟨U+200B⟩"),
            ("a\x00b", "x — a^@b"),
        ],
    )
    def test_hides_no_character(self, text, label):
        """What would hide, or turn the text around, is spelled out."""
        picks = PickList(Parts(), "Things", print, RLock())
        picks.offer([Item("x", "x", text)], "None.")
        assert labels(listing(picks)) == [label]
