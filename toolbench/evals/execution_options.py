"""Check the options that evaluations and sweeps share, before they are used."""

from concurrent.futures import Executor
from numbers import Integral
from typing import Any

from toolbench.errors import CaseError


def check_options(*, repeats: Any, workers: Any, executor: Any) -> None:
    """Check the options that a user gave.

    Raises:
        CaseError: If an option cannot be used.
    """
    for name, value in (("repeats", repeats), ("workers", workers)):
        is_whole = isinstance(value, Integral) and not isinstance(value, bool)
        if not is_whole or value < 1:
            msg = f"{name} must be a whole number of at least 1, not {value!r}."
            raise CaseError(msg)
    if executor is not None and not isinstance(executor, Executor):
        msg = (
            "executor must be a concurrent.futures.Executor, for example "
            f"ThreadPoolExecutor() or dask's client.get_executor(), not {executor!r:.100}."
        )
        raise CaseError(msg)
