"""Write tools as a package: `%tool NAME --export DIR`."""

from argparse import Namespace
from collections.abc import Sequence
from typing import Any

from toolbench.core.tool import ToolDefinition


def run(tools: Sequence[ToolDefinition[Any, Any]], options: Namespace) -> None:
    """Write *tools* as one package, and print where it is, how to install it, and what to look at.

    Raises:
        ExportError: If the package cannot be written.
        FileError: If a file of it exists with other content, and the line does not say --yes.
    """
    from toolbench.export.installation import (  # noqa: PLC0415 - only for an export
        how_to_install_for_openhands,
        how_to_install_from_a_cell,
    )
    from toolbench.export.package import write_package  # noqa: PLC0415 - as above

    package = write_package(
        tools,
        options.export,
        openhands=options.openhands,
        overwrite=options.yes,
    )
    how_to = how_to_install_for_openhands if options.openhands else how_to_install_from_a_cell
    names = ", ".join(tool.name for tool in tools)
    how = how_to(package.folder)
    text = f"Wrote the package {package.folder} with {names}. {how}{package.to_look_at()}"
    print(text)  # noqa: T201 - in the cell that asked
