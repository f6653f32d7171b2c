"""Panels in real kernels: clicks on the main thread and on a subshell's, interrupts, input()."""

import pytest
from kernels import KERNELS, TOOLS

pytestmark = [
    pytest.mark.slow,
    pytest.mark.parametrize("kernel", KERNELS, indirect=True, scope="module"),
]
IN_A_KERNEL = (
    TOOLS
    + """
import asyncio, time
from toolbench import history, run_tool, run_tools
from toolbench.runs.control import active
from toolbench.widgets.kit.parts import Parts

@tool
def ask(rounds: int = 1) -> str:
    '''Ask.'''
    return str([current_run().ask(f"Round {n}?").action for n in range(rounds)])

panel = None

def show(tool, **arguments):
    global panel
    panel = ToolPanel(tool, arguments)
    return panel

threads = []  # on which each click came
make = Parts.button

def listened_to(parts, *args, **options):
    button = make(parts, *args, **options)
    button.on_click(lambda _: threads.append(threading.current_thread().name))
    return button

Parts.button = listened_to
"""
)
AFTERWARDS = "Parts.button = make"
# ipykernel 7.4 answers on the thread a widget last spoke from; 7.0 to 7.3 on the front end's.
FRONT_END_CHOOSES = """
from ipykernel.comm.comm import BaseComm
kernels_choice = BaseComm._reply_subshell_for
BaseComm._reply_subshell_for = lambda comm, data, default: default
"""
KERNEL_CHOOSES = "BaseComm._reply_subshell_for = kernels_choice"


@pytest.fixture(autouse=True)
def _clean(kernel):
    yield
    kernel.run("if panel: panel.close()\nfor run in active: run.done.wait()\nhistory().clear()")
    kernel.states.clear()


@pytest.mark.parametrize("subshell", [False, True], ids=["main", "subshell"])
class TestClicks:
    @pytest.fixture(autouse=True)
    def _thread(self, kernel, subshell):
        if subshell and not kernel.has_subshells:
            assert kernel.value("__import__('ipykernel').version_info[0]") == 6
            pytest.skip("ipykernel 6 HAS NO SUBSHELLS: its clicks are on the main thread")
        if subshell:
            kernel.run(FRONT_END_CHOOSES)
        kernel.run("threads.clear()")
        yield
        names = {name.partition("-")[0] for name in kernel.value("threads")}
        assert names == {"subshell" if subshell else "MainThread"}
        if subshell:
            kernel.run(KERNEL_CHOOSES)

    def test_run_and_cancel(self, kernel, subshell):
        """Output and progress are seen moving; Cancel works while it runs, and cells do too."""
        kernel.run("show(slow)")
        kernel.click("Run", subshell=subshell)
        kernel.wait_for("step 3")
        kernel.wait_for("at 4")
        assert kernel.value("len(active)") == 1
        kernel.wait_for("step 8")
        kernel.click("Cancel", subshell=subshell)
        kernel.wait_for("Stopped at")
        assert kernel.value("history()[-1].state") == "cancelled"
        assert kernel.value("len(active)") == 0

    def test_answer(self, kernel, subshell):
        """A question in the middle is answered by a click, again and again."""
        kernel.run("show(ask, rounds=2)")
        kernel.click("Run", subshell=subshell)
        for number, button in enumerate(("Yes", "No")):
            kernel.wait_for(f"Round {number}?")
            kernel.click(button, subshell=subshell)
        kernel.wait_for("accept")
        assert kernel.value("panel.result.text") == "['accept', 'decline']"

    def test_refuse(self, kernel, subshell):
        """A confirmation refused by a click: nothing is done."""
        kernel.run("show(erase, path='x')")
        kernel.click("Run", subshell=subshell)
        kernel.wait_for("can delete or overwrite data")
        kernel.click("Don't run", subshell=subshell)
        kernel.wait_for("not run")
        assert kernel.value("history()[-1].state") == "denied"


