"""What an export writes, and what it refuses to write."""

import json
import re
import tomllib
from pathlib import Path

import pytest
from forked import run_python
from IPython.core.error import UsageError

from toolbench import history, run_tool
from toolbench.errors import ExportError, FileError, ToolNotFoundError
from toolbench.export import export_package
from toolbench.tools.glob import GlobTool

ADD = "@tool(read_only=True)\ndef add(a: int) -> int:\n    '''Add.'''\n    return a + {what}"
DESCRIBED = ADD.replace("Add.", "Add.\n\n    Args:\n        a: One number.\n    ")
IMPORT = "from toolbench import tool"


def texts(folder: Path) -> str:
    return "\n".join(p.read_text("utf-8") for p in sorted(folder.rglob("*")) if p.is_file())


def recorded(folder: Path) -> list[dict]:
    return json.loads((folder / "tests/recorded.json").read_text("utf-8"))["calls"]


class TestWhatIsMissing:
    @pytest.mark.parametrize(
        ("cells", "words"),
        [
            ([], "`gone`, used by `add`: no cell or file defines it"),
            (["gone = !echo 1"], "it comes from a magic"),
            (["gone = await __import__('asyncio').sleep(0, 1)"], "a cell that awaits"),
        ],
    )
    def test_is_said_by_name(self, notebook, tmp_path, cells, words):
        """A value that only the kernel has is named, not guessed; nothing is written."""
        notebook.run(IMPORT, *cells, ADD.format(what="len(gone)"))
        notebook.shell.user_ns.setdefault("gone", [1])
        with pytest.raises(ExportError, match="cannot be written into a file") as raised:
            export_package(notebook["add"], tmp_path / "p")
        assert words in str(raised.value)
        assert not (tmp_path / "p").exists()

    def test_all_of_it_is_said_at_once(self, notebook, tmp_path):
        """Whoever mends it need not try again and again."""
        notebook.run(IMPORT, "def half():\n    return one", ADD.format(what="half() + two"))
        with pytest.raises(ExportError) as raised:
            export_package(notebook["add"], tmp_path)
        assert "`one`, used by `half`" in str(raised.value)
        assert "`two`, used by `add`" in str(raised.value)

    def test_a_question_to_a_person_is_not_asked_by_a_package(
        self, notebook, tmp_path, monkeypatch
    ):
        """What was typed once would stop a server."""
        monkeypatch.setattr("builtins.input", lambda *args: "3")
        notebook.run(IMPORT, "typed = input('How many?')", ADD.format(what="int(typed)"))
        with pytest.raises(ExportError, match="`typed`, used by `add`: the user is asked for it"):
            export_package(notebook["add"], tmp_path)

    def test_a_file_beside_the_notebook_is_no_package(self, notebook, tmp_path, monkeypatch):
        """It would not be there elsewhere: its place is said."""
        (tmp_path / "helpers_of_mine.py").write_text("ONE = 1")
        monkeypatch.syspath_prepend(tmp_path)
        notebook.run(IMPORT, "import helpers_of_mine", ADD.format(what="helpers_of_mine.ONE"))
        with pytest.raises(ExportError, match=r"of no installed package but the file .*mine.py"):
            export_package(notebook["add"], tmp_path / "p")

    def test_a_name_that_only_the_package_needs_is_what_it_always_is(self, notebook, tmp_path):
        """What any other cell imports or defines under this name does not matter."""
        cells = "from dataclasses import Field", "ToolAnnotations = 3"
        notebook.run(IMPORT, *cells, DESCRIBED.format(what="1"))
        definition = export_package(notebook["add"], tmp_path / "p") / "add/definition.py"
        text = definition.read_text("utf-8")
        assert "from pydantic import Field\n" in text and "dataclasses" not in text
        assert ", ToolAnnotations, " in text and "= 3" not in text

    def test_a_name_of_two_meanings_is_to_be_imported_as_another(self, notebook, tmp_path):
        """The sentence has the line to write."""
        tool = DESCRIBED.format(what="len(str(Field))")
        notebook.run(IMPORT, "from dataclasses import Field", tool)
        with pytest.raises(ExportError) as raised:
            export_package(notebook["add"], tmp_path / "p")
        assert str(raised.value) == (
            "`Field` has another meaning in cell 2, and the package also needs the `Field` of "
            "pydantic: write `from dataclasses import Field as OtherField`, and use that name in "
            "the code of the tool."
        )

    def test_tools_of_others_are_not_exported(self, tmp_path):
        """What comes with toolbench can be imported."""
        [glob] = GlobTool.create()
        with pytest.raises(ExportError, match=r"can be imported from toolbench\.tools\.glob"):
            export_package(glob, tmp_path)

    def test_a_call_of_the_tool_by_other_code(self, notebook, tmp_path):
        """In the package it is a function, and gives something else."""
        notebook.run(IMPORT, ADD.format(what="1"), "def twice(a):\n    return add(a=a)")
        notebook.run(
            "@tool\ndef quadruple(a: int) -> str:\n    '''Four.'''\n    return str(twice(a))"
        )
        with pytest.raises(
            ExportError, match=r"`twice` uses `add`\. `add` is a tool in the notebook"
        ):
            export_package([notebook["add"], notebook["quadruple"]], tmp_path)


