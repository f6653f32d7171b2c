"""A cell that ran again counts once in a package: its later text replaces the earlier one."""

import re

import pytest
from forked import run_python

from test_export.notebook import notes_of
from toolbench.export import export_package
from toolbench.extension import unload_ipython_extension

IMPORT = (
    "import os, shutil, sqlite3, subprocess\nfrom pathlib import Path\nfrom toolbench import tool"
)
BIKES = (
    "BIKES = 'bikes.db'\ndef bikes():\n    return sqlite3.connect(BIKES)\n"
    "with bikes() as con:\n"
    "    con.execute('create table if not exists bikes (name text)')"
)
PRICED = BIKES.replace("name text", "name text, price real")
TOOL = (
    "@tool\ndef add_bike(name: str, price: float) -> int:\n    '''Add a bike.'''\n"
    "    with bikes() as con:\n"
    "        con.execute('insert into bikes (name, price) values (?, ?)', (name, price))\n"
    "        return con.execute('select count(*) from bikes').fetchone()[0]"
)
OBJECT = "db = sqlite3.connect('bikes.db')\ndb.execute('create table if not exists bikes (name)')"
OBJECT_TOOL = TOOL.replace("bikes() as con", "db as con")
SEED = "with bikes() as con:\n    con.execute('insert into bikes (name) values (1)')"
LOOK = "with bikes() as con:\n    START = con.execute('select * from bikes').fetchall()"
ROW = "with bikes() as con:\n    con.execute('insert into bikes values (1, 1)')"


@pytest.fixture
def export(notebook, tmp_path, monkeypatch):
    """Run cells, each a pair of its id and its text, and export the tool `add_bike`: its code."""
    monkeypatch.chdir(tmp_path)

    def exported(*cells):
        for cell_id, text in [("imports", IMPORT), *cells]:
            notebook.shell.run_cell(text, store_history=True, cell_id=cell_id)
        export_package(notebook["add_bike"], tmp_path / "p", tests=())
        return (tmp_path / "p/add_bike/impl.py").read_text("utf-8")

    return exported


def answer(tmp_path):
    """What the tool of the package answers in an empty folder."""
    (tmp_path / "empty").mkdir()
    program = (
        "import sys\nsys.path.insert(0, '../p')\nimport add_bike\n"
        "[one] = add_bike.create_tools()\nprint(one({'name': 'a', 'price': 1}).text)"
    )
    done = run_python(program, tmp_path / "empty")
    return done.stdout.strip() or done.stderr


def delete(tmp_path):
    """Delete the database where the notebook does not see it."""
    return (
        "x",
        f"_ = __import__('pathlib').Path({str(tmp_path)!r}, 'bikes' + '.db').unlink()",
    )


def test_the_later_text_of_an_edited_cell_replaces_the_earlier_one(export, tmp_path):
    """Wherever the file of the database was deleted."""
    code = export(("a", BIKES), ("b", TOOL), delete(tmp_path), ("a", PRICED))
    assert code.count("create table") == code.count("BIKES =") == 1
    assert answer(tmp_path) == "1"
    assert not [n for n in notes_of(tmp_path / "p") if "Not in the package" in n]


def test_a_database_in_a_name_is_prepared_by_the_later_text(export, tmp_path):
    """The name has the database of the last run."""
    later = OBJECT.replace("(name)", "(name, price)")
    cells = [("a", OBJECT), ("b", OBJECT_TOOL), delete(tmp_path), ("a", later)]
    code = export(*cells)
    assert code.count("create table") == code.count("db =") == 1
    assert answer(tmp_path) == "1"


def test_rows_of_a_cell_that_ran_again_unchanged_are_there_once(export, tmp_path):
    """So is each row, as after a restart of the kernel."""
    code = export(("a", PRICED), ("b", TOOL), ("c", ROW), ("c", ROW))
    assert code.count("insert into bikes values") == 1
    assert answer(tmp_path) == "2"


def test_all_cells_ran_again_in_order(export, tmp_path):
    """None of them counts twice: each later run stands between the two runs of the next cell."""
    cells = [
        ("a", PRICED.replace("price", "cost")),
        ("c", SEED),
        ("d", ROW),
        ("b", TOOL),
    ]
    code = export(*cells, delete(tmp_path), ("a", PRICED), ("c", SEED), ("d", ROW))
    assert code.count("create table") == code.count("values (1)") == 1
    assert code.count("values (1, 1)") == 1
    assert answer(tmp_path) == "3"


def test_a_cell_that_failed_in_between_replaces_nothing(export, tmp_path):
    """Its last complete run counts."""
    strict = PRICED.replace("if not exists ", "")
    code = export(("a", BIKES), ("b", TOOL), ("a", strict), delete(tmp_path), ("a", strict))  # fmt: skip
    assert code.count("create table") == 1
    assert answer(tmp_path) == "1"


