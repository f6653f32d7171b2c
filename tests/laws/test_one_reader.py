"""Only `toolbench.jsonschema` reads the keywords of a schema; others ask its nodes."""

import ast

import pytest

from toolbench.jsonschema.walk import COMPOSITION

WRITERS = {
    *("llm/formats/gemini.py", "llm/models/local_prompt.py"),
    "mcp/snapshots/schema_diff.py",
}
"""Those that write a provider's dialect, or a schema to try: the keywords may be keys of the dicts they make."""
TABLES = {"llm/formats/openai.py": "_KNOWN"}
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
    "core/foreign.py": "takes pydantic's noise out of its schemas",
    "llm/formats/arguments.py": "writes the root and the names that providers want",
    "llm/formats/openai.py": "writes OpenAI's dialect, and judges strict mode",
    "llm/formats/gemini.py": "writes Gemini's dialect",
    "llm/wire/anthropic.py": "writes Anthropic's dialect",
    "mcp/snapshots/schema_diff.py": "compares two schemas rule by rule",
    "mcp/snapshots/samples.py": "makes values at the limits of a schema",
    "mcp/lists/listing.py": "checks that a server wrote `type: object`, as MCP wants it",
}
"""Those that read keywords all the same, and why."""
WALKERS = {
    "agent/masking.py": "hides secrets in each text of a schema, read or not",
    "core/foreign.py": READERS["core/foreign.py"],
    "llm/formats/arguments.py": READERS["llm/formats/arguments.py"],
    "llm/formats/openai.py": READERS["llm/formats/openai.py"],
    "llm/formats/gemini.py": READERS["llm/formats/gemini.py"],
    "llm/wire/anthropic.py": READERS["llm/wire/anthropic.py"],
    "redaction/detect.py": "rewrites every default and example in a schema",
}
"""Those that go through a schema keyword by keyword (`jsonschema.walk`), and why."""

FOLLOWING = {"definitions_of", "follow", "leads_out", "may_refer", "references_in"}
"""What of `jsonschema.walk` only follows references, and needs no reason."""


@pytest.fixture(scope="module")
def others(trees):
    """The modules beside the reader, by their paths in the package."""
    return {home: tree for home, tree in trees.items() if not home.startswith("jsonschema/")}


def offences(home, tree):
    """The lines on which the module *home* names such a keyword, other than it may."""
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


def read_in(home, tree):
    """The lines on which the module *home* reads a keyword of a schema."""
    lines = []
    for node in ast.walk(tree):
        whole, keys = looked_up(node)
        is_schema = "schema" in called(whole).lower() or called(whole) == "node"
        known = KEYWORDS | COMMON if is_schema else KEYWORDS
        lines += [
            f"{home}:{node.lineno}: {key.value}"
            for key in keys
            if isinstance(key, ast.Constant) and key.value in known
        ]
    return lines


def walks(tree):
    """Whether a module imports from `jsonschema.walk` more than what follows references."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module == "toolbench.jsonschema.walk":
            return not {name.name for name in node.names} <= FOLLOWING
    return False


def test_nobody_else_looks_into_them(others):
    """Whoever wants to know what is behind them asks the one reader."""
    assert [line for home, tree in others.items() for line in offences(home, tree)] == []


def test_nobody_else_reads_keywords(others):
    """Whoever wants to know what a schema says asks a node, except those with a reason."""
    lines = {home: read_in(home, tree) for home, tree in others.items()}
    assert [line for home in lines.keys() - READERS.keys() for line in lines[home]] == []
    assert [home for home in READERS if not lines[home]] == [], "they read none any more"


def test_nobody_else_walks(others):
    """Going keyword by keyword takes a reason, and each reason is still needed."""
    assert {home for home, tree in others.items() if walks(tree)} == set(WALKERS)


@pytest.mark.parametrize("home", sorted({*WRITERS, *TABLES}))
def test_who_may_write_them_does(home, others):
    """The list of exceptions has no room for what is over."""
    texts = {node.value for node in ast.walk(others[home]) if isinstance(node, ast.Constant)}
    assert texts & set(COMPOSITION)


@pytest.mark.parametrize("line", ['s["$ref"]', 'b"$ref" in s'])
def test_a_reader_is_found(line):
    """A file that looks for references by itself, in a dict or in text, is named with the line."""
    tree = ast.parse(f"def f(s):\n    return {line}\n")
    assert [at.rpartition(":")[0] for at in offences("reader.py", tree)] == ["reader.py:2"]


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
def test_a_reader_of_keywords_is_found(line):
    """However a file looks up what a schema says, it is named with the line."""
    lines = read_in("reader.py", ast.parse(line))
    assert [at.rpartition(":")[0] for at in lines] == ["reader.py:1"]


def test_what_is_no_schema_may_have_the_same_words():
    """The type of a block, and a schema that is written and not read, are nobody's business."""
    code = 'block["type"]\nschema = {"type": "object", "properties": {}}\n'
    assert read_in("reader.py", ast.parse(code)) == []