class TestWhatIsWritten:
    def test_is_what_the_tool_needs(self, notebook, tmp_path):
        """Nothing else of the notebook, of a name that was given twice what it means last."""
        notebook.run(
            IMPORT,
            "UNUSED = object()\nSTEP = 1",
            "def step():\n    return undefined_then",
            "def step():\n    return STEP",
            ADD.format(what="step()"),
            "STEP = 2",
        )
        folder = export_package(notebook["add"], tmp_path / "p")
        code = (folder / "add/impl.py").read_text("utf-8")
        assert "UNUSED" not in code
        assert "undefined_then" not in code
        assert code.count("STEP = ") == 1
        assert "STEP = 2" in code
        assert "ADD_DESCRIPTION = 'Add.'\n" in (folder / "add/definition.py").read_text("utf-8")
        assert "import tool\n" not in texts(folder)

    def test_a_star_gives_the_names_that_are_used(self, notebook, tmp_path):
        """Of a module that lists them in `__all__`, and of one that does not."""
        stars = "from math import *\nfrom statistics import *"
        notebook.run(IMPORT, stars, ADD.format(what="floor(mean([a]))"))
        folder = export_package(notebook["add"], tmp_path / "p")
        code = (folder / "add/impl.py").read_text("utf-8")
        assert "\nfrom math import floor\nfrom statistics import mean\n" in code

    def test_is_toml_whatever_the_description_says(self, notebook, tmp_path):
        """Characters beyond 16 bits, quotes, and what TOML has escaped."""
        text = 'Bill 🙂 "tip" \\ \x7f'
        code = f"@tool(description={text!r})\ndef bill() -> int:\n    return 1"
        notebook.run(IMPORT, code)
        folder = export_package(notebook["bill"], tmp_path / "p")
        project = tomllib.loads((folder / "pyproject.toml").read_text("utf-8"))
        assert project["project"]["description"] == text

    def test_are_the_calls_of_this_tool(self, notebook, tmp_path):
        """Not those of an earlier definition, nor what came out one way and then another."""
        notebook.run(IMPORT, ADD.format(what="100"))
        run_tool(notebook["add"], {"a": 5})
        notebook.run(
            "N = [0]",
            ADD.format(what="(globals()['N'].append(0) or len(N) if a == 2 else 1)"),
        )
        for a in (1, 1, 2, 2, 3, 3):
            run_tool(notebook["add"], {"a": a})
        calls = recorded(export_package(notebook["add"], tmp_path / "p"))
        assert [(c["arguments"], c["text"]) for c in calls] == [
            ({"a": 1}, "2"),
            ({"a": 3}, "4"),
        ]

    def test_are_the_calls_that_were_chosen(self, notebook, tmp_path):
        """`tests=` says which records become tests."""
        notebook.run(IMPORT, ADD.format(what="1"))
        for a in (1, 2):
            run_tool(notebook["add"], {"a": a})
        folder = export_package(notebook["add"], tmp_path / "p", tests=history()[-1:])
        assert [call["arguments"] for call in recorded(folder)] == [{"a": 2}]
        assert recorded(export_package(notebook["add"], tmp_path / "q", tests=())) == []

    def test_several_tools_share_a_package(self, notebook, tmp_path):
        """It is called as its folder, and what both need stands in it once."""
        notebook.run(IMPORT, "ONE = 1", ADD.format(what="ONE"))
        notebook.run("@tool\ndef less(a: int) -> int:\n    '''Less.'''\n    return a - ONE")
        tools = [notebook["add"], notebook["less"]]
        folder = export_package(tools, tmp_path / "sums")
        code = (folder / "sums/impl.py").read_text("utf-8")
        assert code.count("ONE = 1") == 1
        program = "from sums import create_tools; print([t({'a': 3}).text for t in create_tools()])"
        assert run_python(program, folder).stdout == "['4', '2']\n"

    def test_a_name_that_would_hide_a_module(self, notebook, tmp_path):
        """A tool may be called as a module of Python; its package is not."""
        notebook.run(IMPORT, "@tool\ndef json(a: int) -> int:\n    '''Same.'''\n    return a")
        folder = export_package(notebook["json"], tmp_path / "p")
        assert (folder / "json_tool/definition.py").is_file()

    def test_nothing_is_overwritten(self, notebook, tmp_path):
        """A file that holds something else stays, and is named; the same again is no matter."""
        notebook.run(IMPORT, ADD.format(what="1"))
        folder = export_package(notebook["add"], tmp_path / "p")
        export_package(notebook["add"], folder)
        (folder / "README.md").write_text("mine")
        with pytest.raises(FileError, match=r"already has README\.md"):
            export_package(notebook["add"], folder)
        assert (folder / "README.md").read_text() == "mine"
        export_package(notebook["add"], folder, overwrite=True)
        assert "mine" not in (folder / "README.md").read_text().split()

    def test_a_file_that_the_code_reads_is_pointed_out(self, notebook, tmp_path, monkeypatch):
        """It is not in the package: the README says so."""
        (tmp_path / "prices.csv").write_text("1")
        monkeypatch.chdir(tmp_path)
        notebook.run(IMPORT, ADD.format(what="int(open('prices.csv').read())"))
        folder = export_package(notebook["add"], tmp_path / "p")
        assert "the file `prices.csv`" in (folder / "README.md").read_text("utf-8")


