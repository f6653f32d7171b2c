"""Find the calls that prepare an object, such as `db.execute("create table ...")`, by their names and texts."""

import ast
import re
from collections.abc import Iterator

_ENDS = frozenset({"commit", "rollback"})
_TO_FOLDERS = frozenset({"makedirs", "mkdir"})
_SQL = frozenset({"execute", "executemany", "executescript"})
_COMMENT = re.compile(r"--[^\n]*|/\*.*?\*/", re.DOTALL)
_LOOKS = re.compile(r"\s*(describe|explain|select|show|table|values)\b", re.IGNORECASE)
_CHANGES = re.compile(r"\b(create|delete|insert|replace|update)\b", re.IGNORECASE)
_REPEATABLE = re.compile(
    r"\s*($|(begin|commit|end|pragma|replace)\b|insert\s+or\s+(ignore|replace)\b"
    r"|create\b[^(]*\bif\s+not\s+exists\b)",
    re.IGNORECASE | re.DOTALL,
)
_OF_CONNECTION = re.compile(r"(^|;)\s*(attach|pragma|create\s+temp(orary)?)\b", re.IGNORECASE)
_SAVED_AT_ONCE = re.compile(r"\s*($|(alter|create|drop|pragma)\b)", re.IGNORECASE)
_OPENING = frozenset({"connect", "create_engine"})
_IN_MEMORY = re.compile(r":memory:|sqlite://['\"]")
_LOOKING_WORDS = """
    all any close copy count describe display dump dumps exit explain fetchall fetchmany fetchone
    find format get groupby has head help hist index info is items join keys list loads max mean min
    plot preview print query quit read render repr sample search select show shutdown sort split stop
    sum summary tail terminate to unique unlink values view wait
"""
_CHANGING_WORDS = """
    add alter apply assign attach build compile configure connect create define delete disable drop
    enable fill fit import include init initialize insert install load make makedirs migrate mkdir
    open put register reset restore save seed set setup start store touch train truncate upload use
    warm write
"""
_LOOKING = frozenset(_LOOKING_WORDS.split())
_CHANGING = frozenset(_CHANGING_WORDS.split())


def prepares(call: ast.Call, *, is_unused: bool) -> bool:
    """Tell whether *call*, of a method, is known to prepare the object on which it is called.

    These calls prepare: SQL that changes something, the end of a transaction, a folder that may be
    there already, and a call with `inplace=True`. They can run when a package is imported.

    Args:
        call: The call of a method.
        is_unused: Whether nothing uses the result. If the SQL is not written in the call, it
            counts only then.
    """
    name = _method(call)
    if _has(call, "inplace"):
        return True
    if name in _TO_FOLDERS:
        return makes_folder(call)
    if name in _SQL and call.args and not isinstance(call.args[0], ast.Dict):
        text = _start_of_text(call.args[0])
        return is_unused if text is None else _changes_something(text)
    return name in _ENDS and not call.args


def may_run_twice(call: ast.Call) -> bool:
    """Tell whether *call*, which prepares an object, does no harm if it runs again later."""
    if _method(call) not in _SQL or not call.args:
        return True
    return _all_match(_REPEATABLE, call.args[0])


def is_saved_at_once(call: ast.Call) -> bool:
    """Tell whether SQLite saves what *call*, which writes by SQL, does without a `commit`.

    It does so for tables and settings, and for scripts.
    """
    is_script = _method(call) == "executescript"
    return is_script or _all_match(_SAVED_AT_ONCE, call.args[0])


def sets_up_connection(sql: str) -> bool:
    """Tell whether a part of *sql* holds only for the connection on which it runs."""
    return bool(_OF_CONNECTION.search(_COMMENT.sub("", sql)))


def _all_match(pattern: re.Pattern[str], value: ast.expr) -> bool:
    """Tell whether *pattern* matches each SQL statement in the text *value*, which may be unknown."""
    text = _start_of_text(value)
    parts = None if text is None else _COMMENT.sub("", text).split(";")
    return parts is not None and all(map(pattern.match, parts))


def writes_sql(call: ast.Call, *, is_unused: bool) -> bool:
    """Tell whether *call* is of a method that runs SQL which changes something, as far as can be seen.

    Args:
        call: Any call.
        is_unused: Whether nothing uses the result; see `prepares`.
    """
    return _method(call) in _SQL and prepares(call, is_unused=is_unused)


def makes_folder(call: ast.Call) -> bool:
    """Tell whether *call* makes a folder, which may be there already."""
    return _method(call) in _TO_FOLDERS and _has(call, "exist_ok")


