"""The loader of our JavaScript module, which adds to the page what ipywidgets cannot do.

`module.js` is built from the folder `frontend/src` of the repository, and loaded through anywidget.
On a page that cannot load it, everything still works, but looks plainer. `editor.js`, the editor
for JSON and code, is sent when an editor is first shown.
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
        """The name with which an app in the page finds this kernel; empty without the module."""
        with self._lock:
            widget = self._widget
            return "" if widget is None or widget.comm is None else str(widget.key)

    def view_of(self, source: Any, name: str, layout: Any) -> Any:
        """Return a view of the widget *source* that a function of our JavaScript module draws.

        *name* is the name of the function. The caller must close the view. Pages that have not
        loaded the module do not show the view. Without a kernel, return None.
        """
        with self._lock:
            if self._widget is None or self._widget.comm is None:
                return None
            from toolbench.widgets.frontend.widget import (  # noqa: PLC0415
                ModuleView,
            )

            return ModuleView(source=source, code=self._widget, name=name, layout=layout)

    def editor_of(self, area: Any) -> Any:
        """Return a code editor for the text area *area*; None if no page can show code editors.

        The editor replaces *area* on the page. It takes its text, label and CSS classes from
        *area*, and writes edits back to *area*. The caller must close the editor.
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
        """Close the widgets that sent the code. A page that has loaded the code keeps it."""
        with self._lock:
            widgets = (self._widget, self._code)
            self._widget = self._code = None
        for widget in widgets:
            if widget is not None:
                widget.close()


front_end = FrontEnd()
"""The loader of the JavaScript module for this kernel."""
