"""The results of which pages show the first rows: a page asks for the others by a key."""

from functools import partial
from threading import Lock
from typing import NamedTuple
from weakref import ReferenceType, ref
from zlib import crc32

from toolbench.core.content import TextContent
from toolbench.core.schema import Observation, redactor_of
from toolbench.display.observations import (
    json_of,
    observation_text,
    result_html,
    table_of,
    without_secrets,
)
from toolbench.display.table_query import TableQuery
from toolbench.display.tables import returned_frame
from toolbench.redaction.redactor import Redactor

# Characters of each text that make a key
_READ = 100_000
# Tables that are kept as they were prepared for the last questions
_READY = 2


class _Kept(NamedTuple):
    observation: "ReferenceType[Observation]"
    redactor: Redactor


class LiveResults:
    """The results of this process, by key. It keeps no result: one that nobody has any more is gone."""

    def __init__(self) -> None:
        """Keep no result yet."""
        self._lock = Lock()
        self._kept: dict[str, _Kept] = {}
        self._ready: dict[str, TableQuery] = {}
        self._count = 0

    def keep(self, observation: Observation, redactor: Redactor, shown: Observation) -> str:
        """Return the key of *observation*.

        A notebook that runs once more from its start has the same keys, and one that is opened after
        its kernel has ended gets no rows of another result.

        Args:
            observation: The result.
            redactor: Hides its secrets.
            shown: The result without secrets.
        """
        text = ""
        for block in shown.content:
            if isinstance(block, TextContent):
                text += block.text[:_READ]
        with self._lock:
            self._count += 1
            key = f"{self._count}-{crc32(text.encode(errors='replace')):08x}"
            alive = {k: kept for k, kept in self._kept.items() if kept.observation() is not None}
            self._kept = {**alive, key: _Kept(ref(observation), redactor)}
            self._ready = {k: query for k, query in self._ready.items() if k in alive}
        return key

    def query(self, key: str) -> TableQuery | None:
        """Return the table of the result with this *key*; None if it is gone, or of another process."""
        with self._lock:
            kept, ready = self._kept.get(key), self._ready.get(key)
        observation = None
        if kept is not None:
            observation = kept.observation()
        if kept is None or observation is None:
            return None
        # Two threads may prepare it, and a run that ends waits for neither
        query = ready or _query_of(observation, kept.redactor)
        if query is not None:
            with self._lock:
                others = [item for item in self._ready.items() if item[0] != key]
                self._ready = dict([*others, (key, query)][-_READY:])
        return query


def _query_of(observation: Observation, redactor: Redactor) -> TableQuery | None:
    frame = returned_frame(observation)
    if frame is not None:
        return TableQuery(frame, redactor)
    # Its JSON has no secrets any more
    shown = without_secrets(observation, redactor)
    table = table_of(shown, json_of(shown))
    if table is None:
        return None
    return TableQuery(table, redactor)


live_results = LiveResults()
"""The results that pages of this process show in part."""


def observation_bundle(observation: Observation) -> dict[str, str]:
    """Return the mime bundle of a result, without the secrets of its run."""
    redactor = redactor_of(observation)
    masked = without_secrets(observation)
    keep = partial(live_results.keep, observation, redactor, masked)
    bundle = {"text/plain": observation_text(masked), "text/html": result_html(masked, keep=keep)}
    # the class's own `visualize` may show a secret that is not in the observation
    shown: dict[str, str] = redactor.bundle(bundle)
    return shown
