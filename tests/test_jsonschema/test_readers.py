"""Whoever reads an argument reads the same: its types, limits, values, description, and if it is required.

One row per reader: a function that takes a tool and the normal form of what it accepts, and asserts
what it says of each argument. Add a row for a reader that you make.
"""

import html
import re
import shlex
from json import dumps

import pytest
from corpus import lines_of, needs_corpus, tool_of
from hypothesis import given, settings
from hypothesis import strategies as st
from IPython.core.completer import CompletionContext
from pydantic import BaseModel
from test_core.schemas import NAMES, SCHEMAS, objects

from toolbench import tool
from toolbench.display.objects import tool_bundle
from toolbench.jsonschema import describe
from toolbench.jsonschema.node import read
from toolbench.jsonschema.walk import follow
from toolbench.jsonschema.words import limits
from toolbench.jsonschema.yaml_text import read_yaml
from toolbench.llm.lint import Subject
from toolbench.magics.catalog import Catalog
from toolbench.magics.completion import matcher_for, offer_in_json, offer_in_yaml
from toolbench.widgets.form import SchemaForm

_LIMITS = (
    *("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"),
    *("minLength", "maxLength", "pattern", "minItems", "maxItems", "uniqueItems"),
)
# A name that a line takes as it is
_PLAIN = re.compile(r"[\w.-]+")
# Arguments that HTML shows of one tool
_MOST = 100
# Characters, of those that HTML shows of one argument
_LONG = 1_000


def squeezed(text):
    """The letters and digits of *text*: pages break lines, cut words and escape the rest."""
    return re.sub(r"\W", "", text).casefold()


def page_text(page):
    """The letters and digits that a person sees of a page of HTML."""
    return squeezed(html.unescape(re.sub("<[a-z/][^>]*>", "", page)))


# --- the readers ----------------------------------------------------------------------


def form(tool_, whole):
    """The fields: what each knows, and the words around it."""
    root = SchemaForm(tool_.input_schema).slot.editor
    for name, argument in () if whole.branches else arguments(whole):
        slot = root.child(name)
        assert slot.node.types == argument.types
        assert slot.required == (name in whole.required)
        assert slot.help == argument.description
        words = page_text(slot.display.remarks())
        assert squeezed(argument.description)[:200] in words
        for limit in limits(argument.schema):
            assert squeezed(limit) in words


def tab(tool_, whole):
    """The names that complete an object, and the values behind each."""
    names = offered(tool_, "{")
    for name, argument in arguments(whole):
        assert f"{dumps(name, ensure_ascii=False)}: " in names
        values = offered(tool_, f"{{{dumps(name)}: ")
        assert values == [dumps(c, ensure_ascii=False) for c in argument.choices]


def offered(tool_, text, offer=offer_in_json):
    """What Tab puts in after *text*."""
    completions = offer(tool_.input_schema, text, "")
    return [completion.text for completion in completions["completions"]]


def tab_in_yaml(tool_, whole):
    """The names that begin a line of YAML, and each value: it is read as what was listed."""
    names = {*offered(tool_, "", offer_in_yaml)}
    for name, argument in arguments(whole):
        assert any(read_yaml(f"{line}1", {}) == {name: 1} for line in names)
        if _PLAIN.fullmatch(name):
            values = offered(tool_, f"{name}: ", offer_in_yaml)
            assert [read_yaml(f"- {v}", {}) for v in values] == [
                [choice] for choice in argument.choices
            ]


def tab_in_a_line(tool_, whole):
    """The names that go before `=`, and the values after it, as words of a line."""
    namespace = {"it": tool_}
    match = matcher_for(Catalog(namespace, lambda: None), list, (), list)

    def offered_after(line):
        context = CompletionContext(line, line, len(line), 0, None)
        return [completion.text for completion in match(context)["completions"]]

    line = f"%tool {tool_.name} "
    assert offered_after(line) == [f"{name}=" for name in whole.names]
    for name, argument in arguments(whole):
        if _PLAIN.fullmatch(name):
            texts = [c if isinstance(c, str) else dumps(c) for c in argument.choices]
            on_a_line = [text for text in texts if "\n" not in text]
            values = offered_after(f"{line}{name}=")
            assert [shlex.split(value) for value in values] == [[t] for t in on_a_line]


