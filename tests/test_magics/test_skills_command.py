"""%mcp skills."""

import pytest
from fastmcp import FastMCP
from fastmcp.skills.provider import SkillsDirectoryProvider

from toolbench.errors import ToolNotFoundError


def test_lists_skills_and_reads_one(shell, tmp_path):
    """The list has the number of files; a skill is read like a resource."""
    folder = tmp_path / "forms"
    folder.mkdir()
    text = "---\nname: forms\ndescription: Fill in forms.\n---\n# Forms\n"
    (folder / "SKILL.md").write_text(text)
    server = FastMCP("office")
    server.add_provider(SkillsDirectoryProvider(tmp_path))
    shell.user_ns["office"] = server
    shell.run_line_magic("mcp", "connect office office")
    try:
        listing = shell.run_line_magic("mcp", "skills office")
        assert listing.rows == [("forms", 1, "Fill in forms.")]
        assert shell.run_line_magic("mcp", "skills office forms").text == text
        with pytest.raises(ToolNotFoundError, match="has no skill 'x'"):
            shell.run_line_magic("mcp", "skills office x")
    finally:
        shell.run_line_magic("mcp", "disconnect office")
