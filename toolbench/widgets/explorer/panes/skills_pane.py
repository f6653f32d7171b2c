"""The tab of a server's skills. A person can read the files of a skill."""

from functools import partial
from typing import ClassVar

from toolbench.display.css import REMARK
from toolbench.display.escape import Html, escape
from toolbench.display.markdown import markdown_html
from toolbench.display.page import badge, notice
from toolbench.mcp.lists.resources import MCPResourceObservation
from toolbench.mcp.lists.skills import Skill
from toolbench.mcp.session import MCPServerSession
from toolbench.widgets.explorer.panes.pane import (
    ListNotes,
    ListPane,
    Lock,
)
from toolbench.widgets.explorer.updates import Failure, ServerRequest
from toolbench.widgets.kit.parts import show_if
from toolbench.widgets.kit.search_list import Item, PickList
from toolbench.widgets.resource_views.resource_contents import contents_html
from toolbench.wording import human_size

# Files of a skill to choose from
_FILES = 200
_MAIN = "SKILL.md"


class SkillsPane(ListPane):
    """A list of skills. A person can read the files of the picked skill. No file is run."""

    title = "Skills"
    hears: ClassVar[frozenset[str]] = frozenset({"skills", "resources", "status"})

    def __init__(self, session: MCPServerSession, lock: Lock) -> None:
        """Ask the server for its skills, in the background."""
        super().__init__(session, lock)
        parts = self._parts
        self._skills: dict[str, Skill] = {}
        self._lists: ServerRequest[list[Skill]] = ServerRequest(self._lock)
        self._reading: ServerRequest[MCPResourceObservation] = ServerRequest(self._lock)
        self._notes = ListNotes(parts, session, "skills")
        self._list = PickList(parts, "Skills", self._pick, lock)
        self._about = parts.html()
        self._file = parts.chooser("File", [_MAIN])
        self._read = parts.button("Read", look="primary")
        self._result = parts.html()
        self._choice = parts.row(self._file, self._read)
        self.detail = parts.column(self._notes.empty, kind="toolbench-page")
        self.on(self._read, self._ask)
        self.widget = parts.column(self._notes.above, self._list.widget)
        self.refresh()

    def refresh(self) -> None:
        """Show the latest skills. The session asks the server for its skills only if this is necessary."""
        if self._notes.can_list():
            self._lists.start(lambda: list(self.session.skills), self._show_list)

    def _show_list(self, result: list[Skill] | Failure) -> None:
        if isinstance(result, Failure):
            self._notes.say_failure(result.text)
            return
        self._skills = {skill.uri: skill for skill in result}
        self._notes.say_changes(self._skills)
        items = [Item(s.uri, s.name, s.description, title=s.name) for s in result]
        self._list.offer(items, "No skills.")
        self._list.pick_first()

    def _pick(self, uri: str) -> None:
        skill = self._skills[uri]
        self._reading.forget()
        self._about.value = _about_html(skill)
        self._result.value = Html("")
        paths = [file.path for file in skill.files] or [_MAIN]
        paths.sort(key=lambda path: (path != _MAIN, path))
        self._file.options = paths[:_FILES]
        show_if(self._file, is_shown=len(paths) > 1)
        self.detail.children = [self._about, self._choice, self._result]

    def _ask(self) -> None:
        uri, skills = self._list.picked, self._skills
        if uri in skills:
            self._result.value = notice("Reading …", "neutral")
            read = partial(self.session.skills.read, skills[uri], self._file.value)
            self._reading.start(read, self._show)

    def _show(self, result: MCPResourceObservation | Failure) -> None:
        if isinstance(result, Failure):
            self._result.value = notice(result.text, "danger")
        else:
            self._result.value = contents_html(result)

    def close(self) -> None:
        """Close the tab; results of requests that still run are ignored."""
        self._lists.forget()
        self._reading.forget()
        super().close()


def _about_html(skill: Skill) -> Html:
    about = markdown_html(skill.description) if skill.description.strip() else ""
    how = "made when read, not checked" if skill.is_dynamic else "checked by digest"
    sizes = [file.size for file in skill.files if file.size is not None]
    size = badge(human_size(sum(sizes))) if sizes else ""
    return Html(
        f'<div style="margin:6px 0 4px;overflow-wrap:anywhere"><strong>'
        f"{escape(skill.name)}</strong> {badge(how)}{size}"
        f'<div style="{REMARK}">{escape(skill.uri)}</div></div>{about}'
    )


def has_skills(session: MCPServerSession) -> bool:
    """Tell whether the server of *session* says that it has skills."""
    return session.skills.is_offered(session.capabilities)
