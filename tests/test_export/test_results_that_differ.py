"""The calls of a tool that declares `read_only` are repeated; of others only the arguments are tested."""

import json
import re
import sqlite3

import pytest

from test_export.notebook import run_tests_of
from toolbench import history, run_tool
from toolbench.export import export_package
from toolbench.runs.history import Journal
from toolbench.runs.run import numbers

IMPORT = (
    "import sqlite3\nfrom datetime import date\nfrom pathlib import Path\n"
    "from toolbench import run_tool, tool"
)
SHOP = (
    IMPORT,
    "db = sqlite3.connect('{file}', check_same_thread=False)",
    "db.executescript('create table if not exists repairs (id, part, status)')\n"
    "if not db.execute('select count(*) from repairs').fetchone()[0]:\n"
    "    db.executemany('insert into repairs values (?, ?, ?)',\n"
    "                   [(1, 'chain', 'waiting'), (2, 'brake', 'working')])\n"
    "    db.commit()",
    "@tool(read_only=True)\n"
    "def find_repairs(part: str, since: date | None = None) -> list:\n"
    "    '''Find repairs.'''\n"
    "    rows = db.execute('select id, status from repairs where part = ?', [part])\n"
    "    return [list(row) for row in rows]",
    "@tool\n"
    "def close_repair(id: int) -> str:\n"
    "    '''Close a repair.'''\n"
    "    db.execute('update repairs set status = ? where id = ?', ('done', id))\n"
    "    db.commit()\n"
    "    return f'Closed {{id}}.'",
)


@pytest.fixture
def here(tmp_path, monkeypatch):
    """A folder of its own for the files of cells; the runs are numbered as in a new kernel."""
    monkeypatch.chdir(tmp_path)
    numbers.reset()
    return tmp_path


def open_shop(notebook, file):
    notebook.run(*(cell.format(file=file) for cell in SHOP))


def export_shop(notebook, folder):
    return export_package(
        [notebook["find_repairs"], notebook["close_repair"]], folder / "shop_tools"
    )


def recorded(folder, kind="calls"):
    """The calls in the package: "calls" are repeated, of "accepted" only the arguments are tested."""
    return json.loads((folder / "tests/recorded.json").read_text("utf-8"))[kind]


def notes_of(folder):
    text = (folder / "README.md").read_text("utf-8")
    return re.findall(r"^- (.*)", text.partition("## To look at")[2], re.MULTILINE)


def files_in(folder):
    """The files in *folder*, without the compiled modules."""
    paths = (path.relative_to(folder).as_posix() for path in folder.rglob("*"))
    return {path for path in paths if "__pycache__" not in path}


class TestStateInAFile:
    def test_is_not_in_the_package_and_missed_in_words(self, notebook, here):
        """The tests are skipped where it is not; they work on a copy where it is, and leave no file."""
        open_shop(notebook, "shop.db")
        run_tool(notebook["find_repairs"], part="chain")
        run_tool(notebook["close_repair"], id=1)
        run_tool(notebook["find_repairs"], part="brake")
        folder = export_shop(notebook, here)
        assert [c["arguments"] for c in recorded(folder)] == [{"part": "chain"}]
        accepted = [c["arguments"] for c in recorded(folder, "accepted")]
        assert accepted == [{"part": "brake"}, {"id": 1}]
        before = files_in(folder)
        assert "5 skipped" in run_tests_of(folder)
        assert files_in(folder) - before <= {".pytest_cache"}
        with sqlite3.connect(folder / "shop.db") as theirs:
            theirs.execute("create table repairs (id, part, status)")
            theirs.execute("insert into repairs values (1, 'chain', 'waiting')")
        theirs.close()
        content = (folder / "shop.db").read_bytes()
        assert "5 passed" in run_tests_of(folder)
        assert (folder / "shop.db").read_bytes() == content
        assert any("the file `shop.db`, which is not in the" in note for note in notes_of(folder))

    def test_does_not_excuse_a_package_that_cannot_be_imported(self, notebook, here):
        """What is missing then is not the file: the tests fail."""
        open_shop(notebook, "shop.db")
        folder = export_shop(notebook, here)
        (folder / "shop.db").write_bytes(b"")
        (folder / "shop_tools").rename(folder / "elsewhere")
        text = run_tests_of(folder)
        assert "skipped" not in text
        assert "No module named 'shop_tools'" in text


