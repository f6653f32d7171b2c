"""Numbers of things in words, and the words of names."""

import pytest

from toolbench.wording import counted, duration, listed, snake_case, words_of


@pytest.mark.parametrize(("number", "words"), [(0, "0 rows"), (1, "1 row"), (1_234, "1,234 rows")])
def test_counted(number, words):
    """One thing is singular, thousands are told apart."""
    assert counted(number, "row") == words


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(0, "0 ms"), (0.006572, "6.6 ms"), (0.0387, "39 ms"), (0.9996, "1.0 s"), (42.4, "42 s")],
)
def test_duration(seconds, words):
    """Two digits tell short times apart."""
    assert duration(seconds) == words


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("FileEditorTool", ["file", "editor", "tool"]),
        ("HTTPServer", ["http", "server"]),
        ("get-user_name.first", ["get", "user", "name", "first"]),
        ("", []),
    ],
)
def test_words_of_a_name(name, words):
    """However a name is spelled, its words are found."""
    assert words_of(name) == words


def test_snake_case_keeps_every_letter():
    """No letter of any alphabet is lost."""
    assert snake_case("StraßeTool") == "straße_tool"


def test_a_long_list_of_names_says_how_many_it_leaves_out():
    """The first ones are named; a list that fits is whole."""
    assert listed(["a", "b"], 2) == "a, b"
    assert listed([f"t{n}" for n in range(1_003)], 2) == "t0, t1 and 1,001 more"
