import re

import pytest
from IPython.core.error import UsageError

from toolbench.magics.line import open_json, quote_json


class TestQuoting:
    @pytest.mark.parametrize(
        ("line", "message"),
        [
            (
                'f start={"name":"x" "lat":1}',
                "The value of start is not JSON: Expecting ',' delimiter, at '\"lat\":1}'\\.",
            ),
            (
                "f a=1 tags=[1, ] b=2",
                # Python 3.13 says that the comma is the last thing, at another place
                r"The value of tags is not JSON: .*, at '(, )?\] b=2'\.",
            ),
        ],
    )
    def test_says_what_is_wrong_with_json(self, line, message):
        """JSON that goes on after a blank is no word of the line."""
        with pytest.raises(UsageError) as caught:
            quote_json(line)
        assert re.fullmatch(message, str(caught.value))

    @pytest.mark.parametrize(
        "line",
        [
            "f note=[draft",
            "f re=[a-z]+ n=1",
            "f re=[a-z] -o x",
            'f re=[a-z] {"n": 1}',
            "f note='a=[b c'",
        ],
    )
    def test_leaves_other_text_alone(self, line):
        """A bracket may begin any text."""
        assert quote_json(line) == line


class TestOpen:
    @pytest.mark.parametrize(
        ("line", "text"),
        [
            (' {"a": {"b', '{"a": {"b'),
            (' -o x {"a": 1, ', '{"a": 1, '),
            (' {"a": 1}', None),
            (" a='{ {", None),
            (" a=1 ", None),
        ],
    )
    def test_is_what_was_begun_and_not_ended(self, line, text):
        """An object that is still being typed."""
        assert open_json(line) == text
