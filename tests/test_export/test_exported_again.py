"""Another export into the folder of an earlier one: what is there then, and what a person keeps."""

import json
from collections.abc import Mapping
from pathlib import Path

import pytest

from test_export.notebook import run_tests_of
from toolbench import run_tool
from toolbench.errors import ExportError, ToolNotFoundError
from toolbench.export import export_package

CELLS = (
    "from toolbench import tool",
    "FILMS = ['Alien', 'Heat']",
    "@tool\ndef find_films(part: str) -> str:\n    '''Find films.'''\n"
    "    return ', '.join(f for f in FILMS if part in f)",
    "@tool\ndef plan_film(film: str, seats: int = 9) -> str:\n    '''Plan a film.'''\n"
    "    return f'{film}: {seats}'",
    "@tool\ndef cancel_evenings(ids: list[int]) -> int:\n    '''Cancel.'''\n    return len(ids)",
)
LIST = ".toolbench-export.json"


@pytest.fixture
def film_club(notebook, tmp_path, monkeypatch):
    """A notebook with three tools that were called, which runs in a folder of its own."""
    monkeypatch.chdir(tmp_path)
    notebook.run(*CELLS)
    run_tool(notebook["find_films"], {"part": "e"})
    run_tool(notebook["plan_film"], {"film": "Heat"})
    run_tool(notebook["cancel_evenings"], {"ids": [4]})
    return notebook


def files_in(folder: Path) -> Mapping[str, bytes]:
    """Return the files of *folder*, but not what Python compiled."""
    paths = [path for path in folder.rglob("*") if path.is_file()]
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in paths
        if path.suffix != ".pyc"
    }


ORDERS = [
    (["plan_film"], ["plan_film", "find_films", "cancel_evenings"]),
    (["plan_film", "find_films"], ["cancel_evenings"]),
    (["find_films"], ["plan_film"]),
]


@pytest.mark.parametrize("exports", ORDERS, ids=["more", "fewer", "other"])
def test_the_tests_of_the_folder_pass_and_own_files_stay(film_club, tmp_path, exports):
    """After any two exports: the project is that of the second alone, beside a person's own files."""
    folder = tmp_path / "filmclub"
    own = {
        "notes.md": b"mine",
        "tests/test_own.py": b"def test_own():\n    pass\n",
        "tests/data/rows.csv": b"1,2\n",
        f"{exports[0][0]}/rows.csv": b"3\n",
    }
    for names in exports:
        export_package([film_club[n] for n in names], "filmclub", overwrite=True)
        for place, content in own.items():
            (folder / place).parent.mkdir(parents=True, exist_ok=True)
            if not (folder / place).exists():
                (folder / place).write_bytes(content)
        text = run_tests_of(folder)
        assert f"{len(names) * 2 + 1} passed" in text.splitlines()[-1], text
    files = files_in(folder)
    assert own.items() <= files.items()
    alone = export_package([film_club[n] for n in exports[1]], "alone/filmclub")
    assert {k: v for k, v in files.items() if k not in own} == files_in(alone)


def test_no_folder_of_the_earlier_package_stays(film_club, tmp_path):
    """Python would import an empty folder, or one with compiled files, as a package."""
    export_package(film_club["plan_film"], "filmclub")
    run_tests_of(tmp_path / "filmclub")
    assert (tmp_path / "filmclub/plan_film").is_dir()
    tools = [film_club["find_films"], film_club["plan_film"]]
    export_package(tools, "filmclub", overwrite=True)
    assert not (tmp_path / "filmclub/plan_film").exists()


