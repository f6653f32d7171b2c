"""Our front-end module, sent to the page once: keys that stay in a panel, descriptions of fields.

ipywidgets gives a page boxes, texts and buttons. What it cannot do is in `module.js`, built
from `frontend/src` of the repository and loaded through anywidget. Where that cannot be loaded
everything still works and reads.
"""

from threading import Lock
from typing import Any

from toolbench.runs.shell import running_shell


class FrontEnd:
    """The widget that carries the module to the page of this kernel. Any thread may load it."""

    def __init__(self) -> None:
        """Nothing is sent yet."""
        self._lock = Lock()
        self._widget: Any = None

    def load(self) -> None:
        """Send the module, unless it is there or nothing but this process would receive it."""
        if not hasattr(running_shell(), "kernel"):
            return
        with self._lock:
            if self._widget is None or self._widget.comm is None:
                # anywidget is only imported where there is a page
                from toolbench.widgets.frontend.widget import (  # noqa: PLC0415
                    ModuleWidget,
                )

                self._widget = ModuleWidget()

    def close(self) -> None:
        """Take the widget away; pages that loaded the module keep it until they are closed."""
        with self._lock:
            widget, self._widget = self._widget, None
        if widget is not None:
            widget.close()


front_end = FrontEnd()
"""The front-end module of this kernel."""
