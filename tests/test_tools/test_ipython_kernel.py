import os
import sys
from queue import Empty

import pytest
from patience import PATIENCE
from socket_kernel import SocketKernelManager

SETUP = """
import threading
from toolbench.tools.ipython import IPythonTool
[tool] = IPythonTool.create()
price = 20
"""


@pytest.fixture(name="kernel", scope="module")
def _kernel(tmp_path_factory):
    manager = SocketKernelManager(kernel_name="python3")
    manager.kernel_spec.argv[0] = sys.executable
    env = {**os.environ, "IPYTHONDIR": str(tmp_path_factory.mktemp("ipython"))}
    manager.start_kernel(env=env)
    client = manager.blocking_client()
    client.start_channels()
    client.wait_for_ready(timeout=PATIENCE)
    yield client
    client.stop_channels()
    manager.shutdown_kernel(now=True)


def run(client, code: str) -> dict:
    """Execute *code* and return what its cell shows: printed, displayed, its value."""
    output = {"printed": "", "displayed": [], "value": "", "error": ""}

    def hook(message):
        content = message["content"]
        match message["msg_type"]:
            case "stream":
                output["printed"] += content["text"]
            case "display_data":
                output["displayed"].append(content["data"])
            case "execute_result":
                output["value"] = content["data"]["text/plain"]
            case "error":
                output["error"] = "\n".join(content["traceback"])

    try:
        client.execute_interactive(code, output_hook=hook, timeout=PATIENCE, allow_stdin=False)
    except Empty:
        pytest.fail(f"The kernel did not answer {code!r}.")
    assert not output["error"]
    return output


class TestInAKernel:
    def test_cells_run_in_the_notebook_and_show_nothing_there(self, kernel):
        """Variables are the notebook's; output goes to the model, not to the cell."""
        run(kernel, SETUP)
        code = (
            "price += 1\nfrom IPython.display import display\nprint('p'); display('d')\nprice * 2"
        )
        output = run(
            kernel,
            f"observation = tool({{'code': {code!r}}}); print('cell')\nobservation.text",
        )
        assert output["printed"] == "cell\n"
        assert output["displayed"] == []
        assert output["value"] == repr("p\n'd'\n42")
        assert run(kernel, "price")["value"] == "21"

    def test_cells_leave_the_value_of_the_cell_around_them(self, kernel):
        """A tool called in the middle of a cell does not disturb that cell's own output."""
        run(kernel, SETUP)
        assert (
            run(kernel, "tool({'code': '1 + 1'}).text + ' from ' + str(price)")["value"]
            == "'2 from 20'"
        )
        assert run(kernel, "In[-1]")["value"] == "'In[-1]'"

    def test_cells_run_in_threads_too(self, kernel):
        """As from a button: captured there, while the notebook's cell prints its own."""
        run(kernel, SETUP)
        output = run(
            kernel,
            "texts = []\n"
            "go = threading.Event()\n"
            "def work(): texts.append(tool({'code': \"go.wait(60); print('inner'); display(price)\"}).text)\n"
            "thread = threading.Thread(target=work); thread.start()\n"
            "print('outer'); go.set(); thread.join()\n"
            "texts",
        )
        assert output["printed"] == "outer\n"
        assert output["displayed"] == []
        assert output["value"] == repr(["inner\n20"])

    def test_await_works_beside_the_kernels_own_loop(self, kernel):
        """The kernel's loop runs already; the cell has one of its own."""
        run(kernel, SETUP)
        code = "import asyncio\nawait asyncio.sleep(0)\nprice"
        assert run(kernel, f"tool({{'code': {code!r}}}).text")["value"] == "'20'"

    def test_a_timeout_interrupts_the_main_thread(self, kernel):
        """A sleep on the main thread ends, and the kernel goes on as before."""
        run(kernel, SETUP)
        code = "import time\ntime.sleep(100)"
        output = run(kernel, f"tool({{'code': {code!r}, 'timeout': 0.2}}).timeout")
        assert output["value"] == "True"
        assert run(kernel, "1 + 1")["value"] == "2"
