import json

import pytest

from test_core import grep_tool
from toolbench import ConversationState, Tool, resolve_tool
from toolbench.core.registry import default_registry


@pytest.fixture
def state(tmp_path):
    (tmp_path / "a.txt").write_text("one\ntwo\n")
    (tmp_path / "b.md").write_text("two\n")
    grep_tool.register()
    yield ConversationState(workspace=tmp_path, persistence_dir="/kept")
    for name in ("search_files", "search_and_count_tool_set"):
        default_registry.unregister(name)


class TestACustomTool:
    def test_is_made_and_runs_unchanged(self, state):
        """`create(conv_state)` reads the workspace, `cls(...)` makes the tool, the tool works."""
        [search] = resolve_tool(Tool(name="search_files"), state)
        observation = search(grep_tool.SearchAction(pattern="two"))
        assert (observation.count, observation.files) == (2, ["a.txt", "b.md"])
        assert observation.to_llm_content[0].text == "2 lines in a.txt, b.md"
        assert search({"pattern": "two", "include": ".md"}).files == ["b.md"]

    def test_has_the_name_its_class_says(self, state):
        """`name: ClassVar[str]` names the class and the tool; without one the class does."""
        assert grep_tool.SearchTool.name == "search_files"
        assert resolve_tool("search_files", state)[0].name == "search_files"
        assert grep_tool.CountTool.name == "count"

    def test_exports_what_the_documentation_promises(self, state):
        """Title, hints and descriptions reach MCP and OpenAI."""
        [search] = resolve_tool("search_files", state)
        exported = search.to_mcp_tool()
        assert exported["annotations"]["title"] == search.title == "search_files"
        assert exported["inputSchema"]["required"] == ["pattern"]
        assert exported["inputSchema"]["properties"]["include"] == {
            "type": "string",
            "description": "Only files ending in this",
        }
        json.dumps([exported, search.to_openai_tool(add_security_risk_prediction=True)])

    def test_in_a_set_shares_an_executor(self, state):
        """A tool set makes its tools with what they share."""
        search, count = resolve_tool("search_and_count_tool_set", state)
        assert search({"pattern": "one"}).count == 1
        assert count({}).text == "1 calls, kept in /kept"
        assert count({}).text == "2 calls, kept in /kept"

    def test_works_where_nobody_made_a_state(self, tmp_path, monkeypatch, state):
        """In a notebook the current directory is the workspace."""
        monkeypatch.chdir(tmp_path)
        assert resolve_tool("search_files")[0]({"pattern": "one"}).files == ["a.txt"]
