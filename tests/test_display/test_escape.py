"""Hidden characters are spelled out, addresses are followed or refused, never repaired."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from test_display.inert import problems
from toolbench.display.escape import escape, link, safe_address, visible


class TestVisible:
    @pytest.mark.every_case
    @pytest.mark.parametrize(
        ("text", "expected"),
        [
            ("plain\ttext\n", "plain\ttext\n"),
            ("\x1b[0m\x07\x00\x7f", "^[[0m^G^@^?"),
            ("\x9b\x85", "⟨U+009B⟩⟨U+0085⟩"),
            ("gnp\u202eexe.", "gnp⟨U+202E⟩exe."),
            ("a\u200bb\u2060c\ufeff", "a⟨U+200B⟩b⟨U+2060⟩c⟨U+FEFF⟩"),
            ("\U000e0041\U000e0042", "⟨U+E0041⟩⟨U+E0042⟩"),
            ("one\u2028two", "one⟨U+2028⟩two"),
            ("\ud83d\ude00", "😀"),
            ("\ud83d!", "⟨U+D83D⟩!"),
            ("❤️ 👩‍🚀 क्‍ष", "❤️ 👩‍🚀 क्‍ष"),
        ],
    )
    def test_what_hides_is_spelled_out(self, text, expected):
        """Control, bidi, invisible and tag characters show; emoji and joiners stay whole."""
        assert visible(text) == expected

    @given(st.text())
    def test_once_is_enough(self, text):
        """What is visible stays as it is, and can be sent as UTF-8."""
        once = visible(text)
        assert visible(once) == once
        once.encode("utf-8")


class TestAddresses:
    @pytest.mark.parametrize(
        "url",
        [
            "https://example.org",
            "HTTP://example.org/a?b=c&d=%20#e",
            "mailto:a@example.org",
            "https://example.org/ü(1)'{x}",
        ],
    )
    def test_plain_addresses_are_taken_as_they_are(self, url):
        """http, https and mailto, in any case."""
        assert safe_address(url) == url

    @pytest.mark.every_case
    @pytest.mark.parametrize(
        "url",
        [
            "",
            "https://",
            "example.org",
            "//example.org",
            "ftp://example.org",
            "javascript:alert(1)",
            " https://example.org",
            "https://example.org/a b",
            "https://example.org/\n",
            'https://example.org/"',
            "https://example.org/<",
            "https://example.org\\@evil.org",
            "https://example.org/\u202e",
            "https://example.org/" + "x" * 3_000,
        ],
    )
    def test_others_are_refused(self, url):
        """Another scheme, a blank, a quote, something hidden, or far too long."""
        assert safe_address(url) is None

    def test_a_link_says_where_it_goes(self):
        """The address is the tooltip, the new page cannot reach back."""
        html = link("https://e.org/?a=1&b='", escape("<label>"))
        assert html == (
            '<a href="https://e.org/?a=1&amp;b=&#x27;" title="https://e.org/?a=1&amp;b=&#x27;"'
            ' target="_blank" rel="noopener noreferrer"'
            ' style="color:inherit;text-decoration:underline">&lt;label&gt;</a>'
        )
        assert problems(html) == []

    def test_a_refused_address_leaves_the_label(self):
        """Nothing pretends to be a link."""
        assert link("javascript:alert(1)", escape("label")) == "label"
