"""Answer the page (`frontend/src/kernel_rows.ts`), which asks for rows of a table: filtered, sorted."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from toolbench.display.live_results import live_results
from toolbench.display.table_query import Rows, Sort
from toolbench.threads import daemon_thread


def answer_rows(content: Any, send: Callable[[Any], object]) -> None:
    """Answer *content*, if it asks for rows: *send* gets them from a thread, so that nothing else waits."""
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
            find = partial(_rows, key, words, sort, begin, count)
            daemon_thread(_answer, send, ask, find, name="toolbench-rows").start()


def _rows(key: str, words: str, sort: Sort | None, begin: int, count: int) -> Rows | None:
    query = live_results.query(key)
    if query is None:
        return None
    return query.rows(words, sort, begin, count)


def _answer(send: Callable[[Any], object], ask: str, find: Callable[[], Rows | None]) -> None:
    answer: Mapping[str, Any] = {"ask": ask, "unknown": True}
    try:
        found = find()
        if found is not None:
            answer = {"ask": ask, "matched": found.matched, "rows": found.rows}
    except Exception:  # noqa: BLE001, S110 - a table may be any object; the page has its first rows
        pass
    send(answer)
