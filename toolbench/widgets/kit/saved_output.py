"""Keep a panel and its runs in the notebook, where no kernel and no widget is needed to read them.

A widget's state is not saved by JupyterLab and Notebook: opened again, they show an error in its
place. So the cell that shows a panel gets one more output before it. What the panel itself
shows as HTML is hidden in there, until it stands beside a widget that is not drawn; runs that
came later are hidden beside one that is.
"""

from collections.abc import Mapping, Sequence
from typing import Any
from uuid import uuid4

from toolbench.display.escape import Html
from toolbench.runs.history.record import RunRecord
from toolbench.runs.input_prompt import somebody_there
from toolbench.runs.shell import running_shell

_OUTPUT = ":is(.jp-OutputArea-child, .output_area)"
_WIDGET = ":is(.jupyter-widgets, .jupyter-widgets-view)"
_DRAWN = f"{_WIDGET} > :not(script)"  # one that is not has a sentence, or a script
_STYLE = Html(f"""<style>
{_OUTPUT}:has(+ {_OUTPUT} {_WIDGET}):not(:has(+ {_OUTPUT} {_DRAWN})) .toolbench-still {{ display: block; }}
{_OUTPUT}:has(.toolbench-kept) + {_OUTPUT}:has({_WIDGET}):not(:has({_DRAWN})),
{_OUTPUT}:has(.toolbench-kept):has(+ {_OUTPUT} {_DRAWN}) {{ display: none; }}
</style>""")


class SavedOutput:
    """An output of the cell a panel was shown in."""

    def __init__(self) -> None:
        """Belong to no cell yet."""
        self._cell: Mapping[str, Any] | None = None
        self._name = ""
        self._last_ids: frozenset[int] = frozenset()

    def show(self, still: str, records: Sequence[RunRecord] = ()) -> None:
        """Put the output into the cell that is running; the panel follows it there.

        Args:
            still: What the panel shows as HTML.
            records: The runs that are part of that.
        """
        publisher = _publisher()
        if publisher is None:
            return
        self._cell = dict(publisher.parent_header) if somebody_there() else None
        self._name = f"toolbench-{uuid4().hex}"
        self._last_ids = frozenset(record.id for record in records)
        publisher.publish(_content(still, ()), transient={"display_id": self._name})

    def keep(self, still: str, records: Sequence[RunRecord]) -> None:
        """Have the output hold the later *records*; from any thread.

        Does nothing outside a kernel, and where no page was open when the panel was shown: such
        a notebook is compared with what it was.
        """
        publisher = _publisher()
        news = [record for record in records if record.id not in self._last_ids]
        if publisher is None or not self._cell or not news:
            return
        self._update(publisher, _content(still, news))

    def renew(self, still: str) -> None:
        """Have the output hold *still* in the place of what it held; as `keep` otherwise."""
        publisher = _publisher()
        if publisher is not None and self._cell:
            self._update(publisher, _content(still, ()))

    def _update(self, publisher: Any, data: Mapping[str, str]) -> None:
        # as update_display() would in that cell, which is over by now
        publisher.session.send(
            publisher.pub_socket,
            "update_display_data",
            {
                "data": data,
                "metadata": {},
                "transient": {"display_id": self._name},
            },
            parent=dict(self._cell or {}),
            ident=publisher.topic,
        )


def _content(still: str, records: Sequence[RunRecord]) -> dict[str, str]:
    ran = "".join(f'<div style="margin-top:8px">{r.to_html()}</div>' for r in records)
    text = "\n\n".join(record.to_text() for record in records)
    html = (
        f'<div class="toolbench-kept">{_STYLE}'
        f'<div class="toolbench-still" hidden>{still}</div>{ran}</div>'
    )
    return {**({"text/plain": text} if text else {}), "text/html": html}


def _publisher() -> Any:
    """What displays in a kernel; None anywhere else."""
    publisher = getattr(running_shell(), "display_pub", None)
    return publisher if hasattr(publisher, "pub_socket") else None
