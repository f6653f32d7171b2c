"""`toolbench new`: what it writes works before anything in it is changed."""

import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
from forked import run_pytest
from shells import new_shell

from toolbench.cli.scaffold import ScaffoldError, scaffold


def run(folder: Path, *command: str) -> subprocess.CompletedProcess:
    return subprocess.run(
        [sys.executable, "-m", *command],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture
def project(tmp_path):
    return scaffold("word_count", tmp_path)


class TestWhatIsWritten:
    def test_its_tests_pass(self, project):
        """The package's own tests pass, from its own folder, as the README says."""
        done = run_pytest(project.folder)
        assert "5 passed" in done.stdout, done.stdout + done.stderr

    def test_ruff_has_nothing_to_say(self, project):
        """The package is a model of style; how lines break depends on its name."""
        done = run(project.folder, "ruff", "check", "--isolated", ".")
        assert done.returncode == 0, done.stdout

    @pytest.mark.long
    def test_mypy_has_nothing_to_say(self, project):
        """The package shows how a tool is typed."""
        done = run(project.folder, "mypy", "--strict", "word_count")
        assert done.returncode == 0, done.stdout

    def test_the_notebook_runs(self, project, monkeypatch, capsys):
        """Every cell of the notebook runs, and the tool answers in it."""
        monkeypatch.chdir(project.folder)
        monkeypatch.syspath_prepend(project.folder)
        notebook = nbformat.read(project.notebook, as_version=4)
        with new_shell() as shell:
            for cell in notebook.cells:
                if cell.cell_type == "code":
                    shell.run_cell(cell.source).raise_error()
            shell.run_line_magic("unload_ext", "toolbench")
        for name in [n for n in sys.modules if n.partition(".")[0] == "word_count"]:
            del sys.modules[name]
        assert "6 words" in capsys.readouterr().out

    def test_the_layout_is_openhands(self, project):
        """Definition and implementation are apart, as in the reference's own tools."""
        package = project.folder / "word_count"
        names = {path.name for path in package.iterdir()}
        assert names >= {"__init__.py", "definition.py", "impl.py"}

    def test_no_placeholder_is_left(self, project):
        """The name given is everywhere that the template's was."""
        for path in project.files:
            text = path.read_text()
            assert "my_tool" not in text.lower()
            assert "MyTool" not in text
        assert "class WordCountTool" in (project.folder / "word_count/definition.py").read_text(
            encoding="utf-8"
        )

    def test_a_name_that_ends_in_tool_is_not_doubled(self, tmp_path):
        """`price_tool` makes `PriceTool`, not `PriceToolTool`."""
        project = scaffold("price-tool", tmp_path)
        text = (project.folder / "price_tool/definition.py").read_text(encoding="utf-8")
        assert "class PriceTool(" in text
        assert 'name = "price_tool"' in text


class TestRefusals:
    @pytest.mark.parametrize("name", ["", "  ", "2fast", "class", "a b", "../up", "été", "_tool"])
    def test_no_module_can_be_called_so(self, tmp_path, name):
        """A name that Python cannot import is refused before anything is written."""
        with pytest.raises(ScaffoldError, match="cannot be the name of a Python module"):
            scaffold(name, tmp_path)
        assert list(tmp_path.iterdir()) == []

    @pytest.mark.parametrize("name", ["json", "toolbench", "pydantic", "pytest"])
    def test_a_module_is_not_hidden(self, tmp_path, name):
        """A package that would hide another module is refused, by name."""
        with pytest.raises(ScaffoldError, match=name):
            scaffold(name, tmp_path)

    @pytest.mark.parametrize("name", ["tests", "test_me"])
    def test_pytest_does_not_take_it_for_tests(self, tmp_path, name):
        """A name that pytest collects is refused, by name."""
        with pytest.raises(ScaffoldError, match=f"pytest would treat '{name}'"):
            scaffold(name, tmp_path)

    def test_what_is_there_is_kept(self, project):
        """Work is never overwritten."""
        definition = project.folder / "word_count/definition.py"
        definition.write_text("mine", encoding="utf-8")
        with pytest.raises(ScaffoldError, match="exists already"):
            scaffold("word_count", project.folder.parent)
        assert definition.read_text(encoding="utf-8") == "mine"

    def test_a_place_that_cannot_be_written(self, tmp_path):
        """The sentence names the place and the reason."""
        file = tmp_path / "file"
        file.touch()
        with pytest.raises(ScaffoldError, match="cannot be made: Not a directory"):
            scaffold("word_count", file)
