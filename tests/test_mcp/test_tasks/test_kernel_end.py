"""Tasks of a kernel that ends: the server keeps them, and the next kernel finds them."""

import sys

import pytest
from patience import eventually
from test_runs.kernel import Kernel

from test_mcp.peers import serving_app
from test_mcp.task_server import TaskServer, app

pytestmark = pytest.mark.slow
CONNECT = "%load_ext toolbench\n%mcp connect long {url}/mcp"
TOOL = "tool = get_ipython().meta.toolbench.client[{name!r}]"
IN_A_CELL = "tool({})"
A_PANEL = "from toolbench.widgets.panel import ToolPanel; panel = ToolPanel(tool); panel"
IN_A_PANEL = f"{A_PANEL}.run()"
ENDS = {"restarted": Kernel.restart, "shut down": Kernel.shut_down}
WAYS = {"a cell waits": IN_A_CELL, "a panel waits": IN_A_PANEL}
ENDS_OF_WAYS = [
    ("shut down", "a cell waits"),
    pytest.param("restarted", "a panel waits", marks=pytest.mark.long),
    pytest.param("restarted", "a cell waits", marks=pytest.mark.long),
    pytest.param("shut down", "a panel waits", marks=pytest.mark.long),
]


@pytest.fixture
def kernel(tmp_path, monkeypatch):
    """A kernel, with a folder of its own for the tasks of this user."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    with Kernel(sys.executable) as kernel:
        yield kernel


@pytest.fixture(params=["modern", pytest.param("legacy", marks=pytest.mark.long)])
def server(request):
    """A server over HTTP, which outlives the kernel."""
    server = TaskServer(request.param)
    with serving_app(app(server)) as server.url:
        yield server


def begin(kernel, server, name, way):
    """Call the tool *name* in the kernel, and wait until the client follows the task."""
    kernel.run(CONNECT.format(url=server.url))
    kernel.run(TOOL.format(name=name))
    kernel.start(way)
    eventually(lambda: server.asked("tasks/get"))


class TestTheEndOfAKernel:
    @pytest.mark.parametrize(("end", "way"), ENDS_OF_WAYS)
    def test_cancels_no_task(self, kernel, server, end, way):
        """Jupyter interrupts a kernel before it ends it, which is no wish to cancel the task."""
        begin(kernel, server, "never_ends", WAYS[way])
        ENDS[end](kernel)
        assert not server.asked("tasks/cancel")
        assert [task["status"] for task in server.tasks.values()] == ["working"]

    def test_answers_no_question_of_a_task(self, kernel, server):
        """The question is still open for the next kernel."""
        kernel.run(CONNECT.format(url=server.url))
        kernel.run(TOOL.format(name="greet"))
        kernel.run(A_PANEL)
        kernel.click("Run")
        # The tool does not say that it is harmless
        kernel.click("Run greet")
        kernel.wait_for("Whom?")
        kernel.restart()
        assert not server.asked("tasks/update")
        assert not any("result" in message for message in server.received)
        assert [task["answer"] for task in server.tasks.values()] == [None]


class TestTheNextKernel:
    def test_finds_the_task_and_gets_its_result(self, kernel, server):
        """`%mcp tasks` lists it, and waits for its end."""
        begin(kernel, server, "never_ends", IN_A_PANEL)
        kernel.restart()
        assert not server.asked("tasks/cancel")
        kernel.run(CONNECT.format(url=server.url))
        request = kernel.start("%mcp tasks long")
        kernel.listen_until(lambda: kernel.is_idle(request), "the tasks are listed")
        assert "never_ends" in kernel.shown(request)
        (task,) = server.tasks.values()
        assert task["id"] in kernel.shown(request)
        task["status"] = "completed"
        request = kernel.start(f"%mcp tasks long {task['id'][:6]} --result")
        kernel.listen_until(lambda: kernel.is_idle(request), "the task has ended")
        assert "no more space" in kernel.shown(request)


class TestAnInterrupt:
    @pytest.fixture(scope="class")
    @staticmethod
    def kernel(tmp_path_factory):
        """One for all, since it goes on."""
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("XDG_STATE_HOME", str(tmp_path_factory.mktemp("state")))
            with Kernel(sys.executable) as kernel:
                yield kernel

    @pytest.mark.parametrize("way", WAYS)
    def test_cancels_the_task(self, kernel, server, way):
        """No request to end follows, so a person wanted the run to stop."""
        begin(kernel, server, "never_ends", WAYS[way])
        kernel.interrupt()
        eventually(lambda: server.asked("tasks/cancel"))

    def test_of_a_session_that_is_closed_at_once_cancels_the_task(self, kernel, server):
        """The connection waits for the request before it closes."""
        kernel.run("%load_ext toolbench\nfrom toolbench.mcp import create_mcp_tools")
        kernel.start(
            f"with create_mcp_tools({server.url + '/mcp'!r}) as tools:\n"
            "    tools['never_ends']({})"
        )
        eventually(lambda: server.asked("tasks/get"))
        kernel.interrupt()
        eventually(lambda: server.asked("tasks/cancel"))