class TestClicksOnEitherThread:
    def test_run_twice(self, kernel):
        """The first click on the main thread, the next where the kernel's version sends it."""
        kernel.run("threads.clear()\nshow(ask, rounds=1)")
        for number in range(2):
            kernel.click("Run", subshell=kernel.has_subshells)
            kernel.wait_for("Round 0?")
            kernel.click("Yes", subshell=kernel.has_subshells)
            kernel.listen_until(
                lambda number=number: kernel.value("len(history())") == number + 1,
                "the run is over",
            )
            kernel.listen_until(lambda: not kernel.sees("Round 0?"), "it is gone")
        assert kernel.value("[record.state for record in history()]") == ["ok", "ok"]
        assert len(kernel.value("threads")) == 4


class TestInterrupt:
    def test_stops_a_run_while_no_cell_runs(self, kernel):
        """Kernel > Interrupt with only a background run."""
        kernel.run("show(slow)")
        kernel.click("Run")
        kernel.wait_for("step 3")
        kernel.interrupt()
        kernel.wait_for("Stopped at")
        assert kernel.value("history()[-1].state") == "cancelled"

    def test_stops_a_cell_and_the_runs_beside_it(self, kernel):
        """Interrupt means everything."""
        kernel.run("show(slow)")
        kernel.click("Run")
        kernel.wait_for("step 3")
        request = kernel.start("print('in the cell', flush=True)\nwhile True: pass")
        kernel.listen_until(lambda: "in the cell" in kernel.printed(request), "it runs")
        kernel.interrupt()
        assert kernel.reply(request)["ename"] == "KeyboardInterrupt"
        kernel.wait_for("Stopped at")

    def test_stops_a_cell_that_awaits_and_the_runs_beside_it(self, kernel):
        """Also one that leaves the kernel's loop free."""
        kernel.run("show(slow)")
        kernel.click("Run")
        kernel.wait_for("step 3")
        code = "print('awaiting', flush=True)\nwhile True: await asyncio.sleep(0.05)"
        request = kernel.start(code)
        kernel.listen_until(lambda: "awaiting" in kernel.printed(request), "it runs")
        kernel.interrupt()
        assert kernel.reply(request)["status"] == "error"
        kernel.wait_for("Stopped at")

    def test_is_as_before_when_no_run_is_left(self, kernel):
        """A cell is interrupted as ever, and an idle kernel is not disturbed."""
        kernel.run("show(slow)")
        kernel.click("Run")
        kernel.wait_for("step 2")
        kernel.click("Cancel")
        kernel.wait_for("Stopped at")
        kernel.run("import signal")
        kernel.interrupt()
        request = kernel.start("print('busy', flush=True)\nwhile True: pass")
        kernel.listen_until(lambda: "busy" in kernel.printed(request), "it runs")
        kernel.interrupt()
        assert kernel.reply(request)["ename"] == "KeyboardInterrupt"
        assert kernel.value("1 + 1") == 2


class TestWhereNobodyCanAnswer:
    """nbconvert, nbval and papermill run cells without stdin: nothing may hang there."""

    def test_a_cell_that_asks_is_declined(self, kernel):
        """At once."""
        kernel.run("panel = ToolPanel(ask)")
        assert kernel.run("print(ask({}).text)").strip() == "['decline']"

    def test_a_panel_run_by_a_cell_is_declined(self, kernel):
        """A panel asks nobody when code runs it and nobody is there."""
        kernel.run("show(erase, path='x').run().done.wait()")
        assert kernel.value("history()[-1].state") == "denied"

    def test_an_answer_in_advance_is_taken(self, kernel):
        """A notebook can bring its answers."""
        kernel.run(
            "from toolbench.runs.questions import answering\n"
            "show(erase, path='x')\n"
            "with answering(True): panel.run().done.wait()"
        )
        assert kernel.value("panel.result.text") == "Erased x."


