"""Kernels that are reached over Unix sockets, and a pytest plugin that gives them to nbval.

`KernelManager` looks for five free TCP ports, and the kernel opens them a second later. Of a
thousand kernels that start beside others about one finds a port taken by then, and dies or is silent.
"""

import tempfile
import uuid
from pathlib import Path
from typing import Any

from jupyter_client.manager import KernelManager


class SocketKernelManager(KernelManager):
    """Starts a kernel whose five channels are files of its own."""

    def __init__(self, **traits: Any) -> None:
        # short: the path of a Unix socket has at most 107 characters
        name = f"kernel-{uuid.uuid4().hex[:12]}.json"
        file = Path(tempfile.gettempdir(), name)
        super().__init__(transport="ipc", connection_file=str(file), **traits)


def pytest_configure() -> None:
    """Let nbval start its kernels so; `make notebooks` names this plugin."""
    # here, since it takes a second, and other tests import this file
    import nbval.kernel

    nbval.kernel.KernelManager = SocketKernelManager
