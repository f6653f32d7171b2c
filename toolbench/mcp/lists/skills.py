"""List the skills of a server, and read their files, whose listed digests are checked.

Source: MCP, SEP-2640 (Skills extension); Agent Skills.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any, overload

from toolbench.core.content import decoded
from toolbench.errors import ServerError, ToolNotFoundError, did_you_mean
from toolbench.mcp.connection.connection import SKILLS
from toolbench.mcp.connection.reconnection import ReconnectingConnection
from toolbench.mcp.lists.remote_list import RemoteList
from toolbench.mcp.lists.resources import MCPResourceObservation, ResourceList
from toolbench.values import clip


@dataclass(frozen=True, kw_only=True)
class SkillFile:
    """A file of a skill, as the server lists it."""

    uri: str
    path: str
    """The path of the file within the skill, such as `SKILL.md` or `scripts/fill.py`."""
    digest: str
    """The SHA-256 of the file: `sha256:` and 64 hexadecimal digits."""
    size: int | None = None
    """The size in bytes; None if the server does not list it."""


@dataclass(frozen=True, kw_only=True)
class Skill:
    """A skill that a server offers."""

    uri: str
    """The URI of the skill's `SKILL.md`."""
    name: str
    description: str = ""
    files: tuple[SkillFile, ...] = ()
    """The files with their digests; empty if the server generates the files on request."""
    is_dynamic: bool = False
    """Whether the server generates the files on request, so that they have no digests."""
    raw: Mapping[str, Any] = field(default_factory=dict, repr=False)

    def uri_of(self, path: str) -> str:
        """Return the URI of the file at *path* in the skill. *path* may also be the URI itself.

        Raises:
            ToolNotFoundError: If the server lists the files of the skill, and *path* is not one of
                them.
        """
        files = {file.path: file.uri for file in self.files}
        if path in files:
            return files[path]
        if path in (*files.values(), self.uri):
            return path
        if path == "SKILL.md":
            return self.uri
        if self.is_dynamic:
            return _folder(self.uri) + path
        msg = f"The skill {self.name!r} has no file {path!r}.{did_you_mean(path, files)}"
        raise ToolNotFoundError(msg)

    def check(self, server: str, uri: str, contents: MCPResourceObservation) -> None:
        """Check *contents*, which *server* sent for *uri*, against the digest in the server's list.

        A dynamic skill is not checked: the server generates its files on request, so there are no
        digests.

        Raises:
            ServerError: If *contents* has another digest, or the server lists no digest for *uri*.
        """
        if self.is_dynamic:
            return
        file = next((file for file in self.files if file.uri == uri), None)
        if file is None:
            msg = (
                f"Server {server!r} lists no digest for {uri!r} of the skill {self.name!r}, "
                "so the file was not used."
            )
            raise ServerError(msg)
        data = _bytes_of(contents, uri)
        digest = "none"
        if data is not None:
            digest = f"sha256:{sha256(data).hexdigest()}"
        if digest != file.digest:
            msg = (
                f"The file {file.path!r} of the skill {self.name!r} is not the one that server "
                f"{server!r} lists: its digest is {digest}, and not {clip(file.digest)}. "
                "It was not used."
            )
            raise ServerError(msg)


def read_skills(items: Iterable[Any]) -> list[Skill]:
    """Return the skills in the *items* of a list; items without a URI or a name are left out."""
    skills = []
    for item in items:
        if (skill := _skill(item)) is not None:
            skills.append(skill)
    return skills


def _skill(item: Any) -> Skill | None:
    if not isinstance(item, Mapping) or not isinstance(item.get("uri"), str):
        return None
    about = item.get("frontmatter")
    if not isinstance(about, Mapping):
        return None
    name, description = about.get("name"), about.get("description")
    if not isinstance(name, str) or not name:
        return None
    if not isinstance(description, str):
        description = ""
    resources = item.get("resources")
    return Skill(
        uri=item["uri"],
        name=name,
        description=description,
        files=_files(item["uri"], resources),
        is_dynamic=resources == "dynamic",
        raw=dict(item),
    )


def _files(skill: str, resources: Any) -> tuple[SkillFile, ...]:
    """Return the files of *resources* that are in the folder of *skill* and have a digest."""
    if not isinstance(resources, list):
        return ()
    folder, files = _folder(skill), []
    for item in resources:
        if not isinstance(item, Mapping):
            continue
        uri, digest, size = item.get("uri"), item.get("digest"), item.get("size")
        if not isinstance(uri, str) or not isinstance(digest, str) or not uri.startswith(folder):
            continue
        if not isinstance(size, int):
            size = None
        path = uri.removeprefix(folder)
        files.append(SkillFile(uri=uri, path=path, digest=digest, size=size))
    return tuple(files)


def _folder(uri: str) -> str:
    return uri.rpartition("/")[0] + "/"


def _bytes_of(contents: MCPResourceObservation, uri: str) -> bytes | None:
    """Return the bytes of the file *uri*; None if *contents* is not exactly this file.

    The digest is computed from the returned bytes alone. None is returned for an answer with a
    second part, or with both text and binary data, because the rest of the answer would not be
    checked.
    """
    parts = [block.get("resource") for block in contents.blocks]
    if len(parts) != 1 or not isinstance(part := parts[0], Mapping):
        return None
    if part.get("uri") != uri or ("text" in part) is ("blob" in part):
        return None
    text = part.get("text")
    if isinstance(text, str):
        return text.encode("utf-8", "surrogatepass")
    return decoded(part.get("blob"))


class SkillList(RemoteList[Skill]):
    """The skills of one server: `skills[0]`, `skills["pdf-forms"]`. Skills are read, never run."""

    method = "skills/list"
    key = "skills"

    def __init__(
        self,
        connection: ReconnectingConnection,
        seconds: float,
        resources: ResourceList,
    ) -> None:
        """Create a list to request over *connection* within *seconds*; *resources* reads files."""
        super().__init__(connection, seconds)
        self._resources = resources

    def is_offered(self, capabilities: Mapping[str, Any]) -> bool:
        """Tell whether the server declares the skills extension in its *capabilities*."""
        return SKILLS in (capabilities.get("extensions") or {})

    def parse(self, offers: list[Any]) -> list[Skill]:
        """Return the skills in *offers*, the entries of the server's list."""
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
        if isinstance(index, str):
            return self._named(index)
        return self.items()[index]

    def read(self, skill: str | Skill, file: str = "SKILL.md") -> MCPResourceObservation:
        """Read a file of *skill*, and check it against the digest that the server lists.

        A dynamic skill is not checked: the server generates its files on request, so there are no
        digests.

        Args:
            skill: The skill, its name, or its URI.
            file: The path of the file within the skill, or its URI.

        Raises:
            ServerError: If the server refuses, or the file does not have the listed digest.
            ToolNotFoundError: If there is no such skill or file.
        """
        if isinstance(skill, str):
            skill = self._named(skill)
        uri = skill.uri_of(file)
        server = self._connection.inbox.server
        contents = self._resources.read(uri)
        try:
            skill.check(server, uri, contents)
        except ServerError:
            # The kept answer may come from an older version of the skill
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
