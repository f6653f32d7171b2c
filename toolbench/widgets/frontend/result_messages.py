"""Answers to the page (`frontend/src/kernel_results.ts`), which requests rows and files."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from toolbench.display.live_results import live_results
from toolbench.display.saved_result import SavedFile
from toolbench.display.table_query import Sort
from toolbench.errors import ToolbenchError
from toolbench.threads import daemon_thread

# Bytes of one message to a page that saves a result
_PIECE = 2_000_000
# The number of results that pages can save at the same time
_SAVES = 4


class ResultMessages:
    """Answers the requests of pages for rows and files of this kernel's results.

    Because an answer may take time, a thread computes it. Before that, the page is told that its
    request has arrived. Otherwise, the page would repeat the request.
    """

    def __init__(self, send: Callable[..., object]) -> None:
        """Send answers with *send*, a function of a message's content and its binary buffers."""
        self._send = send
        # The files by the id that the page gives each save
        self._saves: dict[str, list[SavedFile]] = {}

    def receive(self, content: Any) -> None:
        """Answer the message *content*, if it requests rows or files of a result."""
        match content:
            case {
                "result": str(key),
                "ask": str(ask),
                "filter": str(words),
                "begin": int(begin),
                "count": int(count),
            }:
                sort = None
                match content.get("sort"):
                    case [int(column), bool(is_descending)]:
                        sort = Sort(column, is_descending)
                self._begin({"ask": ask}, partial(_rows, key, words, sort, begin, count))
            case {"result": str(key), "save": str(save), "card": int(card), "form": str(form)}:
                self._begin({"save": save}, partial(self._files, key, save, card, form))
            case {"save": str(save), "file": int(file), "begin": int(begin)} if save in self._saves:
                piece = self._saves[save][file].content[begin : begin + _PIECE]
                self._send(dict(content), [piece])
            case {"save": str(save)}:
                self._saves.pop(save, None)

    def _begin(self, question: dict[str, str], find: Callable[[], Mapping[str, Any]]) -> None:
        self._send({**question, "working": True})
        daemon_thread(self._answer, question, find, name="toolbench-result").start()

    def _answer(self, question: dict[str, str], find: Callable[[], Mapping[str, Any]]) -> None:
        try:
            found = find()
        except ToolbenchError as error:
            found = {"problem": str(error)}
        except Exception as error:  # noqa: BLE001 - a table may be any object of the tool
            found = {"problem": f"The result cannot be read: {type(error).__name__}."}
        self._send({**question, **found})

    def _files(self, key: str, save: str, card: int, form: str) -> Mapping[str, Any]:
        files = live_results.files(key, for_model=card > 0, form=form)
        if files is None:
            return {}
        self._saves[save] = files
        # A page may have been closed before it received all files
        for earlier in [*self._saves][:-_SAVES]:
            self._saves.pop(earlier, None)
        named = [
            {"name": file.name, "type": file.type, "size": len(file.content)} for file in files
        ]
        return {"files": named}


def _rows(key: str, words: str, sort: Sort | None, begin: int, count: int) -> Mapping[str, Any]:
    query = live_results.query(key)
    if query is None:
        return {}
    found = query.rows(words, sort, begin, count)
    return {"matched": found.matched, "rows": found.rows}