@pytest.mark.parametrize(
    "cells",
    [
        [("a", PRICED), ("b", TOOL), ("a", PRICED.partition("with")[0])],
        [("a", PRICED), ("c", SEED), ("b", TOOL), ("a", PRICED)],
        [("a", PRICED), ("c", LOOK), ("b", TOOL.replace("return", "return START and")), ("a", PRICED)],
        [("a", f"{PRICED}\nfee = 1"), ("b", TOOL.replace("return", "return fee and")), ("a", PRICED)],
        [("a", PRICED), ("b", TOOL), ("a", "1 +")],
        [("a", PRICED), ("b", TOOL), ("a", f"{PRICED}\n1 / 0")],
    ],
    ids=["split", "built_on", "read", "name", "syntax", "failed"],
)  # fmt: skip
def test_what_the_package_needs_of_an_earlier_text_goes_along(export, tmp_path, cells):
    """A part that is in no later cell, and what other statements build on."""
    export(*cells)
    assert answer(tmp_path) in ("1", "2", "[]")


def test_an_object_in_memory_keeps_the_work_of_both_texts(export):
    """As in the notebook, where the recorded calls had both."""
    tool = "@tool\ndef add_bike() -> list:\n    '''Add.'''\n    return rows"
    code = export(("a", "rows = []"), ("b", "rows.append(1)"), ("c", tool), ("b", "rows.append(2)"))  # fmt: skip
    assert code.index("rows.append(1)") < code.index("rows.append(2)")


def test_cells_without_ids_do_not_replace_each_other(export):
    """As in a terminal."""
    code = export((None, PRICED), (None, TOOL), (None, PRICED + " "), (None, ROW), (None, ROW))  # fmt: skip
    assert code.count("insert into bikes values") == 2


def test_the_cell_that_loads_toolbench_has_its_id_too(export, notebook):
    """Only cells before it have none."""
    unload_ipython_extension(notebook.shell)
    rows = [ROW.replace("1, 1", f"{number}, 0") for number in range(4)]
    load = f"import toolbench.extension as e\ne.load_ipython_extension(get_ipython())\n{rows[1]}"
    for cell_id, text in [("i", IMPORT), ("a", PRICED), ("b", rows[0]), ("c", load)]:
        notebook.shell.run_cell(text, store_history=True, cell_id=cell_id)
    code = export(("c", rows[2]), ("b", rows[3]), ("d", TOOL))
    assert re.findall(r"values \((\d), 0", code) == ["0", "2", "3"]


@pytest.mark.parametrize(
    "command",
    [
        "!rm bikes.db",
        "!rm -f ./bikes.db",
        "!echo 1 && rm 'bikes.db'",
        "!rm {BIKES}",
        "!rm $BIKES",
        "!rm *.db",
        "unrelated = !rm bikes.db",
        "%%bash\necho 1\nrm bikes.db",
        "%sx rm bikes.db",
        "os.system('rm bikes.db')",
        "os.system(f'rm {BIKES}')",
        "subprocess.run(['rm', '-f', BIKES])",
        "subprocess.run('rm bikes.db', shell=True)",
    ],
)
def test_a_command_of_a_shell_that_deletes_the_file_counts(export, tmp_path, command):
    """What came before it stays out."""
    code = export(("a", BIKES), ("b", TOOL), ("c", command), ("d", PRICED))
    assert code.count("create table") == 1
    assert answer(tmp_path) == "1"


def test_a_database_in_a_name_was_deleted_before_it_was_opened_again(export, tmp_path):
    """By cells of other ids."""
    later = OBJECT.replace("(name)", "(name, price)")
    cells = [("a", OBJECT), ("c", "!rm bikes.db"), ("d", later), ("b", OBJECT_TOOL)]
    assert export(*cells).count("create table") == 1
    assert answer(tmp_path) == "1"


@pytest.mark.parametrize(
    "command", ["!rm other.db", "!ls bikes.db", "!echo rm bikes.db", "!cd x && rm bikes.db", "!rm 'bikes.db"]
)  # fmt: skip
def test_other_commands_delete_nothing(export, command):
    """Both statements go along."""
    assert export(("a", BIKES), ("c", command), ("d", PRICED), ("b", TOOL)).count("create table") == 2  # fmt: skip


def test_a_folder_is_made_although_the_file_in_it_was_deleted(export, tmp_path):
    """The package starts without the folder."""
    first = "os.makedirs('data', exist_ok=True)"
    cells = [text.replace("'bikes.db'", "'data/bikes.db'") for text in (BIKES, PRICED)]
    export(("f", first), ("a", cells[0]), ("b", TOOL), ("c", "!rm data/bikes.db"), ("d", cells[1]))  # fmt: skip
    assert answer(tmp_path) == "1"


def test_a_statement_that_only_removes_a_file_is_not_named(export, tmp_path):
    """It prepares nothing, and would do harm in a package."""
    path = "PLACE = Path('bikes.db')"
    tool = TOOL.replace("bikes() as", "sqlite3.connect(PLACE) as")
    export(("a", PRICED), ("p", path), ("u", "PLACE.unlink(missing_ok=True)"), ("c", PRICED), ("b", tool))  # fmt: skip
    assert not [n for n in notes_of(tmp_path / "p") if "unlink" in n]


def test_a_cell_that_makes_a_table_and_then_a_row_counts_twice(export, tmp_path):
    """Its later text needs the table of the earlier one."""
    table = SEED.replace("insert into bikes (name) values (1)", "create table bikes (name, price)")
    opener = "def bikes():\n    return sqlite3.connect('bikes.db')"
    code = export(("o", opener), ("s", table), ("s", ROW), ("t", TOOL))
    assert code.index("create table") < code.index("values (1, 1)")
    assert answer(tmp_path) == "2"
