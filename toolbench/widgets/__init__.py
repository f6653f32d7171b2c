"""The panels, forms and explorers people see: ipywidgets live here and nowhere else."""

from typing import TYPE_CHECKING

from toolbench.lazy import lazily

if TYPE_CHECKING:
    from toolbench.widgets.explorer import Explorer
    from toolbench.widgets.form import SchemaForm
    from toolbench.widgets.panel import ToolPanel

_HOMES = {"Explorer": "explorer", "SchemaForm": "form", "ToolPanel": "panel"}

__all__ = ["Explorer", "SchemaForm", "ToolPanel"]

__getattr__, __dir__ = lazily(__name__, _HOMES)
