"""Secrets in a real kernel: what processes, threads and IPython's own tracebacks show of them."""

import re

import pytest

from toolbench.redaction import MARK

pytestmark = pytest.mark.slow
SECRET = "hunter2-tHe_sEcret"
COLOUR = re.compile(r"\x1b\[[0-9;]*m")
KEY = "-----BEGIN KEY-----\n" + "\n".join(
    f"{letter * 30}{number}" for number, letter in enumerate("QRSTUVW")
)
IN_A_KERNEL = f'''
%load_ext toolbench
import os, subprocess, sys, threading
from IPython.display import HTML, display
from toolbench import tool
from toolbench.widgets.panel import ToolPanel
SECRET, KEY = {SECRET!r}, {KEY!r}
go_on, went_on = threading.Event(), threading.Event()

@tool
def unlock(password: str) -> str:
    """Have a process, and C code, write the password."""
    subprocess.run(["echo", "from a process:", password])
    os.write(2, f"to stderr: {{password}}\\n".encode())
    os.write(1, f"first half: {{password[:9]}}".encode())
    os.write(1, f"{{password[9:]}}, and more\\n".encode())
    return "done"

@tool
def linger(password: str) -> str:
    """Leave a thread that says the password later, in every way."""
    def say_it():
        go_on.wait()
        print("late:", password, flush=True)
        print("late:", password, file=sys.stderr, flush=True)
        display(HTML(f"late: {{password}}"))
        subprocess.run(["echo", "late process:", password])
        went_on.set()
    threading.Thread(target=say_it).start()
    return "done"

@tool
def describe(password: str) -> str:
    """Put the password beside what is displayed."""
    display({{"text/plain": "shown"}}, metadata={{"note": password}}, raw=True)
    handle = display(HTML("old"), display_id=f"id-{{password}}")
    handle.update(HTML("new"))
    get_ipython().set_next_input(f"log_in('{{password}}')")
    return "done"

@tool
def hand_over(password: str) -> str:
    """Hand the password to the hook that shows the value of a cell, and end a thread with it."""
    sys.displayhook([password])
    sys.displayhook(HTML(f"<b>{{password}}</b>"))
    def break_off():
        raise ValueError(f"thread: {{password}}")
    thread = threading.Thread(target=break_off)
    thread.start()
    thread.join()
    return "done"

@tool
def fail(password: str) -> str:
    """Fail where the source says a secret and a variable holds one."""
    assert password != "{SECRET}", "no such luck"

@tool
def step() -> str:
    """Print before and after the cell that began this is over."""
    print("before")
    go_on.wait()
    print("after")
    return "done"
'''


@pytest.fixture(autouse=True)
def _clean(kernel):
    kernel.run("%load_ext toolbench\ngo_on.clear(); went_on.clear()")
    yield
    kernel.run("%xmode Context\ngo_on.set()")


def output_text(kernel, since):
    """All that people see, in any cell, of what came after so many messages."""
    contents = [message["content"] for message in kernel.messages[since:]]
    # One stream after the other: the order of pieces of two is nobody's promise
    contents.sort(key=lambda content: content.get("name") or "")
    text = "".join(
        f"{content.get('text', '')}{content.get('data', '')}"
        f"{content.get('traceback', '')}{content.get('evalue', '')}"
        for content in contents
    )
    # Python 3.13 writes tracebacks in colours
    return COLOUR.sub("", text)


def finished(kernel, code, *parts):
    """Run a cell until all *parts* are to be seen; return all that is."""
    since = len(kernel.messages)
    request = kernel.start(code)
    kernel.listen_until(
        lambda: all(part in output_text(kernel, since) for part in parts),
        f"{parts} are shown",
    )
    reply = kernel.reply(request)
    return output_text(kernel, since) + str(reply.get("traceback", ""))


class TestFileDescriptors:
    def test_show_no_secret(self, kernel):
        """What a process or C code writes to stdout and stderr is masked, in pieces too."""
        code = "unlock({'password': SECRET})"
        text = finished(kernel, code, ", and more", "to stderr: ")
        assert SECRET not in text
        assert SECRET[:9] not in text
        assert f"from a process: {MARK}\n" in text
        assert f"first half: {MARK}, and more" in text
        assert f"to stderr: {MARK}\n" in text

    def test_show_at_the_end_of_a_cell_what_was_held_back(self, kernel):
        """The beginning of a secret that does not come is shown after all."""
        kernel.run("unlock({'password': SECRET});")
        code = f"os.write(1, b'{SECRET[:5]}');"
        assert SECRET[:5] in finished(kernel, code, SECRET[:5])


