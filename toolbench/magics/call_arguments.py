"""Read the arguments of a call from the line or the body of a magic, or from a command line.

This module does not import IPython, so that the command `toolbench call` starts fast.
"""

import ast
import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from symtable import symtable
from typing import Any, Literal, get_args

from toolbench.core.tool import ToolDefinition
from toolbench.display.caps import shorten
from toolbench.errors import BodyError, did_you_mean, indefinite
from toolbench.jsonschema.describe import example_values
from toolbench.jsonschema.node import Node, read
from toolbench.jsonschema.words import FORMAT_EXAMPLES, NOUNS, TEXTS
from toolbench.redaction.detect import Secrecy, is_secret
from toolbench.runs.kernel import notebook_folder
from toolbench.values import base64_of, clip, each_once

Format = Literal["json", "yaml", "py"]
FORMS: tuple[Format, ...] = get_args(Format)

# Characters
_EXAMPLE = 200
_NOTHING = object()
_FORMS = 'Write YAML (`total: 84`), JSON (`{"total": 84}`), or Python with `-f py` (`total = 84`)'
# Types whose values have parts
_WITH_PARTS = ("array", "object")
_VARIABLE = re.compile(r"\$\{(\w+)\}")


class WordError(BodyError):
    """A word of a line cannot be read as an argument. Magics turn this into a `UsageError`."""


def _read_words(words: Iterable[str], accepted: Node) -> tuple[dict[str, Any], dict[str, str]]:
    """Return the arguments in `key=value` words, and a message for each wrong word, by its key.

    *accepted* is the schema of the arguments. If it requires a string, the value is a string.
    Otherwise, the value is read as JSON if possible. If the schema wants bytes, `@path` stands for
    the content of a file.

    A word is wrong if it has no `=`, repeats an argument, names a file that cannot be read, or sets
    only a property of an object, such as `customer.name=Bob`.
    """
    arguments, mistakes = dict[str, Any](), dict[str, str]()
    objects, names = dict[str, dict[str, Any]](), set[str]()
    for word in words:
        name, equals, text = word.partition("=")
        node = accepted.at(name)
        if not equals:
            mistakes[name] = f"Expected key=value, not {word!r}. Put text with blanks in quotes."
        elif name in names:
            mistakes[name] = f"{name!r} is given twice."
        elif outer := _outer_object(name, accepted):
            _put(objects.setdefault(outer, {}), name, text, accepted)
            hidden, _ = Secrecy(accepted.schema).hide({outer: objects[outer]})
            mistakes[outer] = _how_to_write(outer, accepted, _on_the_line(outer, hidden[outer]))
        elif node.is_bytes and text.startswith("@"):
            try:
                arguments[name] = _content_of(text)
            except OSError as error:
                folder = str(notebook_folder())
                mistakes[name] = f"{word} cannot be read from {folder!r}: {error.strerror}."
        else:
            arguments[name] = _value_of(text, node)
        if equals:
            names.add(name)
    return arguments, mistakes


def _outer_object(name: str, accepted: Node) -> str:
    """Return the argument to which the property *name* belongs: `customer` for `customer.name`.

    The result is empty if *name* is itself an argument, or if its first part is not an argument
    that takes an object.
    """
    outer, dot, _ = name.partition(".")
    is_property = dot and name not in accepted.names and outer in accepted.names
    if is_property and accepted.at(outer).type == "object":
        return outer
    return ""


def _put(values: dict[str, Any], name: str, text: str, accepted: Node) -> None:
    """Put *text* into the object *values* as the property *name*, such as `customer.name`."""
    outer, *steps, last = name.split(".")
    node = accepted.at(outer)
    for step in steps:
        node = node.at(step)
        if not isinstance(values.get(step), dict):
            values[step] = {}
        values = values[step]
    node = node.at(last)
    value = _value_of(text, node)
    if value is text and node.type in _WITH_PARTS:
        value = _example_of(last, node)
    values[last] = value


def from_words(words: Iterable[str], accepted: Node) -> dict[str, Any]:
    """Read the arguments of a call from the `key=value` words of a line.

    Args:
        words: The words.
        accepted: The schema of the arguments. It decides whether a value is read as a string or as
            JSON.

    Raises:
        WordError: If a word is not valid, or has a single value for an argument that must be a
            list or an object.
    """
    arguments, mistakes = _read_words(words, accepted)
    mistakes = {**_singles(arguments, accepted, _on_the_line), **mistakes}
    if mistakes:
        raise WordError(in_lines([*mistakes.values()]))
    return arguments