class TestSecrets:
    SECRET = "hunter2-correct-horse"

    def test_of_the_history_are_not_written(self, notebook, tmp_path):
        """A call with a secret is no test, in no encoding."""
        notebook.run(
            IMPORT,
            "@tool(read_only=True)\ndef log_in(user: str, password: str = '') -> str:\n    '''Log in.'''\n"
            "    return f'{user} {password}'",
        )
        run_tool(notebook["log_in"], {"user": "a", "password": self.SECRET})
        run_tool(notebook["log_in"], {"user": self.SECRET})
        run_tool(notebook["log_in"], {"user": "b"})
        folder = export_package(notebook["log_in"], tmp_path / "p")
        assert self.SECRET not in texts(folder)
        assert [call["arguments"] for call in recorded(folder)] == [{"user": "b"}]

    @pytest.mark.parametrize(
        "code",
        [
            "SETTINGS = {{'api_key': '{}'}}\nCLIENT = SETTINGS",
            "CLIENT = dict(token='{}')",
            "CLIENT = {{}}\nCLIENT['password'] = '{}'",
        ],
    )
    def test_of_the_code_are_not_written(self, notebook, tmp_path, code):
        """A cell that holds one is not copied: the sentence names the variable, not the value."""
        notebook.run(IMPORT, code.format(self.SECRET), ADD.format(what="len(CLIENT)"))
        with pytest.raises(ExportError, match="holds a secret") as raised:
            export_package(notebook["add"], tmp_path / "p")
        assert self.SECRET not in str(raised.value)
        assert not (tmp_path / "p").exists()

    def test_that_a_run_knew_are_found_under_any_name(self, notebook, tmp_path):
        """What was once an argument that is a secret is one in the code too."""
        notebook.run(
            IMPORT,
            f"GREETING = '{self.SECRET}'",
            "@tool\ndef log_in(password: str) -> str:\n    '''Log in.'''\n    return GREETING",
        )
        run_tool(notebook["log_in"], {"password": self.SECRET})
        with pytest.raises(ExportError, match="would hold a secret, so nothing was written"):
            export_package(notebook["log_in"], tmp_path / "p")


