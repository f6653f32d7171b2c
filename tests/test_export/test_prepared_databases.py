"""Statements that prepare a database go along with a tool that opens it by itself."""

import pytest

from test_export.empty_folders import answers_of, export_each
from test_export.notebook import new_notebook, notes_of
from toolbench.export import export_package

IMPORT = (
    "import os\nimport sqlite3\nfrom contextlib import closing, contextmanager\n"
    "from pathlib import Path\nfrom toolbench import tool"
)
CONNECT = "def connect():\n    return sqlite3.connect('a.db')"
TABLE = "db.execute('create table if not exists t (x text)')"
ROW = "db.execute('insert into t values (1)')"
TABLE_CELL = f"with connect() as db:\n    {TABLE}"
OPEN = "sqlite3.connect('a.db')"
TOOL = (
    "@tool\ndef put_{}() -> int:\n    '''Put a text into the table.'''\n    with {} as db:\n"
    "        db.execute('insert into t values (0)')\n"
    "        return db.execute('select count(*) from t').fetchone()[0]"
)
STORE = f"""\
class Store:
    def __init__(self, path):
        self.path = path
    def opened(self):
        return sqlite3.connect(self.path)
    def set_up(self):
        with self.opened() as db:
            {TABLE}"""
# What the cells are about: how the tool opens its database, and the cells before the tool.
CASES = {
    "function": ("connect()", [CONNECT, TABLE_CELL]),
    "function_that_sets_up": (
        "connect()",
        [CONNECT, f"def set_up():\n    with connect() as db:\n        {TABLE}", "set_up()"],
    ),
    "name": ("connect()", [CONNECT, "db = connect()", f"{TABLE}\ndb.commit()"]),
    "file": (OPEN, [f"with {OPEN} as db:\n    {TABLE}"]),
    "path": (
        "sqlite3.connect(str(DB))",
        ["DB = Path('a.db')", f"with sqlite3.connect(DB) as db:\n    {TABLE}"],
    ),
    "path_of_its_own_name": (
        "sqlite3.connect(DB)",
        ["DB = 'a.db'\nDB = Path(DB)", f"with sqlite3.connect(DB) as db:\n    {TABLE}"],
    ),
    "unknown_path": (
        "sqlite3.connect(DB)",
        ["DB = Path().resolve() / 'a.db'", f"db = sqlite3.connect(DB)\n{TABLE}"],
    ),
    "argument": (
        "connect(file='a.db')",
        [
            "def connect(file):\n    return sqlite3.connect(file)",
            f"with connect('a.db') as db:\n    {TABLE}",
        ],
    ),
    "handed_over": (
        "connect()",
        [CONNECT, f"def fill(db):\n    {TABLE}", "with connect() as one:\n    fill(one)"],
    ),
    "closing": (
        "connect()",
        [CONNECT, f"with closing(connect()) as db:\n    {TABLE}\n    db.commit()"],
    ),
    "context_manager": (
        "connect()",
        [
            f"@contextmanager\ndef connect():\n    with {OPEN} as db:\n        yield db",
            TABLE_CELL,
        ],
    ),
    "cursor": ("connect()", [CONNECT, "pen = connect().cursor()", TABLE.replace("db", "pen")]),
    "chain": ("connect()", [CONNECT, TABLE.replace("db", "connect()")]),
    "object": ("store.opened()", [STORE, "store = Store('a.db')", "store.set_up()"]),
    "folder": (
        "sqlite3.connect('data/a.db')",
        [
            "os.makedirs('data', exist_ok=True)",
            f"with sqlite3.connect('data/a.db') as db:\n    {TABLE}",
        ],
    ),
    "folder_in_a_name": (
        "connect()",
        [
            "FOLDER = 'data'\nos.makedirs(FOLDER, exist_ok=True)",
            "def connect():\n    return sqlite3.connect(FOLDER + '/a.db')",
            TABLE_CELL,
        ],
    ),
}  # fmt: skip


def exported(tmp_path, monkeypatch, cells, opening="connect()"):
    """The code and the notes of a package whose tool opens its database by *opening*."""
    monkeypatch.chdir(tmp_path)
    with new_notebook() as notebook:
        notebook.run(IMPORT, *cells, TOOL.format("it", opening))
        folder = export_package(notebook["put_it"], tmp_path / "p", tests=())
    files = ("The code names the file", "`put_it` uses")
    notes = [note for note in notes_of(folder) if not note.startswith(files)]
    return (folder / "put_it/impl.py").read_text("utf-8"), notes


@pytest.fixture(scope="module")
def packages(tmp_path_factory):
    """For each case, what the tool of its package answers in an empty folder, twice, and the notes."""
    root = tmp_path_factory.mktemp("databases")
    notebooks = {
        name: (IMPORT, *cells, TOOL.format(name, opening))
        for name, (opening, cells) in CASES.items()
    }
    export_each(root, notebooks)
    again = "importlib.reload(sys.modules[f'put_{name}.impl'])"
    return root, answers_of(root, CASES, f"[one({{}}).text, {again} and one({{}}).text]")


