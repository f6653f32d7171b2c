"""Find out whether an interrupted kernel is shutting down, or was only interrupted.

Source: jupyter_client, `KernelManager.shutdown_kernel`, which interrupts the kernel first. A
restart calls this method too.
"""

from asyncio import sleep

from toolbench.core.background_loop import portal
from toolbench.runs.shell import has_kernel, running_shell

# Two seconds: a busy machine takes long to ask for the end
_LOOKS, _PAUSE = 40, 0.05


async def kernel_ends() -> bool:
    """Return whether this process is shutting down.

    Jupyter interrupts a kernel before it asks the kernel to shut down. So in a kernel, this
    function waits up to about two seconds for the request to shut down. Await it in the background
    loop.
    """
    shell = running_shell()
    for _ in range(_LOOKS if has_kernel() else 0):
        # ipykernel sets `exit_now` when it is asked to end
        if portal.is_closing or getattr(shell, "exit_now", False):
            return True
        await sleep(_PAUSE)
    return portal.is_closing
