"""What prepares a database in a file, and may do harm the second time, runs only in a new file."""

import pytest

from test_export.empty_folders import answers_of, export_each
from test_export.notebook import new_notebook, notes_of
from test_export.test_prepared_databases import (
    CONNECT,
    IMPORT,
    OPEN,
    ROW,
    TABLE_CELL,
    TOOL,
    exported,
)
from toolbench.export import export_package

CREATE = "db.execute('create table t (x text)')"
BOTH = f"{CREATE}\n    {ROW}"
BASE = "base = sqlite3.connect('a.db', check_same_thread=False)"
# How the tool opens its database, the cells before the tool, and how many rows they make.
CASES = {
    "table": ("connect()", [CONNECT, f"with connect() as db:\n    {CREATE}"], 0),
    "rows": ("connect()", [CONNECT, f"with connect() as db:\n    {BOTH}"], 1),
    "some_harmless": ("connect()", [CONNECT, TABLE_CELL, f"with connect() as db:\n    {ROW}"], 1),
    "path": (
        "sqlite3.connect(DB)",
        ["DB = Path('a.db')", f"with sqlite3.connect(DB) as db:\n    {BOTH}"],
        1,
    ),
    "name": (
        "base",
        [BASE, CREATE.replace("db", "base"), f"{ROW.replace('db', 'base')}\nbase.commit()"],
        1,
    ),
    "with_name": ("base", [BASE, f"with base as db:\n    {BOTH}"], 1),
    "cursor": (
        "base",
        [BASE, f"pen = base.cursor()\npen{CREATE[2:]}\npen{ROW[2:]}\nbase.commit()"],
        1,
    ),
    "function": (
        "connect()",
        [CONNECT, f"def seed():\n  with connect() as db:\n    {BOTH}", "seed()"],
        1,
    ),
    "setting": (
        "connect()",
        [
            f"def connect():\n    db = {OPEN}\n    db.execute('pragma foreign_keys = on')\n    return db",
            f"connect(){CREATE[2:]}",
        ],
        0,
    ),
    "script": (
        "connect()",
        [
            CONNECT,
            "SCRIPT = '''\ncreate table t (x text);\ninsert into t values (1);'''",
            "connect().executescript(SCRIPT)",
        ],
        1,
    ),
    "loop": (
        "connect()",
        [
            CONNECT,
            f"with connect() as db:\n    {CREATE}\n    for row in 'abc':\n"
            "        db.execute('insert into t values (?)', row)",
        ],
        3,
    ),
    "drop": (
        "connect()",
        [CONNECT, "connect().execute('drop table if exists t')", f"with connect() as db:\n    {BOTH}"],
        1,
    ),
    "names_in_use": (
        "connect(is_new_a_db)",
        [
            f"class Path: pass\nis_new_a_db = None\ndef connect(_):\n    return {OPEN}",
            f"with connect(None) as db:\n    {BOTH}",
        ],
        1,
    ),
    "two_files": (
        "connect(other())",
        [
            f"def connect(_):\n    return {OPEN}\ndef other():\n    return sqlite3.connect('b.db')",
            f"with sqlite3.connect('b.db') as db:\n    {CREATE}",
            f"with connect(None) as db:\n    {BOTH}",
        ],
        1,
    ),
}  # fmt: skip


@pytest.fixture(scope="module")
def packages(tmp_path_factory):
    """For each case, what the tool answers in an empty folder in two programs, and the README."""
    root = tmp_path_factory.mktemp("new_files")
    notebooks = {
        name: (IMPORT, *cells, TOOL.format(name, opening))
        for name, (opening, cells, _) in CASES.items()
    }
    export_each(root, notebooks)
    return root, [answers_of(root, CASES, "one({}).text") for _ in range(2)]


@pytest.mark.parametrize("name", CASES)
def test_the_second_import_changes_nothing(packages, name):
    """The tool adds one row at each call."""
    root, answers = packages
    rows = CASES[name][2]
    assert [answer[name] for answer in answers] == [str(rows + 1), str(rows + 2)]
    text = (root / f"{name}.md").read_text("utf-8")
    assert "runs only where the file `a.db` is new." in text
    assert "runs each time" not in text


