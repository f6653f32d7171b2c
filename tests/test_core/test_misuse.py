import asyncio

import pytest
from pydantic import SecretStr

from toolbench import tool
from toolbench.errors import indefinite


@tool
def convert(value: float, to: str = "m", key: SecretStr | None = None) -> str:
    """Convert a length."""
    return f"{value} {to}"


class TestKeywords:
    @pytest.mark.parametrize(
        "call", [convert, lambda **given: asyncio.run(convert.acall(**given))]
    )
    def test_are_refused_with_the_call_that_works(self, call):
        """Who calls a tool as its function reads what to write instead."""
        with pytest.raises(TypeError) as refused:
            call(value=3, to="km")
        sentence = "convert takes its arguments in a dict: "
        call = "convert({'value': 3, 'to': 'km'})"
        assert str(refused.value) == f"{sentence}{call}."
        assert eval(call).text == "3.0 km"

    def test_show_no_secret(self):
        """A secret among them stays one."""
        with pytest.raises(TypeError) as refused:
            convert(value=3, key="sesame")
        assert "sesame" not in str(refused.value)
        assert "'value': 3" in str(refused.value)

    def test_are_named_alone_where_the_values_are_long(self):
        """A sentence stays one."""
        with pytest.raises(TypeError, match=r"convert\({'value': ..., 'to': ...}\)"):
            convert(value=3, to="x" * 1000)

    def test_that_have_names_still_work(self):
        """`action` and `conversation` are parameters as before."""
        assert convert(action={"value": 1}, conversation=None).text == "1.0 m"


class TestWhatIsNoAction:
    def test_has_the_right_article(self):
        """An int, a str."""
        with pytest.raises(TypeError, match=r"takes a ConvertAction .*, not an int"):
            convert(3)
        with pytest.raises(TypeError, match="not a str"):
            convert("3")
        assert [indefinite(noun) for noun in ("Action", "Tool", "")] == [
            "an Action",
            "a Tool",
            "a ",
        ]

    def test_may_be_nothing_at_all(self):
        """A call without arguments has an empty dict of them."""
        with pytest.raises(TypeError, match=r"without any, convert\({}\)"):
            convert()
