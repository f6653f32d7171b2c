"""Panels, forms and explorers for a notebook: the only package that uses ipywidgets."""

from typing import TYPE_CHECKING

from toolbench.lazy import public_names

if TYPE_CHECKING:
    from toolbench.widgets.explorer import Explorer as Explorer
    from toolbench.widgets.form.form import SchemaForm as SchemaForm
    from toolbench.widgets.panel.panel import ToolPanel as ToolPanel

__getattr__, __dir__, __all__ = public_names(__name__)
