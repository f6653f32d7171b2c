"""The fields of a form: an editor for each kind of schema, and the registry to add editors."""

from toolbench.jsonschema.node import SchemaView
from toolbench.widgets.fields.editor import UNSET, Editor
from toolbench.widgets.fields.rules import Registry, registry
from toolbench.widgets.fields.slot import Slot

__all__ = ["UNSET", "Editor", "Registry", "SchemaView", "Slot", "registry"]
