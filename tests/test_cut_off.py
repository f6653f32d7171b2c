"""What the proof that nothing reaches out rests on: it sees whatever does."""

import os
import socket
import subprocess
import sys
from threading import Thread

import pytest
from cut_off import cut_off
from patience import join


def _connects():
    with socket.socket() as one:
        one.connect(("127.0.0.1", 9))


REACHES_OUT = {
    "a connection": _connects,
    "a name": lambda: socket.getaddrinfo("localhost", 80),
    "a program": lambda: subprocess.run([sys.executable, "-c", ""], check=True),
    "a spawned program": lambda: os.posix_spawn(sys.executable, [sys.executable, "-c", ""], {}),
}


@pytest.mark.parametrize("what", REACHES_OUT)
def test_is_refused_and_told(what):
    """Whatever reaches out is refused in every thread, and only while it is cut off."""

    def reach_out():
        with pytest.raises(OSError, match="Cut off"):
            REACHES_OUT[what]()

    with cut_off() as tried:
        reach_out()
        thread = Thread(target=reach_out)
        thread.start()
        join(thread)
    assert len(tried) == 2
    if what == "a program":
        REACHES_OUT[what]()
