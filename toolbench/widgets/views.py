"""The tabs of a panel beside the form: what a model is given, the call as text, earlier runs."""

from collections.abc import Callable
from json import dumps
from typing import Any

import ipywidgets as w

from toolbench.core.tool import ToolDefinition
from toolbench.display.escape import Html, escape
from toolbench.display.jsontree import json_html
from toolbench.display.objects import result_html
from toolbench.display.page import key_values, notice
from toolbench.llm.tokens import estimate_tokens
from toolbench.runs.history import history
from toolbench.runs.record import RunRecord
from toolbench.widgets.formats import FORMATS, schema_of
from toolbench.widgets.parts import Parts
from toolbench.widgets.snippets import SNIPPETS


class SchemaView:
    """What a model is given, in each provider's format."""

    def __init__(self, tool: ToolDefinition[Any, Any], parts: Parts) -> None:
        """Show *tool* in the first format."""
        self._tool = tool
        self._format = parts.chooser("Format", list(FORMATS))
        self._shown = parts.html()
        self._format.observe(lambda _: self._show(), "value")
        self.widget = parts.column(self._format, self._shown)
        self._show()

    def _show(self) -> None:
        given = schema_of(self._tool, self._format.value)
        size = estimate_tokens(dumps(given, ensure_ascii=False))
        self._shown.value = Html(f"<div>≈ {size:,} tokens</div>{json_html(given)}")


class CodeView:
    """The call the form describes, as text to copy."""

    def __init__(
        self,
        tool: ToolDefinition[Any, Any],
        arguments: Callable[[], dict[str, Any]],
        parts: Parts,
    ) -> None:
        """Show the call of *tool* with what *arguments* returns, secrets hidden."""
        self._tool, self._arguments = tool, arguments
        self._kind = parts.chooser("Copy as", list(SNIPPETS))
        self._text = parts.make(w.Textarea, "toolbench-code", description="Code")
        self._kind.observe(lambda _: self.refresh(), "value")
        self.widget = parts.column(self._kind, self._text)
        self.refresh()

    def refresh(self) -> None:
        """Write the call anew."""
        self._text.value = SNIPPETS[self._kind.value](self._tool, self._arguments())


class HistoryView:
    """The earlier runs of one tool; any of them can be looked at and put back in the form."""

    def __init__(
        self,
        tool: ToolDefinition[Any, Any],
        put_back: Callable[[dict[str, Any]], None],
        parts: Parts,
    ) -> None:
        """Show the runs of *tool*; *put_back* fills the form with the arguments of one."""
        self._tool, self._put_back = tool, put_back
        self._runs = parts.chooser("Run", [])
        self._back = parts.button("Put back in the form")
        self._shown = parts.html()
        self._runs.observe(lambda _: self._show(), "value")
        self._back.on_click(lambda _: self._fill())
        self.widget = parts.column(parts.row(self._runs, self._back), self._shown)
        self.refresh()

    def refresh(self) -> None:
        """Read the history again, newest first."""
        records = [r for r in reversed(history()) if r.tool == self._tool.name][:50]
        labels = [f"{r.id}: {r.state}, {r.seconds:.2f} s" for r in records]
        self._runs.options = list(zip(labels, records, strict=True))
        self._show()

    @property
    def _record(self) -> RunRecord | None:
        record: RunRecord | None = self._runs.value
        return record

    def _show(self) -> None:
        record = self._record
        self._back.disabled = record is None
        if record is None:
            self._shown.value = notice("No runs yet.", "neutral")
            return
        when = escape(f"{record.started:%H:%M:%S} UTC, from {record.source}")
        why = f", {escape(record.decision)}" if record.decision else ""
        self._shown.value = Html(
            f"<div>{when}{why}</div>{key_values(record.arguments)}"
            f"{result_html(record.observation)}"
        )

    def _fill(self) -> None:
        if self._record is not None:
            self._put_back(dict(self._record.arguments))
