"""`toolbench lab`: JupyterLab on one notebook, on the kernel of this very Python."""

import os
import sys
from pathlib import Path
from urllib.parse import quote

from toolbench.errors import ToolbenchError

_STARTER = "toolbench.ipynb"
_CELLS = ("%load_ext toolbench", "%tools")


class LabError(ToolbenchError):
    """JupyterLab cannot be opened on that notebook."""


def open_lab(notebook: Path | None, *, browser: bool, root: Path | None = None) -> int:
    """Serve JupyterLab on *notebook* until it is stopped.

    Args:
        notebook: A notebook that exists; None is the one that `starter` makes here.
        browser: Whether a browser is opened, or the address only printed.
        root: The folder shown, one above the notebook; its own by default.

    Returns:
        The exit code, 0.

    Raises:
        LabError: There is no such notebook, it is none, or JupyterLab is not installed.
    """
    try:
        from jupyterlab.labapp import LabApp  # noqa: PLC0415 - heavy, and an extra
    except ModuleNotFoundError as error:
        msg = "JupyterLab is not installed here: pip install jupyterlab"
        raise LabError(msg) from error
    notebook = (notebook or starter(Path.cwd())).resolve()
    if not notebook.is_file():
        msg = f"There is no notebook {str(notebook)!r}."
        raise LabError(msg)
    if notebook.suffix != ".ipynb":
        msg = f"{str(notebook)!r} is no notebook: the name of one ends in .ipynb."
        raise LabError(msg)
    use_own_kernel()
    folder = root or notebook.parent
    place = quote(notebook.relative_to(folder).as_posix())
    options = [
        f"--ServerApp.root_dir={folder}",
        # As the default page, the notebook is also what the printed address opens.
        f"--LabApp.default_url=/lab/tree/{place}",
    ]
    if not browser:
        options.append("--no-browser")
    if hasattr(os, "geteuid") and os.geteuid() == 0:
        options.append("--allow-root")
    LabApp.launch_instance(options)
    return 0


def use_own_kernel() -> None:
    """Let `python3` mean the Python that runs this, whatever kernels a user has."""
    own = str(Path(sys.prefix) / "share" / "jupyter")
    before = os.environ.get("JUPYTER_PATH")
    os.environ["JUPYTER_PATH"] = f"{own}{os.pathsep}{before}" if before else own


def starter(folder: Path) -> Path:
    """Return the notebook in *folder* that lists the tools, made when it is not there."""
    import nbformat  # noqa: PLC0415 - comes with JupyterLab
    from nbformat import v4  # noqa: PLC0415

    path = folder / _STARTER
    if not path.exists():
        cells = [v4.new_code_cell(source) for source in _CELLS]
        # Without its name, JupyterLab asks which kernel to start.
        kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
        metadata = {"kernelspec": kernel}
        nbformat.write(v4.new_notebook(cells=cells, metadata=metadata), path)
    return path
