"""%mcp skills: the skills of a server, listed and read."""

from argparse import Namespace
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from toolbench.magics.table import Listing

if TYPE_CHECKING:
    from toolbench.mcp.session import MCPServerSession


def add_parsers(commands: Any) -> None:
    """Add the sub-command `skills` to %mcp."""
    skills = commands.add_parser("skills", help="its skills; with a SKILL, read it")
    skills.add_argument("name")
    skills.add_argument("skill", nargs="?", help="the name of a skill")
    skills.add_argument("file", nargs="?", default="SKILL.md", help="a file of it")


def _skills(options: Namespace, server: "Callable[[str], MCPServerSession]") -> Any:
    session = server(options.name)
    if options.skill is not None:
        return session.skills.read(options.skill, options.file)
    rows = [
        (
            skill.name,
            "made when read" if skill.is_dynamic else len(skill.files),
            skill.description.strip().partition("\n")[0],
        )
        for skill in session.skills
    ]
    note = f"%mcp skills {session.name} SKILL [FILE] reads one; its digest is checked."
    return Listing(
        (f"skill of {session.name}", "files", "what it is for"),
        rows,
        f"{session.name} has no skills.",
        notes=[note] if rows else [],
    )


COMMANDS = {"skills": _skills}
"""The function of the sub-command."""