def lint(tool_, whole):
    """The rules."""
    judged = {argument.name: argument for argument in Subject(tool_).outer}
    for name, argument in arguments(whole):
        assert judged[name].types == tuple(t for t in argument.types if t != "null")
        assert judged[name].text == argument.explanation
        assert judged[name].required == (name in whole.required)
        for keyword in _LIMITS:
            assert judged[name].has(keyword) == argument.says(keyword)


def text(tool_, whole):
    """The tool in a terminal."""
    _on_the_page(squeezed(tool_bundle(tool_)["text/plain"]), whole)


def static_html(tool_, whole):
    """The tool in a saved notebook."""
    _on_the_page(page_text(tool_bundle(tool_)["text/html"]), whole)


def _on_the_page(page, whole):
    for name, argument in arguments(whole):
        optional = "" if name in whole.required else "(optional)"
        words = squeezed(describe.about(argument))
        assert words, "nothing is blank"
        assert squeezed(f"{name}{optional}")[-100:] + words[:_LONG] in page


def arguments(whole):
    """Each argument by its name, as far as a page shows them."""
    return [(name, whole.at(name)) for name in whole.names[:_MOST]]


_PART = st.sampled_from([True, {"type": "string"}, {"$ref": "#/$defs/leaf"}])
_CASE = st.recursive(
    objects(_PART),
    lambda inner: st.one_of(
        st.fixed_dictionaries({"allOf": st.lists(inner, min_size=1, max_size=2)}),
        st.fixed_dictionaries({"anyOf": st.lists(inner, min_size=1, max_size=2)}),
        st.fixed_dictionaries({"if": inner, "then": inner, "else": inner}),
    ),
    max_leaves=4,
)
CONDITIONS = st.fixed_dictionaries(
    {},
    optional={
        "if": objects(_PART),
        "then": _CASE,
        "else": _CASE,
        "dependentSchemas": st.dictionaries(NAMES, _CASE, max_size=2),
    },
)
READERS = [form, tab, tab_in_yaml, tab_in_a_line, lint, text, static_html]


def agree(reader, tool_):
    """Ask *reader* for each argument of a tool, and the node for each name its schema declares."""
    whole = read(tool_.input_schema)
    assert not declared_anywhere(whole.view, tool_.input_schema) - {*whole.names}
    reader(tool_, whole)


def declared_anywhere(view, schema, visited=()):
    """The names of properties in a schema of an object, in whatever case: by no reader's code."""
    if not isinstance(schema, dict) or id(schema) in visited:
        return set()
    names, visited = set(schema.get("properties", ())), (*visited, id(schema))
    parts = [part for k in ("allOf", "anyOf", "oneOf") for part in schema.get(k, ())]
    if "if" in schema:
        parts += [schema.get("then"), schema.get("else")]
    parts += schema.get("dependentSchemas", {}).values()
    if "$ref" in schema:
        parts.append(follow(view.root, schema["$ref"]))
    return names.union(*(declared_anywhere(view, part, visited) for part in parts))


@pytest.mark.slow
@pytest.mark.parametrize("reader", READERS)
def test_agree_on_the_corpus(reader, published):
    """On each of the arguments of published tools."""
    for each in published:
        agree(reader, tool_of(each["inputSchema"]))


@needs_corpus
@pytest.mark.parametrize("reader", READERS)
def test_agree_on_the_matrix(reader):
    """On the cases that forms are judged by."""
    for line in lines_of("matrix_cases.jsonl"):
        agree(reader, tool_of(line["inputSchema"]))


@pytest.mark.slow
@pytest.mark.parametrize("reader", READERS)
@given(schema=SCHEMAS, cases=CONDITIONS)
@settings(max_examples=40)
def test_agree_on_any_schema(reader, schema, cases):
    """Whatever its keywords are, in whatever case, and whether it refers to itself."""
    agree(reader, tool_of({**schema, **cases}))


