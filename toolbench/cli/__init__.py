"""The command `toolbench` for a terminal. Its subcommands are in `app` and `server_commands`."""

import gc
import sys
from collections.abc import Sequence

from toolbench.cli.exit_codes import ExitCode
from toolbench.install_commands import how_to_install_extra


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command with *arguments*, or with those of this process; return its exit code."""
    if arguments is None:
        arguments = sys.argv[1:]
        # Importing makes no garbage, and collecting would take a sixth of the time of a call.
        # `app.run` and `server_source` switch collection on when enough is imported.
        gc.disable()
    try:
        from toolbench.cli.app import run  # noqa: PLC0415 - cyclopts is an extra

        return run(arguments)
    except KeyboardInterrupt:
        return ExitCode.INTERRUPTED
    except ModuleNotFoundError as error:
        if error.name != "cyclopts":
            raise
        sys.stderr.write(f"The command line needs cyclopts: {how_to_install_extra('cli')}\n")
        return ExitCode.FAILED
