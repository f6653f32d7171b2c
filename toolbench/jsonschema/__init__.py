"""Read JSON Schema. No other package looks at its keywords; they use the nodes of this package.

Start with a view of the whole schema, keep the view while you read, and get nodes from it::

    node = read(schema)                   # the Node of the whole value; it makes a new view
    view = SchemaView(schema)             # a view, if you also read parts of the schema
    whole = view.whole                    # the Node of the whole value
    part = view.node(part_of_the_schema)  # the Node of a part; each part is read once

A `Node` is the normal form of the schema for one value: references are followed, `allOf` is merged,
the `null` alternative is removed (`nullable`), and similar alternatives are merged. For any schema,
even a broken or recursive one, reading a node ends without an error, because its parts are read
only when they are needed.

| you want | you use |
| --- | --- |
| the types of the value | `types`, `type` (exactly one), `nullable`, `takes_null`, `classes`, `is_text` |
| listed values it accepts | `values` (its own), `value_names`, `is_constant`, `choices` (also the values of alternatives and of a boolean) |
| alternatives | `branches` (two at least), `alternatives` (without further branches, or the node itself); as they are written: `view.keyword_of`, `view.merged_alternatives` |
| an object | `properties`, `declared`, `conditional`, `required`, `names`, `key_names`, `additional`, `patterns`, `of_other_key`, `is_closed`, `is_open` |
| a list | `items`, `prefix_items` |
| any part | `at(*path)`, through every alternative |
| limits | `limit("maxItems")`, the tighter one of several; `words.limits` for all in words |
| texts | `title`, `own_title`, `description`, `explanation` (of alternatives too), `definition` |
| other keywords | `default`, `has_default`, `examples`, `format`, `text("contentEncoding")`, `is_deprecated`, `is_secret`, `says("pattern", ...)`, `extension` (`toolbench`) |
| validation | `fits(value)`, `problems(value)`; `validate.validator_of` for a whole schema |
| the source | `raw`, `view`, `notice` (the part that could not be read) |
| words | `describe.about`, `kind`, `facts`; `words.limits` |
| if, then, else | `conditional` (the properties of every case), `names_of_cases(value)` (the names in the cases that apply) |

`types` has the table of JSON's types and Python's classes. `compose` merges several schemas or
alternatives into one. `problems` has the messages about wrong values. `extent` refuses schemas that
are too large. `checks` checks what a validator ignores, such as formats and dates. `walk` reads
keywords one by one: it follows references, rewrites a schema, and yields every schema inside a
schema. Use `walk` only to change a schema, or to write it for a model provider.
"""
