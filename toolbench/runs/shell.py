"""The IPython shell and the kernel of this process, if any."""

import sys
from typing import Any


def running_shell() -> Any:
    """Return the running IPython shell, or None; this does not import IPython."""
    ipython = sys.modules.get("IPython")
    return ipython.get_ipython() if ipython is not None else None


def has_kernel() -> bool:
    """Tell whether this process is a Jupyter kernel. A terminal has a shell, but shows no widgets."""
    return hasattr(running_shell(), "kernel")
