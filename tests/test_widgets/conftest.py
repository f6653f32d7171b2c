"""Every test of widgets runs on recording comms: no kernel, no browser."""

from collections.abc import Iterator

import comm
import ipywidgets
import pytest

from test_widgets.front import Wire


@pytest.fixture(autouse=True)
def wire(monkeypatch: pytest.MonkeyPatch) -> Iterator[Wire]:
    """The wire all widgets of a test talk to."""
    recorded = Wire()
    monkeypatch.setattr(comm, "create_comm", recorded.comm)
    yield recorded
    ipywidgets.Widget.close_all()
