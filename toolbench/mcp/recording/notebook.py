"""Write a notebook that repeats the calls of a recording, to be checked with nbval."""

import json
import os
from pathlib import Path
from typing import Any

from toolbench.errors import ServerError
from toolbench.files import write_named
from toolbench.mcp.recording.recording import Recording
from toolbench.mcp.server_session import MCPServerSession
from toolbench.redaction import without_numbers
from toolbench.values import clip

_KERNEL = {"name": "python3", "display_name": "Python 3", "language": "python"}
_TEXT = """# The calls of `{}`, as they were recorded

No server is started: `{}` answers. `pytest -p nbval --nbval` checks that all results are the same."""
_IMPORT = "from toolbench.mcp import MCPClient\n\n"
_CONNECT = "client = MCPClient()\nsession = client.connect({!r}, replay={!r})"


def write_notebook(replay: MCPServerSession, path: str | Path, *, overwrite: bool = False) -> Path:
    """Repeat the recorded calls of the session *replay*, and write a notebook with their results.

    Raises:
        FileError: If the file exists with other content and *overwrite* is False, or if it cannot
            be written.
        ServerError: If no call was recorded, or a call that succeeded in the recording fails in the
            replay.
    """
    path, recording = Path(path).expanduser(), Recording.read(replay.entry.url)
    name = recording.recorded_name(replay.name) or replay.name
    place = Path(os.path.relpath(recording.path, path.absolute().parent)).as_posix()
    cells = [_code(1, _IMPORT + _CONNECT.format(name, place))]
    for call in recording.calls:
        if call.server == name:
            arguments = without_numbers(dict(call.arguments))
            result = replay.call(call.tool, dict(arguments))
            if result.is_error and call.result is not None and not call.result.get("isError"):
                what = f"the recorded call of {call.tool!r} with {clip(arguments)}"
                msg = f"No notebook was written: {what} cannot be repeated. {result.text}"
                raise ServerError(msg)
            source = f"print(session.call({call.tool!r}, {arguments!r}).text)"
            cells.append(_code(len(cells) + 1, source, f"{result.text}\n"))
    if len(cells) == 1:
        msg = f"No call of {replay.name!r} is in the recording yet: there is nothing to repeat."
        raise ServerError(msg)
    cells.append(_code(len(cells) + 1, "client.sync_close()"))
    text = _TEXT.format(name, recording.path.name)
    cells.insert(0, {"id": "cell-0", "cell_type": "markdown", "metadata": {}, "source": text})
    book = {"cells": cells, "metadata": {"kernelspec": _KERNEL}, "nbformat": 4, "nbformat_minor": 5}
    written = json.dumps(book, indent=1, ensure_ascii=False)
    return write_named(path, f"{written}\n", overwrite=overwrite)


def _code(number: int, source: str, printed: str = "") -> dict[str, Any]:
    cell = {"id": f"cell-{number}", "cell_type": "code", "metadata": {}, "source": source}
    outputs = []
    if printed:
        outputs.append({"output_type": "stream", "name": "stdout", "text": printed})
    return {**cell, "execution_count": number, "outputs": outputs}