class TestInput:
    def test_asks_in_a_cell(self, kernel):
        """A run in a cell asks through the front end's input box.

        A page gives the box the focus at once: a yes that nobody can have read the question for is
        no yes, as it may be the end of a line that somebody types in another cell.
        """
        kernel.run("from toolbench.runs import input_prompt; input_prompt.TOO_SOON = 60")
        kernel.run("panel = ToolPanel(ask)")
        [first, second], printed = kernel.answer("print(ask({}).text)", "y", "y")
        assert first == "ask asks: Round 0? [y/N] "
        assert second == f"You typed that before the question was shown. Type it again.\n{first}"
        assert "accept" in printed


LOOPS = """
@tool
def loops(n: int = 0) -> str:
    '''Run event loops of its own.'''
    async def inner():
        await asyncio.sleep(0)
        return asyncio.current_task().get_name()
    first = asyncio.run(inner())
    return str((first, asyncio.new_event_loop().run_until_complete(inner())) and n)
"""


class TestEventLoops:
    def test_of_a_tool_run_in_a_cell_as_in_a_thread(self, kernel):
        """`asyncio.run` in a plain function: `run_tool` and `%tool` agree with agents and panels."""
        kernel.run(LOOPS)
        kernel.run("beside = asyncio.create_task(asyncio.sleep(0, 'beside'))")
        assert kernel.value("run_tool(loops, n=1).text") == "1"
        assert kernel.run("%tool loops n=2 -o got\nprint(got.text)") == "2\n"
        assert kernel.value("run_tools([(loops, {'n': 3})])[0].text") == "3"
        loop = "asyncio.get_running_loop()"
        same = f"{loop} is asyncio.get_event_loop() is asyncio.current_task().get_loop()"
        assert kernel.value(f"[await beside, {same}]") == ["beside", True]

    def test_are_interrupted(self, kernel):
        """The cell ends, the tool's loop with it, and the kernel's goes on."""
        inside = "sleep(0); print('inside', flush=True); await asyncio.sleep(99)"
        kernel.run(LOOPS.replace("sleep(0)", inside))
        request = kernel.start("run_tool(loops)")
        kernel.listen_until(lambda: "inside" in kernel.printed(request), "it runs")
        kernel.interrupt()
        assert kernel.reply(request)["ename"] == "KeyboardInterrupt"
        assert kernel.value("[history()[-1].state, await asyncio.sleep(0, 1)]") == ["cancelled", 1]


class TestKeepsake:
    def test_is_an_output_of_the_cell(self, kernel):
        """The cell that shows the panel holds it as HTML, and then its last run as well."""
        request = kernel.start("show(ask, rounds=0)", stdin=True)
        kernel.reply(request)
        kernel.listen(0.5)
        [still] = kept_in(kernel, request, "display_data")
        assert "rounds" in still["data"]["text/html"]
        assert "The user and the model read the same" not in still["data"]["text/html"]
        kernel.click("Run")
        kernel.wait_for("The user and the model read the same")
        kernel.listen_until(
            lambda: kept_in(kernel, request, "update_display_data"), "the run is kept"
        )
        [after_one] = kept_in(kernel, request, "update_display_data")
        kernel.listen_until(lambda: kernel.value("panel.runs.latest.done.is_set()"), "it is over")
        kernel.click("Run")
        kernel.listen_until(
            lambda: len(kept_in(kernel, request, "update_display_data")) > 1,
            "the second run is kept",
        )
        after_two = kept_in(kernel, request, "update_display_data")[-1]
        for record in (after_one, after_two):
            assert record["transient"] == still["transient"]
            assert record["data"]["text/html"].count("data-toolbench-card") == 1


def kept_in(kernel, request, kind):
    """The outputs of a *kind* that were added to a cell."""

    def matches():
        messages = [m for m in kernel.of(request) if m["msg_type"] == kind]
        return [m["content"] for m in messages if m["content"]["transient"]]

    kernel.listen_until(matches, f"{kind} arrives")
    return matches()
