"""The anywidget that sends the JavaScript module to the page."""

from pathlib import Path
from secrets import token_hex
from typing import Any

from anywidget import AnyWidget
from traitlets import Unicode

from toolbench.widgets.frontend.app_messages import app_messages


class ModuleWidget(AnyWidget):
    """A widget without a view: the page runs its module when the widget is created."""

    _esm = Path(__file__).with_name("module.js").read_text(encoding="utf-8")
    key = Unicode().tag(sync=True)
    """The name that frames of apps in the page use to find this kernel."""

    def __init__(self) -> None:
        """Send the module, and listen to messages of apps in the page."""
        super().__init__(key=token_hex(16))
        self.on_msg(lambda _, content, buffers: self._hear(content))

    def _hear(self, content: Any) -> None:
        # anywidget drops what it is sent itself where its module took two seconds to load
        app_messages.receive(content, self.layout.send)
