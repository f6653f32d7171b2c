"""Only `toolbench.jsonschema` reads the keywords of a schema; others ask its nodes."""

import ast
from pathlib import Path

import pytest

import toolbench
from toolbench.jsonschema.walk import COMPOSITION

PACKAGE = Path(toolbench.__file__).parent
FILES = [
    path for path in sorted(PACKAGE.rglob("*.py")) if PACKAGE / "jsonschema" not in path.parents
]
WRITERS = {
    *("llm/formats/gemini.py", "llm/models/local/prompt.py"),
    "mcp/snapshots/schema_diff/condition_changes.py",
}
"""Those that write a provider's dialect, or a schema to try: the keywords may be keys of the dicts they make."""
TABLES = {"llm/formats/strict.py": "_KNOWN"}
"""The words a provider's dialect has, by the file and the name of the table."""

KEYWORDS = {
    *("properties", "patternProperties", "additionalProperties", "propertyNames"),
    *("items", "prefixItems", "enum", "enumNames", "const", "examples"),
    *("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"),
    *("minLength", "maxLength", "minItems", "maxItems", "uniqueItems"),
    *("minProperties", "maxProperties", "contentEncoding", "contentMediaType"),
    *("nullable", "writeOnly", "$defs", "definitions"),
}
"""What only a schema has."""
COMMON = {
    *("type", "title", "description", "default", "format", "pattern", "required"),
    *("deprecated", "toolbench"),
}
"""What other objects have as well: they count on what is called a schema, or a node."""
READERS = {
    "core/classes/model_schema.py": "takes pydantic's noise out of its schemas",
    "llm/formats/argument_names.py": "renames properties for a provider",
    "llm/formats/tool_formats.py": "writes the dialects that take most keywords as they are",
    "llm/formats/gemini.py": "writes Gemini's dialect",
    "llm/formats/root_schema.py": "writes the root that providers want: an object without alternatives",
    "llm/formats/strict.py": "judges and writes the dialect of OpenAI's strict mode",
    "mcp/features/listing.py": "checks that a server wrote `type: object`, as MCP wants it",
    "redaction/detection/locations.py": "has to hear every alternative, not what they have in common",
}
"""Those that read keywords all the same, and why."""
WALKERS = {
    "agent/context/masking.py": "hides secrets in each text of a schema, read or not",
    "core/classes/model_schema.py": READERS["core/classes/model_schema.py"],
    "llm/formats/argument_names.py": READERS["llm/formats/argument_names.py"],
    "llm/formats/tool_formats.py": READERS["llm/formats/tool_formats.py"],
    "llm/formats/gemini.py": READERS["llm/formats/gemini.py"],
    "llm/formats/root_schema.py": READERS["llm/formats/root_schema.py"],
    "llm/formats/strict.py": READERS["llm/formats/strict.py"],
    "redaction/detection/locations.py": READERS["redaction/detection/locations.py"],
    "redaction/detection/secret_samples.py": "rewrites every default and example in a schema",
}
"""Those that go through a schema keyword by keyword (`jsonschema.walk`), and why."""


def home_of(path):
    """Return *path* as it stands in the package."""
    return path.relative_to(PACKAGE).as_posix()


def parsed(path):
    """Return the syntax tree of the file at *path*."""
    return ast.parse(path.read_text(encoding="utf-8"))


def offences(path):
    """The lines on which the file at *path* names such a keyword, other than it may."""
    home = home_of(path)
    tree = parsed(path)
    allowed = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Dict) and home in WRITERS:
            allowed |= set(node.keys)
        table = isinstance(node, ast.Assign) and node.targets[0]
        if isinstance(table, ast.Name) and table.id == TABLES.get(home):
            allowed |= set(ast.walk(node))
    return [
        f"{home}:{node.lineno}: {node.value}"
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant)
        and node.value in (*COMPOSITION, *(word.encode() for word in COMPOSITION))
        and node not in allowed
    ]


