"""The IPython shell and the kernel of this process, if any."""

import sys
from collections.abc import Mapping
from typing import Any
from weakref import WeakKeyDictionary


def running_shell() -> Any:
    """Return the running IPython shell, or None; this does not import IPython."""
    ipython = sys.modules.get("IPython")
    return ipython.get_ipython() if ipython is not None else None


def has_kernel() -> bool:
    """Tell whether this process is a Jupyter kernel. A terminal has a shell, but shows no widgets."""
    return hasattr(running_shell(), "kernel")


def running_cell(shell: Any) -> str | None:
    """Return the id that the front end gives the cell that *shell* runs; None without such a cell."""
    ask = getattr(getattr(shell, "kernel", None), "get_parent", None)
    # The request that the kernel answers, as far as it tells
    match ask() if ask is not None else None:
        case {"metadata": {"cellId": str(cell_id)}}:
            return cell_id
    return None


class CellIds:
    """The ids of the cells that ran, as the front end sent them: a cell keeps its id when it is edited."""

    def __init__(self) -> None:
        """Begin without any id."""
        self._ids: WeakKeyDictionary[Any, dict[int, str]] = WeakKeyDictionary()

    def begin(self, shell: Any, info: Any) -> None:
        """Store the id of the cell that begins in *shell*; *info* is what IPython tells about it."""
        ids = self._ids.setdefault(shell, {})
        if getattr(info, "store_history", False):
            number = len(shell.history_manager.input_hist_parsed)
            # Of a run before `%reset`
            ids.pop(number, None)
            self._store(ids, number, info)

    def end(self, shell: Any, result: Any) -> None:
        """Store the id of the cell that ended in *shell*, where its begin was not seen: `%load_ext`."""
        ids, info = self._ids.setdefault(shell, {}), getattr(result, "info", None)
        if getattr(info, "store_history", False) and result.execution_count:
            self._store(ids, result.execution_count, info)

    def of(self, shell: Any) -> Mapping[int, str]:
        """Return the ids of the cells that ran in *shell*, by the numbers of the cells."""
        return self._ids.get(shell, {})

    def _store(self, ids: dict[int, str], number: int, info: Any) -> None:
        if cell_id := getattr(info, "cell_id", None):
            ids[number] = cell_id


cell_ids = CellIds()
