"""The widget that carries the front-end module to the page."""

from pathlib import Path

from anywidget import AnyWidget


class ModuleWidget(AnyWidget):
    """Has no view: the page runs its module as soon as it knows of the widget."""

    _esm = Path(__file__).with_name("module.js").read_text(encoding="utf-8")
