"""The fields of a form: an editor for each kind of schema, and the registry to add editors."""

from toolbench.jsonschema.node import SchemaView
from toolbench.widgets.fields.builtin_rules import registry
from toolbench.widgets.fields.editor import Editor
from toolbench.widgets.fields.rules import Registry
from toolbench.widgets.fields.slot import Slot
from toolbench.widgets.fields.unset import UNSET

__all__ = ["UNSET", "Editor", "Registry", "SchemaView", "Slot", "registry"]