def called(node):
    """Return the last name of an expression: `schema` of `self.schema`, `get` of `x.get()`."""
    match node:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name
        case ast.Call(func=func):
            return called(func)
    return ""


def looked_up(node):
    """Return what *node* looks into, and the keys it looks for there."""
    match node:
        case ast.Subscript(value=whole, slice=key, ctx=ast.Load()):
            return whole, [key]
        case ast.Call(
            func=ast.Attribute(value=whole, attr="get" | "pop" | "setdefault"),
            args=[key, *_],
        ):
            return whole, [key]
        case ast.Compare(left=key, ops=[ast.In() | ast.NotIn()], comparators=[whole]):
            return whole, [key]
        case ast.BinOp(
            left=ast.Call(func=ast.Attribute(value=whole, attr="keys")),
            right=ast.Set(elts=keys),
        ):
            return whole, keys
    return node, []


def read_in(path):
    """The lines on which the file at *path* reads a keyword of a schema."""
    lines = []
    for node in ast.walk(parsed(path)):
        whole, keys = looked_up(node)
        is_schema = "schema" in called(whole).lower() or called(whole) == "node"
        known = KEYWORDS | COMMON if is_schema else KEYWORDS
        lines += [
            f"{home_of(path)}:{node.lineno}: {key.value}"
            for key in keys
            if isinstance(key, ast.Constant) and key.value in known
        ]
    return lines


def walks(path):
    """Whether the file at *path* imports from `jsonschema.walk`."""
    return any(
        isinstance(node, ast.ImportFrom) and node.module == "toolbench.jsonschema.walk"
        for node in ast.walk(parsed(path))
    )


def test_nobody_else_looks_into_them():
    """Whoever wants to know what is behind them asks the one reader."""
    assert [line for path in FILES for line in offences(path)] == []


def test_nobody_else_reads_keywords():
    """Whoever wants to know what a schema says asks a node, except those with a reason."""
    others = [path for path in FILES if home_of(path) not in READERS]
    assert [line for path in others for line in read_in(path)] == []


def test_nobody_else_walks():
    """Going keyword by keyword takes a reason, and each reason is still needed."""
    assert {home_of(path) for path in FILES if walks(path)} == set(WALKERS)


@pytest.mark.parametrize("home", sorted(READERS))
def test_who_may_read_them_does(home):
    """The list of exceptions has no room for what is over."""
    assert read_in(PACKAGE / home)


@pytest.mark.parametrize("home", sorted({*WRITERS, *TABLES}))
def test_who_may_write_them_does(home):
    """The list of exceptions has no room for what is over."""
    text = (PACKAGE / home).read_text(encoding="utf-8")
    assert any(f'"{keyword}"' in text for keyword in COMPOSITION)


@pytest.fixture
def reader(tmp_path, monkeypatch):
    """Write a file of another package; return it."""
    monkeypatch.setitem(globals(), "PACKAGE", tmp_path)

    def write(text):
        path = tmp_path / "reader.py"
        path.write_text(text)
        return path

    return write


@pytest.mark.parametrize("line", ['s["$ref"]', 'b"$ref" in s'])
def test_a_reader_is_found(reader, line):
    """A file that looks for references by itself, in a dict or in text, is named with the line."""
    path = reader(f"def f(s):\n    return {line}\n")
    assert [at.rpartition(":")[0] for at in offences(path)] == ["reader.py:2"]


@pytest.mark.parametrize(
    "line",
    [
        's["properties"]',
        's.get("enum")',
        '"const" in s',
        's.keys() & {"items"}',
        'self.schema["type"]',
        'tool.input_schema.get("required", ())',
    ],
)
def test_a_reader_of_keywords_is_found(reader, line):
    """However a file looks up what a schema says, it is named with the line."""
    assert [at.rpartition(":")[0] for at in read_in(reader(line))] == ["reader.py:1"]


def test_what_is_no_schema_may_have_the_same_words(reader):
    """The type of a block, and a schema that is written and not read, are nobody's business."""
    path = reader('block["type"]\nschema = {"type": "object", "properties": {}}\n')
    assert read_in(path) == []
