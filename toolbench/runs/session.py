"""The function `reset`, which restores all the state that a session keeps in modules.

In this package, the state is in `policy`, `history()`, `numbers`, `active`, `line` and the
functions that mask secrets (`redirect`). In `core`, it is in `default_registry` and `secret_store`;
in `redaction`, in `remembered` and `secrets_of_servers`. What `%load_ext` adds (`core.tool.hooks`,
and the shell's `meta`) stays until `%unload_ext`. Servers stay connected until they are closed.
"""

from toolbench.core.registry import default_registry
from toolbench.core.secrets import secret_store
from toolbench.runs.control import Stop, StopCause, active
from toolbench.runs.history import history
from toolbench.runs.policy import policy
from toolbench.runs.progress import line
from toolbench.runs.redirect import forget_secrets
from toolbench.runs.run import numbers


def reset() -> None:
    """Make this session like a new process, for tests.

    Background runs are told to stop. Records, verdicts, registered tools, secrets and the progress
    line of the cell are forgotten. The next run is number 1 again.

        @pytest.fixture(autouse=True)
        def new_session():
            reset()
    """
    active.stop_all(Stop(StopCause.PROGRAM, "stopped: the session was reset"))
    history().clear()
    numbers.reset()
    policy.reset()
    line.reset()
    default_registry.clear()
    forget_secrets()
    secret_store.forget()
