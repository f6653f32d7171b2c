"""What several cells make of a value is what the package has, or the export says what it left out."""

import json
import re

import pytest
from forked import run_python

from test_export.notebook import new_notebook
from toolbench import run_tool
from toolbench.errors import ExportError
from toolbench.export import export_package

SHOW = (
    "from toolbench import tool\n@tool\ndef show_{}() -> str:\n    '''Show.'''\n    return repr({})"
)
# What the cells are about, and the cells; the tool shows `x`, or what stands after a `#`.
CELLS = {
    "added_to": ["x = 1", "x += 4"],
    "added_twice": ["x = [0]", "x += [1]", "x += [1]"],
    "merged": ["x = {'a': 1}", "x |= {'b': 2}"],
    "item": ["x = {}", "x['b'] = 1", "x['a'] = 2", "del x['b']"],
    "made_of_itself": ["x = [3, 1]", "x = sorted(x)", "x = [0, *x]"],
    "filled_in_a_loop": ["x = {}", "for i in range(3):\n    x[i] = i * i"],
    "by_a_loop_that_sets_its_own": ["i = !echo 1", "x = {}\nfor i in range(3):\n    x[i] = i"],
    "of_a_module": ["x = __name__ == '' or 5"],
    "popped": ["x = [1, 2, 3]", "last = x.pop()", "x = (x, last)"],
    "sometimes_given": ["x = 1", "import sys\nif not sys.path:\n    x = 2"],
    "given_in_a_try": ["x = 1", "try:\n    x = int('a')\nexcept ValueError:\n    pass"],
    "by_a_walrus": ["x = 0", "squares = [x := i * i for i in range(4)]"],
    "deleted_and_back": ["x = 1", "y = x + 1", "del x", "x = y"],
    "of_another_name": ["y = []", "x = y", "y.append(1)"],
    "by_another_name": ["x = [[]]", "y = x[0]", "y.append(5)"],
    "held_by_it": ["rows = []", "x = {'rows': rows}", "rows.append(1)"],
    "by_a_function": ["x = {}", "def load():\n    x['a'] = 1", "load()"],
    "by_a_function_of_a_function": [
        "x = []",
        "def inner():\n    x.append(1)",
        "def outer():\n    inner()",
        "outer()",
    ],
    "by_what_it_is_given_to": [
        "def fill(d, n):\n    d[n] = n",
        "x = {}",
        "fill(x, 3)",
    ],
    "by_python": ["import heapq", "x = []", "heapq.heappush(x, 2)", "heapq.heappush(x, 1)"],
    "by_setattr": [
        "class Box:\n    def __repr__(self):\n        return f'Box({self.n})'",
        "x = Box()",
        "setattr(x, 'n', 4)",
    ],
    "by_its_method": [
        "class Count:\n    n = 0\n    def up(self):\n        self._add()\n"
        "    def _add(self):\n        self.n += 1\n    def __repr__(self):\n        return str(self.n)",
        "x = Count()",
        "x.up()",
        "x.up()",
    ],
    "by_its_class_method": [
        "class Count:\n    n = 0\n    @classmethod\n    def up(cls):\n        cls.n += 1",
        "Count.up()",
        "# Count.n",
    ],
    "global_given_again": ["x = 1", "def more():\n    global x\n    x += 1", "more()\nmore()"],
    "by_a_decorator": [
        "x = {}",
        "def known(function):\n    x[function.__name__] = function(2)\n    return function",
        "@known\ndef double(n):\n    return 2 * n",
    ],
    "by_sql": [
        "import sqlite3\nx = sqlite3.connect(':memory:', check_same_thread=False)\n"
        "x.executescript('create table t (n)')",
        "with x:\n    for n in range(3):\n        x.execute(f'insert into t values ({n})')",
        "pen = x.cursor()\npen.execute('insert into t values (7)')\nx.commit()",
        "count = x.execute('delete from t where n = 1').rowcount",
        "x.execute('select unrelated from (select 1 as unrelated)').fetchall()",
        "# x.execute('select n from t').fetchall()",
    ],
    "by_sql_of_a_function": [
        "import sqlite3\ndef fill(db):\n    db.execute('create table t (n)')",
        "class Store:\n    def __init__(self):\n"
        "        self.db = sqlite3.connect(':memory:', check_same_thread=False)\n"
        "    def add(self):\n        self.db.execute('insert into t values (5)')",
        "x = Store()\nfill(x.db)\nx.add()",
        "# x.db.execute('select n from t').fetchall()",
    ],
    "random": ["import random", "random.seed(4)", "x = random.random()"],
    "name_of_python": ["def max(a, b):\n    return 'mine'", "# max(1, 2)"],
    "import_over_python": ["from math import pow", "# pow(2, 3)"],
    "name_of_python_back": ["sum = 3", "del sum", "# sum([1, 2])"],
    "if_main": ["x = 1", "if __name__ == '__main__':\n    x = 2"],
}  # fmt: skip


# The statements that only touch the value: they are named, and `cells=` takes their cells
NAMED = {
    "popped": [],
    "of_another_name": ["y.append(1)"],
    "by_another_name": ["y.append(5)"],
    "held_by_it": ["rows.append(1)"],
    "by_a_function": ["load()"],
    "by_a_function_of_a_function": ["outer()"],
    "by_what_it_is_given_to": ["fill(x, 3)"],
    "by_python": ["heapq.heappush(x, 2)", "heapq.heappush(x, 1)"],
    "by_setattr": ["setattr(x, 'n', 4)"],
    "by_its_method": ["x.up()"],
    "by_its_class_method": ["Count.up()"],
    "global_given_again": ["more()"],
    "by_a_decorator": ["@known def double(n): return 2 * n"],
    "by_sql": [
        "x.executescript('create table t (n)')",
        "with x: for n in range(3): x.execute(f'insert into t values ({n})')",
        "pen = x.cursor()",
        "pen.execute('insert into t values (7)')",
        "x.commit()",
        "count = x.execute('delete from t where n = 1').rowcount",
        "x.execute('select unrelated from (select 1 as unrelated)').fetchall()",
    ],
    "by_sql_of_a_function": ["fill(x.db)", "x.add()"],
    "random": ["random.seed(4)"],
}


