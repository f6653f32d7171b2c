"""Stop a run: ask first, then insist.

First the run's flag, its callbacks and the executor's `interrupt()`. After a grace period the
subprocesses its thread started are killed and an exception is injected into the thread. A call
blocked in C cannot be broken: it is reported as stopping, and nothing waits for it.
"""

import ctypes
from contextlib import suppress
from pathlib import Path
from threading import Thread

from toolbench.runs.run import ENDED, Run, RunCancelled

GRACE = 1.0  # seconds between asking and insisting


def cancel(
    run: Run,
    thread: Thread | None = None,
    reason: str = "cancelled",
    *,
    grace: float = GRACE,
) -> None:
    """Have *run* stop. Returns at once; again and again does no harm.

    Args:
        run: The run.
        thread: The thread it runs in, if it may be broken off.
        reason: Why, for the record.
        grace: Seconds it has to stop by itself.
    """
    if run.state in ENDED:
        return
    callbacks = run.wants_cancel(reason)
    run.enter("stopping")
    tell = [*callbacks, getattr(run.tool.executor, "interrupt", lambda: None)]
    Thread(
        target=_stop,
        args=(run, thread, tell, grace),
        name="toolbench-cancel",
        daemon=True,
    ).start()


def _stop(run: Run, thread: Thread | None, tell: list[object], grace: float) -> None:
    for callback in tell:
        try:
            callback()  # type: ignore[operator]
        except Exception as error:  # noqa: BLE001 - a bad callback must not save the others
            run.log(f"while stopping: {error}", "warning")
    while not run.done.wait(grace) and thread is not None and thread.is_alive():
        kill_children(thread)
        ctypes.pythonapi.PyThreadState_SetAsyncExc(
            ctypes.c_ulong(thread.ident or 0), ctypes.py_object(RunCancelled)
        )


def kill_children(thread: Thread) -> None:
    """Kill the processes that *thread* started, with theirs; Linux tells which they are."""
    import psutil  # noqa: PLC0415 - only to stop something that does not stop

    children = Path(f"/proc/self/task/{thread.native_id}/children")
    with suppress(OSError):
        for pid in children.read_text().split():
            with suppress(psutil.NoSuchProcess):
                process = psutil.Process(int(pid))
                for victim in [*process.children(recursive=True), process]:
                    with suppress(psutil.NoSuchProcess):
                        victim.kill()