def arguments_in(
    words: Sequence[str],
    tool: ToolDefinition[Any, Any],
    namespace: Mapping[str, Any],
    *,
    is_all: bool,
) -> dict[str, Any]:
    """Read the arguments of a call from `key=value` words, and replace `${name}` by variables.

    A value that the schema does not allow is not an error here, because the run reports it later.
    If an error is raised for another reason, its message also lists such values.

    Args:
        words: The words of the line.
        tool: The tool to call.
        namespace: The variables of the notebook, by name.
        is_all: Whether *words* contain all arguments. If false, the body of the cell may contain
            more, so missing arguments are not reported.

    Raises:
        WordError: If a word is not valid, or has a single value for an argument that must be a
            list or an object.
        BodyError: If all words are valid, but a variable does not exist.
    """
    read, mistakes = _read_words(words, tool.input_node)
    arguments, unknown = dict[str, Any](), dict[str, str]()
    for name, value in read.items():
        try:
            arguments[name] = fill_in(value, namespace)
        except BodyError as error:
            unknown[name] = str(error)
    advice = _singles(read, tool.input_node, _on_the_line)
    if not (mistakes or unknown or advice):
        return arguments
    problems = tool.problems(arguments)
    refused = {problem.path for problem in problems}
    wrong = {name: sentence for name, sentence in advice.items() if (name,) in refused}
    for name, sentence in mistakes.items():
        wrong[name] = f"{wrong.get(name, '')} {sentence}".strip()
    is_misread = bool(wrong)
    wrong |= unknown
    if not wrong:
        return arguments
    is_all = is_all and all("=" in word for word in words)
    sentences = [*wrong.values()]
    for problem in problems:
        top = next(iter(problem.path), None)
        if top is not None and top not in wrong and (is_all or top in arguments):
            sentences.append(str(problem))
    if is_misread:
        raise WordError(in_lines(sentences))
    raise BodyError(in_lines(sentences))


def read_arguments(
    tool: ToolDefinition[Any, Any],
    namespace: Mapping[str, Any],
    words: Sequence[str],
    literal: str | None,
    body: str | None = None,
    form: Format | None = None,
) -> dict[str, Any]:
    """Return the arguments of a call of *tool* from all parts of a line and its cell.

    Args:
        tool: The tool to call.
        namespace: The variables that `${name}` may refer to, by name. In a notebook, these are the
            notebook's variables; in a shell, the environment variables.
        words: The `key=value` words of the line.
        literal: The JSON object on the line; None if there is no object.
        body: The body of the cell; None if there is no body.
        form: The format of the body; None to recognize it from the body.

    Raises:
        WordError: If a word cannot be read; see `arguments_in`.
        BodyError: If *literal* or *body* cannot be read, or an argument is given twice.
    """
    is_all = body is None and literal is None
    arguments = arguments_in(words, tool, namespace, is_all=is_all)
    texts: tuple[tuple[str | None, Format | None], ...] = ((literal, "json"), (body, form))
    for text, text_form in texts:
        if text is None:
            continue
        given = from_text(text, text_form, namespace, tool.input_schema)
        for name in given:
            if name in arguments:
                msg = f"{name!r} is given twice: leave one out."
                raise BodyError(msg)
        if text_form in (None, "yaml") and not looks_like_json(text):
            check_parts(given, arguments, tool, namespace)
        # Python has the variables already
        if text_form != "py":
            given = fill_in(given, namespace)
        arguments.update(given)
    return arguments


def check_parts(
    body: Mapping[str, Any],
    arguments: Mapping[str, Any],
    tool: ToolDefinition[Any, Any],
    namespace: Mapping[str, Any],
) -> None:
    """Check that the YAML *body* has no single values for arguments that are lists or objects.

    A string or a number is allowed if the schema of *tool* accepts it too.

    Args:
        body: The arguments in the body.
        arguments: The arguments on the line.
        tool: The tool to call.
        namespace: The variables that `${name}` in *body* may refer to, by name.

    Raises:
        BodyError: If there is a string or a number where *tool* accepts only a list or an object.
            The message lists all problems.
    """
    singles = _singles(body, tool.input_node, _in_yaml)
    advice: dict[tuple[str | int, ...], str] = {(name,): text for name, text in singles.items()}
    if not advice:
        return
    problems = tool.problems({**arguments, **fill_in(dict(body), namespace)})
    if any(problem.path in advice for problem in problems):
        sentences = [advice.get(problem.path, str(problem)) for problem in problems]
        raise BodyError(in_lines(sentences, "body"))