def test_the_check_stands_before_what_makes_the_file(tmp_path, monkeypatch):
    """As a person would write it; what does no harm runs each time."""
    cells = [CONNECT, TABLE_CELL, f"with connect() as db:\n    {ROW}"]
    code, notes = exported(tmp_path, monkeypatch, cells)
    check = "is_new_a_db = not Path('a.db').exists() or not Path('a.db').stat().st_size\n"
    assert code.index(check) < code.index(CONNECT) < code.index(f"\n{TABLE_CELL}\n")
    assert f"\nif is_new_a_db:\n    with connect() as db:\n        {ROW}\n" in code
    statement = f"with connect() as db: {ROW}"
    assert notes == [f"`{statement}` runs only where the file `a.db` is new."]


def test_a_text_of_several_lines_is_not_changed(tmp_path, monkeypatch):
    """Spaces in it would be in the data."""
    row = ROW.replace("'insert into t values (1)'", '"""insert into t\nvalues (1)"""')
    cells = [CONNECT, TABLE_CELL, f"with connect() as db:\n    {row}"]
    code, _ = exported(tmp_path, monkeypatch, cells)
    assert f"if is_new_a_db:\n    with connect() as db:\n        {row}\n" in code


@pytest.mark.parametrize(
    ("opening", "cells"),
    [
        ("connect(total)", [
            "def connect(total=0):\n    return sqlite3.connect('a.db')",
            f"with connect() as db:\n    {BOTH}\n    total = 1",
        ]),
        ("connect(*some)", [
            "some = []\ndef connect(total=0):\n    return sqlite3.connect('a.db')",
            f"with connect() as db:\n    {BOTH}\n    some.append(1)",
        ]),
        ("base", [BASE, CREATE.replace("db", "base"), ROW.replace("db", "base")]),
        ("base", [BASE, "base.executescript('pragma foreign_keys = on; create table t (x)')"]),
        ("base", [BASE, "base.execute('create temp table t (x)')"]),
        ("base", ["base = sqlite3.connect(Path().resolve() / 'a.db')", CREATE.replace("db", "base")]),
        ("use(store)", [
            BASE, "class Store:\n    def __init__(self):\n        self.db = sqlite3.connect('a.db')\n"
            f"    def fill(self):\n        self.{ROW}\n        self.db.commit()",
            f"def use(store):\n    return base\nbase{CREATE[2:]}", "store = Store()\nstore.fill()",
        ]),
    ],
)  # fmt: skip
def test_where_it_is_not_sure_that_it_may_be_skipped_it_runs_each_time(
    tmp_path, monkeypatch, opening, cells
):
    """Its names may be needed, its data not saved, or its file not known."""
    code, notes = exported(tmp_path, monkeypatch, cells, opening)
    assert "is_new" not in code
    assert notes
    assert all("runs each time the package is imported." in note for note in notes)


def test_a_database_in_memory_is_prepared_each_time(tmp_path, monkeypatch):
    """It is always new, which need not be said; what is in a file is not affected."""
    memory, create = BASE.replace("a.db", ":memory:"), CREATE.replace("db", "base")
    cells = [
        f"def connect(_):\n    return {OPEN}",
        f"{memory}\n{create}",
        f"with connect(None) as db:\n    {CREATE}",
    ]
    code, notes = exported(tmp_path, monkeypatch, cells, "connect(base)")
    assert f"\n{create}\n" in code
    assert f"if is_new_a_db:\n    with connect(None) as db:\n        {CREATE}\n" in code
    statement = f"with connect(None) as db: {CREATE}"
    assert notes == [f"`{statement}` runs only where the file `a.db` is new."]


def test_what_the_definition_opens_is_prepared_each_time(tmp_path, monkeypatch):
    """It is imported before the code that looks whether the file is new."""
    monkeypatch.chdir(tmp_path)
    tool = TOOL.format("it", "base").replace("()", "(n: Count = 1)", 1)
    cells = [
        f"{BASE}\nCount = Annotated[int, Field(ge=base.total_changes)]",
        f"{CREATE.replace('db', 'base')}\nbase.commit()",
    ]
    with new_notebook() as notebook:
        notebook.run(
            IMPORT, "from typing import Annotated\nfrom pydantic import Field", *cells, tool
        )
        folder = export_package(notebook["put_it"], tmp_path / "p", tests=())
    assert "is_new" not in (folder / "put_it/impl.py").read_text("utf-8")
    [note] = [note for note in notes_of(folder) if "create table" in note]
    assert "runs each time the package is imported." in note