_SHARED = {
    "type": "object",
    "$defs": {"Q": {"enum": ["a", "b"], "description": "Pick one of the two."}},
    "properties": {
        "p": {"$ref": "#/$defs/Q"},
        "q": {"allOf": [{"$ref": "#/$defs/Q"}]},
        "u": {"anyOf": [{"$ref": "#/$defs/Q"}, {"type": "null"}]},
        "l": {"type": "array", "items": {"$ref": "#/$defs/Q"}},
    },
}


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("p", "one of a, b. Pick one of the two."),
        ("q", "one of a, b. Pick one of the two."),
        ("u", "one of a, b or null. Pick one of the two."),
        ("l", "array of one of a, b"),
    ],
)
def test_a_definition_is_read_wherever_it_is_referred_to(name, words):
    """Directly, in allOf, beside null, as the items of a list; to people and to lint."""
    tool_ = tool_of(_SHARED)
    bundle = tool_bundle(tool_)
    for page in (squeezed(bundle["text/plain"]), page_text(bundle["text/html"])):
        assert squeezed(f"{name} (optional): {words}") in page
    judged = {argument.name: argument for argument in Subject(tool_).outer}
    assert judged[name].text == ("" if name == "l" else "Pick one of the two.")


@pytest.mark.parametrize(
    ("items", "text"),
    [
        ({"type": "string", "format": "date"}, "array of string of format date"),
        ({"type": "integer", "minimum": 1}, "array of integer (each: at least 1)"),
        (
            {"type": "array", "items": {"type": "string", "maxLength": 2}},
            "array of array of string (each: each of these: at most 2 characters)",
        ),
        ({"type": "string", "default": "a"}, "array of string"),
        (
            {"anyOf": [{"type": "string", "format": "date"}, {"type": "null"}]},
            "array of string of format date",
        ),
        ({"$ref": "#"}, "array of array of array of array"),
    ],
)
def test_what_an_item_has_to_be_is_said_with_the_list(items, text):
    """A list of dates is more than a list of texts. A list of itself has an end."""
    assert describe.about(read({"type": "array", "items": items})) == text


def test_an_empty_text_can_be_seen_among_the_values():
    """It is in quotes; without them nothing would stand before the comma."""
    schema = {"type": "object", "properties": {"e": {"enum": ["", " ", "x"]}}}
    page = tool_bundle(tool_of(schema))["text/plain"]
    assert 'e (optional): one of "", " ", x' in page


_TEXT = {"type": "string", "description": "A text.", "maxLength": 9}
_IS_A = {"properties": {"m": {"const": "a"}}, "required": ["m"]}
CASES = {
    "then": {"if": _IS_A, "then": {"properties": {"code": _TEXT}}},
    "else": {"if": _IS_A, "else": {"properties": {"code": _TEXT}}},
    "in allOf": {"allOf": [{"if": _IS_A, "then": {"properties": {"code": _TEXT}}}]},
    "else if": {
        "if": _IS_A,
        "else": {"if": {"required": ["n"]}, "then": {"properties": {"code": _TEXT}}},
    },
    "reference": {
        "if": _IS_A,
        "then": {"$ref": "#/$defs/Case"},
        "$defs": {"Case": {"properties": {"code": _TEXT}}},
    },
    "dependentSchemas": {"dependentSchemas": {"m": {"properties": {"code": _TEXT}}}},
    "dependencies": {"dependencies": {"m": {"properties": {"code": _TEXT}}}},
    "itself": {
        "if": _IS_A,
        "then": {"$ref": "#"},
        "dependentSchemas": {"m": {"$ref": "#"}},
        "else": {"properties": {"code": _TEXT}},
    },
}


# Each case is a rule of its own
@pytest.mark.every_case
@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize("case", CASES)
def test_an_argument_of_one_case_is_an_argument(case, reader):
    """Every reader knows it, wherever the case stands, with all that is said of it."""
    schema = {"type": "object", "properties": {"m": {"type": "string"}}, **CASES[case]}
    tool_ = tool_of(schema)
    whole = read(tool_.input_schema)
    assert whole.names == ["m", "code"]
    assert whole.at("code").description == "A text."
    reader(tool_, whole)


class Node(BaseModel):
    """A part of a tree."""

    value: int
    children: list["Node"] = []


@tool
def grow(root: Node) -> str:
    """Grow a tree."""
    return ""


def test_a_model_that_holds_itself_says_what_is_in_it():
    """Its keys are listed, and no reader follows them for ever."""
    assert "root: object of value, children" in tool_bundle(grow)["text/plain"]
    for reader in READERS:
        agree(reader, grow)