class TestLines:
    def test_a_cell_shows_the_folder_with_what_to_look_at(
        self, notebook, tmp_path, monkeypatch, capsys
    ):
        """What `%tools export` prints is also shown by `export_package` at the end of a cell."""
        (tmp_path / "prices.csv").write_text("1")
        monkeypatch.chdir(tmp_path)
        notebook.run(IMPORT, ADD.format(what="int(open('prices.csv').read())"))
        notebook.run("from toolbench.export import export_package\nexport_package(add, 'p')")
        text = capsys.readouterr().out
        assert f"{Path('p')!r}\nTo look at: The code names the file `prices.csv`" in text
        notebook.run("%tools export add --to q")
        assert "\nTo look at: The code names the file" in capsys.readouterr().out
        folder = export_package(notebook["add"], "p")
        assert isinstance(folder, Path)
        assert repr(folder / "README.md").endswith("p/README.md')")

    def test_the_magic_writes_it(self, notebook, tmp_path, monkeypatch, capsys):
        """`%tools export` says where it is and how to install it; --overwrite replaces it."""
        notebook.run(IMPORT, ADD.format(what="1"))
        magic = notebook.shell.run_line_magic
        monkeypatch.chdir(tmp_path)
        magic("tools", "export add --to p")
        sentence = capsys.readouterr().out
        assert sentence.startswith("Wrote the package p with add. ")
        assert re.search(r"pip install (--python \S+ )?\./p`( installs it)?\.$", sentence)
        (tmp_path / "p/README.md").write_text("mine")
        with pytest.raises(FileError, match=r"already.*--overwrite"):
            magic("tools", f"export add --to {tmp_path / 'p'}")
        magic("tools", f"export add --to {tmp_path / 'p'} --overwrite")
        assert (tmp_path / "p/README.md").read_text() != "mine"

    def test_the_magic_needs_no_history_of_cells(self, notebook, tmp_path, monkeypatch):
        """A cell runs without one under nbval: the tool and what it uses are found there too."""
        for cell in (IMPORT, "ONE = 1", ADD.format(what="ONE")):
            notebook.shell.run_cell(cell, store_history=False).raise_error()
        monkeypatch.chdir(tmp_path)
        notebook.shell.run_line_magic("tools", "export add --to p")
        assert "ONE = 1" in (tmp_path / "p/add/impl.py").read_text("utf-8")

    @pytest.mark.parametrize(
        "line", ["export add a=1 --to p", "export add --to p --bg", "export add", "export --to p"]
    )
    def test_the_magic_ignores_nothing(self, notebook, line):
        """What has no meaning there is refused."""
        notebook.run(IMPORT, ADD.format(what="1"))
        with pytest.raises((UsageError, ToolNotFoundError)):
            notebook.shell.run_line_magic("tools", line)

    def test_the_command_exports_from_a_file(self, tmp_path):
        """`toolbench export tools.py:add DIR`: the same without a notebook; a file is cell 0."""
        code = f"{IMPORT}\nONE = 1\n{ADD.format(what='ONE')}\nprint(ONE)\n"
        (tmp_path / "my_own_tools.py").write_text(code)
        program = "import sys; from toolbench.cli import main; sys.exit(main({}))"
        command = ["export", "my_own_tools.py:add", "out"]
        done = run_python(program.format(command), tmp_path)
        assert done.returncode == 0, done.stderr
        written = tmp_path / "out/add/impl.py"
        assert "ONE = 1" in written.read_text("utf-8")
        assert "print(ONE)" not in written.read_text("utf-8")
        done = run_python(program.format([*command, "--cells", "0", "--overwrite"]), tmp_path)
        assert done.returncode == 0, done.stderr
        assert "print(ONE)" in written.read_text("utf-8")
        command[1] = "my_own_tools.py:gone"
        done = run_python(program.format(command), tmp_path)
        assert done.returncode == 1
        assert "defines no tool gone" in done.stderr