class TestAChangedFile:
    def test_stays_and_is_named(self, film_club, tmp_path, capsys):
        """An earlier file that a person changed is theirs; the line says so, at each export."""
        magic = film_club.shell.run_line_magic
        magic("tools", "export plan_film --to filmclub")
        changed = tmp_path / "filmclub/tests/test_plan_film.py"
        changed.write_text("mine")
        for _ in range(2):
            capsys.readouterr()
            magic("tools", "export plan_film find_films --to filmclub --overwrite")
            text = capsys.readouterr().out
            assert "`tests/test_plan_film.py` is of the earlier export" in text
            assert "because you changed it" in text
            assert changed.read_text() == "mine"
        assert not (tmp_path / "filmclub/plan_film").exists()

    def test_removed_files_are_named(self, film_club, capsys):
        """A person sees which files are gone."""
        export_package(film_club["plan_film"], "filmclub")
        magic = film_club.shell.run_line_magic
        magic("tools", "export plan_film find_films --to filmclub --overwrite")
        text = capsys.readouterr().out
        assert "were removed: `" in text
        assert "`plan_film/impl.py`" in text

    def test_line_ends_of_windows_are_no_change(self, film_club, tmp_path):
        """Git may write them when it checks a file out."""
        folder = export_package(film_club["plan_film"], "filmclub")
        for path in folder.rglob("*.py"):
            path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))
        export_package(film_club["plan_film"], "filmclub")
        export_package(film_club["find_films"], "filmclub", overwrite=True)
        assert not (tmp_path / "filmclub/tests/test_plan_film.py").exists()


class TestTheListOfFiles:
    @pytest.mark.parametrize("place", ["../own.txt", "{home}/own.txt", "link/own.txt"])
    def test_reaches_no_file_elsewhere(self, film_club, tmp_path, place):
        """A list that was changed, or a link in the folder, removes nothing outside of it."""
        folder = export_package(film_club["plan_film"], "filmclub")
        (tmp_path / "own.txt").write_bytes((folder / "plan_film/impl.py").read_bytes())
        (folder / "link").symlink_to(tmp_path)
        files = json.loads((folder / LIST).read_text("utf-8"))["files"]
        files[place.format(home=tmp_path)] = files["plan_film/impl.py"]
        (folder / LIST).write_text(json.dumps({"files": files}))
        export_package(film_club["find_films"], "filmclub", overwrite=True)
        assert (tmp_path / "own.txt").exists()
        assert not (folder / "plan_film").exists()

    @pytest.mark.parametrize("text", ["", "[]", '{"files": 3}', "\udcff"])
    def test_that_is_damaged_is_one_sentence(self, film_club, tmp_path, text):
        """Nothing is written then, and the sentence says what to do."""
        folder = export_package(film_club["plan_film"], "filmclub")
        (folder / LIST).write_bytes(text.encode(errors="surrogateescape"))
        before = files_in(folder)
        with pytest.raises(ExportError, match=r"is damaged: nothing was .* Delete it"):
            export_package(film_club["find_films"], "filmclub", overwrite=True)
        assert files_in(folder) == before


class TestALineWithSeveralTools:
    def test_writes_one_package(self, film_club, tmp_path, capsys):
        """All names of the line are tools of it."""
        magic = film_club.shell.run_line_magic
        magic("tools", "export plan_film find_films cancel_evenings --to filmclub")
        names = "plan_film, find_films, cancel_evenings"
        text = capsys.readouterr().out
        assert text.startswith(f"Wrote the package filmclub with {names}. ")
        assert "6 passed" in run_tests_of(tmp_path / "filmclub")

    def test_refuses_what_is_no_tool(self, film_club, tmp_path):
        """An argument has no meaning there, and a name without a tool is named."""
        magic = film_club.shell.run_line_magic
        with pytest.raises(ToolNotFoundError, match="no tool called 'film=Heat'"):
            magic("tools", "export plan_film film=Heat --to filmclub")
        with pytest.raises(ToolNotFoundError, match="no tool called 'find_film_s'"):
            magic("tools", "export plan_film find_film_s --to filmclub")
        assert not (tmp_path / "filmclub").exists()


class TestTheName:
    @pytest.mark.slow
    @pytest.mark.parametrize("names", [["plan_film"], ["plan_film", "find_films"]])
    def test_is_the_same_at_the_second_export(self, film_club, tmp_path, monkeypatch, names):
        """The folder beside the notebook is no package of another, though Python can import it."""
        monkeypatch.syspath_prepend(tmp_path)
        tools = [film_club[name] for name in names]
        folder = export_package(tools, "plan_film")
        before = files_in(folder)
        export_package(tools, "plan_film")
        assert files_in(folder) == before
