"""Teach the built JupyterLite to heed the tag `raises-exception`, as JupyterLab does.

JupyterLab sends `stop_on_error: false` with a cell of this tag. Since its pull request 1671 JupyterLite
drops all cells that wait when any cell fails, and does not look at this word of the request (0.8.6). So
Run All stops at an error that is meant. This changes the two places of JupyterLite's own JavaScript.
"""

from pathlib import Path

REQUEST = "await r.ready,await r.handleMessage(s)"
NOTED = f"i.stopOnError=!1!==s.content?.stop_on_error,{REQUEST}"
REPLY = '"interrupt"!==e.metadata.cause&&('
HEEDED = f"{REPLY[:-1]}i.stopOnError&&("


def heed_meant_errors(lite: Path) -> None:
    """Change the JavaScript in the folder *lite*.

    Raises:
        SystemExit: This is another JupyterLite, whose JavaScript does not have both places once.
    """
    texts = {path: path.read_text("utf-8") for path in (lite / "build").glob("*.js")}
    places = [path for path, text in texts.items() if text.count(REQUEST) == text.count(REPLY) == 1]
    if len(places) != 1:
        message = (
            f"{len(places)} files of JupyterLite cancel cells as 0.8.6 does, not 1: look whether this version "
            "heeds stop_on_error itself, and change or remove scripts/lite_errors.py."
        )
        raise SystemExit(message)
    [path] = places
    text = texts[path].replace(REQUEST, NOTED).replace(REPLY, HEEDED)
    path.write_text(text, "utf-8")