def _singles(
    values: Mapping[str, Any], accepted: Node, write: Callable[[str, Any], str]
) -> dict[str, str]:
    """Return a message for each string or number that must be a list or an object, by its name.

    *accepted* is the schema of the arguments. A message shows what to write: the same values as a
    list, if the string has commas, or an example. *write* puts this into the syntax of the line or
    the body.
    """
    sentences = dict[str, str]()
    for name, value in values.items():
        node = accepted.at(name)
        is_single = isinstance(value, str | int | float) and not _is_variable(value)
        if not is_single or node.type not in _WITH_PARTS:
            continue
        text = value
        if not isinstance(value, str):
            text = json.dumps(value)
        parts = _list_of(text, node)
        if parts is None or Secrecy(accepted.schema).hide({name: parts})[1]:
            parts = _example_of(name, node)
        sentences[name] = _how_to_write(name, accepted, write(name, parts))
    return sentences


def _is_variable(value: object) -> bool:
    return isinstance(value, str) and bool(_VARIABLE.fullmatch(value))


def _how_to_write(name: str, accepted: Node, example: str) -> str:
    return f"{name} takes {NOUNS[str(accepted.at(name).type)]}: write {example}."


def _on_the_line(name: str, value: Any) -> str:
    return f"{name}={clip(value, _EXAMPLE)}"


def _in_yaml(name: str, value: Any) -> str:
    from toolbench.jsonschema.yaml_text import on_one_line  # noqa: PLC0415 - heavy: PyYAML

    return f"`{name}: {shorten(on_one_line(value), _EXAMPLE)}`"


def in_lines(mistakes: Sequence[str], place: str = "line") -> str:
    """Join *mistakes* into one error message. Several mistakes become a list with dashes.

    Args:
        mistakes: A message about each mistake.
        place: The part of the cell with the mistakes, such as `line` or `body`.
    """
    if len(mistakes) == 1:
        return mistakes[0]
    lines = "".join(f"\n- {mistake}" for mistake in mistakes)
    return f"{len(mistakes)} things in the {place} are wrong:{lines}"


def from_text(
    text: str,
    form: Format | None,
    namespace: Mapping[str, Any],
    schema: Mapping[str, Any],
) -> dict[str, Any]:
    """Read the arguments of a call from the body of a cell.

    Args:
        text: The body.
        form: The format of the body. If it is None, a body that starts with `{` is read as JSON,
            and any other body as YAML.
        namespace: The variables that Python code in the body can use, by name.
        schema: The schema of the arguments. It decides which YAML values are strings, so that
            strings need no quotes.

    Raises:
        BodyError: If the text cannot be read, or is not an object.
    """
    if form is None:
        form = "yaml"
        if looks_like_json(text):
            form = "json"
    if form == "json":
        arguments = _json(text)
    elif form == "yaml":
        from toolbench.jsonschema.yaml_text import (  # noqa: PLC0415 - heavy: PyYAML
            read_yaml,
        )

        try:
            arguments = read_yaml(text, schema)
        except BodyError as error:
            msg = f"{error} {_way_out(text)}"
            raise BodyError(msg) from None
    else:
        arguments = _python(text, namespace)
    if arguments is None:
        return {}
    if not isinstance(arguments, dict):
        kind = indefinite(type(arguments).__name__)
        msg = f"The body must name its arguments, and this is {kind}. {_way_out(text)}"
        raise BodyError(msg)
    return arguments


def _way_out(text: str) -> str:
    """Return a message about how to write the body *text*.

    If *text* is Python code, the message names the option for Python.
    """
    if _assigns(text):
        return "It is Python: add `-f py` to the line."
    return f"{_FORMS}."


def _assigns(text: str) -> bool:
    try:
        statements = ast.parse(text).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return any(
        isinstance(s, ast.Assign) or (isinstance(s, ast.AnnAssign) and s.value) for s in statements
    )


def looks_like_json(text: str) -> bool:
    """Tell whether *text*, of unknown format, is JSON or the beginning of JSON."""
    return text.lstrip()[:1] == "{"


