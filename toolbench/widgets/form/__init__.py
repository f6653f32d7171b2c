"""A form for any JSON Schema."""

from typing import TYPE_CHECKING

from toolbench.lazy import public_names

if TYPE_CHECKING:
    from toolbench.widgets.form.form import SchemaForm as SchemaForm

__getattr__, __dir__, __all__ = public_names(__name__)
