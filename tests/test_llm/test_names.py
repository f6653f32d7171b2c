"""Names and descriptions a provider cannot take, and what stands in for them."""

import jsonschema_rs
import pytest

from test_llm.offers import changes, parameters
from test_llm.samples import foreign, taking
from toolbench.llm.compose import as_anthropic_call
from toolbench.llm.formats.tool_formats import (
    SHORT_DESCRIPTION,
    to_anthropic,
    to_format,
    to_gemini,
    to_openai,
)


class TestNames:
    """Names a provider cannot take have a stand-in, always the same one."""

    @pytest.mark.parametrize("name", ["a.b", "x" * 70, "has space", "ключ", "1c_reload", "$"])
    @pytest.mark.parametrize("provider", ["openai", "responses", "anthropic", "gemini"])
    def test_fit(self, name, provider):
        """The stand-in fits, and is the same each time."""
        offer = to_format(foreign({"type": "object"}, name), provider)
        sent = (offer.get("function") or offer)["name"]
        again = to_format(foreign({"type": "object"}, name), provider)
        first = "A-Za-z_" if provider == "gemini" else "A-Za-z0-9_-"
        rest = "A-Za-z0-9_.:-" if provider == "gemini" else "A-Za-z0-9_-"
        most = 63 if provider in ("openai", "responses") else 127
        assert jsonschema_rs.is_valid({"pattern": f"^[{first}][{rest}]{{0,{most}}}$"}, sent)
        assert (again.get("function") or again)["name"] == sent

    def test_apart(self):
        """Two names that differ only in what is taken out stay two names."""
        names = {to_openai(foreign({}, n))["function"]["name"] for n in ("a.b", "a b", "a_b")}
        assert len(names) == 3
        assert "a_b" in names

    def test_arguments(self):
        """Arguments get stand-ins where the provider has a rule for them, and are reported."""
        tool = taking({"$filter": {"type": "string"}, "ok": {"type": "string"}}, "$filter")
        claude, gemini = (
            to_anthropic(tool)["input_schema"],
            to_gemini(tool)["parameters"],
        )
        assert claude["required"][0] in claude["properties"]
        assert gemini["required"][0] in gemini["properties"]
        assert "$filter" not in {*claude["properties"], *gemini["properties"]}
        assert changes(tool, "anthropic")["$filter"].kind == "renamed"
        assert "$filter" in parameters(tool, "openai")["properties"]
        sent = as_anthropic_call(tool, {"$filter": "a", "ok": "b"})["input"]
        assert sent == {claude["required"][0]: "a", "ok": "b"}


class TestDescriptions:
    """OpenAI's older models take short descriptions."""

    LONG = "This is a sentence of some length. " * 60

    def test_cut(self):
        """A long one is cut after a sentence, and that is reported."""
        tool = foreign({"type": "object"}, description=self.LONG)
        description = to_openai(tool)["function"]["description"]
        assert len(description) <= SHORT_DESCRIPTION
        assert description.endswith("length. …")
        assert changes(tool, "openai")["description"].kind == "shortened"

    def test_long(self):
        """A model that takes more is given more; others have no limit."""
        tool = foreign({"type": "object"}, description=self.LONG)
        whole = to_openai(tool, longest_description=10_000)["function"]["description"]
        assert whole == self.LONG == to_anthropic(tool)["description"]

    def test_unbroken(self):
        """A description without a full stop is cut all the same."""
        tool = foreign({"type": "object"}, description="x" * 5_000)
        assert len(to_openai(tool)["function"]["description"]) == SHORT_DESCRIPTION
