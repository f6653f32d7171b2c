"""A place without network and without other programs, to prove that something needs neither."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache

_REACHES_OUT = {
    *("socket.connect", "socket.getaddrinfo", "socket.gethostbyname", "socket.sendto"),
    *("subprocess.Popen", "os.posix_spawn", "os.exec", "os.fork", "os.forkpty"),
    *("os.system", "pty.spawn"),
}
"""What Python itself reports before it does it: the events of `sys.audit`."""
# A hook stays: it asks whether it is wanted
_cuts: list[list[str]] = []


def _hook(event: str, arguments: tuple[object, ...]) -> None:
    if _cuts and event in _REACHES_OUT:
        _cuts[-1].append(f"{event} {arguments!r:.200}")
        msg = f"Cut off: {event}"
        raise OSError(msg)


@cache
def _hooked() -> None:
    sys.addaudithook(_hook)


@contextmanager
def cut_off() -> Iterator[list[str]]:
    """Refuse every connection and every program, in all threads; yield what was tried."""
    _hooked()
    tried: list[str] = []
    _cuts.append(tried)
    try:
        yield tried
    finally:
        _cuts.remove(tried)
