"""Save a panel and its runs in the notebook, so that a person can read them without a kernel.

JupyterLab and Notebook do not save a widget's state: when a notebook is opened again, an error is
in the place of a widget. So the cell of a panel gets another output before the widget, with the
panel and its later runs as HTML. This HTML is hidden while the page draws the widget.
"""

from collections.abc import Mapping, Sequence
from typing import Any
from uuid import uuid4

from toolbench.display.css import REMARK, TEXT_FONT
from toolbench.display.escape import Html
from toolbench.runs.input_prompt import can_ask_in_cell
from toolbench.runs.kernel import running_shell
from toolbench.runs.record import RunRecord

_OUTPUT = ":is(.jp-OutputArea-child, .output_area)"
_WIDGET = ":is(.jupyter-widgets, .jupyter-widgets-view)"
# Otherwise the view has only a text or a script
_DRAWN = f"{_WIDGET} > :not(script)"
_STYLE = Html(f"""<style>
{_OUTPUT}:has(+ {_OUTPUT} {_WIDGET}):not(:has(+ {_OUTPUT} {_DRAWN})) .toolbench-still {{ display: block; }}
{_OUTPUT}:has(.toolbench-kept) + {_OUTPUT}:has({_WIDGET}):not(:has({_DRAWN})),
{_OUTPUT}:has(.toolbench-kept):has(+ {_OUTPUT} {_DRAWN}) {{ display: none; }}
</style>""")

_CELL_OF_PAGE = {"msg_type": "execute_request"}
"""The header of a cell in JupyterLite, whose kernel gives no header."""


class SavedOutput:
    """The output with the HTML of one panel, in the cell that shows the panel."""

    def __init__(self, use: str = "") -> None:
        """Make no output yet; `show` does.

        Args:
            use: What a person can use again after the cell has run, such as "the form". A line
                below the HTML of the panel says so; without *use* there is no such line.
        """
        self._use = use
        self._cell: Mapping[str, Any] | None = None
        self._name = ""
        self._last_keys: frozenset[tuple[str, int]] = frozenset()
        self._views: dict[tuple[str, int], tuple[str, str]] = {}

    def show(self, still: str, records: Sequence[RunRecord] = ()) -> None:
        """Put the output into the cell that runs, before the panel.

        Args:
            still: The panel as HTML.
            records: The runs that the HTML *still* already shows.
        """
        publisher = _publisher()
        if publisher is None:
            return
        self._name = f"toolbench-{uuid4().hex}"
        self._last_keys = frozenset(record.key for record in records)
        # set last: another thread may call `keep` as soon as there is a cell
        cell = getattr(publisher, "parent_header", _CELL_OF_PAGE)
        self._cell = dict(cell) if can_ask_in_cell() else None
        data = self._content(still, ())
        publisher.publish(data, transient={"display_id": self._name})

    def keep(self, still: str, records: Sequence[RunRecord]) -> None:
        """Show the HTML *still* in the output, and below it those of *records* that `show` did not get.

        Any thread may call this. A record is rendered once. Nothing happens if there are no new records, if there is no
        kernel, or if no page was open when the panel was shown: a notebook that runs without
        a page must not change.
        """
        publisher = _publisher()
        news = [record for record in records if record.key not in self._last_keys]
        if publisher is None or not self._cell or not news:
            return
        # Another thread may replace them meanwhile
        views = self._views
        views = {r.key: views.get(r.key) or (r.to_html(), r.to_text()) for r in news}
        self._views = views
        self._update(publisher, self._content(still, list(views.values())))

    def renew(self, still: str) -> None:
        """Replace the output by the HTML *still*, if there is a kernel and a page was open."""
        publisher = _publisher()
        if publisher is not None and self._cell:
            self._update(publisher, self._content(still, ()))

    def _update(self, publisher: Any, data: Mapping[str, str]) -> None:
        transient = {"display_id": self._name}
        # JupyterLite finds the cell by the name
        if not hasattr(publisher, "pub_socket"):
            publisher.publish(data, transient=transient, update=True)
            return
        # like update_display(), but for a cell that has ended
        publisher.session.send(
            publisher.pub_socket,
            "update_display_data",
            {
                "data": data,
                "metadata": {},
                "transient": transient,
            },
            parent=dict(self._cell or {}),
            ident=publisher.topic,
        )

    def _content(self, still: str, views: Sequence[tuple[str, str]]) -> dict[str, str]:
        """Return the mime bundle of the output; *views* has each run as HTML and as text."""
        ran = "".join(f'<div style="margin-top:8px">{html}</div>' for html, _ in views)
        text = "\n\n".join(text for _, text in views)
        html = (
            f'<div class="toolbench-kept">{_STYLE}'
            f'<div class="toolbench-still" hidden>{still}{_hint(self._use)}</div>{ran}</div>'
        )
        return {**({"text/plain": text} if text else {}), "text/html": html}


def _hint(use: str) -> str:
    """Return a line that says how a person comes to *use*; empty if there is nothing to use."""
    if not use:
        return ""
    style = f"{TEXT_FONT};{REMARK}"
    return f'<div style="{style}">Run the cell to use {use}.</div>'


def _publisher() -> Any:
    """Return the display publisher of ipykernel or JupyterLite; None without a kernel."""
    publisher = getattr(running_shell(), "display_pub", None)
    kinds = ("pub_socket", "update_display_data_callback")
    return publisher if any(hasattr(publisher, kind) for kind in kinds) else None
