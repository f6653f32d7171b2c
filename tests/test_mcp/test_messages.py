"""Lines and messages out of the bytes of a server."""

import json

import mcp_types
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from toolbench.mcp.wire.messages import NoiseError, mended, message_in
from toolbench.mcp.wire.stdio import Lines


class TestLines:
    @given(st.lists(st.binary().filter(lambda b: b"\n" not in b and b.strip())), st.data())
    def test_come_out_as_they_went_in_however_they_are_cut(self, lines, data):
        """The lines do not depend on the sizes of the chunks."""
        stream = b"".join(line + b"\n" for line in lines)
        cuts = sorted(data.draw(st.lists(st.integers(0, len(stream)))))
        reader, complete_lines = Lines(), []
        for start, end in zip([0, *cuts], [*cuts, len(stream)], strict=True):
            complete_lines += reader.feed(stream[start:end])
        assert complete_lines == lines

    def test_take_time_in_proportion_to_their_length(self):
        """A long line in small pieces is put together once, not once per piece."""
        reader = Lines()
        for _ in range(100):
            assert reader.feed(b"x" * 10) == []
        assert len(reader.pending) == 100
        assert reader.feed(b"\n") == [b"x" * 1000]

    def test_show_the_start_of_what_has_no_end(self):
        """What a server wrote without a newline can be shown."""
        reader = Lines()
        reader.feed(b"whole\n{half")
        assert reader.start == "{half"


def message(**fields):
    return json.dumps({"jsonrpc": "2.0", **fields}).encode()


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    # The reader looks at none of what is deeper
    max_leaves=8,
)
FIELDS = st.fixed_dictionaries(
    {},
    optional={
        "jsonrpc": st.sampled_from(["2.0", "1.0"]),
        "id": st.integers() | st.text() | JSON,
        "method": st.text() | JSON,
        "params": st.dictionaries(st.text(), JSON) | JSON,
        "result": st.dictionaries(st.text(), JSON) | JSON,
        "error": st.fixed_dictionaries(
            {"code": st.integers() | JSON, "message": st.text() | JSON, "data": JSON}
        ),
    },
)


class TestMessageIn:
    """`message_in` reads a text as the SDK's reader does."""

    @staticmethod
    def outcome(reader, text):
        """Return the message in *text* with its type, or the reason why *text* is not a message."""
        try:
            return repr(reader(text))
        except ValidationError as error:
            return [(problem["type"], problem["loc"]) for problem in error.errors()]

    def same(self, text):
        def by_the_sdk(text):
            return mcp_types.jsonrpc_message_adapter.validate_json(text, by_name=False)

        return self.outcome(message_in, text) == self.outcome(by_the_sdk, text)

    @pytest.mark.slow
    @given(FIELDS)
    def test_any_fields(self, fields):
        """It takes and refuses the same objects, for the same reasons."""
        assert self.same(json.dumps(fields).encode())

    @pytest.mark.parametrize(
        "value",
        [
            b"NaN", b"1e999", b"1" * 400, b"1" * 5000, b"[1,]", b"", b'"\\ud800"', b'"\xff"',
            b'{"a":1,"a":2}', b'1}, "id": 2, "result": {"a": 3', b"[" * 150 + b"]" * 150,
            b"[" * 250 + b"]" * 250,
        ],
    )  # fmt: skip
    def test_odd_values(self, value):
        """It agrees on values that readers of JSON disagree on."""
        assert self.same(b'{"jsonrpc":"2.0","id":1,"result":{"value":%s}}' % value)


class TestMend:
    def test_a_batch_becomes_its_messages(self):
        """A list of messages is each of them."""
        batch = b"[" + message(id=1, result={}) + b"," + message(id=2, result={}) + b"]"
        assert [answer.id for answer in mended(batch)] == [1, 2]

    @pytest.mark.parametrize(
        "line",
        [
            b'{"jsonrpc":"2.0","id":1,"result":{"text":"a\\ud800b"}}',
            b'{"jsonrpc":"2.0","id":1,"result":{"text":"a\xffb"}}',
        ],
    )
    def test_what_is_no_unicode_becomes_a_replacement(self, line):
        """One bad character costs one character, not the message."""
        (answer,) = mended(line)
        assert answer.result["text"] == "a\ufffdb"

    @pytest.mark.parametrize(
        ("result", "kind"),
        [(None, "null"), (3, "a number"), ("x", "a string"), ([], "a list")],
    )
    def test_a_result_that_is_no_object_becomes_an_error(self, result, kind):
        """The caller gets an answer that says what kind came, and does not wait for ever."""
        (answer,) = mended(message(id=7, result=result))
        assert answer.id == 7
        assert f"result is {kind}, not" in answer.error.message

    @pytest.mark.parametrize(
        ("error", "code", "text"),
        [
            ({"message": "full"}, -32603, "full"),
            ({"code": "E1", "message": "full"}, -32603, 'full (code "E1")'),
            ({"code": 1.5, "message": "full"}, -32603, "full (code 1.5)"),
            ({"code": 7}, 7, 'error {"code": 7}'),
            ({"code": 7, "message": ["a"]}, 7, 'error {"code": 7, "message": ["a"]}'),
            ("full", -32603, "full"),
            (None, -32603, "error null"),
        ],
    )
    def test_an_error_gets_a_code_and_a_message(self, error, code, text):
        """The caller gets the server's words, and does not wait for ever."""
        (answer,) = mended(message(id=7, error=error))
        assert (answer.id, answer.error.code) == (7, code)
        assert answer.error.message == text

    def test_a_byte_order_mark_is_left_out(self):
        """Programs of Windows write it before their first line."""
        (answer,) = mended(b"\xef\xbb\xbf" + message(id=7, result={}))
        assert answer.id == 7

    def test_what_is_nested_too_deeply_is_answered_as_an_error(self):
        """The id is found without reading the rest. What Python reads is read, however deep it is."""
        deep = b'{"jsonrpc":"2.0","id":"x","result":' + b"[" * 100_000 + b"]" * 100_000 + b"}"
        (answer,) = mended(deep)
        assert answer.id == "x"
        assert "nested too deeply" in answer.error.message
        (answer,) = mended(message(id=7, result={"a": json.loads("[" * 300 + "]" * 300)}))
        assert answer.id == 7 and answer.result["a"]

    def test_an_integer_that_python_does_not_read_is_answered_as_an_error(self):
        """Python reads 4,300 digits; a call whose answer has more must not wait for ever."""
        line = b'{"jsonrpc":"2.0","id":7,"result":{"n":' + b"9" * 4_301 + b"}}"
        (answer,) = mended(line)
        assert answer.id == 7
        assert "too many digits" in answer.error.message

    @pytest.mark.parametrize("line", [b"hello", b"{}", b"3", b'[1, "a"]', b"\xff\xfe"])
    def test_anything_else_is_noise(self, line):
        """What is no message is not guessed at."""
        with pytest.raises(NoiseError):
            mended(line)
