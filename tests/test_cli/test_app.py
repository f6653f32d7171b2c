"""The command line, as a person in a terminal meets it."""

import json
import subprocess
import sys
import urllib.error
import urllib.request
from importlib.metadata import PackageNotFoundError
from pathlib import Path

import pytest
from forked import run_python
from patience import eventually

from toolbench.cli import main
from toolbench.install_commands import how_to_install

TOOLBENCH = Path(sys.executable).with_name("toolbench")


@pytest.fixture
def toolbench(tmp_path, monkeypatch, capsys):
    """Runs the command in the folder of the test: what it prints, if it exits with *code*."""
    monkeypatch.chdir(tmp_path)

    def run(*arguments: str, code: int = 0) -> str:
        assert main(arguments) == code
        return "".join(capsys.readouterr())

    return run


def status_of(address: str) -> int | None:
    try:
        with urllib.request.urlopen(address) as answer:
            return answer.status
    except urllib.error.URLError:
        return None


class TestNew:
    @pytest.mark.slow
    def test_it_says_what_comes_next(self, tmp_path):
        """The next two commands are printed, and every file that was written."""
        command = [TOOLBENCH, "new", "word_count"]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
        output = done.stdout
        assert "cd word_count" in output
        assert "toolbench lab word_count.ipynb" in output
        # Here it is not the active one
        assert f"{sys.executable} -m pytest" in output
        assert (tmp_path / "word_count/word_count/impl.py").is_file()

    def test_a_refusal_is_one_sentence(self, toolbench):
        """No traceback, exit code 1."""
        output = toolbench("new", "class", code=1)
        assert output.startswith("'class' cannot be the name")
        assert output.count("\n") == 1


class TestLab:
    def test_a_notebook_in_no_folder(self, toolbench, tmp_path):
        """A notebook that does not exist is made, but no folder is: it may be a typing mistake."""
        output = toolbench("lab", "no/none.ipynb", code=1)
        # JupyterLab may complain before it, as below
        assert output.endswith(
            f"There is no notebook {str(tmp_path / 'no/none.ipynb')!r}, "
            f"and no folder {str(tmp_path / 'no')!r} to make it in.\n"
        )

    def test_a_notebook_that_cannot_be_made(self, toolbench, tmp_path):
        """The sentence has the reason of the system."""
        (tmp_path / "folder.ipynb").mkdir()
        output = toolbench("lab", "folder.ipynb", code=1)
        assert output.endswith("folder.ipynb' cannot be made: Is a directory.\n")

    def test_the_first_notebook_that_cannot_be_made(self, toolbench, tmp_path):
        """As any other one."""
        (tmp_path / "toolbench.ipynb").symlink_to(tmp_path / "no/none.ipynb")
        output = toolbench("lab", code=1)
        assert output.endswith("toolbench.ipynb' cannot be made: No such file or directory.\n")

    def test_a_file_that_is_no_notebook(self, toolbench, tmp_path):
        """Its folder is not served."""
        (tmp_path / "notes.txt").touch()
        output = toolbench("lab", "notes.txt", "--no-browser", code=1)
        # JupyterLab may complain before it, of a package.json in a folder above
        assert output.endswith(
            f"{str(tmp_path / 'notes.txt')!r} is not a notebook: "
            "the name of a notebook ends in .ipynb.\n"
        )

    @pytest.mark.parametrize("arguments", [[], ["none.ipynb"]])
    def test_without_jupyterlab(self, tmp_path, arguments):
        """One sentence says what to install, and no notebook is left behind."""
        script = (
            "import sys; sys.modules.update(jupyterlab=None, nbformat=None);"
            f"from toolbench.cli import main; sys.exit(main({['lab', *arguments]}))"
        )
        done = run_python(script, tmp_path)
        assert done.returncode == 1
        assert done.stderr == (
            f"JupyterLab is not installed here: {how_to_install('jupyterlab')}\n"
        )
        assert list(tmp_path.iterdir()) == []

    @pytest.mark.parametrize("options", [[], ["--allow-root"]])
    def test_root_is_for_jupyterlab_to_refuse(self, tmp_path, options):
        """It refuses the user root on purpose; only an option of the line lets it start."""
        script = (
            "import os, sys; os.geteuid = lambda: 0\n"
            "from jupyterlab.labapp import LabApp; LabApp.launch_instance = print\n"
            f"from toolbench.cli import main; sys.exit(main({['lab', *options]}))"
        )
        assert ("--allow-root" in run_python(script, tmp_path).stdout) == bool(options)

    @pytest.mark.slow
    @pytest.mark.parametrize(
        ("arguments", "name", "line"),
        [
            pytest.param([], "toolbench.ipynb", "", marks=pytest.mark.long),
            (
                ["libary.ipynb"],
                "libary.ipynb",
                "Made the new notebook {}. Did you mean 'library'?\n",
            ),
        ],
    )
    def test_a_notebook_that_is_missing_is_made(self, tmp_path, monkeypatch, arguments, name, line):
        """JupyterLab is served, on a notebook that loads toolbench; one with a name is announced."""
        for variable in (
            "JUPYTER_CONFIG_DIR",
            "JUPYTER_DATA_DIR",
            "JUPYTER_RUNTIME_DIR",
        ):
            monkeypatch.setenv(variable, str(tmp_path / variable.lower()))
        folder = tmp_path / "work"
        folder.mkdir()
        (folder / "library.ipynb").write_text("{}")
        with subprocess.Popen(
            [TOOLBENCH, "lab", *arguments, "--no-browser", "--allow-root"],
            cwd=folder,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        ) as server:
            try:
                address = next(line.split()[-1] for line in server.stderr if "?token=" in line)
                # The address is printed a moment before the server listens.
                status = eventually(lambda: status_of(address), unless=server.poll)
                assert status == 200
            finally:
                server.terminate()
                output, _ = server.communicate()
        cells = json.loads((folder / name).read_text())["cells"]
        assert "%load_ext toolbench" in cells[0]["source"]
        assert name in address
        # JupyterLab may print news after it
        assert output.startswith(line.format(folder / name))
        assert ("Made" in output) == bool(line)


