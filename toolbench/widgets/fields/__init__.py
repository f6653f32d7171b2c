"""The fields of a form: an editor for each kind of schema, and the registry to add editors.

A schema sets the options of a field under the key `toolbench`, as in
`Field(json_schema_extra={"toolbench": {"widget": "textarea", "order": 1}})`:

| option | meaning |
|---|---|
| `widget` | the editor, by one of the names below |
| `order` | a number by which the fields are sorted; a field without one keeps its place |
| `placeholder` | the gray text in an empty box |
| `help` | the text below the field, instead of the description |
| `hidden` | `True` leaves the field out of the form |
| `max_bytes` | the size of the largest file that a field accepts, 50 MB if left out |

The editors are `checkbox`, `combobox`, `date`, `dropdown`, `file`, `items`, `json`, `map`,
`number`, `password`, `rows`, `search`, `segments`, `switch`, `text` and `textarea`.
"""

from toolbench.jsonschema.node import SchemaView
from toolbench.widgets.fields.editor import UNSET, Editor
from toolbench.widgets.fields.rules import Registry, registry
from toolbench.widgets.fields.slot import Slot

__all__ = ["UNSET", "Editor", "Registry", "SchemaView", "Slot", "registry"]
