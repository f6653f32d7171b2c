"""A Python as it is in a page: no thread starts, and what is built from C or Rust is missing."""

import sys
import threading
from types import SimpleNamespace

import pytest

from toolbench.core.background_loop import portal
from toolbench.widgets.kit.ticker import ticker

MISSING = ("psutil", "jsonschema_rs", "ahocorasick_rs", "fastmcp", "mcp", "regex")


@pytest.fixture(autouse=True)
def page(monkeypatch, no_records):
    """Python says what Pyodide's says, and starts no thread."""

    def refuse(thread):
        msg = "can't start new thread"
        raise RuntimeError(msg)

    # That of an earlier test: in a page there never is one
    portal.close()
    emscripten = SimpleNamespace(pthreads=False)
    monkeypatch.setattr(sys, "_emscripten_info", emscripten, raising=False)
    monkeypatch.setattr(threading.Thread, "start", refuse)
    for name in MISSING:
        monkeypatch.setitem(sys.modules, name, None)
    yield
    # Its loop has ended with the test
    ticker.reset()
