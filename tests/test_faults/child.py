"""One cell of the table, in a process of its own: `python -m test_faults.child KIND DEED DIRECTORY STEP`.

It prints as JSON how often the fault was met, where, how many calls failed by it, and which laws
were broken.
"""

import json
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import psutil
from patience import eventually
from test_tools.terminal_parts import alive

from test_faults import file_deeds, tool_deeds
from test_faults.faults import FAULTS, MOST
from test_faults.tool_deeds import UNREAD, Deed
from toolbench.core.schema import Observation

subprocess._USE_VFORK = False  # type: ignore[attr-defined] # as Python documents: then a fork can fail
DEEDS = {
    name: deed
    for module in (tool_deeds, file_deeds)
    for name, deed in vars(module).items()
    if isinstance(deed, type) and issubclass(deed, Deed) and deed is not Deed
}
Files = dict[str, bytes]
# Numbers at which the fault is not met any more, and then never
_IN_A_ROW = 3


def main(kind: str, name: str, directory: str, step: str) -> None:
    """Do the deed under the faults of the *kind*, until there are no more; print what was seen.

    *step* is how many faults are tried: `1` for each, `3` for each third.
    """
    deed = DEEDS[name](Path(directory))
    done = succeeded(deed)
    places: Counter[str] = Counter()
    failed, passed, broken = 0, 0, list[str]()
    for number in range(1, MOST[kind] + 1, int(step)):
        deed.prepare()
        before, resources = deed.files(), what_is_held()
        with FAULTS[kind](number, deed.directory) as meeting:
            observation = observed(deed)
        is_told = observation.is_error or UNREAD in observation.text
        failed += is_told
        laws = list(laws_broken(deed, observation, allowed_files(observation, before, done)))
        if is_told and not meeting.times:
            laws.append("it fails, and no fault was met")
        deed.check(observation)
        eventually(partial(holds, resources), what=f"nothing left over after {kind} {number}")
        deed.prepare()
        if succeeded(deed) != done:
            laws.append("the next one does something else")
        where = f"{kind} {number} at {meeting.place}"
        # What cannot be removed stays
        if meeting.place == "unlinkat":
            laws = [law for law in laws if not law.startswith("left behind")]
        broken += [f"{where}: {law} | {observation.text[:300]}" for law in laws]
        places[meeting.place] += bool(meeting.times)
        passed = 0 if meeting.times else passed + 1
        if passed == _IN_A_ROW:
            break
    deed.close()
    is_over = passed == _IN_A_ROW
    met = {place: times for place, times in places.items() if times}
    print(json.dumps({"met": met, "failed": failed, "over": is_over, "broken": broken}))


def succeeded(deed: Deed) -> dict[str, bytes]:
    """Do the *deed* without a fault; return the files after it."""
    observation = deed.do()
    assert not observation.is_error, observation.text
    files = deed.files()
    deed.check(observation)
    return files


def observed(deed: Deed) -> Observation:
    """Do the *deed*; what it raises is an answer that is no sentence."""
    try:
        return deed.do()
    except Exception as error:  # noqa: BLE001 - whatever it is, no caller may see it
        return Observation.from_text(f"raised:\n{error!r}", is_error=True)


def allowed_files(observation: Observation, before: Files, done: Files) -> Files:
    """Return the files there may be: what failed changed nothing."""
    if observation.is_error:
        return before
    return done


def laws_broken(deed: Deed, observation: Observation, allowed: Files) -> Iterator[str]:
    """Yield which laws an answer, and the files after it, break."""
    if observation.is_error and not re.fullmatch(r"[^\n]{10,500}", observation.text):
        yield "the error is no sentence"
    if observation.is_error and "Traceback" in observation.text:
        yield "the error is a traceback"
    there = deed.files()
    files = {name: data for name, data in there.items() if ".toolbench-" not in name}
    if files != allowed:
        yield f"the files are neither as before nor as after: {list(files)}"
    if len(files) < len(there):
        yield f"left behind: {there.keys() - files.keys()}"


def holds(limits: dict[str, int]) -> bool:
    """Tell whether at most *limits* are held."""
    return all(now <= limits[what] for what, now in what_is_held().items())


def what_is_held() -> dict[str, int]:
    """How many descriptors are open, and how many processes that were started are alive."""
    children = psutil.Process().children(recursive=True)
    return {
        "descriptors": len(list(Path("/proc/self/fd").iterdir())),
        "children": sum(alive(child.pid) for child in children),
    }


if __name__ == "__main__":
    main(*sys.argv[1:])
