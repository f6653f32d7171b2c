"""The fields of a form: one editor for each kind of schema, and the registry to add more."""

from toolbench.widgets.fields.editor import UNSET, Editor
from toolbench.widgets.fields.rules import Registry
from toolbench.widgets.fields.slot import Slot
from toolbench.widgets.fields.table import registry
from toolbench.widgets.fields.view import SchemaView

__all__ = ["UNSET", "Editor", "Registry", "SchemaView", "Slot", "registry"]
