"""Say which statements that prepare an object are left out of a package, and which run at import."""

import ast
from collections.abc import Iterator, Mapping, Sequence

from toolbench.export.code.code_secrets import secrets_in_code
from toolbench.export.code.needed_statements import Needed, needed_by
from toolbench.export.code.new_files import harmful_twice
from toolbench.export.code.preparing_calls import unused_calls
from toolbench.export.code.statements import Statement
from toolbench.export.code.symbol_names import used_in
from toolbench.export.tool_code.tool_parts import ToolParts
from toolbench.redaction import MARK
from toolbench.redaction.detect import keys_in
from toolbench.redaction.known import remembered

# Statements that are named
_MOST = 8
# Characters of a statement
_LONGEST = 100


def needed_by_tool(part: ToolParts) -> Needed:
    """Return the statements that the tool in *part* needs, without those of its undefined names."""
    names = used_in("\n\n".join((part.definition, part.implementation, part.create)))
    names |= part.types | part.lazy
    return needed_by(part.statements, (), part.tool.name, maybe=names)


def notes_on_preparation(
    parts: Sequence[ToolParts], new_files: Mapping[ast.stmt, str]
) -> list[str]:
    """Return sentences about statements that may prepare what the tools of *parts* need.

    Some are not in the package: it is not known whether they change an object. Others run each time
    the package is imported, and may do harm the second time. Those in *new_files* run only where
    the file is new.
    """
    left_out, at_import = dict[str, str](), dict[str, str]()
    in_new_file = dict[str, str]()
    for part in parts:
        needed = needed_by_tool(part)
        for statement in needed.left_out():
            name, code = part.tool.name, readable(statement)
            why = f"It may prepare an object that `{name}` needs: if so, add it to impl.py."
            if statement.end == "failed":
                why = f"It failed in the notebook: `{name}` may need what it had begun."
            left_out[code] = f"Not in the package: {code}. {why}"
        for place in harmful_twice(needed):
            statement = needed.statements[place]
            code, file = readable(statement), new_files.get(statement.node)
            if file is not None:
                in_new_file[code] = f"{code} runs only where the file `{file}` is new."
                continue
            at_import[code] = (
                f"{code} runs each time the package is imported. Check that it does no harm where "
                "the data is still there from the last time."
            )
    return [*_first(left_out), *_first(at_import), *_first(in_new_file)]


def _first(sentences: dict[str, str]) -> Iterator[str]:
    yield from list(sentences.values())[:_MOST]
    if (rest := len(sentences) - _MOST) > 0:
        yield f"The same is true of {rest} more."


def readable(statement: Statement) -> str:
    """Return the code of *statement* in one line, between backticks; of one with a secret, the method."""
    text = " ".join(statement.code.split()).replace("`", "'")
    if _may_show(statement.code):
        return f"`{text if len(text) <= _LONGEST else f'{text[: _LONGEST - 1]}…'}`"
    calls = unused_calls(list(ast.walk(statement.node)))
    names = (c.func.attr for c in calls if isinstance(c.func, ast.Attribute))
    return f"`.{next(names, '')}(...)`"


def _may_show(code: str) -> bool:
    is_known = MARK in code or remembered.redactor.occurs_in(code)
    return not is_known and not any(keys_in(code)) and not any(secrets_in_code(code))
