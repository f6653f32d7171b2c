"""Each rule speaks where it is broken, and is silent where it is kept."""

import re

import pytest

import toolbench
from test_llm.samples import GREP, taking
from test_llm.test_lint_rules import KEPT_AND_BROKEN
from test_llm.tools import argument, text, tool_named
from toolbench.core.builtins import FinishTool, ThinkTool
from toolbench.core.schema import Action, Observation
from toolbench.core.tool import ToolDefinition
from toolbench.llm.lint import RULES, Subject, cost_of, lint_tool, lint_tools


def rules(tool):
    """The ids of the rules *tool* breaks, and where."""
    return {(finding.rule, finding.where) for finding in lint_tool(tool)}


class TestTogether:
    """Tools that are offered together."""

    def rules(self, *tools):
        return {finding.rule for finding in lint_tools(tools)}

    def test_many(self):
        """A hundred are enough."""
        tools = [tool_named(f"get_{'abcdefghij'[i % 10]}{i}") for i in range(101)]
        assert "tools-many" in self.rules(*tools)
        assert "tools-many" not in self.rules(*tools[:100])

    def test_tokens(self):
        """Together they must not cost too much."""
        tools = [tool_named(f"get_thing_{i}", "x" * 5_000) for i in range(30)]
        assert "tools-tokens" in self.rules(*tools)
        assert "tools-tokens" not in self.rules(*tools[:5])

    def test_same_name(self):
        """Two of one name."""
        assert "name-duplicate" in self.rules(tool_named("get_it"), tool_named("get_it"))

    @pytest.mark.parametrize("other", ["get-item", "getItem", "Get_Item"])
    def test_near_name(self, other):
        """Names that differ only in how they are written; a list beside one of its kind is usual."""
        assert "name-near" in self.rules(tool_named("get_item"), tool_named(other))
        assert "name-near" not in self.rules(tool_named("get_item"), tool_named("get_items"))

    @pytest.mark.parametrize(
        ("one", "other"),
        [
            ("get_user", "fetch_user"),
            ("create_issue", "add_issue"),
            ("user_search", "find_user"),
            ("sync_spec_with_collection", "sync_collection_with_spec"),
        ],
    )
    def test_ambiguous(self, one, other):
        """The same words in another order, or others for them."""
        assert "tools-ambiguous" in self.rules(tool_named(one), tool_named(other))
        assert "tools-ambiguous" not in self.rules(
            tool_named("get_user"), tool_named("create_user")
        )

    def test_same_words(self):
        """Descriptions in the same words."""
        one = tool_named("find_pages", "Search the web for a query and return the results.")
        other = tool_named("look_around", "Searches the web for a query and returns results.")
        apart = tool_named("find_images", "Search the web for images and return the results.")
        assert "description-duplicate" in self.rules(one, other)
        assert "description-duplicate" not in self.rules(one, apart)

    @pytest.mark.parametrize(("count", "times"), [(9, 9), (10, 1), (12, 1)])
    def test_shared_argument(self, count, times):
        """What is wrong with an argument that ten tools share, or more, is told once."""
        tools = [
            argument({"type": "string"}, name="tenant").model_copy(
                update={"name": f"get_thing_{i}"}
            )
            for i in range(count)
        ]
        findings = [f for f in lint_tools(tools) if f.rule == "argument-undescribed"]
        assert len(findings) == times
        words = f"The same in {count - 1} other tools."
        assert (words in findings[0].message) is (times == 1)

    def test_each_alone(self):
        """What is wrong with one alone is told too."""
        assert "description-thin" in self.rules(tool_named("data", "Data."), tool_named("get_it"))