class TestStateInMemory:
    def test_is_as_in_the_package_until_another_tool_changes_it(self, notebook, here):
        """A call made before is repeated; of one made after it the arguments are tested."""
        open_shop(notebook, ":memory:")
        run_tool(notebook["find_repairs"], part="chain")
        run_tool(notebook["close_repair"], id=1)
        run_tool(notebook["find_repairs"], part="brake")
        tools = [notebook["find_repairs"], notebook["close_repair"]]
        folder = export_package(tools, here / "shop_tools", cells=[3])
        assert [c["arguments"] for c in recorded(folder)] == [{"part": "chain"}]
        accepted = [c["arguments"] for c in recorded(folder, "accepted")]
        assert accepted == [{"part": "brake"}, {"id": 1}]
        assert "5 passed" in run_tests_of(folder)
        sentence = (
            "`close_repair` ran before 1 call of `find_repairs`, uses the same objects and does not "
            "declare `read_only`: the tests check only that its arguments are accepted."
        )
        assert sentence in notes_of(folder)

    def test_that_was_left_out_is_said_by_a_test_that_fails(self, notebook, here):
        """Its message names the section of the README, which names the cell to take."""
        open_shop(notebook, ":memory:")
        run_tool(notebook["find_repairs"], part="chain")
        folder = export_package(notebook["find_repairs"], here / "p")
        text = run_tests_of(folder)
        assert "1 failed, 1 passed" in text
        assert "what may be missing is in README.md, below To look at" in text
        assert any("of cell 3, which uses `db`" in note for note in notes_of(folder))

    def test_may_be_changed_by_a_tool_that_is_not_exported(self, notebook, here):
        """The notebook has it, and its runs count."""
        open_shop(notebook, ":memory:")
        run_tool(notebook["close_repair"], id=1)
        run_tool(notebook["find_repairs"], part="chain")
        folder = export_package(notebook["find_repairs"], here / "p")
        assert recorded(folder) == []
        assert "2 passed" in run_tests_of(folder)

    def test_that_its_cell_makes_anew_is_as_in_the_package(self, notebook, here):
        """What was changed before the cell ran again is gone."""
        open_shop(notebook, ":memory:")
        run_tool(notebook["close_repair"], id=1)
        open_shop(notebook, ":memory:")
        notebook.run("LAST = 1", SHOP[3].replace("return [", "return LAST and ["))
        run_tool(notebook["find_repairs"], part="chain")
        folder = export_package(notebook["find_repairs"], here / "p", cells=[8])
        assert [c["arguments"] for c in recorded(folder)] == [{"part": "chain"}]
        assert "2 passed" in run_tests_of(folder)

    def test_in_an_executor_counts_too(self, notebook, here):
        """Each call of it leaves something for the next."""
        notebook.run(
            "from toolbench import Action, Observation, ToolDefinition, ToolExecutor\n"
            "class Number(Action):\n    n: int\n"
            "class Adding(ToolExecutor):\n"
            "    def __init__(self):\n        self.total = 0\n"
            "    def __call__(self, action, conversation=None):\n"
            "        self.total += action.n\n"
            "        return Observation.from_text(str(self.total))\n"
            "class SumTool(ToolDefinition):\n    @classmethod\n"
            "    def create(cls, conv_state=None, **params):\n"
            "        return [cls(description='Add.', action_type=Number, executor=Adding())]",
            "[add] = SumTool.create()\nadd(n=0)\nadd(n=1)\nadd(n=2)",
        )
        folder = export_package(notebook["add"], here / "p")
        assert recorded(folder) == []
        assert "4 passed" in run_tests_of(folder)
        assert any("does not declare `read_only`" in note for note in notes_of(folder))


