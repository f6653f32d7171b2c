"""The panels, forms and explorers people see: ipywidgets live here and nowhere else."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from toolbench.widgets.explorer import Explorer
    from toolbench.widgets.form import SchemaForm
    from toolbench.widgets.panel import ToolPanel

_HOMES = {"Explorer": "explorer", "SchemaForm": "form", "ToolPanel": "panel"}

__all__ = ["Explorer", "SchemaForm", "ToolPanel"]


def __getattr__(name: str) -> Any:
    """Import the home of a name when it is first asked for: a form needs no explorer."""
    if name not in _HOMES:
        msg = f"module {__name__!r} has no attribute {name!r}"
        raise AttributeError(msg)
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
