"""The anywidget that sends the JavaScript module to the page."""

from pathlib import Path

from anywidget import AnyWidget


class ModuleWidget(AnyWidget):
    """A widget without a view: the page runs its module when the widget is created."""

    _esm = Path(__file__).with_name("module.js").read_text(encoding="utf-8")
