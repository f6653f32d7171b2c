"""What is picked is the line that was seen, however the list changes meanwhile."""

from threading import RLock, Thread

import pytest

from test_widgets.front import pick, receive, type_into
from toolbench.widgets.parts import HIDDEN, Parts
from toolbench.widgets.pick import Item, PickList


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
    shown._search._handle_msg({"content": content, "buffers": []})


class TestPick:
    def test_is_of_the_list_a_click_was_made_in(self):
        """One that is under way when the list changes picks what was there."""
        shown, picked = made("read", "write")
        seen = shown._list
        offer(shown, "delete", "read", "write")
        receive(seen, index=0)
        assert picked == ["read"]
        assert shown._list.index == 1

    def test_is_nothing_that_is_gone(self):
        """A click under way on what is not offered any more does nothing."""
        shown, picked = made("read", "write")
        seen = shown._list
        offer(shown, "write")
        receive(seen, index=0)
        assert picked == []

    def test_stays_when_the_list_changes(self):
        """It is not picked again, and not lost while it is not seen."""
        shown, picked = made("read", "write")
        pick(shown._list, "write")
        type_into(shown._search, "read")
        assert shown._list.index is None
        offer(shown, "a", "b", "write")
        type_into(shown._search, "")
        assert shown._list.index == 2
        assert picked == ["write"]

    def test_happens_under_the_lock(self):
        """A click, and Enter, on whatever thread they come."""
        lock = RLock()
        shown, picked = made("read", "write", lock=lock)
        with lock:
            clicks = [
                Thread(target=receive, args=(shown._list,), kwargs={"index": 1}),
                Thread(target=enter, args=(shown,)),
            ]
            for click in clicks:
                click.start()
                click.join(0.2)
            assert picked == []
        for click in clicks:
            click.join(20)
        assert picked


class TestList:
    def test_says_why_there_is_nothing(self):
        """And what is not there is not seen: neither a list nor a search field."""
        shown, _ = made()
        assert "None." in shown._count.value
        assert all(HIDDEN in part._dom_classes for part in shown.widgets[:-1])
        shown.offer([], "Not connected.")
        assert "Not connected." in shown._count.value
        offer(shown, "read", "write")
        assert shown._count.value == ""
        assert HIDDEN not in shown._list._dom_classes

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
        assert shown._list._options_labels == (label,)
