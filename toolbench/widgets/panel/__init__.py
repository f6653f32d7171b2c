"""The panel of one tool: its form, its runs and its results."""

from typing import TYPE_CHECKING

from toolbench.lazy import public_names

if TYPE_CHECKING:
    from toolbench.widgets.panel.panel import ToolPanel as ToolPanel

__getattr__, __dir__, __all__ = public_names(__name__)
