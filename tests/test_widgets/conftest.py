"""Every test of widgets runs on recording comms: no kernel, no browser."""

from collections.abc import Iterator

import comm
import ipywidgets
import pytest

from test_widgets.front import Wire
from toolbench.widgets.panel.panel import open_panels


@pytest.fixture(autouse=True)
def wire(monkeypatch: pytest.MonkeyPatch) -> Iterator[Wire]:
    """The wire all widgets of a test talk to."""
    recorded = Wire()
    monkeypatch.setattr(comm, "create_comm", recorded.comm)
    yield recorded
    ipywidgets.Widget.close_all()


@pytest.fixture
def no_open_panels() -> Iterator[None]:
    """Close the panels that a test leaves open; a file may ask that of all its tests."""
    yield
    for panel in list(open_panels):
        panel.close()
