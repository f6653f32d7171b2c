"""The tab of a server's skills: there if the server has any, read and checked."""

import pytest
from fastmcp import FastMCP
from fastmcp.resources import ResourceResult
from fastmcp.server.middleware import Middleware
from fastmcp.skills.provider import SkillsDirectoryProvider
from patience import PATIENCE, eventually

from test_widgets.front import receive
from test_widgets.panes import choose, listed, press
from test_widgets.tooling import shown
from toolbench.mcp import MCPClient
from toolbench.widgets.explorer import Explorer

ABOUT = "---\nname: forms\ndescription: Fill in <b>forms</b>.\n---\n# Filling\n"


class Altered(Middleware):
    """A server's resources as they are, or *text* in place of each of them."""

    text: str | None = None

    async def on_read_resource(self, context, call_next):
        result = await call_next(context)
        return result if self.text is None else ResourceResult(self.text)


@pytest.fixture
def altered():
    """What the server answers in place of its resources."""
    return Altered()


@pytest.fixture
def folder(tmp_path):
    """A folder of two skills."""
    for name in ("forms", "letters"):
        (tmp_path / name / "scripts").mkdir(parents=True)
        about = ABOUT.replace("name: forms", f"name: {name}")
        (tmp_path / name / "SKILL.md").write_text(about)
    (tmp_path / "forms" / "scripts" / "fill.py").write_text("print('<i>x</i>')")
    return tmp_path


@pytest.fixture
def pane(folder, altered):
    """The tab of the skills of a server of FastMCP."""
    server = FastMCP("office", middleware=[altered])
    server.add_provider(SkillsDirectoryProvider(folder))
    with MCPClient(timeout=PATIENCE) as client:
        client.connect("office", server)
        explorer = Explorer(client)
        tabs = explorer.page.lists
        assert tabs.widget.titles[3:] == ("Skills",)
        receive(tabs.widget, selected_index=3)
        yield tabs.pane
        explorer.close()


def test_a_skill_is_listed_and_its_files_are_read(pane):
    """SKILL.md first; text of the server is escaped."""
    assert [line.partition(" ")[0] for line in listed(pane)] == ["forms", "letters"]
    choose(pane, "forms")
    eventually(lambda: "Fill in" in shown(pane.detail))
    assert "checked by digest" in shown(pane.detail)
    assert "<b>forms" not in shown(pane.detail)
    press(pane, "Read")
    eventually(lambda: "Filling" in shown(pane.detail))
    chooser = pane.detail.children[1].children[0]
    assert list(chooser.options) == ["SKILL.md", "scripts/fill.py"]
    receive(chooser, index=1)
    press(pane, "Read")
    eventually(lambda: "print(" in shown(pane.detail))


def test_a_file_that_is_not_the_listed_one_is_a_sentence(pane, altered):
    """Nothing of it is shown."""
    choose(pane, "forms")
    altered.text = "# Another\n"
    press(pane, "Read")
    eventually(lambda: "It was not used" in shown(pane.detail))
    assert "Another" not in shown(pane.detail)


def test_a_server_without_skills_has_no_such_tab():
    """Few servers have them."""
    with MCPClient(timeout=PATIENCE) as client:
        client.connect("plain", FastMCP("plain"))
        explorer = Explorer(client)
        assert len(explorer.page.lists.widget.titles) == 3
        explorer.close()
