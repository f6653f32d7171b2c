"""The loader of our JavaScript module, which adds to the page what ipywidgets cannot do.

`module.js` is built from `frontend/src` of the repository and loaded through anywidget. If it
cannot be loaded, everything still works, in plain form. `editor.js`, the editor for JSON and code,
is sent when an editor is first shown.
"""

from threading import Lock
from typing import Any

from toolbench.runs.kernel import has_kernel


class FrontEnd:
    """Loads the JavaScript module into the page of this kernel. Any thread may use it."""

    def __init__(self) -> None:
        """Prepare to load the module, which only `load` does."""
        self._lock = Lock()
        self._widget: Any = None
        # The code of the editor
        self._code: Any = None

    def load(self) -> None:
        """Send the module to the page, unless it is already loaded or there is no kernel."""
        if not has_kernel():
            return
        with self._lock:
            if self._widget is None or self._widget.comm is None:
                # anywidget is imported only in a kernel
                from toolbench.widgets.frontend.widget import (  # noqa: PLC0415
                    ModuleWidget,
                )

                self._widget = ModuleWidget()

    @property
    def key(self) -> str:
        """The name by which an app in the page finds this kernel; empty if no module was sent."""
        with self._lock:
            widget = self._widget
            return "" if widget is None or widget.comm is None else str(widget.key)

    def view_of(self, source: Any, name: str, layout: Any) -> Any:
        """Return the view of *source* that the function *name* of the module draws.

        Return None without a kernel. The caller closes the view. A page without the module cannot
        show it.
        """
        with self._lock:
            if self._widget is None or self._widget.comm is None:
                return None
            from toolbench.widgets.frontend.widget import (  # noqa: PLC0415
                ModuleView,
            )

            return ModuleView(source=source, code=self._widget, name=name, layout=layout)

    def editor_of(self, area: Any) -> Any:
        """Return an editor to show in place of *area*; None if no page has the module.

        The caller closes the editor. *area* keeps its text, its label, its CSS classes, and whether
        it is disabled.
        """
        with self._lock:
            if self._widget is None or self._widget.comm is None or not self._widget.is_live:
                return None
            from toolbench.widgets.frontend.widget import (  # noqa: PLC0415
                EditorCode,
                ModuleView,
            )

            if self._code is None or self._code.comm is None:
                self._code = EditorCode()
            return ModuleView(source=area, code=self._code, name="edit", layout=area.layout)

    def close(self) -> None:
        """Close the widgets that sent the code.

        A page keeps the module until the page is closed.
        """
        with self._lock:
            widgets = (self._widget, self._code)
            self._widget = self._code = None
        for widget in widgets:
            if widget is not None:
                widget.close()


front_end = FrontEnd()
"""The loader of the JavaScript module for this kernel."""
