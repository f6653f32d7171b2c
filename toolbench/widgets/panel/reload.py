"""The notice that a panel's tool or its class was defined again, and a button to show the new tool."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from toolbench.core.classes.tool_class import remake_advice
from toolbench.core.tool import ToolDefinition
from toolbench.display.escape import NO_MATHS, Html, escape
from toolbench.display.html.css import PRE
from toolbench.display.page import notice
from toolbench.plain import clip
from toolbench.widgets.kit.parts import Parts

# A panel makes its notice
if TYPE_CHECKING:
    from toolbench.widgets.panel.panel import ToolPanel

# Characters of a value; many, because no other place shows the value
_MAX_VALUE = 1_000_000

_CHANGED = "The tool changed. This panel shows the previous version."


class Staleness:
    """The notice that a panel shows an old definition of its tool.

    It has a button to reload the tool, if there is a new one, or else says how to make one.
    """

    def __init__(self, panel: "ToolPanel", parts: Parts) -> None:
        """Make the notice for *panel* with widgets from *parts*. It is empty until `check` fills it."""
        self._panel, self._parts = panel, parts
        self.notice = parts.row()
        self._message = ""

    def check(self) -> None:
        """If the tool or its class was defined again, say so, and what the person can do."""
        panel = self._panel
        with panel.lock:
            advice = remake_advice(panel.tool)
            is_new = not advice and panel.tool.latest() is not panel.tool
            message = _CHANGED if is_new else advice
            if message == self._message:
                return
            self._clear()
            self._message = message
            children = [self._parts.html(notice(message, "warning"))]
            if is_new:
                button = self._parts.button("Reload", look="info")
                button.on_click(lambda _: panel.controls.when_quiet(self.reload))
                children.append(button)
            self.notice.children = children

    def _clear(self) -> None:
        self._message = ""
        self._parts.drop(self.notice.children)
        self.notice.children = ()

    def reload(self) -> None:
        """Switch to the latest definition of the tool and keep the form's values.

        Values that the new definition does not take any more are removed. They are listed above the
        form.
        """
        panel = self._panel
        with panel.lock:
            old, entered, new = panel.form, panel.form.value, panel.tool.latest()
            left_out = dropped(panel.tool, new, entered)
            remark = dropped_html(left_out, old.masked)
            values = {k: v for k, v in entered.items() if k not in left_out}
            panel.show(new, values, remark=remark)
            panel.runs.report.outdate()
            # Last: who sees it go may type at once, into the new form
            self._clear()
            old.close()


def dropped(
    old: ToolDefinition[Any, Any],
    new: ToolDefinition[Any, Any],
    arguments: Mapping[str, Any],
) -> list[str]:
    """Return the names in *arguments* that *old* knows, but that *new* does not know and refuses.

    A name that *old* does not know is not returned, because a person entered it on purpose.
    """
    lost = _names(old) - _names(new)
    refused = {p.path[0] for p in new.problems(arguments) if len(p.path) == 1}
    return [name for name in arguments if name in lost and name in refused]


def dropped_html(names: Sequence[str], masked: Mapping[str, Any]) -> Html:
    """Return a notice with the arguments that were left out and their *masked* values."""
    if not names:
        return Html("")
    which = ", ".join(repr(name) for name in names)
    remark = notice(f"The changed tool does not take {which}. Left out:", "warning")
    present = [name for name in names if name in masked]
    values = "\n".join(f"{name} = {clip(masked[name], _MAX_VALUE)}" for name in present)
    style = f"{PRE};max-height:16em;white-space:pre-wrap;overflow-wrap:anywhere"
    return Html(f'{remark}<pre {NO_MATHS} style="{style}">{escape(values)}</pre>')


def _names(tool: ToolDefinition[Any, Any]) -> set[str]:
    return set(tool.input_node.names)