@pytest.mark.parametrize(
    "hint", ["destructive=True", "read_only=True, open_world=True", "read_only=False"]
)
def test_a_tool_that_says_that_it_reaches_outside_is_not_run(notebook, here, hint):
    """A test must not delete something or call somebody."""
    notebook.run(IMPORT, f"@tool({hint})\ndef show() -> int:\n    '''Show.'''\n    return 1")
    run_tool(notebook["show"], {})
    folder = export_package(notebook["show"], here / "p")
    assert recorded(folder) == []
    assert "2 passed" in run_tests_of(folder)


def test_the_place_of_an_object_in_memory_is_no_result(notebook, here):
    """The next process has it elsewhere."""
    notebook.run(
        IMPORT,
        "@tool(read_only=True)\ndef show() -> str:\n    '''Show.'''\n    return str(object())",
    )
    run_tool(notebook["show"], {})
    folder = export_package(notebook["show"], here / "p")
    assert recorded(folder) == []
    assert "2 passed" in run_tests_of(folder)


class TestCallsThatWereRefused:
    CODE = (
        "@tool(read_only=True)\ndef twice(n: int = 1) -> int:\n    '''Double.'''\n    return 2 * n"
    )

    def test_without_arguments_are_left_out(self, notebook, here):
        """`twice(5)` is no call of a tool; the README counts them."""
        notebook.run(IMPORT, self.CODE, "try: twice(5)\nexcept TypeError: pass")
        run_tool(notebook["twice"], {"n": 2})
        folder = export_package(notebook["twice"], here / "p")
        assert [c["arguments"] for c in recorded(folder)] == [{"n": 2}]
        assert "2 passed" in run_tests_of(folder)
        [note] = notes_of(folder)
        assert note.startswith("Not tested: 1 call of `twice`. The call was refused before")

    def test_with_arguments_are_refused_again(self, notebook, here):
        """The package answers a model as the notebook did."""
        notebook.run(IMPORT, self.CODE)
        run_tool(notebook["twice"], {"n": "many"})
        folder = export_package(notebook["twice"], here / "p")
        assert [c["is_error"] for c in recorded(folder)] == [True]
        assert "2 passed" in run_tests_of(folder)

    def test_are_no_arguments_that_are_accepted(self, notebook, here):
        """Of a tool whose results differ, too."""
        notebook.run(IMPORT, self.CODE.replace("(read_only=True)", ""))
        run_tool(notebook["twice"], {"n": "many"})
        folder = export_package(notebook["twice"], here / "p")
        assert recorded(folder, "accepted") == []
        assert "1 passed" in run_tests_of(folder)

    def test_are_so_in_the_file_of_the_history(self, notebook, here):
        """A record that was read again is not taken for a run."""
        notebook.run(IMPORT, self.CODE, "try: twice(5)\nexcept TypeError: pass")
        run_tool(notebook["twice"], {"n": "many"})
        run_tool(notebook["twice"], {"n": 3})
        journal = Journal(here / "history.jsonl")
        for record in history():
            journal.write(record)
        assert [r.refused for r in journal.read(9)] == ["call", "arguments", ""]
        assert [r.refused for r in history()] == ["call", "arguments", ""]


def test_calls_of_an_earlier_session_are_tests_only_if_chosen(notebook, here):
    """The tool may have changed between the sessions; the README says how to take them."""
    notebook.run(IMPORT, TestCallsThatWereRefused.CODE, "twice(n=3)")
    journal = Journal(here / "history.jsonl")
    journal.write(history()[-1])
    history().clear()
    history().persist(here / "history.jsonl")
    folder = export_package(notebook["twice"], here / "p")
    assert recorded(folder) == []
    assert notes_of(folder)[0].startswith("Not tested: 1 call of `twice`. An earlier session")
    chosen = export_package(notebook["twice"], here / "q", tests=history())
    assert len(recorded(chosen)) == 1
