"""Results that pages show only in part. A page asks for more rows or for files by a result's key."""

from collections.abc import Callable
from threading import Lock
from typing import Any, NamedTuple
from weakref import ReferenceType, ref
from zlib import crc32

from toolbench.core.content import TextContent
from toolbench.core.schema import Observation, redactor_of
from toolbench.display.escape import Html
from toolbench.display.object_table import ObjectTable
from toolbench.display.observations import (
    data_of,
    observation_text,
    result_html,
    whole_table,
    without_secrets,
)
from toolbench.display.saved_result import SavedFile, saved_files
from toolbench.display.table_query import TableQuery
from toolbench.display.tables import ROWS, Frame
from toolbench.redaction.redactor import NO_SECRETS, Redactor

# Characters of a result from which its key is computed
_READ = 100_000
# The number of tables that stay prepared, those shown or asked for last, while their results exist
_READY = 2
# Marks in a view that leaves out a part of a result
_PARTS = ("data-toolbench-result", "data-toolbench-columns", "data-toolbench-part")


class _Kept(NamedTuple):
    source: ReferenceType[Any]
    redactor: Redactor
    table_of: Callable[[Any, Redactor], Frame | None]


class LiveResults:
    """The results of this process, by key. It holds only weak references to the results."""

    def __init__(self) -> None:
        """Start without results."""
        self._lock = Lock()
        self._kept: dict[str, _Kept] = {}
        self._ready: dict[str, TableQuery] = {}
        self._count = 0

    def keep(
        self,
        observation: Observation,
        redactor: Redactor,
        shown: Observation,
        table: Frame | None = None,
    ) -> str:
        """Remember *observation*, and return the key by which a page can ask for its rows.

        The key consists of a number and a checksum of the result. If a notebook is run again from
        the start, its results therefore have the same keys as before. If a result has changed, its
        key has changed too, so an old page never gets the rows of a different result.

        Args:
            observation: The result. The page shows only a part of it.
            redactor: Hides the secrets in the rows and files that the page asks for.
            shown: The result without secrets, from which the checksum is computed.
            table: The table of *shown*. A page that shows its first rows asks for more at once, so
                a long table of JSON objects is not read again for the page.
        """
        text = ""
        for block in shown.content:
            if isinstance(block, TextContent):
                text += block.text[: _READ - len(text)]
        key = self._keep(text, observation, redactor, whole_table)
        if isinstance(table, ObjectTable) and table.shape[0] > ROWS:
            self._prepare(key, TableQuery(table, redactor))
        return key

    def keep_report(self, report: Any, table_of: Callable[[Any], Frame]) -> str:
        """Remember *report*, which has no secrets, and return its key.

        `table_of(report)` returns the rows that a page can ask for.
        """
        return self._keep(report.to_text(), report, NO_SECRETS, lambda source, _: table_of(source))

    def _keep(
        self,
        text: str,
        source: Any,
        redactor: Redactor,
        table_of: Callable[[Any, Redactor], Frame | None],
    ) -> str:
        with self._lock:
            self._count += 1
            key = f"{self._count}-{crc32(text.encode(errors='replace')):08x}"
        self._kept[key] = _Kept(ref(source, lambda _: self._forget(key)), redactor, table_of)
        return key

    def _forget(self, key: str) -> None:
        # No lock: garbage collection may call this in a thread that already holds it
        self._kept.pop(key, None)
        self._ready.pop(key, None)

    def _of(self, key: str) -> tuple[Any, _Kept] | None:
        kept = self._kept.get(key)
        if kept is None:
            return None
        source = kept.source()
        if source is None:
            return None
        return source, kept

    def query(self, key: str) -> TableQuery | None:
        """Return the table with this *key*, from which a page gets filtered and sorted rows.

        Return None if the table was deleted, or if the key comes from another process.
        """
        found = self._of(key)
        if found is None:
            return None
        source, kept = found
        # Two threads may prepare the same table, so that a run that ends waits for neither
        query = self._ready.pop(key, None)
        if query is None:
            table = kept.table_of(source, kept.redactor)
            if table is None:
                return None
            query = TableQuery(table, kept.redactor)
        self._prepare(key, query)
        return query

    def _prepare(self, key: str, query: TableQuery) -> None:
        self._ready[key] = query
        for earlier in [*self._ready][:-_READY]:
            self._ready.pop(earlier, None)

    def files(self, key: str, *, for_model: bool, form: str) -> list[SavedFile] | None:
        """Return the whole result with this *key* as files; None if the result was deleted.

        The arguments *for_model* and *form* are those of `saved_files`.

        Raises:
            ToolbenchError: If the result cannot be saved in this *form*, or is too large.
        """
        found = self._of(key)
        if found is None:
            return None
        source, kept = found
        return saved_files(source, kept.redactor, for_model=for_model, form=form)


live_results = LiveResults()
"""The results that pages of this process show only in part."""


def whole_html(html: str, key: str) -> Html:
    """Add the key of a result to a view of this result, so that a page can save the result.

    The page saves the whole result, even if the view *html* shows only a part of it.
    """
    return Html(f'<div data-toolbench-whole="{key}">{html}</div>')


def observation_bundle(observation: Observation) -> dict[str, str]:
    """Return the mime bundle of a result, without the secrets of its run."""
    redactor = redactor_of(observation)
    masked = without_secrets(observation)
    data = data_of(masked)
    key = live_results.keep(observation, redactor, masked, data.table)
    html = result_html(masked, key=key, data=data)
    if any(part in html for part in _PARTS):
        html = whole_html(html, key)
    # the class's own `visualize` may show a secret that is not in the observation
    bundle = {"text/plain": observation_text(masked), "text/html": html}
    shown: dict[str, str] = redactor.bundle(bundle)
    return shown
