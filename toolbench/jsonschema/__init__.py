"""The one reader of JSON Schema: no other package reads the keywords of one; they ask its nodes.

Start with a view of the whole schema, keep it as long as you read, and ask for nodes::

    whole = read(schema)                  # the Node of the whole value, in a view of its own
    view = SchemaView(schema)             # the same, where parts are read too: view.whole,
    node = view.node(part_of_the_schema)  # ... each part is read once

A `Node` is one position in normal form: references followed, `allOf` merged, the `null`
alternative taken out (`nullable`), alternatives that look alike made one. It never raises,
whatever the schema is, and it never ends in a loop: parts are read when they are asked for.

| you want | you use |
| --- | --- |
| what it may be | `types`, `type` (exactly one), `nullable`, `takes_null`, `classes`, `is_text` |
| listed values it takes | `values` (its own), `value_names`, `is_constant`, `choices` (of its alternatives, and of a yes or no) |
| alternatives | `branches` (two at least), `alternatives` (their ends, or the node itself); as they are written: `written_alternatives` |
| an object | `properties`, `declared`, `conditional`, `required`, `names`, `key_names`, `additional`, `patterns`, `of_other_key`, `is_closed`, `is_open` |
| a list | `items`, `prefix_items` |
| any part | `at(*path)`, through every alternative |
| limits | `limit("maxItems")`, the tighter one of several; `words.limits` for all in words |
| what is said | `title`, `own_title`, `description`, `explanation` (of alternatives too), `definition` |
| other keywords | `default`, `has_default`, `examples`, `format`, `text("contentEncoding")`, `is_deprecated`, `says("pattern", ...)`, `extension` (`toolbench`) |
| a judgement | `fits(value)`, `problems(value)`; `validation.validator.validator_of` for a whole schema |
| the source | `raw`, `view`, `notice` (what could not be read) |
| words | `describe.about`, `kind`, `facts`; `words.limits` |
| if, then, else | `conditional` (the properties of every case), `conditions.properties_of(value)` (the names of its own case) |

`types` has the one table of JSON's types and Python's classes, `composition` makes one schema of
two and of alternatives, `enumeration` leaves out the listed values that a schema refuses itself.
`walk` has what goes keyword by keyword: rewriting a schema, and every schema in one; only what
writes a provider's dialect, or has to hear every alternative (redaction), needs it.
"""
