"""Tokens: estimated and marked as such, counted where a tokenizer is installed."""

import sys
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolbench.llm.tokens import TokenCount, count_tokens
from toolbench.wording import estimate_tokens


class TestEstimate:
    """A quarter of the bytes."""

    @pytest.mark.parametrize(
        ("text", "tokens"), [("", 0), ("a", 1), ("abcd", 1), ("abcde", 2), ("ключ", 2)]
    )
    def test_bytes(self, text, tokens):
        """Bytes of UTF-8, rounded up."""
        assert estimate_tokens(text) == tokens

    @given(st.text(), st.text())
    def test_grows(self, one, other):
        """More text never costs less."""
        assert estimate_tokens(one + other) >= estimate_tokens(one)

    def test_any_text(self):
        """Half a character costs too."""
        assert estimate_tokens("\ud800") == 1


class TestCount:
    """Exact with the extra."""

    def test_without(self, monkeypatch):
        """Without a tokenizer the estimate stands, marked."""
        monkeypatch.setitem(sys.modules, "toktok", None)
        assert str(count_tokens("x" * 8_000)) == "≈ 2,000 tokens"

    def test_with(self, monkeypatch):
        """With one, its count."""
        fake = SimpleNamespace(batch_count=lambda texts, encoding, threads: [1_234])
        monkeypatch.setitem(sys.modules, "toktok", fake)
        assert count_tokens("anything") == TokenCount(1_234, exact=True)
        assert str(count_tokens("anything")) == "1,234 tokens"

    def test_real(self):
        """The tokenizer itself, where it is installed."""
        pytest.importorskip("toktok", reason="toktok-rs IS NOT INSTALLED: no exact counts")
        assert count_tokens("hello world") == TokenCount(2, exact=True)
        with pytest.raises(KeyError):
            count_tokens("hello", "no such encoding")
