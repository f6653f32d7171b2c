"""List the skills of one server, and read and check their files."""

from collections.abc import Mapping
from typing import Any, overload

from toolbench.errors import ServerError, ToolNotFoundError, did_you_mean
from toolbench.mcp.connection.reconnection import ReconnectingConnection
from toolbench.mcp.features.item_list import RemoteList
from toolbench.mcp.features.raw_request import plain_request
from toolbench.mcp.features.resource_list import ResourceList
from toolbench.mcp.features.resources import MCPResourceObservation
from toolbench.mcp.skills.skill import EXTENSION, Skill, read_skills


class SkillList(RemoteList[Skill]):
    """The skills of one server: `skills[0]`, `skills["pdf-forms"]`. Skills are read, never run."""

    key = "skills"

    def __init__(
        self,
        connection: ReconnectingConnection,
        seconds: float,
        resources: ResourceList,
    ) -> None:
        """Request skills over *connection*, within *seconds*; read files through *resources*."""
        super().__init__(connection, seconds)
        self._resources = resources

    def is_offered(self, capabilities: Mapping[str, Any]) -> bool:
        """Tell whether the server declares the skills extension in its *capabilities*."""
        return EXTENSION in (capabilities.get("extensions") or {})

    async def request(self, session: Any, params: Any) -> Any:
        """Request one page of the list over *session*, which is a session of the SDK."""
        cursor = {} if params is None else {"cursor": params.cursor}
        return await plain_request(session, "skills/list", cursor)

    def parse(self, offers: list[Any]) -> list[Skill]:
        """Return the skills in *offers*, the rows of the server's list."""
        return read_skills(offers)

    @overload
    def __getitem__(self, index: int | str) -> Skill: ...
    @overload
    def __getitem__(self, index: slice) -> list[Skill]: ...
    def __getitem__(self, index: int | str | slice) -> Skill | list[Skill]:
        """Return a skill by its position, its name, or its URI.

        Raises:
            ToolNotFoundError: If the server has no such skill.
        """
        return self._named(index) if isinstance(index, str) else self.items()[index]

    def read(self, skill: str | Skill, file: str = "SKILL.md") -> MCPResourceObservation:
        """Read a file of *skill*, and check it by the digest that the server lists.

        A dynamic skill has no list of files: its files are not checked.

        Args:
            skill: The skill, its name, or its URI.
            file: The path of the file in the skill, or its URI.

        Raises:
            ServerError: If the server refuses, or if the file does not have the listed digest.
            ToolNotFoundError: If there is no such skill or file.
        """
        skill = self._named(skill) if isinstance(skill, str) else skill
        uri = skill.uri_of(file)
        server = self._connection.inbox.server
        contents = self._resources.read(uri)
        try:
            skill.check(server, uri, contents)
        except ServerError:
            # The kept answer may be of an older version of the skill
            contents = self._resources.read(uri, anew=True)
            skill.check(server, uri, contents)
        return contents

    def _named(self, name: str) -> Skill:
        skills = self.items()
        for skill in skills:
            if name in (skill.name, skill.uri):
                return skill
        server, names = self._connection.inbox.server, [s.name for s in skills]
        msg = f"Server {server!r} has no skill {name!r}.{did_you_mean(name, names)}"
        raise ToolNotFoundError(msg)