class TestFindings:
    """A finding says what to do."""

    def test_complete(self):
        """Rule, severity, place, what is wrong, what to do, and who says so."""
        (finding,) = lint_tool(tool_named("data", "Data."))
        assert finding.rule == "description-thin"
        assert finding.severity == "warning"
        assert finding.where == "description"
        assert finding.tool == "data"
        assert finding.fix
        assert finding.source
        assert str(finding).startswith("data.description: 'Data.' is only one word.")

    def test_names_an_argument_once(self):
        """The place is left out where the message names it."""

        @toolbench.tool
        def get_weather(location: str) -> str:
            """Get the weather; the answer is a sentence."""
            return ""

        findings = lint_tool(get_weather)
        (finding,) = (f for f in findings if f.where == "location")
        assert str(finding) == (
            "get_weather: The argument location has no description. Say the meaning, the unit "
            "and the form. [argument-undescribed]"
        )

    def test_rules(self):
        """Every rule has a severity, a source, and two sentences: for the author, and for who uses it."""
        for rule in RULES.values():
            assert rule.severity in ("error", "warning", "hint")
            assert re.fullmatch(r"[A-Z].*\.", rule.fix)
            assert re.fullmatch(r"\w.*\.", rule.effect)
            assert rule.source

    def test_all_tried(self):
        """Every rule is broken somewhere in these tests."""
        together = {
            *("tools-many", "tools-tokens", "name-duplicate", "name-near"),
            *("tools-ambiguous", "description-duplicate"),
        }
        assert RULES.keys() == KEPT_AND_BROKEN.keys() | together

    def test_whose_argument(self):
        """A finding on an argument names it, also deep inside."""
        schema = {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {"day": text("As YYYY-MM-DD.")},
            },
            "description": "Days.",
        }
        assert ("argument-format", "x[].day") in rules(argument(schema))


class TestGoodTools:
    """A tool that keeps the rules has no findings."""

    @pytest.mark.parametrize(
        "tool", [*FinishTool.create(), *ThinkTool.create()], ids=lambda tool: tool.name
    )
    def test_builtins(self, tool):
        """Our own are clean."""
        assert lint_tool(tool) == []

    def test_told_in_the_description(self):
        """Arguments that the tool's description tells of are described."""
        tool = taking({"key": {"type": "string"}})
        description = "Look it up.\n\nArgs:\n    key: The key.\n\nReturns: its fields."
        assert lint_tool(tool.model_copy(update={"description": description})) == []

    def test_output_schema(self):
        """A schema of what comes back says what comes back."""

        class Branches(Observation):
            names: list[str] = []  # noqa: RUF012 - a field of pydantic's

        tool = ToolDefinition(
            name="list_branches",
            description="List the branches of a repository on the server.",
            action_type=Action,
            observation_type=Branches,
        )
        assert lint_tool(tool) == []

    def test_other_languages(self):
        """Rules that look for English words are silent where there are none."""
        tool = tool_named("get_news", "获取纽约时报新闻")
        assert lint_tool(tool) == []


class TestCost:
    """What it costs to offer tools."""

    def test_sum(self):
        """The sum of what each costs."""
        [finish] = FinishTool.create()
        one, other = cost_of([GREP]), cost_of([finish])
        assert cost_of([GREP, finish]).tokens == one.tokens + other.tokens
        assert one.tokens > 50

    def test_none(self):
        """Nothing costs nothing."""
        assert cost_of([]).tokens == 0


class TestRealTools:
    """Published tools."""

    def test_by_server(self, published, real_tools):
        """Every tool is judged, and most findings are about few rules."""
        servers = {}
        for entry, tool in zip(published, real_tools, strict=True):
            servers.setdefault(entry["source"], []).append(tool)
        findings = [f for tools in servers.values() for f in lint_tools(tools)]
        assert len(real_tools) / 5 < len(findings) < len(real_tools), (
            "findings are for people: fewer than tools"
        )
        assert {f.rule for f in findings} <= RULES.keys()

    def test_places(self, real_tools):
        """Every finding points at something the tool has."""
        fixed = {"name", "description", "annotations", "arguments"}
        for tool in real_tools:
            paths = {argument.path for argument in Subject(tool).arguments}
            for finding in lint_tool(tool):
                # Also inside choices and lists
                if finding.rule == "provider-refuses":
                    continue
                assert finding.where in fixed | paths, finding
