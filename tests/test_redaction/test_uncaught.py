"""A secret is in nothing that Python or IPython prints by itself: an error nobody catches, a capture."""

import subprocess
import sys
from textwrap import dedent

import pytest
from patience import PATIENCE
from shells import new_shell

from test_redaction.kinds import KINDS, KNOWN
from test_redaction.writings import leaks
from toolbench import tool
from toolbench.redaction import MARK

SECRET = "hunter2-tHe_sEcret"
PROGRAM = dedent(
    """
    import sys, threading
    from IPython.core.interactiveshell import InteractiveShell
    from toolbench import tool
    InteractiveShell.instance().run_line_magic("load_ext", "toolbench")

    @tool
    def pay(password: str) -> str:
        "Fail with what it was given."
        raise ValueError(f"no {password} here")

    def work():
        pay(password=secret)

    secret = sys.stdin.read()
    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    work()
    """
)


@pytest.mark.slow
def test_an_error_that_ends_a_program_tells_none():
    """With the extension: `sys.excepthook`, and that of threads, print a mark instead."""
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        input=SECRET,
        capture_output=True,
        text=True,
        check=False,
        timeout=PATIENCE,
    )
    assert done.stderr.count(f"ValueError: no {MARK} here") == 2
    assert leaks(done.stderr + done.stdout, SECRET) == set()


@pytest.mark.parametrize("fails", [False, True])
@pytest.mark.parametrize("kind", KINDS)
def test_a_capture_of_a_cell_holds_none(kind, fails):
    """`%%capture` keeps what was printed and displayed, without secrets."""
    function, arguments = KINDS[kind]
    KNOWN["secret"] = SECRET
    with new_shell() as shell:
        shell.run_line_magic("load_ext", "toolbench")
        shell.user_ns["leaky"] = tool(function, name="leaky", description="Tell.")
        more = {"fails": True} if fails else {}
        shell.user_ns["arguments"] = arguments(SECRET) | more
        shell.run_cell("%%capture held\ntry:\n    leaky(arguments)\nexcept ValueError:\n    pass")
        captured = shell.user_ns["held"]
        shell.run_line_magic("unload_ext", "toolbench")
    outputs = [output.data for output in captured.outputs]
    text = f"{captured.stdout} {captured.stderr} {outputs!r}"
    assert MARK in captured.stdout
    assert leaks(text, SECRET) == set()