class TestBesideDisplays:
    @pytest.mark.parametrize(
        "code", ["describe({'password': SECRET});", "%tool describe password={SECRET}"]
    )
    def test_show_no_secret(self, code, kernel):
        """Neither metadata, nor the name of a display, nor the cell that a tool writes has one."""
        request = kernel.start(code)
        reply = kernel.reply(request)
        kernel.run("pass")
        sent = [m for m in kernel.of(request) if m["msg_type"] != "execute_input"]
        displays = [m for m in sent if m["msg_type"].endswith("display_data")]
        assert SECRET not in str(sent) + str(reply)
        names = {str(m["content"].get("transient", {})) for m in displays}
        assert any(f"id-{MARK}" in name for name in names)
        assert f"log_in('{MARK}')" in str(reply["payload"])


class TestHooks:
    def test_show_no_secret(self, kernel):
        """What a tool hands to `sys.displayhook`, and what its thread ends with."""
        text = finished(kernel, "_ = hand_over({'password': SECRET})", "ValueError: ")
        assert SECRET not in text
        assert f"['{MARK}']" in text
        assert "<b>&lt;secret-hidden&gt;</b>" in text
        assert f"ValueError: thread: {MARK}" in text


class TestThreads:
    def test_that_outlive_their_tool_show_no_secret(self, kernel):
        """Printed or displayed, or by a process: also when the cell is long over."""
        kernel.run("linger({'password': SECRET});")
        text = finished(kernel, "go_on.set(); went_on.wait();", "late process:")
        assert SECRET not in text
        assert text.count(f"late: {MARK}") == 2
        assert "late: &lt;secret-hidden&gt;" in text

    def test_of_a_run_that_a_cell_began_print_to_it_when_the_cell_is_over(self, kernel):
        """Whatever IPython does to the streams at the end of a cell."""
        kernel.run("panel = ToolPanel(step); run = panel.run()")
        kernel.run("go_on.set(); run.done.wait();")
        assert kernel.value("run.output.text") == "before\nafter\n"


class TestTracebacks:
    @pytest.mark.every_case
    @pytest.mark.parametrize("mode", ["Context", "Verbose", "Plain"])
    @pytest.mark.parametrize("secret", ["SECRET", "KEY"])
    def test_show_no_secret(self, mode, secret, kernel):
        """Neither the lines of a tool's source nor the values of its variables do."""
        kernel.run(f"%xmode {mode}")
        source = "def held(password): raise ValueError(len(password))"
        kernel.run(f"{source}\nholds = tool(held, name='holds', description='Hold.')")
        call = {"SECRET": "fail", "KEY": "holds"}[secret]
        code = f"{call}({{'password': {secret}}})"
        text = finished(kernel, code, "Error")
        assert not [part for part in (SECRET, *KEY.split("\n")[1:]) if part in text]
        assert MARK in text or (secret == "KEY" and mode != "Verbose")

    def test_have_a_message_beside_them_that_shows_none(self, kernel):
        """A notebook keeps it, also that of an error of the cell's own code."""
        kernel.run("unlock({'password': SECRET});")
        text = finished(kernel, "raise KeyError(SECRET)", "KeyError")
        assert SECRET not in text
        assert text.count(f"'{MARK}'") >= 2

    def test_of_groups_show_none(self, kernel):
        """IPython prints these as Python does."""
        kernel.run("unlock({'password': SECRET});")
        text = finished(kernel, "raise ExceptionGroup('two', [KeyError(SECRET)])", "two (1 sub")
        assert SECRET not in text
        assert MARK in text


class TestUnloading:
    def test_leaves_the_shell_and_the_streams_as_they_were(self, kernel):
        """What is shown after it is shown as it always was."""
        finished(kernel, "unlock({'password': SECRET})", "to stderr:", "and more")
        kernel.run("%unload_ext toolbench")
        text = finished(kernel, "print(SECRET); os.write(1, b'> ' + SECRET.encode());", ">")
        assert text.count(SECRET) == 2
        covered = "type(sys.stdout).__dict__['write'].__class__.__name__"
        assert kernel.value(covered) == "function"
        assert kernel.value("get_ipython()._showtraceback.__name__") == "_showtraceback"
        assert kernel.value("get_ipython().showtraceback.__name__") == "showtraceback"
