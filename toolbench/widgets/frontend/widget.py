"""The anywidgets that send our JavaScript to the page."""

from pathlib import Path
from secrets import token_hex
from typing import Any

from anywidget import AnyWidget, WidgetTrait
from ipywidgets import Widget, widget_serialization
from traitlets import Bool, Instance, Unicode

from toolbench.widgets.frontend.app_messages import app_messages
from toolbench.widgets.frontend.result_messages import ResultMessages

_FOLDER = Path(__file__).parent
# The code comes through its model, not through a variable of the page, because two kernels may have
# different versions
_VIEW = """
const TRIES = 30; // each waits up to ten seconds for a page that is busy
export default {
  async render({ model, el, signal, host }) {
    for (let tries = 1; !signal.aborted; tries++) {
      let widget, source;
      try {
        widget = await host.getWidget(model.get("code"));
        source = await model.widget_manager.get_model(model.get("source").replace("IPY_MODEL_", ""));
      } catch (error) {
        if (tries === TRIES && !signal.aborted) throw error;
        await new Promise((go) => setTimeout(go, 1000));
        continue;
      }
      if (!signal.aborted) widget.exports[model.get("name")](source, el, signal);
      return;
    }
  },
};
"""


class ModuleWidget(AnyWidget):
    """A widget without a view that sends our JavaScript module, which the page then runs.

    The module also contains the code of all views except editors.
    """

    _esm = (_FOLDER / "module.js").read_text(encoding="utf-8")
    css = Unicode().tag(sync=True)
    """The style sheet, which the module adds to the page once."""
    key = Unicode().tag(sync=True)
    """The name that frames of apps in the page use to find this kernel."""
    is_live = Bool().tag(sync=True)
    """Whether a page has reported that it runs the module."""

    def __init__(self) -> None:
        """Send the module, and listen to messages of apps in the page."""
        css = (_FOLDER / "style.css").read_text(encoding="utf-8")
        super().__init__(key=token_hex(16), css=css)
        self.on_msg(lambda _, content, buffers: self._hear(content))
        results = ResultMessages(self.layout.send)
        self.layout.on_msg(lambda _, content, buffers: results.receive(content))

    def _hear(self, content: Any) -> None:
        # anywidget drops messages to itself if its module took two seconds to load
        app_messages.receive(content, self.layout.send)


class EditorCode(AnyWidget):
    """A widget without a view that sends the code of all editors of this kernel.

    The editors themselves have no code, because anywidget would send this code again with each
    editor.
    """

    def __init__(self) -> None:
        """Send the code, which is read from its file when the first editor is shown."""
        self._esm = (_FOLDER / "editor.js").read_text(encoding="utf-8")
        super().__init__()


class ModuleView(AnyWidget):
    """A view of a plain widget of ipywidgets, drawn by code that another widget has sent.

    The view shows traits of the plain widget, and sends the user's actions to it. The view itself
    does not have these traits. If a view takes more than two seconds to load, anywidget loses
    changes of its traits, whereas changes of a plain widget are never lost.
    """

    _esm = _VIEW
    source = Instance(Widget).tag(sync=True, **widget_serialization)
    """The plain widget."""
    code = WidgetTrait().tag(sync=True)
    """The `ModuleWidget` or `EditorCode`, which the page runs to draw the view."""
    name = Unicode().tag(sync=True)
    """The name of the function in this code that draws the view."""