@pytest.mark.parametrize("name", CASES)
def test_the_table_is_made_where_there_is_no_file(packages, name):
    """However the cells opened the database. What can run twice without harm is not named."""
    root, answers = packages
    assert answers[name] == ["1", "2"]
    text = (root / f"{name}.md").read_text("utf-8")
    assert "Not in the package" not in text
    assert "runs each time" not in text


@pytest.mark.parametrize(
    "look",
    [
        "with connect() as db:\n    print(db.execute('select * from t').fetchall())",
        "for unrelated in connect().execute('select 1'):\n    print(unrelated)",
        "unrelated = connect().execute('select 1').fetchone()",
        "put_it({})\nput_it.execute({})",
        "with sqlite3.connect('b.db') as unrelated:\n    unrelated.execute('create table t (x)')",
        "db = sqlite3.connect(':memory:')\ndb.execute('create table t (x)')",
        "with sqlite3.connect('b.db') as unrelated, connect() as source:\n"
        "    unrelated.executemany('create table u (x)', source.execute('select 1 where 0'))",
    ],
)
def test_what_only_looks_or_is_of_another_database_stays_out(tmp_path, monkeypatch, look):
    """Nor is it named."""
    tool = TOOL.format("it", "connect()")
    code, notes = exported(tmp_path, monkeypatch, [CONNECT, TABLE_CELL, tool, look])
    # Its definition, the table, and the tool
    assert code.count("connect()") == 3
    assert "unrelated" not in code
    assert notes == []


def test_a_look_by_a_function_that_makes_the_table_itself_stays_out(tmp_path, monkeypatch):
    """The tool calls that function too."""
    opening = f"def connect():\n    db = {OPEN}\n    {TABLE}\n    return db"
    look = "with connect() as db:\n    rows = db.execute('select * from t').fetchall()"
    code, notes = exported(tmp_path, monkeypatch, [opening, look])
    assert "rows" not in code
    assert notes == []


def test_a_cell_that_ran_twice_is_there_once(tmp_path, monkeypatch):
    """Where its second run changed nothing."""
    code, _ = exported(tmp_path, monkeypatch, [CONNECT, TABLE_CELL, TABLE_CELL])
    assert code.count(TABLE) == 1


@pytest.mark.parametrize(
    ("cell", "statement"),
    [
        (f"with connect() as db:\n    {ROW}", f"with connect() as db: {ROW}"),
        (f"def seed():\n    with connect() as db:\n        {ROW}\nseed()", "seed()"),
        (
            "connect().execute('drop table if exists t')",
            "connect().execute('drop table if exists t')",
        ),
    ],
)
def test_what_may_do_harm_the_second_time_goes_along_and_is_named(
    tmp_path, monkeypatch, cell, statement
):
    """As for a database that the tool has in a name; also in a function, which is not named itself."""
    opening = CONNECT.replace("'a.db'", "Path().resolve() / 'a.db'")
    code, notes = exported(tmp_path, monkeypatch, [opening, TABLE_CELL, cell])
    assert cell.splitlines()[-1] in code
    assert notes == [
        f"`{statement}` runs each time the package is imported. Check that it does no harm where "
        "the data is still there from the last time."
    ]


@pytest.mark.parametrize(
    "cells",
    [
        ["rows = !echo 1", "with connect() as db:\n    db.executemany('insert into t values (?)', [rows])"],
        ["import asyncio", f"with connect() as db:\n    await asyncio.sleep(0)\n    {ROW}"],
        [TOOL.format("other", "connect()"), f"with connect() as db:\n    {ROW}\n    db.commit()\n    put_other({{}})"],
        ["class Frame:\n    def to_sql(self, *parts): pass", "Frame().to_sql('t', connect())"],
    ],
)  # fmt: skip
def test_what_a_package_cannot_repeat_is_named(tmp_path, monkeypatch, cells):
    """The rest of the package works without it."""
    code, notes = exported(tmp_path, monkeypatch, [CONNECT, TABLE_CELL, *cells])
    assert TABLE in code
    [note] = [note for note in notes if note.startswith("Not in the package: ")]
    assert note.endswith("that `put_it` needs: if so, add it to impl.py.")


def test_what_prepared_a_file_that_was_deleted_later_stays_out(tmp_path, monkeypatch):
    """The file of the notebook has only what came after that."""
    old = "with connect() as db:\n    db.execute('create table t (old)')"
    delete = "os.remove('a.db')"
    code, notes = exported(tmp_path, monkeypatch, [CONNECT, old, delete, TABLE_CELL])
    assert "old" not in code
    assert TABLE in code
    assert notes == []