class TestDoctor:
    def test_it_says_what_cannot_be_used_and_why(self, toolbench):
        """Versions, front ends, tools and extras, each with what to do about it."""
        output = toolbench("doctor")
        for subject in ("python", "ipywidgets", "jupyterlab", "kernel python3"):
            assert subject in output
        assert "tool terminal" in output
        assert "Everything that is needed is here" in output

    def test_a_kernel_that_is_another_python_is_said(self, toolbench, tmp_path, monkeypatch):
        """The usual trap: JupyterLab starts a Python that has no toolbench."""
        spec = tmp_path / "kernels/python3/kernel.json"
        spec.parent.mkdir(parents=True)
        argv = [
            "/elsewhere/python",
            "-m",
            "ipykernel_launcher",
            "-f",
            "{connection_file}",
        ]
        spec.write_text(json.dumps({"argv": argv, "display_name": "x", "language": "python"}))
        monkeypatch.setenv("JUPYTER_PATH", str(tmp_path))
        monkeypatch.setenv("JUPYTER_PREFER_ENV_PATH", "0")
        output = toolbench("doctor")
        assert "/elsewhere/python" in output

    def test_a_broken_server_entry_is_no_reason_to_fail(self, toolbench, tmp_path):
        """What other programs configured wrongly is said, and the exit code stays 0."""
        (tmp_path / ".mcp.json").write_text("{not json")
        assert ".mcp.json" in toolbench("doctor")

    def test_no_server_is_called_fine(self, toolbench, tmp_path):
        """None is connected: a line says that, and what was seen of the server."""
        servers = {
            "there": {"command": "python", "args": ["no_such_file.py"]},
            "no-command": {"command": "no-such-program"},
            "no-variable": {"command": "python", "env": {"KEY": "${env:NOT_SET_HERE}"}},
            "address": {"url": "http://127.0.0.1:9/mcp"},
            "odd": {"command": 7},
        }
        (tmp_path / ".mcp.json").write_text(json.dumps({"mcpServers": servers}))
        output = toolbench("doctor")
        lines = {
            line.split()[2]: line for line in output.splitlines() if line.startswith("MCP server ")
        }
        assert lines.keys() == servers.keys()
        assert all("not connected" in line and "fine" not in line for line in lines.values())
        assert "its program is there and was not started" in lines["there"]
        assert "command not found: 'no-such-program'" in lines["no-command"]
        assert "'NOT_SET_HERE': set it" in lines["no-variable"]
        assert "its address was not tried" in lines["address"]
        assert "'command' must be" in lines["odd"]
        assert "checked and not connected: 5 (toolbench doctor NAME connects one)." in output

    def test_what_a_project_wrote_reaches_the_terminal_as_text(self, toolbench, tmp_path):
        """No escape sequence gets through, and no server makes a line of its own."""
        name = "e\x1b]0;owned\x07vil\npython  fine"
        servers = {"mcpServers": {name: {"command": "\x1b[2J"}}}
        (tmp_path / ".mcp.json").write_text(json.dumps(servers))
        output = toolbench("doctor")
        (line,) = (line for line in output.splitlines() if "vil" in line)
        assert line.startswith("MCP server e^[]0;owned^Gvil python fine")
        assert "stdio: ^[[2J" in line


class TestWithoutTheExtra:
    def test_the_command_says_what_to_install(self, monkeypatch, capsys):
        """Without cyclopts there is one sentence instead of a traceback."""
        import toolbench.cli

        monkeypatch.setitem(sys.modules, "cyclopts", None)
        monkeypatch.delitem(sys.modules, "toolbench.cli.app", raising=False)
        assert toolbench.cli.main() == 1
        assert "jupyter-toolbench[cli]" in capsys.readouterr().err

    @pytest.mark.parametrize("package", ["ipykernel", "ipywidgets"])
    def test_a_missing_package_is_broken(self, monkeypatch, package):
        """What nothing works without is a problem, not a remark."""
        from toolbench.cli import doctor

        installed = doctor.version

        def version(name):
            if name == package:
                raise PackageNotFoundError(name)
            return installed(name)

        monkeypatch.setattr(doctor, "version", version)
        checks = {check.subject: check for check in doctor.examine()}
        assert checks[package].state == "broken"
        assert checks[package].detail == how_to_install(package)
