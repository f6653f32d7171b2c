"""Find the program that a server's configuration names."""

import os
import shutil
from collections.abc import Mapping
from pathlib import Path


def find_program(command: str, env: Mapping[str, str], cwd: str | None) -> str:
    """Return the path of the program that *command* names.

    Raises:
        FileNotFoundError: If there is no such program; the message says what to do.
        NotADirectoryError: If *cwd* is not a directory.
        PermissionError: If the file may not be executed.
    """
    if cwd is not None and not Path(cwd).is_dir():
        msg = (
            f"the working directory {cwd!r} does not exist. Create it, or change 'cwd'."
        )
        raise NotADirectoryError(msg)
    beside = Path(cwd or Path.cwd()) / command
    is_path = bool(os.path.dirname(command))  # noqa: PTH120 - Path takes "./x" for "x"
    if program := shutil.which(
        str(beside) if is_path else command, path=env.get("PATH")
    ):
        return str(Path(program).absolute())
    if is_path and beside.is_file():
        msg = f"{command!r} may not be executed. Make it executable, or name its interpreter."
        raise PermissionError(msg)
    msg = f"command not found: {command!r}. Is it installed and on PATH?"
    raise FileNotFoundError(msg)
