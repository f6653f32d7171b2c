"""The words of the code are plain: docstrings name who acts, names say what a value is."""

import ast
import re
from collections.abc import Iterator, Set
from pathlib import Path

import pytest

import toolbench

ROOT = Path(toolbench.__file__).parent
TESTS = Path(__file__).parent
# They hide who acts: the caller, the server, the person, the model.
VAGUE = {"anybody", "nobody", "somebody", "whoever"}
# As a name they say when a value came, and not what it is: `matches`, `message`, `text`, `arguments`.
PARTICIPLES = {
    *("asked", "came", "found", "given", "gone", "handed", "heard", "held", "kept"),
    *("listed", "made", "meant", "named", "put", "said", "seen", "shown", "spoken"),
    *("stated", "taken", "told", "wanted"),
}
# In tests and scripts, a verb is no name of a value either.
VERBS = {"got", "ran", "read", "say", "says"}


def modules() -> Iterator[tuple[str, ast.Module]]:
    """Return the name and the syntax tree of every module of the package."""
    for path in sorted(ROOT.rglob("*.py")):
        if "template" not in path.parts:
            text = path.read_text(encoding="utf-8")
            yield path.relative_to(ROOT).as_posix(), ast.parse(text)


def docstrings() -> Iterator[tuple[str, str, str]]:
    """Return every docstring, with its module and name."""
    kinds = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef
    for module, tree in modules():
        for node in ast.walk(tree):
            if isinstance(node, kinds) and (text := ast.get_docstring(node)):
                yield module, getattr(node, "name", "the module"), text


def vague_words(text: str) -> set[str]:
    """Return the vague words of *text*."""
    return VAGUE & {word.strip(".,;:()`*").lower() for word in text.split()}


def names_of_values(tree: ast.AST) -> Iterator[str]:
    """Return the names of the variables, parameters and attributes that *tree* defines."""
    for node in ast.walk(tree):
        match node:
            case ast.Name(id=name, ctx=ast.Store()) | ast.arg(arg=name):
                yield name
            case ast.ExceptHandler(name=str(name)) | ast.MatchMapping(rest=str(name)):
                yield name
            case ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)):
                yield name
            case ast.Attribute(attr=name, ctx=ast.Store()):
                yield name


def is_participle(name: str, more: Set[str] = frozenset()) -> bool:
    """Tell whether *name* says when a value came instead of what it is, or is in *more*."""
    return name.strip("_").lower() in PARTICIPLES | more


def test_docstrings_name_who_acts():
    """No docstring leaves it to the reader who somebody is."""
    assert [(*row[:2], vague_words(row[2])) for row in docstrings() if vague_words(row[2])] == []


def test_names_say_what_a_value_is():
    """No variable, parameter or attribute is called after the moment when its value came."""
    wrong = [
        (module, name)
        for module, tree in modules()
        for name in names_of_values(tree)
        if is_participle(name)
    ]
    assert wrong == []


def test_names_in_tests_say_what_a_value_is():
    """The same law holds for the tests and the scripts; no verb is a value there either."""
    paths = [*TESTS.rglob("*.py"), *TESTS.parent.joinpath("scripts").rglob("*.py")]
    wrong = [
        (path.relative_to(TESTS.parent).as_posix(), name)
        for path in sorted(paths)
        for name in names_of_values(ast.parse(path.read_text(encoding="utf-8")))
        if is_participle(name, VERBS)
    ]
    assert wrong == []


@pytest.mark.parametrize("line", ["Stop, if nobody waits.", "Tell whoever looks.", "Somebody's."])
def test_vague_words_are_recognised(line):
    """The words are recognised at the end of a sentence too, in any case."""
    assert vague_words(re.sub("'s", "", line))


@pytest.mark.parametrize(
    "code",
    [
        "found = 1",
        "def f(*, _said): pass",
        "class C:\n    SHOWN: int = 1",
        "self._kept = 1",
        "match x:\n    case [*told]: pass",
        "for given, x in y: pass",
        "try: pass\nexcept E as seen: pass",
    ],
)
def test_participles_are_recognised(code):
    """Whatever way a value gets its name, the law holds for it."""
    assert [name for name in names_of_values(ast.parse(code)) if is_participle(name)]
