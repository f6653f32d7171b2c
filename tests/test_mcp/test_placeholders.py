"""References to the environment in a configuration."""

import pytest

from toolbench.errors import ServerError
from toolbench.mcp.config.placeholders import expand

VARIABLES = {"TOKEN": "s3cret", "EMPTY": ""}


class TestExpand:
    @pytest.mark.parametrize(
        ("text", "expanded"),
        [
            ("${TOKEN}", "s3cret"),
            ("${env:TOKEN}", "s3cret"),
            ("Bearer ${TOKEN}!", "Bearer s3cret!"),
            ("${MISSING:-fallback}", "fallback"),
            ("${EMPTY:-fallback}", "fallback"),
            ("${EMPTY}", ""),
            ("${MISSING:-}", ""),
            ("${TOKEN:-fallback}", "s3cret"),
            ("$TOKEN costs $5", "$TOKEN costs $5"),
            ("${not a name}", "${not a name}"),
        ],
    )
    def test_fills_in_what_is_a_reference(self, text, expanded):
        """A reference becomes the variable or its default; anything else stays."""
        assert expand(text, VARIABLES) == expanded

    def test_reaches_into_lists_and_mappings(self):
        """Strings at any depth are expanded; other values stay what they are."""
        value = {"a": ["${TOKEN}", 1, {"b": "${TOKEN}"}], "c": None}
        assert expand(value, VARIABLES) == {
            "a": ["s3cret", 1, {"b": "s3cret"}],
            "c": None,
        }

    def test_names_the_variable_that_is_not_set(self):
        """A missing variable is named, so that it can be set."""
        with pytest.raises(ServerError, match="'MISSING': set it"):
            expand("${MISSING}", VARIABLES)

    def test_refuses_what_only_an_editor_can_ask(self):
        """`${input:x}` has no value here: it says what to put in its place."""
        with pytest.raises(ServerError, match=r"\$\{input:key\} is filled in by an editor"):
            expand("${input:key}", VARIABLES)
