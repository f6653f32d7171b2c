import asyncio

import pytest
from pydantic import SecretStr

from toolbench import tool
from toolbench.errors import indefinite


@tool
def convert(value: float, to: str = "m", key: SecretStr | None = None) -> str:
    """Convert a length."""
    return f"{value} {to}"


class TestTwoForms:
    @pytest.mark.parametrize("call", [convert, lambda *a, **k: asyncio.run(convert.acall(*a, **k))])
    def test_are_refused(self, call):
        """A dict and keywords beside it leave open which of them count."""
        with pytest.raises(TypeError) as refused:
            call({"value": 3}, to="km")
        assert str(refused.value) == (
            "convert takes its arguments in one form: "
            "give either a dict or the keywords to, not both."
        )

    def test_show_no_secret(self):
        """A secret among them stays one."""
        with pytest.raises(TypeError) as refused:
            convert({"value": 3}, key="sesame")
        assert "sesame" not in str(refused.value)


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

    def test_names_the_keywords_that_are_needed(self):
        """Who passes arguments by position reads how they are passed."""
        with pytest.raises(TypeError) as refused:
            convert(3, "km")
        assert str(refused.value) == (
            "convert takes a ConvertAction or a dict of its arguments, not an int. "
            "Or use keywords: convert(value=...)."
        )

        @tool
        def greet(name: str = "Ann", loud: bool = False) -> str:
            """Greet."""
            return name

        with pytest.raises(TypeError, match=r"Or use keywords: greet\(name=...\)\.$"):
            greet("Bob")

        @tool
        def nothing() -> str:
            """Take nothing."""
            return ""

        with pytest.raises(TypeError, match=r"not an int\.$"):
            nothing(3)