def may_change(call: ast.Call) -> bool:
    """Tell whether the name of the function in *call* says that it may change an argument of it."""
    name = name_of(call)
    is_known = name in _SQL or opens(call)
    return not is_known and (name == "to_sql" or bool(_words(name) & _CHANGING))


def name_of(call: ast.Call) -> str:
    """Return the name of the function or the method that *call* calls; empty if it has none."""
    return str(getattr(call.func, "attr", getattr(call.func, "id", "")))


def opens(call: ast.Call) -> bool:
    """Tell whether *call* opens a database, by the name of the function."""
    return name_of(call) in _OPENING


def place_of_database(call: ast.Call) -> ast.expr | None:
    """Return the argument of *call*, which opens a database, that says which one; None if several do."""
    if call.args:
        return call.args[0]
    values = (k.value for k in call.keywords if k.arg in ("database", "url"))
    return next(values, None)


def opens_database(node: ast.stmt) -> bool:
    """Tell whether *node* opens a database, by the name of the function: `sqlite3.connect(...)`."""
    return any(_opening_calls(node))


def databases_in(node: ast.stmt) -> frozenset[str]:
    """Return the names of the databases that *node* opens, as the code has them; not of those in memory."""
    names = (
        call.args[0].value
        for call in _opening_calls(node)
        if call.args and isinstance(call.args[0], ast.Constant)
    )
    return frozenset(n for n in names if isinstance(n, str) and not is_memory(repr(n)))


def is_memory(code: str) -> bool:
    """Tell whether *code* names a database in memory, which is new each time."""
    return bool(_IN_MEMORY.search(code))


def _opening_calls(node: ast.stmt) -> Iterator[ast.Call]:
    for part in ast.walk(node):
        if isinstance(part, ast.Call) and opens(part):
            yield part


def unused_calls(parts: list[ast.AST]) -> Iterator[ast.Call]:
    """Yield the calls in *parts* whose result nothing uses."""
    for part in parts:
        match part:
            case (
                ast.Expr(value=ast.Call() as call)
                | ast.Expr(value=ast.Await(value=ast.Call() as call))
                | ast.Assign(targets=[ast.Name(id="_")], value=ast.Call() as call)
            ):
                yield call


def may_prepare(call: ast.Call, *, is_shown: bool) -> bool:
    """Tell whether *call*, of a method, may prepare its object, judged by the name of the method.

    Args:
        call: A call whose result nothing uses, but a notebook may show it.
        is_shown: Whether the notebook shows the result. Most of these calls only look.
    """
    name = _method(call)
    if not name or any(_has_sql(part) for part in ast.walk(call)):
        # No method, or it is known what it does
        return False
    if _words(name) & _CHANGING:
        return True
    parts = (p.attr for p in ast.walk(call.func) if isinstance(p, ast.Attribute))
    return not is_shown and not any(_words(part) & _LOOKING for part in parts)


def _words(name: str) -> set[str]:
    return {name, name.partition("_")[0]}


def _has_sql(part: ast.AST) -> bool:
    return (
        isinstance(part, ast.Call)
        and _method(part) in _SQL
        and bool(part.args)
        and _start_of_text(part.args[0]) is not None
    )


def _method(call: ast.Call) -> str:
    return call.func.attr if isinstance(call.func, ast.Attribute) else ""


def _has(call: ast.Call, name: str) -> bool:
    return any(
        isinstance(k.value, ast.Constant) and k.arg == name and k.value.value is True
        for k in call.keywords
    )


def _start_of_text(value: ast.expr) -> str | None:
    """Return the text that *value* is, or with which it begins; None if it cannot be read in the code."""
    match value:
        case ast.Constant(value=str(text)):
            return text
        case ast.JoinedStr(values=[ast.Constant(value=str(text)), *_]):
            return text
        case ast.BinOp(left=left):
            return _start_of_text(left)
        case ast.Call(func=ast.Attribute(value=ast.Constant(value=str(text)))):
            # `"...".format(table)`
            return text
        case ast.Call(func=ast.Name(id="dedent" | "text"), args=[first, *_]):
            # `text` of SQLAlchemy
            return _start_of_text(first)
    return None


def _changes_something(sql: str) -> bool:
    sql = _COMMENT.sub(" ", sql)
    first = (sql.split(None, 1) or [""])[0].lower()
    if first == "with":
        return bool(_CHANGES.search(sql))
    if first == "pragma":
        return "=" in sql
    return bool(first) and not (_LOOKS.match(sql) and ";" not in sql.strip().rstrip(";"))