def _json(text: str) -> Any:
    try:
        return json.loads(text, object_pairs_hook=each_once)
    except (ValueError, RecursionError) as error:
        reason = str(error).replace(": line", " at line")
        msg = f"The body is not JSON: {reason}. `-f yaml` and `-f py` read other forms."
        raise BodyError(msg) from None


def _python(text: str, namespace: Mapping[str, Any]) -> Any:
    """Run the Python code *text*; return the dict on its last line, or the variables it assigns.

    Imported names, functions, classes, and names that begin with `_` are not arguments.

    Raises:
        BodyError: If the code raises an error, or gives no arguments.
    """
    scope = dict(namespace)
    try:
        last = _run(text, scope)
    except Exception as error:  # noqa: BLE001 - the code may raise anything
        reason = f"{type(error).__name__}: {error}"
        msg = f"The body is not Python that runs: {reason}."
        raise BodyError(msg) from None
    if isinstance(last, dict):
        return last
    assigned = [name for name in _assigned(text) if not name.startswith("_")]
    if not assigned and last is not _NOTHING:
        msg = "The body has no assignments: write `total = 84`, or a dict as its last line."
        raise BodyError(msg)
    return {name: scope[name] for name in assigned if name in scope}


def _run(text: str, scope: dict[str, Any]) -> Any:
    """Run *text* in *scope*, and return the value of the expression in its last line.

    Return `_NOTHING` if *text* does not end with an expression.
    """
    tree = ast.parse(text)
    last = next(iter(tree.body[-1:]), None)
    if isinstance(last, ast.Expr):
        del tree.body[-1]
    exec(compile(tree, "<%%tool>", "exec"), scope)  # noqa: S102 - the user's own cell
    if not isinstance(last, ast.Expr):
        return _NOTHING
    return eval(compile(ast.Expression(last.value), "<%%tool>", "eval"), scope)  # noqa: S307 - as above


def _assigned(text: str) -> list[str]:
    return [
        symbol.get_name()
        for symbol in symtable(text, "<%%tool>", "exec").get_symbols()
        if symbol.is_assigned() and not (symbol.is_imported() or symbol.is_namespace())
    ]


def fill_in(value: Any, namespace: Mapping[str, Any]) -> Any:
    """Replace each string in *value* that is only `${name}` by the variable's value.

    Raises:
        BodyError: If there is no variable *name*.
    """
    if isinstance(value, str) and (match := _VARIABLE.fullmatch(value)):
        name = match[1]
        if name not in namespace:
            public = [n for n in namespace if not n.startswith("_")]
            msg = f"There is no variable {name!r}.{did_you_mean(name, public)}"
            raise BodyError(msg)
        return namespace[name]
    if isinstance(value, dict):
        return {key: fill_in(item, namespace) for key, item in value.items()}
    if isinstance(value, list):
        return [fill_in(item, namespace) for item in value]
    return value


def _value_of(text: str, node: Node) -> Any:
    """Return the value of *text* for an argument with the schema *node*.

    If the argument takes only strings, the value is *text* itself. Otherwise, *text* is read as
    JSON if possible.
    """
    if node.is_text:
        if text == "null" and node.takes_null:
            return None
        return text
    try:
        return json.loads(text)
    except ValueError:
        return text


def _content_of(text: str) -> str:
    """Return the base64 of the file that *text* names as `@path`.

    A relative path starts at the folder of the notebook.

    Raises:
        OSError: If the file cannot be read.
    """
    return base64_of((notebook_folder() / Path(text[1:]).expanduser()).read_bytes())


def _list_of(text: str, node: Node) -> list[Any] | None:
    """Return the comma-separated values in *text* as a list; None if it does not fit *node*.

    *text* may have the brackets and the quotes of a Python list.
    """
    # A list without a schema of its items takes anything
    items = node.items or read({})
    if node.type != "array" or items.format in FORMAT_EXAMPLES:
        # Whether a text has its format is not known
        return None
    if text[:1] == "[" and text[-1:] == "]":
        text = text[1:-1]
    # Parts of parts
    if any(character in text for character in "[]{}"):
        return None
    texts = [part.strip().strip("\"'") for part in text.split(",")]
    values = [_value_of(part, items) for part in texts if part]
    if values and node.fits(values):
        return values
    return None


def _example_of(name: str, node: Node) -> Any:
    """Return an example of the argument *name*, with parts as *node* describes them."""
    if not is_secret(name, node):
        return example_values(node)[0]
    if node.type == "array":
        return list(TEXTS)
    return TEXTS[0]
