"""Write a notebook that repeats the calls of a recording, for a check with nbval and a replay."""

import json
import os
from collections.abc import Iterator, Mapping
from itertools import count
from pathlib import Path
from typing import Any

from toolbench.errors import ServerError
from toolbench.files import write_named
from toolbench.mcp.recording.recording import RecordedCall, Recording
from toolbench.mcp.session import MCPServerSession
from toolbench.redaction import without_numbers
from toolbench.values import clip


def write_notebook(session: MCPServerSession, path: str | Path, *, overwrite: bool = False) -> Path:
    """Write a notebook that repeats the recorded calls of *session*, which is a replay.

    Args:
        session: The replay of a recording: the calls are made once now, and the notebook shows
            their results. The notebook calls the server by its name in the recording.
        path: The file of the notebook. The notebook names the recording by a relative path.
        overwrite: Replace a file that has other content.

    Raises:
        FileError: If the file exists with other content, or cannot be written.
        ServerError: If there is no recorded call, or a call that succeeded fails in the replay.
    """
    path, recorded = Path(path).expanduser(), session.recording
    if recorded is None:
        msg = (
            f"Server {session.name!r} is not recorded: connect it again with "
            f"%mcp connect {session.name} --record FILE -- COMMAND."
        )
        raise ServerError(msg)
    recording = Recording.read(recorded)
    server = recording.recorded_name(session.name) or session.name
    calls = [c for c in recording.calls if c.server == server]
    if not calls:
        msg = f"No call of {session.name!r} is in the recording yet: there is nothing to repeat."
        raise ServerError(msg)
    place = os.path.relpath(recorded, path.absolute().parent)
    cells = [*_head(server, Path(place)), *_calls(session, calls), _foot()]
    book = {
        "cells": _numbered(cells),
        "metadata": {
            "kernelspec": {
                "name": "python3",
                "display_name": "Python 3",
                "language": "python",
            },
            "toolbench": {"recording": place},
        },
        "nbformat": 4,
        "nbformat_minor": 5,
    }
    text = json.dumps(book, indent=1, ensure_ascii=False)
    return write_named(path, f"{text}\n", overwrite=overwrite)


def _numbered(cells: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return *cells* with ids, and with execution counts as after a run of all cells."""
    numbers = count(1)
    return [
        {
            "id": f"cell-{n}",
            **cell,
            **({"execution_count": next(numbers)} if "outputs" in cell else {}),
        }
        for n, cell in enumerate(cells)
    ]


def _head(name: str, recording: Path) -> Iterator[dict[str, Any]]:
    yield {
        "cell_type": "markdown",
        "metadata": {},
        "source": f"# The calls of `{name}`, as they were recorded\n\n"
        f"They are answered from `{recording.name}`: no server is started. "
        "`pytest -p nbval --nbval` checks that they still return the same.",
    }
    yield _code(
        "from toolbench.mcp import MCPClient\n\n"
        "client = MCPClient()\n"
        f"session = client.connect({name!r}, replay={recording.as_posix()!r})",
        "",
    )


def _calls(session: MCPServerSession, calls: list[RecordedCall]) -> Iterator[dict[str, Any]]:
    for call in calls:
        arguments: Mapping[str, Any] = without_numbers(dict(call.arguments))
        source = f"print(session.call({call.tool!r}, {arguments!r}).text)"
        result = session.call(call.tool, dict(arguments))
        if result.is_error and _has_succeeded(call):
            msg = (
                f"No notebook was written: the recorded call of {call.tool!r} with "
                f"{clip(arguments)} cannot be repeated. {result.text}"
            )
            raise ServerError(msg)
        yield _code(source, f"{result.text}\n")


def _has_succeeded(call: RecordedCall) -> bool:
    return call.result is not None and not call.result.get("isError")


def _foot() -> dict[str, Any]:
    return _code("client.sync_close()", "")


def _code(source: str, printed: str) -> dict[str, Any]:
    output = {"output_type": "stream", "name": "stdout", "text": printed}
    return {
        "cell_type": "code",
        "execution_count": None,
        "metadata": {},
        "outputs": [output] if printed else [],
        "source": source,
    }
