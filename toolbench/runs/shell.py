"""The IPython shell this process runs in, if any."""

import sys
from typing import Any


def running_shell() -> Any:
    """Return the running IPython shell, or None; this does not import IPython."""
    ipython = sys.modules.get("IPython")
    return ipython.get_ipython() if ipython is not None else None
