"""Threads that come late, for `make nightly`: `PYTHONPATH=tests pytest -p late_threads`.

What a thread does last (an event that wakes another, a trait that a page shows) comes a moment later
than usual, at random. A test that passes only since threads are quick fails sooner here than in CI.
The delays are the test runner's; kernels and servers of tests have none.
"""

import os
import random
import threading
import time

import ipywidgets

MOST_SECONDS = 0.03
# Another number draws other delays; which thread takes which is not repeated in any case.
draw = random.Random(int(os.environ.get("LATE_THREADS", "0")))


def _delay(share):
    if draw.random() < share:
        time.sleep(draw.random() * MOST_SECONDS)


notify_change = ipywidgets.Widget.notify_change
set_event = threading.Event.set
begin_thread = threading.Thread._bootstrap_inner


def _notify_late(widget, change):
    is_main = threading.current_thread() is threading.main_thread()
    # Most changes are made in the main thread, where nobody waits for them beside it.
    _delay(0.02 if is_main else 0.4)
    return notify_change(widget, change)


def _set_late(event):
    _delay(0.2)
    set_event(event)
    _delay(0.3)


def _begin_late(thread):
    _delay(0.5)
    begin_thread(thread)


ipywidgets.Widget.notify_change = _notify_late
threading.Event.set = _set_late
threading.Thread._bootstrap_inner = _begin_late
