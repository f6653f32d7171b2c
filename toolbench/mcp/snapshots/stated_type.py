"""Find places of a schema that began or stopped to state their type."""

from collections.abc import Iterator
from functools import partial

from toolbench.jsonschema.composition.fold import leaves_type_open, states_type
from toolbench.jsonschema.describe import kind as kind_of
from toolbench.jsonschema.normal import Node
from toolbench.mcp.snapshots.schema_diff.difference import Difference, difference
from toolbench.mcp.snapshots.schema_diff.examples import others


def stated_type(before: Node, after: Node) -> Iterator[Difference]:
    """Yield a difference if only one of the two places states its type.

    Without a type, keywords such as `minLength` allow any value of another type.
    """
    if (states_type(before.raw) and leaves_type_open(after.raw)) or (
        leaves_type_open(before.raw) and states_type(after.raw)
    ):
        yield _difference(before, after)


def _difference(before: Node, after: Node) -> Difference:
    is_narrower = states_type(after.raw)
    type_now = after if is_narrower else before
    anything = partial(others, {str(type_now.type)})
    words = "anything", kind_of(type_now)
    old, new = words if is_narrower else reversed(words)
    return difference(
        "narrower" if is_narrower else "wider",
        "type",
        before.type,
        after.type,
        f"{old} before, {new} now",
        refused=anything,
        admitted=anything,
    )
