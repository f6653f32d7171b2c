"""Which texts one regular expression matches and another does not, held against the validator."""

from itertools import product

import pytest

from toolbench.jsonschema.validate import validator_of
from toolbench.mcp.snapshots.schema_diff.patterns.regular_expression import (
    UndecidedError,
    text_beyond,
    texts_matching,
)
from toolbench.mcp.snapshots.schema_diff.patterns.text_patterns import is_within

PATTERNS = [
    *("", "a", "^a", "a$", "^a$", "^$", "^a*$", "^(aa)*$", "^a+$", "^a?b$", "^[ab]+$"),
    *("^[^a]+$", "a|b", "^(a|b)$", "^a|b$", "^(?:ab){1,2}$", "^a{2}$", "^a{1,}$"),
    *(
        r"^\d+$",
        "^[0-9]+$",
        r"^\w+$",
        r"^[\w-]+$",
        r"^\S*$",
        r"\s",
        r"^\D$",
        r"^[^\d]*$",
    ),
    *(
        "^.$",
        "^.{0,2}$",
        "^.*$",
        r"^\.$",
        r"^a\-1$",
        "^[a-]$",
        "^[-a]$",
        r"^[\]]$",
        "ab?-",
    ),
    *(
        "^(a|b|1)-(a|b)$",
        "^(a|b)-(a|b)$",
        r"^\x61$",
        r"^\u0061$",
        "(^a)|(b$)",
        "^a.*b$",
    ),
]
TEXTS = ["".join(t) for n in range(5) for t in product("ab1- ", repeat=n)]
TEXTS += [".", "]", "\n", "a\n", "é", "A", "_", "a]", "0", "9"]


@pytest.fixture(scope="module")
def matched():
    """The texts that each pattern matches, by the validator."""
    judges = {p: validator_of({"pattern": p}) for p in PATTERNS}
    return {p: {t for t in TEXTS if judge.is_valid(t)} for p, judge in judges.items()}


@pytest.mark.parametrize("pattern", PATTERNS)
def test_it_is_what_the_validator_sees(pattern, matched):
    """A text that is found separates them; where none is, none of many texts does."""
    mine = validator_of({"pattern": pattern})
    for other in PATTERNS:
        text = text_beyond(pattern, other)
        if text is None:
            assert matched[pattern] <= matched[other], other
        else:
            assert mine.is_valid(text), other
            assert not validator_of({"pattern": other}).is_valid(text), other


@pytest.mark.parametrize("pattern", PATTERNS)
def test_lengths_are_kept(pattern, matched):
    """A text of so many characters is found exactly where there is one."""
    for size in range(4):
        text = text_beyond(pattern, None, least=size, most=size)
        if text is None:
            assert not any(len(t) == size for t in matched[pattern])
        else:
            assert len(text) == size
            assert validator_of({"pattern": pattern}).is_valid(text)


@pytest.mark.parametrize(
    "pattern",
    [
        *(
            "(?=a)b",
            "(?!a)",
            "(?<!a)b",
            r"(a)\1",
            r"\bword\b",
            r"\p{L}",
            "(?i)a",
            "a{1",
        ),
        *("(", ")", "[", "*", "a**", "[b-a]", "a" * 2_000, "(" * 500 + ")" * 500),
        *("(a{1000}){1000}", "((a{99}){99}){99}", "(.*a.{9}){5}", "[a&&b]", "[[a]b]"),
        "^" + "x*" * 400 + "$",
    ],
)
def test_what_it_does_not_understand_is_undecided(pattern):
    """It says so, in little time, and guesses nothing: neither way round."""
    for pair in ((pattern, "^q$"), ("^q*$", pattern)):
        try:
            text = text_beyond(*pair)
        except UndecidedError:
            continue
        one, other = (validator_of({"pattern": p}) for p in pair)
        assert text is not None
        assert one.is_valid(text)
        assert not other.is_valid(text)
    assert not is_within(pattern, "^q$")


def test_the_plainest_text_comes_first():
    """People read it: letters and digits before signs, and no more than needed."""
    assert text_beyond("^(foo|bar|baz)-[0-9]{4}$", "^(foo|bar)-[0-9]{4}$") == "baz-0000"
    assert list(texts_matching("^[a-z]+$", (3,))) == ["a", "aaa"]
    assert list(texts_matching("(?=a)")) == []