def named_in(notes):
    """The statements that *notes* name as left out, and the numbers of the cells to take."""
    statements = re.findall(
        r"^- Not in the package: `(.*)` of cells? [\d, ]+, which", notes, re.MULTILINE
    )
    numbers = re.findall(r"or `cells=\[([\d, ]+)\]`\.$", notes, re.MULTILINE)
    return statements, [int(number) for number in ", ".join(numbers).split(", ") if number]


@pytest.fixture(scope="module")
def values_of_both(tmp_path_factory):
    """What each tool shows in its notebook and in its package, and the statements that are named."""
    folder = tmp_path_factory.mktemp("built")
    before, named = {}, {}
    for name, cells in CELLS.items():
        what = cells[-1][2:] if cells[-1].startswith("# ") else "x"
        with new_notebook() as notebook:
            notebook.run("unrelated = object()", *cells, SHOW.format(name, what))
            tool = notebook[f"show_{name}"]
            before[name] = run_tool(tool).text
            project = export_package(tool, folder / name, tests=())
            assert "unrelated" not in (project / f"show_{name}/impl.py").read_text()
            named[name], taken = named_in((project / "README.md").read_text("utf-8"))
            if taken:
                export_package(tool, project, tests=(), cells=taken, overwrite=True)
    program = (
        f"import importlib, json, sys\nNAMES = {[*CELLS]}\nsys.path += NAMES\n"
        "makers = [importlib.import_module(f'show_{n}').create_tools for n in NAMES]\n"
        "print(json.dumps([make()[0]({}).text for make in makers]))"
    )
    done = run_python(program, folder)
    assert done.returncode == 0, done.stderr
    return before, dict(zip(CELLS, json.loads(done.stdout), strict=True)), named


# Each is a rule of its own, and they share what costs
@pytest.mark.every_case
@pytest.mark.parametrize("name", CELLS)
def test_a_value_is_that_of_the_notebook(values_of_both, name):
    """Assignments are exported in order, and what else touches the value is named: its cell can be taken."""
    before, after, named = values_of_both
    assert after[name] == before[name]
    assert named[name] == NAMED.get(name, [])


@pytest.mark.parametrize(
    ("cells", "words"),
    [
        (["x = {}", "x['a'] = !echo 1"], "it comes from a magic"),
        (["def begin():\n    global x\n    x = 7", "begin()"], "no cell or file defines it"),
    ],
)  # fmt: skip
def test_what_a_file_cannot_repeat_is_refused(notebook, tmp_path, cells, words):
    """A value or an assignment is never left out; the sentence says what to do."""
    notebook.run(*cells, SHOW.format("it", "x"))
    with pytest.raises(ExportError, match="cannot be written into a file") as raised:
        export_package(notebook["show_it"], tmp_path / "p")
    assert words in str(raised.value)


def test_a_default_that_got_another_value_later_is_refused(notebook, tmp_path):
    """The definition has the last value of a name; the cell of the tool, run again, has it too."""
    tool = SHOW.format("it", "(y, D)").replace("show_it()", "show_it(y: int = D)")
    notebook.run("D = 1", tool, "D = 9")
    with pytest.raises(
        ExportError, match=r"`show_it` uses the value that `D` had before"
    ) as raised:
        export_package(notebook["show_it"], tmp_path / "p")
    assert "run the cell of `show_it` again" in str(raised.value)
    notebook.run(tool)
    project = export_package(notebook["show_it"], tmp_path / "p")
    program = "from show_it import create_tools; print(create_tools()[0]({}).text)"
    assert run_python(program, project).stdout == "(9, 9)\n"


def test_what_is_left_out_is_named_and_can_be_taken(notebook, tmp_path):
    """Not one that failed; one with a secret is not shown, and the tool's own calls are no part of it."""
    notebook.run("x = []", SHOW.format("it", "x"), "x.append(1)\nshow_it({})")
    notebook.shell.run_cell("x.remove(9)\nx.append(2)", store_history=True)
    notebook.run(
        "x.append('hunter2-correct-horse' if (password := 'hunter2-correct-horse') else 1)"
    )
    project = export_package(notebook["show_it"], tmp_path / "p", tests=())
    notes = (project / "README.md").read_text("utf-8").partition("## To look at")[2]
    assert "- Not in the package: `x.append(1)` of cell 3, which uses `x`.\n" in notes
    assert "remove(9)" not in notes
    assert "append(2)" not in notes
    assert "show_it" not in notes
    assert "- Not in the package: a statement with a secret of cell 5, which uses `x`.\n" in notes
    line = f"export show_it --to {project} --cells 3 --overwrite"
    notebook.shell.run_line_magic("tools", line)
    code = (project / "show_it/impl.py").read_text("utf-8")
    assert "\nx.append(1)\n" in code
    assert "show_it({})" not in code
    with pytest.raises(ExportError, match=r"There is no cell 99 that ran"):
        export_package(notebook["show_it"], tmp_path / "q", cells=[99])
