"""A snapshot of a server's tools, resources and prompts, for version control and comparisons."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

from toolbench.errors import ServerError
from toolbench.files import write_named
from toolbench.mcp.snapshots.diff import Change, changes_between
from toolbench.values import clip

_UNSTABLE = frozenset({"lastModified", "ttlMs", "cacheScope"})
"""Keys whose values change although the offer stays the same, such as times."""


@dataclass(frozen=True)
class Snapshot:
    """The tools, resources and prompts that a server offered at one moment.

    `json` is the content as a JSON object, and `write` saves it in a file.

    Examples:
        >>> from toolbench.mcp import Snapshot, create_mcp_tools
        >>> from toolbench.testing import FakeMCPServer
        >>> server = FakeMCPServer("shop")
        >>> server.answer("price", 3)
        >>> with create_mcp_tools(server) as client:
        ...     file = client.servers["shop"].snapshot().write("shop.snapshot.json")
        ...     server.answer("stock", 7)
        ...     client.servers["shop"].refresh()
        ...     changes = Snapshot.read(file).diff(client.servers["shop"].snapshot())
        >>> [(change.kind, change.where) for change in changes]
        [('added', 'tools/stock')]
    """

    json: dict[str, Any] = field(repr=False)

    @classmethod
    def of(cls, offered: Mapping[str, Any]) -> Self:
        """Return a snapshot of *offered*: tools, resources and prompts, each sorted by name."""
        return cls({key: _sorted(value) for key, value in offered.items()})

    @classmethod
    def read(cls, path: str | Path) -> Self:
        """Return the snapshot that `write` saved in the file at *path*.

        Raises:
            ServerError: If the file cannot be read, or is not a snapshot.
        """
        path = Path(path).expanduser()
        try:
            content = json.loads(path.read_text(encoding="utf-8"))
        except OSError as error:
            msg = f"Cannot read the snapshot {str(path)!r}: {error.strerror}."
            raise ServerError(msg) from None
        except (ValueError, RecursionError) as error:
            msg = f"{str(path)!r} is not a snapshot: it is not JSON ({error})."
            raise ServerError(msg) from None
        if not isinstance(content, dict) or not isinstance(content.get("tools"), dict):
            msg = (
                f"{str(path)!r} is not a snapshot: it has no tools by name. "
                "%mcp snapshot NAME FILE writes one."
            )
            raise ServerError(msg)
        for name, tool in content["tools"].items():
            if not isinstance(tool, dict):
                msg = (
                    f"{str(path)!r} is not a snapshot: its tool {clip(name)} is {clip(tool)}, not an "
                    "object. %mcp snapshot NAME FILE writes a new one."
                )
                raise ServerError(msg)
        return cls(content)

    def write(self, path: str | Path, *, overwrite: bool = False) -> Path:
        """Write the snapshot to *path*, and return the path.

        As long as the server does not change, its snapshots have the same content. You can
        therefore keep them under version control.

        Args:
            path: The file.
            overwrite: Whether to replace a file that has other content, such as an older snapshot.

        Raises:
            FileError: If the file exists with other content, or cannot be written.
        """
        text = json.dumps(self.json, ensure_ascii=False, indent=2, sort_keys=True)
        return write_named(path, f"{text}\n", overwrite=overwrite)

    def diff(self, later: "Snapshot") -> list[Change]:
        """Return the changes from this snapshot to *later*, sorted by path."""
        return changes_between(self.json, later.json)


def _sorted(value: Any) -> Any:
    """Return *value*, a part of a snapshot, sorted by key and without unstable keys."""
    if isinstance(value, Mapping):
        return {key: _item(value[key]) for key in sorted(value)}
    return value


def _item(value: Any) -> Any:
    if not isinstance(value, Mapping):
        return value
    stable = {key: item for key, item in value.items() if key not in _UNSTABLE}
    hints = stable.get("annotations")
    if isinstance(hints, Mapping):
        stable["annotations"] = {k: v for k, v in hints.items() if k not in _UNSTABLE}
    return stable
