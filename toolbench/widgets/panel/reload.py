"""The notice that a panel's tool or its class was redefined, with a button to load the new tool."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from toolbench.core.tool import ToolDefinition
from toolbench.core.tool_advice import remake_advice
from toolbench.display.css import PRE
from toolbench.display.escape import NO_MATHS, Html, escape
from toolbench.display.page import notice
from toolbench.redaction import MARK
from toolbench.redaction.detect import SecretsByPath, put_back
from toolbench.runs.record import RunRecord
from toolbench.values import clip
from toolbench.widgets.fields.text_box import as_read
from toolbench.widgets.form.form import SchemaForm
from toolbench.widgets.kit.parts import Parts

# A panel makes its notice
if TYPE_CHECKING:
    from toolbench.widgets.panel.panel import ToolPanel

# Characters of a value; many, because no other place shows the value
_MAX_VALUE = 1_000_000

_CHANGED = "The tool changed. This panel shows the previous version."
_GONE = "The server does not list this tool any more."


class Staleness:
    """The notice that the definition of the panel's tool is out of date.

    If there is a newer definition, a button loads it. If the user must make the tool again from its
    class, the notice says how.
    """

    def __init__(self, panel: "ToolPanel", parts: Parts) -> None:
        """Make the notice for *panel* with widgets from *parts*. Only `check` fills it."""
        self._panel, self._parts = panel, parts
        self.notice = parts.row(kind="toolbench-outdated")
        self._message = ""

    def check(self) -> bool:
        """If the tool or its class was redefined, show a notice that says what the user can do.

        Return False, so that the ticker stops calling this method.
        """
        panel = self._panel
        with panel.lock:
            message = _news(panel.tool)
            if panel.runs.is_closed:
                return False
            if message == _CHANGED and (panel.on_change.is_on or panel.tool.is_in_development):
                self.reload()
                return False
            if message == self._message:
                return False
            self._clear()
            self._message = message
            children = []
            if message:
                children.append(self._parts.html(notice(message, "warning")))
            if message == _CHANGED:
                children.append(self._parts.button("Reload", self.reload, look="info"))
            self.notice.children = children
        return False

    def _clear(self) -> None:
        self._message = ""
        self._parts.drop(self.notice.children)
        self.notice.children = ()

    def reload(self) -> None:
        """Switch to the latest definition of the tool, and keep the contents of the form.

        If the new definition no longer takes some of the arguments, they are listed above the form.
        """
        panel = self._panel
        with panel.lock:
            old, tool = panel.form, panel.tool
            panel.show(tool.latest())
            panel.go_on(tool, old)
            self._outdate_result()
            # Last: a user who sees the notice disappear may type into the new form at once
            self._clear()
            old.close()
            panel.on_change.expect()

    def _outdate_result(self) -> None:
        """Mark the shown result as one of the earlier code, unless it is of the new tool."""
        tool, report = self._panel.tool, self._panel.runs.report
        # The run that has restarted the server may still be active
        is_new = tool.is_in_development and report.is_going_on
        if report.run is None or not (is_new or report.run.tool is tool):
            report.outdate()


def _news(tool: ToolDefinition[Any, Any]) -> str:
    """Return a sentence that says how *tool* is out of date; empty if it is the newest."""
    if not tool.is_listed:
        return _GONE
    advice, newest = remake_advice(tool), tool.latest()
    if advice or newest is tool:
        return advice
    # A server of another version may offer the same tool
    is_of_server = tool.source != ToolDefinition.source
    if is_of_server and newest.to_mcp_tool() == tool.to_mcp_tool():
        return ""
    return _CHANGED


def kept(
    old: ToolDefinition[Any, Any], form: SchemaForm, new: ToolDefinition[Any, Any]
) -> tuple[dict[str, Any], Html]:
    """Return the contents of *form* that the form of the tool *new* can take over.

    Also return a notice about the contents that are left out: arguments that *new* does not take,
    and secrets that the form of *new* would not hide.

    Args:
        old: The tool of *form*.
        form: The form with the contents. It may already be closed.
        new: The tool whose form will get the contents, such as *old* after a change of its code.
    """
    typed = form.typed
    entered = as_read(typed)
    gone = dropped(old, new, entered)
    (hidden, _), (masked, _) = old.secrecy.hide(entered), new.secrecy.hide(entered)
    shown = [n for n in typed if n not in gone and _is_revealed(hidden[n], masked[n])]
    values = {name: value for name, value in typed.items() if name not in [*gone, *shown]}
    remark = dropped_html(gone, {**entered, **form.masked})
    if shown:
        names = ", ".join(repr(name) for name in shown)
        words = f"The changed tool does not keep {names} secret. Left out: type it again."
        remark = Html(remark + notice(words, "warning"))
    return values, remark


def with_secrets(
    tool: ToolDefinition[Any, Any], record: RunRecord, secrets: SecretsByPath
) -> dict[str, Any]:
    """Fill *secrets* into the arguments of *record*, and return the arguments.

    The tool may have been redefined after the run. Therefore, a secret is filled in only if the
    form of *tool* hides it.
    """
    arguments = dict(record.arguments)
    if not secrets:
        return arguments
    whole = put_back(arguments, secrets)
    masked = SchemaForm(tool.input_schema, whole).masked
    for name, hidden in arguments.items():
        if masked.get(name) == hidden:
            arguments[name] = whole[name]
    return arguments


def _is_revealed(hidden: Any, masked: Any) -> bool:
    """Tell whether *masked* shows a secret that *hidden* hides. Both are copies of one value."""
    if MARK in (hidden, masked):
        return bool(masked != MARK)
    if isinstance(hidden, dict) and isinstance(masked, dict):
        return any(_is_revealed(item, masked[key]) for key, item in hidden.items())
    if isinstance(hidden, list) and isinstance(masked, list):
        return any(map(_is_revealed, hidden, masked))
    return False


def dropped(
    old: ToolDefinition[Any, Any],
    new: ToolDefinition[Any, Any],
    arguments: Mapping[str, Any],
) -> list[str]:
    """Return the names of the arguments that *old* takes and *new* refuses.

    If *old* does not take an argument either, its name is not returned, because the user typed it
    on purpose.
    """
    lost = set(old.input_node.names) - set(new.input_node.names)
    refused = {p.path[0] for p in new.problems(arguments) if len(p.path) == 1}
    return [name for name in arguments if name in lost and name in refused]


def dropped_html(names: Sequence[str], masked: Mapping[str, Any]) -> Html:
    """Return a notice that lists the arguments that were left out, with their *masked* values."""
    if not names:
        return Html("")
    which = ", ".join(repr(name) for name in names)
    remark = notice(f"The changed tool does not take {which}. Left out:", "warning")
    values = "\n".join(f"{name} = {clip(masked[name], _MAX_VALUE)}" for name in names)
    style = f"{PRE};max-height:16em;white-space:pre-wrap;overflow-wrap:anywhere"
    return Html(f'{remark}<pre {NO_MATHS} style="{style}">{escape(values)}</pre>')
