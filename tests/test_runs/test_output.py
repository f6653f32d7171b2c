from hypothesis import given
from hypothesis import strategies as st

from toolbench.runs.output import Output


class TestOutput:
    def test_keeps_order_and_streams(self):
        """Pieces come back in the order they were written, with their streams."""
        output = Output()
        output.write("stdout", "a")
        output.write("stderr", "b")
        assert [c[:2] for c in output.chunks()] == [
            ("stdout", "a"),
            ("stderr", "b"),
        ]

    @given(st.lists(st.text("ab", max_size=30), max_size=30), st.integers(2, 40))
    def test_keeps_both_ends_of_a_flood(self, pieces, limit):
        """Whatever is written: the start and the end are kept, and every character counted."""
        output = Output(limit)
        for piece in pieces:
            output.write("stdout", piece)
        whole = "".join(pieces)
        kept = [c.text for c in output.chunks() if c.stream == "stdout"]
        joined = "".join(kept)
        assert len(joined) + output.omitted == len(whole)
        assert whole[: limit // 2] == joined[: limit // 2]
        assert output.omitted or joined == whole
        assert whole.endswith(joined[limit // 2 :])
