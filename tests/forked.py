"""Programs that run as `python -c` would run them, without the time that imports take.

One process imports pytest and toolbench and copies itself for each program, so that every program
is alone in its process and leaves nothing to the next one.
"""

import atexit
import functools
import json
import os
import subprocess
import sys
from pathlib import Path
from tempfile import NamedTemporaryFile

_ORIGIN = """
import contextlib, gc, io, json, os, sys

import pytest
import toolbench.extension, toolbench.mcp, toolbench.testing

with contextlib.redirect_stdout(io.StringIO()):
    # It imports what it consists of
    pytest.main(["--help"])
gc.freeze()
for line in sys.stdin:
    program, folder, environment, outputs = json.loads(line)
    child = os.fork()
    if child:
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
        continue
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    for stream, path in enumerate(outputs, 1):
        os.dup2(os.open(path, os.O_WRONLY), stream)
    exec(program, {"__name__": "__main__"})
    break
"""
_OPTIONS = ["-q", "-p", "no:cacheprovider"]


@functools.cache
def _origin():
    """Start the process that is copied; it ends with the tests."""
    origin = subprocess.Popen(
        [sys.executable, "-c", _ORIGIN],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
    )

    @atexit.register
    def end():
        origin.stdin.close()
        origin.wait()
        origin.stdout.close()

    return origin


def run_python(program, folder, environment=os.environ):
    """Run *program* in *folder*, which it imports from too, as `subprocess.run` does."""
    with NamedTemporaryFile("r") as stdout, NamedTemporaryFile("r") as stderr:
        outputs = [stdout.name, stderr.name]
        order = [program, str(Path(folder).absolute()), dict(environment), outputs]
        print(json.dumps(order), file=_origin().stdin, flush=True)
        code = int(_origin().stdout.readline())
        return subprocess.CompletedProcess(program, code, stdout.read(), stderr.read())


def run_pytest(folder, *arguments, environment=os.environ):
    """Run pytest in *folder*, without the plugins of others."""
    program = f"import pytest, sys; sys.exit(pytest.main({[*_OPTIONS, *arguments]}))"
    environment = {**environment, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    return run_python(program, folder, environment)
