"""What of the tools works where Python has no POSIX, as on Windows."""

import subprocess
import sys

import pytest

PROGRAM = """
import importlib, os, pkgutil, sys
# Its part for Linux needs some of them itself
import psutil
for name in ("fcntl", "grp", "pty", "pwd", "resource", "termios", "tty"):
    sys.modules[name] = None
for name in ("pathconf", "chown", "fchown", "fchmod", "openpty", "ttyname", "tcgetpgrp", "killpg", "getsid", "geteuid",
             "O_NONBLOCK", "O_NOCTTY", "O_CLOEXEC", "O_NOFOLLOW", "O_DIRECTORY", "O_PATH", "posix_fallocate", "listxattr"):
    if hasattr(os, name):
        delattr(os, name)
import toolbench.tools
for module in pkgutil.walk_packages(toolbench.tools.__path__, "toolbench.tools."):
    importlib.import_module(module.name)
from toolbench.tools import FileEditorTool, GlobTool, TerminalTool
[editor], [glob] = FileEditorTool.create(), GlobTool.create(working_dir=sys.argv[1])
path = f"{sys.argv[1]}/a.txt"
print(editor(command="create", path=path, file_text="old").text)
print(editor(command="str_replace", path=path, old_str="old", new_str="new").is_error)
print(open(path).read(), glob(pattern="*.txt").files == [path])
print(TerminalTool.is_usable())
"""


@pytest.mark.slow
def test_file_tools_import_and_edit(tmp_path):
    """Each module imports; a file is edited without locks and owners; the terminal says what is missing."""
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(tmp_path)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr[-2_000:]
    path = tmp_path / "a.txt"
    assert done.stdout.splitlines() == [
        f"Created {path} (1 line).",
        "False",
        "new True",
        "The terminal needs the pseudo-terminals of Linux or macOS, and this Python has no termios: use WSL.",
    ]


PAGE = """
import fcntl, os, sys
# Pyodide has the module without its locks, and no links
del fcntl.flock, os.link
from toolbench.tools import FileEditorTool
[editor] = FileEditorTool.create()
path = f"{sys.argv[1]}/a.txt"
print(editor(command="create", path=path, file_text="old").text)
print(editor(command="str_replace", path=path, old_str="old", new_str="new").is_error)
print(open(path).read(), os.listdir(sys.argv[1]))
"""


@pytest.mark.slow
def test_file_is_made_and_edited_as_in_a_page(tmp_path):
    """Without hard links and locks a new file is put in place by a rename, and nothing is left beside it."""
    done = subprocess.run(
        [sys.executable, "-c", PAGE, str(tmp_path)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr[-2_000:]
    assert done.stdout.splitlines() == [
        f"Created {tmp_path / 'a.txt'} (1 line).",
        "False",
        "new ['a.txt']",
    ]
