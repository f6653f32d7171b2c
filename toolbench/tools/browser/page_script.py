"""Turn the code that a model sends to the browser tool into steps, without running the code."""

import ast
import inspect
from collections.abc import Mapping
from functools import cache
from typing import Any, NamedTuple

from pydantic import BaseModel, ConfigDict, ValidationError, create_model

from toolbench.errors import did_you_mean
from toolbench.jsonschema.problems import pydantic_problems
from toolbench.tools.browser.page_functions import FUNCTIONS, Function, upload_file
from toolbench.tools.failure_sentence import RunError

# Characters of code; longer code is refused
_LONGEST = 100_000


class Step(NamedTuple):
    """One function to call, with its checked arguments."""

    function: Function
    arguments: Mapping[str, Any]
    code: str
    """The code that the model wrote for the step."""


def parse(code: str) -> list[Step]:
    """Return the steps of *code*, in order.

    The code is parsed, never executed. It may contain only calls of the known functions with
    literal arguments.

    Raises:
        RunError: If *code* contains anything else.
    """
    if len(code) > _LONGEST:
        msg = f"The code has {len(code):,} characters. Send a few calls at a time."
        raise RunError(msg)
    try:
        tree = ast.parse(code.strip())
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        where = f" in line {error.lineno}" if isinstance(error, SyntaxError) else ""
        msg = f"The code is not valid Python{where}: {error.args[0]}. Write one call per line."
        raise RunError(msg) from error
    if not tree.body:
        msg = "There is nothing to do in the code. noop() looks at the page."
        raise RunError(msg)
    return [_step(statement) for statement in tree.body]


def files_in(code: str) -> list[str]:
    """Return the names of the files that *code* uploads; empty if *code* cannot be carried out."""
    try:
        steps = parse(code)
    except RunError:
        # The call reports it
        return []
    files = list[str]()
    for step in steps:
        if step.function is upload_file:
            named = step.arguments["file"]
            files += [named] if isinstance(named, str) else named
    return files


def signature_of(function: Function) -> str:
    """Return the signature of *function* for a model: `click(bid: str, button: ... = 'left')`."""
    signature = inspect.signature(function)
    visible = [p for p in signature.parameters.values() if p.name != "page"]
    parameters = signature.replace(parameters=visible, return_annotation=inspect.Signature.empty)
    return f"{function.__name__}{parameters}".replace("typing.", "")


def _step(statement: ast.stmt) -> Step:
    written = ast.unparse(statement)
    if not (isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call)):
        msg = f"Line {statement.lineno}, {_brief(written)}, is not a function call. {_ONLY}"
        raise RunError(msg)
    call = statement.value
    name = ast.unparse(call.func)
    if name not in FUNCTIONS:
        hint = did_you_mean(name, FUNCTIONS)
        msg = f"Line {statement.lineno}: there is no function {_brief(name)}.{hint} {_ONLY}"
        raise RunError(msg)
    function = FUNCTIONS[name]
    try:
        positional = [ast.literal_eval(argument) for argument in call.args]
        keywords = {str(k.arg): ast.literal_eval(k.value) for k in call.keywords if k.arg}
        if len(keywords) != len(call.keywords):
            msg = "** is not understood"
            raise ValueError(msg)
        bound = inspect.signature(function).bind(None, *positional, **keywords).arguments
        bound.pop("page")
        fields = _shape(function).model_validate(bound)
    except ValidationError as error:
        problems = "; ".join(map(str, pydantic_problems(error, list(bound))))
        raise _misfit(statement, function, problems) from error
    except (TypeError, ValueError, RecursionError) as error:
        why = str(error)
        if "malformed node" in why:
            why = "arguments must be literals: strings, numbers, lists of them"
        raise _misfit(statement, function, why) from error
    arguments = {key: getattr(fields, key) for key in type(fields).model_fields}
    return Step(function, arguments, _brief(written))


_ONLY = f"Only these are understood: {', '.join(FUNCTIONS)}."


def _misfit(statement: ast.stmt, function: Function, why: str) -> RunError:
    name, right = function.__name__, signature_of(function)
    return RunError(
        f"Line {statement.lineno}: {name} cannot be called like this: {why}. Write {right}."
    )


@cache
def _shape(function: Function) -> type[BaseModel]:
    """Return a pydantic model that checks the arguments of *function*."""
    fields: dict[str, Any] = {
        p.name: (p.annotation, ... if p.default is p.empty else p.default)
        for p in inspect.signature(function).parameters.values()
        if p.name != "page"
    }
    return create_model(function.__name__, __config__=ConfigDict(strict=True), **fields)


def _brief(code: str, limit: int = 100) -> str:
    if len(code) <= limit:
        return code
    return f"{code[: limit - 1]}…"
