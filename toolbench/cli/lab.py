"""`toolbench lab`: open JupyterLab on a notebook, with a kernel of this Python."""

import os
import sys
from pathlib import Path
from urllib.parse import quote

from toolbench.errors import ToolbenchError, did_you_mean
from toolbench.files import write_whole
from toolbench.install_commands import how_to_install

_STARTER = "toolbench.ipynb"
_CELLS = ("%load_ext toolbench", "%tools")


class LabError(ToolbenchError):
    """JupyterLab cannot open the notebook."""


def open_lab(
    notebook: Path | None, *, browser: bool, allow_root: bool = False, root: Path | None = None
) -> int:
    """Open *notebook* in JupyterLab, and return when JupyterLab has ended.

    Args:
        notebook: The path of the notebook. If the file does not exist, it is created with cells
            that list the tools. By default, it is the starter notebook in the current folder.
        browser: Whether to open a browser. If false, the address is only printed.
        allow_root: Whether to start JupyterLab even for the user root.
        root: The folder that JupyterLab shows. It must contain the notebook. By default, it is the
            folder of the notebook.

    Returns:
        The exit code, 0.

    Raises:
        LabError: If JupyterLab is not installed, or if the file is not a notebook or cannot be
            created.
    """
    try:
        from jupyterlab.labapp import LabApp  # noqa: PLC0415 - heavy, and an extra
    except ModuleNotFoundError as error:
        msg = f"JupyterLab is not installed here: {how_to_install('jupyterlab')}"
        raise LabError(msg) from error
    notebook = (notebook or starter(Path.cwd())).resolve()
    if notebook.suffix != ".ipynb":
        msg = f"{str(notebook)!r} is not a notebook: the name of a notebook ends in .ipynb."
        raise LabError(msg)
    if not notebook.is_file():
        _make_new(notebook)
    use_own_kernel()
    folder = root or notebook.parent
    place = quote(notebook.relative_to(folder).as_posix())
    options = [
        f"--ServerApp.root_dir={folder}",
        # The printed address opens the default page: make it the notebook.
        f"--LabApp.default_url=/lab/tree/{place}",
    ]
    if not browser:
        options.append("--no-browser")
    if allow_root:
        options.append("--allow-root")
    LabApp.launch_instance(options)
    return 0


def use_own_kernel() -> None:
    """Let the kernel name `python3` mean this Python, even if another kernel has this name."""
    own = str(Path(sys.prefix) / "share" / "jupyter")
    folders = filter(None, [own, os.environ.get("JUPYTER_PATH")])
    os.environ["JUPYTER_PATH"] = os.pathsep.join(folders)


def starter(folder: Path) -> Path:
    """Return the path of the starter notebook in *folder*; create it if it does not exist.

    The starter notebook has cells that list the user's tools.

    Raises:
        LabError: If the notebook cannot be created.
    """
    path = folder / _STARTER
    if not path.exists():
        _write_starter(path)
    return path


def _make_new(path: Path) -> None:
    """Create the notebook *path*, and print that it is new, because the name may be misspelt.

    The names of similar notebooks are printed too.

    Raises:
        LabError: If the folder of *path* does not exist, or the file cannot be written.
    """
    if not path.parent.is_dir():
        msg = (
            f"There is no notebook {str(path)!r}, and no folder {str(path.parent)!r} to make it in."
        )
        raise LabError(msg)
    others = [other.stem for other in path.parent.glob("*.ipynb")]
    _write_starter(path)
    line = f"Made the new notebook {path}.{did_you_mean(path.stem, others)}"
    print(line, flush=True)  # noqa: T201 - a command of a terminal


def _write_starter(path: Path) -> None:
    """Write the starter notebook at *path*.

    Raises:
        LabError: If the file cannot be written.
    """
    import nbformat  # noqa: PLC0415 - comes with JupyterLab
    from nbformat import v4  # noqa: PLC0415

    cells = [v4.new_code_cell(source) for source in _CELLS]
    # Without a kernel name, JupyterLab asks for one.
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    metadata = {"kernelspec": kernel}
    notebook = v4.new_notebook(cells=cells, metadata=metadata)
    try:
        write_whole(path, f"{nbformat.writes(notebook)}\n", is_private=False)
    except OSError as error:
        msg = f"The notebook {str(path)!r} cannot be made: {error.strerror}."
        raise LabError(msg) from None
