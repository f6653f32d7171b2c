"""Statements that prepare an object go along with it, or the export says that they do not."""

import json
import re
from pathlib import Path

import pytest
from forked import run_python

from test_export.notebook import run_tests_of
from toolbench import run_tool
from toolbench.export import export_package

PAGE = Path(__file__).parents[2] / "docs" / "newcomers.md"
TOOL = "@tool\ndef show() -> str:\n    '''Show.'''\n    return str({})"
IMPORT = "from pathlib import Path\nimport sqlite3\nfrom toolbench import tool"
OPEN = "db = sqlite3.connect('a.db', check_same_thread=False)"
COUNT = "db.execute('select count(*) from t').fetchone()"
BOX = "class Box(list):\n    def __getattr__(self, name):\n        return lambda *a, **k: None"

CHAIN = (
    "class Box(list):\n    __getattr__ = lambda self, name: self\n"
    "    __call__ = lambda self, *a: self"
)


def code_of(folder):
    return (folder / "show/impl.py").read_text("utf-8")


def notes_of(folder):
    """What the README says should be looked at, a sentence an item."""
    text = (folder / "README.md").read_text("utf-8")
    return re.findall(r"^- (.*)", text.partition("## To look at")[2], re.MULTILINE)


def results_in(folder):
    """The results that the tests of the package expect."""
    recorded = json.loads((folder / "tests/recorded.json").read_text("utf-8"))
    return [call["text"] for call in recorded["calls"]]


