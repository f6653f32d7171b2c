"""The command `toolbench` for a terminal: `new`, `lab`, `eval`, `export`, `connect`, `doctor`."""

import sys
from collections.abc import Sequence

from toolbench.install_commands import how_to_install_extra


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command with *arguments*, by default those of this process, and return its exit code."""
    try:
        from toolbench.cli.app import app  # noqa: PLC0415 - cyclopts is an extra
    except ModuleNotFoundError as error:
        if error.name != "cyclopts":
            raise
        sys.stderr.write(f"The command line needs cyclopts: {how_to_install_extra('cli')}\n")
        return 1
    code = app(arguments, result_action="return_value")
    if isinstance(code, int):
        return code
    return 0
