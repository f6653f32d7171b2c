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
# Tables that are kept as they were prepared for the last questions, while their results are there
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
        self._kept[key] = _Kept(ref(observation, lambda _: self._forget(key)), redactor)
        return key

    def _forget(self, key: str) -> None:
        # No lock: the collector of garbage may call this in a thread that holds it
        self._kept.pop(key, None)
        self._ready.pop(key, None)

    def query(self, key: str) -> TableQuery | None:
        """Return the table of the result with this *key*; None if it is gone, or of another process."""
        kept, observation = self._kept.get(key), None
        if kept is not None:
            observation = kept.observation()
        if kept is None or observation is None:
            return None
        # Two threads may prepare it, and a run that ends waits for neither
        query = self._ready.get(key) or _query_of(observation, kept.redactor)
        self._ready.pop(key, None)
        if query is not None:
            self._ready[key] = query
        for earlier in [*self._ready][:-_READY]:
            self._ready.pop(earlier, None)
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