@pytest.fixture
def here(tmp_path, monkeypatch):
    """A folder of its own for files that cells write."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_the_library_of_the_page_for_newcomers_works_as_a_package(notebook, here):
    """Its table is made by a call that changes nothing but the database."""
    section = PAGE.read_text("utf-8").partition("## A tool on SQLite")[2]
    notebook.run(*re.findall(r"```python\n(.*?)```", section, re.DOTALL)[:2])
    run_tool(notebook["find_books"], words="e", authors=["Austen"])
    folder = export_package(notebook["find_books"], here / "p")
    assert "2 passed" in run_tests_of(folder)
    assert notes_of(folder) == []


def test_a_database_in_a_file_is_prepared_and_named(notebook, here):
    """A statement that could do harm the second time runs in a new file, and the README names it."""
    table = 'db.executescript("create table if not exists t (n)")'
    row = 'db.execute("insert into t values (1)")'
    notebook.run(IMPORT, f"{OPEN}\n{table}", f"{row}\ndb.commit()", TOOL.format(COUNT))
    run_tool(notebook["show"], {})
    folder = export_package(notebook["show"], here / "p")
    assert "2 passed" in run_tests_of(folder)
    code = code_of(folder)
    places = [code.index(part) for part in (OPEN, table, row, "db.commit")]
    assert places == sorted(places)
    # The last one is about the tests
    [file, note, _] = notes_of(folder)
    assert "the file `a.db`" in file
    assert note == f"`{row}` runs only where the file `a.db` is new."


def test_a_tool_that_writes_to_a_database_changes_it(notebook, here):
    """The second call of it need not say what the first one said: only its arguments are tested."""
    notebook.run(
        IMPORT,
        f"{OPEN}\ndb.execute('create table if not exists t (n)')",
        "@tool\ndef show() -> str:\n    '''Add.'''\n    with db:\n"
        f"        db.execute('insert into t values (1)')\n    return str({COUNT})",
    )
    run_tool(notebook["show"], {})
    folder = export_package(notebook["show"], here / "p")
    assert results_in(folder) == []
    assert "2 passed" in run_tests_of(folder)
    assert any("`show` changes `db`" in note for note in notes_of(folder))


def test_making_a_tool_of_classes_is_not_a_change_of_its_database(notebook, here):
    """Its executor writes when it is called, not when it is made."""
    notebook.run(
        IMPORT,
        f"{OPEN}\ndb.execute('create table if not exists t (n)')",
        "from toolbench import Action, Observation, ToolDefinition, ToolExecutor\n"
        "class Nothing(Action): pass\n"
        "class Work(ToolExecutor):\n    def __call__(self, action, conversation=None):\n"
        "        db.execute('insert into t values (1)')\n"
        f"        return Observation.from_text(str({COUNT}))\n"
        "class ShowTool(ToolDefinition):\n    @classmethod\n"
        "    def create(cls, conv_state=None, **params):\n"
        "        return [cls(description='Add.', action_type=Nothing, executor=Work())]",
        "[show] = ShowTool.create()",
        "show({})",
    )
    folder = export_package(notebook["show"], here / "p")
    assert "ShowTool" not in code_of(folder)
    assert results_in(folder) == []
    assert "2 passed" in run_tests_of(folder)


@pytest.mark.parametrize(
    "statement",
    [
        "box.fit([1], 2)",
        "box.configure(size=3)\nbox",
        "box.model.load('x.bin')",
        "_ = box.warm_up()",
    ],
)
def test_what_may_prepare_an_object_is_named(notebook, here, capsys, statement):
    """It is not in the package: the README and the line that exported say so."""
    notebook.run(IMPORT, BOX, "box = Box()\nbox.model = Box()", statement, TOOL.format("box.n"))
    notebook.shell.run_line_magic("tools", "export show --to p")
    first = statement.partition("\n")[0]
    sentence = (
        f"Not in the package: `{first}`. It may prepare an object that `show` needs: "
        "if so, add it to impl.py."
    )
    assert f"To look at: {sentence}" in capsys.readouterr().out
    assert notes_of(here / "p") == [sentence]
    assert first not in code_of(here / "p")


@pytest.mark.parametrize(
    "statement",
    [
        "box.head()\nbox.describe()",
        "box.anything(1)",
        "box.close()",
        "box.plot.bar();",
        "print(box.fit())",
        "result = box.fit()",
        "other = Box()\nother.fit()",
        "box.execute('select 1').fetchone()\nbox.head()",
        "box.fit()\nbox = Box()",
    ],
)
def test_what_only_looks_is_not_named(notebook, here, statement):
    """Nor are objects that the tool does not need."""
    notebook.run(IMPORT, CHAIN, "box = Box()", statement, TOOL.format("box.n"))
    folder = export_package(notebook["show"], here / "p")
    assert notes_of(folder) == []
    assert len(re.findall(r"^box", code_of(folder), re.MULTILINE)) == 1


def test_a_statement_with_a_secret_is_named_without_it(notebook, here):
    """The method is enough to find it."""
    secret = "hunter2-correct-horse"
    statement = f"box.login(password='{secret}')\nbox"
    notebook.run(IMPORT, BOX, "box = Box()", statement, TOOL.format("box.n"))
    folder = export_package(notebook["show"], here / "p")
    [note] = notes_of(folder)
    assert note.startswith("Not in the package: `.login(...)`.")
    texts = [path.read_text("utf-8") for path in folder.rglob("*.*") if path.is_file()]
    assert secret not in "".join(texts)


def test_a_cell_that_failed_counts_up_to_its_failure(notebook, here):
    """What it had done before is done in the package too; what it had not begun is not."""
    begin = "db.execute('create table if not exists t (n)')"
    failure = "db.execute('insert into x')"
    end = "db.execute('insert or ignore into t values (1)')"
    notebook.run(IMPORT, OPEN)
    notebook.shell.run_cell(f"{begin}\n{failure}\n{end}", store_history=True)
    notebook.run(TOOL.format(COUNT))
    run_tool(notebook["show"], {})
    folder = export_package(notebook["show"], here / "p")
    assert "2 passed" in run_tests_of(folder)
    assert begin in code_of(folder)
    assert failure not in code_of(folder)
    assert end not in code_of(folder)
    # The others are about the file and the tests
    [_, note, _] = notes_of(folder)
    assert f"`{failure}`. It failed in the notebook" in note


def test_a_folder_that_may_be_there_is_made(notebook, here):
    """One that may not be there twice is only named."""
    notebook.run(
        IMPORT,
        "box = Path('a')\nbox.mkdir(exist_ok=True)\nnew = box / 'b'\nnew.mkdir()",
        TOOL.format("[box.is_dir(), new.name]"),
    )
    run_tool(notebook["show"], {})
    folder = export_package(notebook["show"], here / "p")
    assert "2 passed" in run_tests_of(folder)
    assert [note for note in notes_of(folder) if "`new.mkdir()`" in note]


def test_a_run_of_the_tool_itself_prepares_nothing(notebook, here):
    """`execute` is a method of tools too."""
    call = "call = {}\nshow.execute(call)\nshow.execute({})"
    notebook.run(IMPORT, TOOL.format("1"), call)
    folder = export_package(notebook["show"], here / "p")
    assert "execute" not in code_of(folder)
    assert notes_of(folder) == []


TABLE = "db.execute('create table if not exists t (n)')"


@pytest.mark.parametrize("again", [OPEN, f"import sqlite3\n{OPEN}\ndb.row_factory = None"])
def test_a_database_that_was_opened_again_is_still_prepared(notebook, here, again):
    """A later cell gives the name a new connection to the same file; the table is made in the package too."""
    notebook.run(IMPORT, OPEN, TABLE, again, TOOL.format(COUNT))
    run_tool(notebook["show"], {})
    folder = export_package(notebook["show"], here / "p")
    code = code_of(folder)
    assert code.index(OPEN) < code.index(TABLE) < code.rindex(OPEN)
    assert "2 passed" in run_tests_of(folder)
    assert run_package(folder) == "(0,)"


def run_package(folder):
    """What the tool of the package answers where there is no file."""
    program = "from show import create_tools; [t] = create_tools(); print(t({}).text)"
    done = run_python(program, folder)
    return done.stdout.strip() or done.stderr


def test_of_another_database_it_is_said_what_is_left_out(notebook, here):
    """The code does not show whether both are the same file."""
    other = "db = sqlite3.connect(str(PLACE), check_same_thread=False)"
    notebook.run(
        IMPORT,
        OPEN,
        TABLE,
        "PLACE = Path().resolve() / 'a.db'",
        other,
        TOOL.format(COUNT),
    )
    folder = export_package(notebook["show"], here / "p")
    assert TABLE not in code_of(folder)
    note = f"Not in the package: `{TABLE}`. It may prepare an object that `show` needs"
    assert any(text.startswith(note) for text in notes_of(folder))


def test_a_database_in_memory_is_new_each_time(notebook, here):
    """What prepared an earlier one is not in the package, and need not be."""
    memory = OPEN.replace("a.db", ":memory:")
    old = "db.execute('create table old (n)')"
    notebook.run(IMPORT, memory, old, memory, TABLE, TOOL.format(COUNT))
    run_tool(notebook["show"], {})
    folder = export_package(notebook["show"], here / "p")
    assert old not in code_of(folder)
    assert notes_of(folder) == []
    assert results_in(folder) == ["(0,)"]
    assert "2 passed" in run_tests_of(folder)
