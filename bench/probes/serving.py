"""The loop of a probe: a line of JSON in, a line of JSON out, everything else to nowhere."""

import json
import os
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.insert(1, str(Path(__file__).parents[1]))
from measuring import CLOCKS, Timed, profile, timed

Maker = Callable[..., Callable[[], object] | Timed]


def serve(
    works: dict[str, Maker],
    answers: dict[str, Callable[..., Any]],
    close: Callable[[], None] = lambda: None,
) -> None:
    """Time the work that *works* make, and answer from *answers*; at the end of the input *close*, and end."""
    out = os.fdopen(os.dup(1), "w")
    # What the peer prints is no answer
    os.dup2(2, 1)
    watches: dict[str, Timed] = {}

    def watch(work: str, clock: str, **options: Any) -> Timed:
        key = json.dumps([work, clock, options])
        if key not in watches:
            watches[key] = timed(works[work](**options), CLOCKS[clock])
        return watches[key]

    def seconds(**asked: Any) -> float:
        return watch(**asked).seconds()

    def profiled(**asked: Any) -> str:
        return profile(watch(**asked).seconds)

    answers = {**answers, "time": seconds, "profile": profiled}

    for line in sys.stdin:
        asked = json.loads(line)
        do = asked.pop("do")
        try:
            answer = {"value": answers[do](**asked)}
        except Exception as error:  # noqa: BLE001 - a peer may fail in any way: it is told
            traceback.print_exc()
            answer = {"error": f"{type(error).__name__}: {error}"}
        print(json.dumps(answer), file=out, flush=True)
    close()
    # Python would take seconds to free thousands of classes
    os._exit(0)
