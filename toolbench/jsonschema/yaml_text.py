"""Read YAML 1.2 with a schema that decides which values are strings; write YAML.

What is written means the same in YAML 1.1 and 1.2.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Any

import yaml
from yaml.constructor import ConstructorError

from toolbench.errors import BodyError
from toolbench.jsonschema.node import Node, read
from toolbench.values import clip

_TAG = "tag:yaml.org,2002:"
_NUMBER_STARTS = "-+.0123456789"
# The core schema of YAML 1.2 (section 10.3.2): no `yes`, no `16:30`, no dates.
_RULES = (
    ("null", r"~|null|Null|NULL|", ["~", "n", "N", ""]),
    ("bool", r"true|True|TRUE|false|False|FALSE", list("tTfF")),
    ("int", r"[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+", list(_NUMBER_STARTS)),
    (
        "float",
        r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?"
        r"|[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)",
        list(_NUMBER_STARTS),
    ),
    ("merge", "<<", ["<"]),
)


class _Loader(yaml.SafeLoader):
    """A YAML loader that reads plain scalars by `_RULES`."""

    yaml_implicit_resolvers: dict[str, Any] = {}  # noqa: RUF012 - PyYAML's own attribute

    def construct_object(self, node: yaml.Node, deep: bool = False) -> Any:  # noqa: FBT001, FBT002
        """Return the value of *node*, including everything inside it.

        Raises:
            ConstructorError: If an alias is inside the value that it names.
        """
        if node in self.recursive_objects:
            msg = "an alias stands inside of the value that it names"
            raise ConstructorError(None, None, msg, node.start_mark)
        return super().construct_object(node, deep=True)


class _Dumper(yaml.SafeDumper):
    """Writes quotes around strings that YAML 1.1 or 1.2 would read as something else.

    U+0085 is written as an escape, because the character itself is a line end in YAML 1.1.
    """

    def represent_str(self, text: str) -> yaml.ScalarNode:
        """Return *text* as a node."""
        style = None
        if "\x85" in text:
            style = '"'
        elif "\n" in text.strip("\n"):
            # A block, as a user would write lines; where that is not possible, PyYAML quotes them
            style = "|"
        return self.represent_scalar(f"{_TAG}str", text, style=style)


_Dumper.add_representer(str, _Dumper.represent_str)
for _name, _pattern, _starts in _RULES:
    for _kind in (_Loader, _Dumper):
        _kind.add_implicit_resolver(_TAG + _name, re.compile(rf"(?:{_pattern})\Z"), _starts)


def _int(loader: Any, node: yaml.ScalarNode) -> int:
    text = node.value
    return int(text, 0) if text[1:2] in ("o", "x") else int(text)


_Loader.add_constructor(f"{_TAG}int", _int)


def read_yaml(
    text: str, schema: Any, *, what: str = "The body", path: Sequence[str | None] = ()
) -> Any:
    """Return the value of the YAML *text*.

    If *schema* requires a string, an unquoted `1` or `true` is read as a string.

    Args:
        text: The YAML.
        schema: The JSON Schema of the value, or of the part at *path*.
        what: The name of *text* in error messages.
        path: The keys that lead from the whole value to the part that *schema* describes. None
            stands for every key.

    Raises:
        BodyError: If *text* is not YAML.
    """
    try:
        loader = _Loader(text)
        node = loader.get_single_node()
        if node is None:
            return None
        for part in _at(node, path):
            _keep_text(part, read(schema))
        if path:
            _keep_text(node, read({}))
        return loader.construct_document(node)
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        msg = f"{what} is not YAML: {_reason(error)}."
        raise BodyError(msg) from None


def write_yaml(data: Any) -> str:
    """Return the JSON *data* as YAML on lines of about 100 characters."""
    text: str = yaml.dump(data, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=100)
    return text


def on_one_line(value: Any) -> str:
    """Return the JSON *value* as YAML on one line: `[frame, wheel]`."""
    text = yaml.safe_dump(value, default_flow_style=True, width=float("inf"), allow_unicode=True)
    return text.strip()


def _keep_text(whole: yaml.Node, schema_node: Node) -> None:
    """Change *whole* so that keys, and values that *schema_node* wants as strings, are strings.

    Only values without quotes are changed, because quoted values are already strings. The key `<<`
    keeps its meaning.
    """
    todo, visited = [(whole, schema_node)], set[int]()
    while todo:
        node, schema_node = todo.pop()
        # An alias
        if id(node) in visited:
            continue
        visited.add(id(node))
        if not isinstance(node, yaml.ScalarNode):
            todo += [(part, schema_node.at(key)) for key, part in _parts(node)]
        elif (
            node.style is None
            and node.value
            and schema_node.is_text
            and not (node.tag == f"{_TAG}null" and schema_node.takes_null)
        ):
            node.tag = f"{_TAG}str"


def _at(node: yaml.Node, path: Sequence[str | None]) -> list[yaml.Node]:
    nodes = [node]
    for step in path:
        nodes = [part for node in nodes for key, part in _parts(node) if step in (key, None)]
    return nodes


def _parts(node: yaml.Node) -> Iterator[tuple[Any, yaml.Node]]:
    if isinstance(node, yaml.SequenceNode):
        yield from enumerate(node.value)
    elif isinstance(node, yaml.MappingNode):
        names = set[str]()
        for name, part in node.value:
            if isinstance(name, yaml.ScalarNode):
                if name.tag != f"{_TAG}merge":
                    name.tag = f"{_TAG}str"
                    if name.value in names:
                        msg = f"the key {clip(name.value)} is there twice"
                        raise ValueError(msg)
                    names.add(name.value)
                yield name.value, part


def _reason(error: Exception) -> str:
    """Return the problem and its position, without the excerpt of the line that PyYAML adds."""
    problem = getattr(error, "problem", None) or getattr(error, "reason", None) or error
    reason = " ".join(str(problem).split())
    # Of `password: *text`, only the position: it may be a secret without quotes
    reason = re.sub(r"alias '.*", "alias", reason)
    mark = getattr(error, "problem_mark", None)
    if mark is None:
        return reason
    return f"{reason}, at line {mark.line + 1} column {mark.column + 1}"
