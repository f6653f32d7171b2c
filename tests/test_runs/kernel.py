"""A real kernel, and what a front end sends to it and hears from it."""

import json
import os
import queue
import time
from pathlib import Path
from typing import Any, Self

from jupyter_client.blocking.client import BlockingKernelClient
from patience import PATIENCE, eventually
from socket_kernel import SocketKernelManager

ROOT = Path(__file__).parents[2]


class Kernel:
    """A kernel with its client; `states` is what the widgets say of themselves."""

    def __init__(self, python: str) -> None:
        self._manager = SocketKernelManager()
        launch = ["-m", "ipykernel_launcher", "-f", "{connection_file}"]
        self._manager.kernel_spec.argv = [python, *launch]
        self._subshell: str | None = None
        self._clicked: dict[str, float] = {}
        self.states: dict[str, dict[str, Any]] = {}
        self.messages: list[dict[str, Any]] = []

    def __enter__(self) -> Self:
        environment = {k: v for k, v in os.environ.items() if not k.startswith("PYTEST_")}
        path = os.pathsep.join([str(ROOT), str(ROOT / "tests")])
        self._manager.start_kernel(env=environment | {"PYTHONPATH": path}, cwd=str(ROOT))
        self.client: BlockingKernelClient = self._manager.client()
        self.client.start_channels()
        self.client.wait_for_ready(timeout=PATIENCE)
        self.client.kernel_info()
        info = self.client.get_shell_msg(timeout=PATIENCE)["content"]
        self.has_subshells = "kernel subshells" in info.get("supported_features", ())
        return self

    def __exit__(self, *_: object) -> None:
        self.client.stop_channels()
        self._manager.shutdown_kernel(now=True)

    def interrupt(self) -> None:
        """What Kernel > Interrupt does."""
        self._manager.interrupt_kernel()

    def restart(self) -> None:
        """What Kernel > Restart does."""
        self._manager.restart_kernel()
        self._subshell = None
        self.client.wait_for_ready(timeout=PATIENCE)

    def shut_down(self) -> None:
        """What Kernel > Shut Down does."""
        self._manager.shutdown_kernel()

    def kill(self) -> None:
        """End it as the system does when memory runs out."""
        self._manager.shutdown_kernel(now=True)

    # --- cells ------------------------------------------------------------------------

    def start(self, code: str, *, stdin: bool = False, cell: str = "") -> str:
        """Send a cell, by the id *cell* if there is one, and do not wait; return the id of the request."""
        content = {"code": code, "silent": False, "store_history": True, "user_expressions": {}}
        content |= {"allow_stdin": stdin, "stop_on_error": False}
        metadata = {"cellId": cell} if cell else {}
        message = self.client.session.msg("execute_request", content, metadata=metadata)
        self.client.shell_channel.send(message)
        request: str = message["header"]["msg_id"]
        return request

    def reply(self, request: str) -> dict[str, Any]:
        """Wait for the reply to a cell."""

        def has_come() -> dict[str, Any] | None:
            try:
                while True:
                    message = self.client.get_shell_msg(timeout=0.2)
                    if message["parent_header"].get("msg_id") == request:
                        content: dict[str, Any] = message["content"]
                        return content
            except queue.Empty:
                return None

        reply: dict[str, Any] = self._wait_until(has_come, "the reply")
        return reply

    def run(self, code: str, *, stdin: bool = False, cell: str = "") -> str:
        """Run a cell and return what it printed."""
        request = self.start(code, stdin=stdin, cell=cell)
        reply = self.reply(request)
        assert reply["status"] == "ok", "\n".join(reply.get("traceback", [str(reply)]))
        self.listen_until(lambda: self.is_idle(request), "the cell is done")
        return self.printed(request)

    def answer(self, code: str, *answers: str) -> tuple[list[str], str]:
        """Run a cell that asks, answer at once; return what it asked, and printed in the end."""
        request = self.start(code, stdin=True)
        prompts = []
        for answer in answers:
            message = self.client.get_stdin_msg(timeout=PATIENCE)
            prompts.append(message["content"]["prompt"])
            self.client.input(answer)
        assert self.reply(request)["status"] == "ok"
        self.listen_until(lambda: self.is_idle(request), "the cell is done")
        return prompts, self.printed(request)

    def value(self, expression: str) -> Any:
        """Return the value of an expression, as JSON carries it."""
        return json.loads(self.run(f"import json; print(json.dumps({expression}))"))

    def printed(self, request: str) -> str:
        """What a cell printed so far."""
        return "".join(
            message["content"]["text"]
            for message in self.of(request)
            if message["msg_type"] == "stream"
        )

    def shown(self, request: str) -> str:
        """The plain text that a cell has shown so far, printed or as its value."""
        parts = (m["content"].get("data", {}) for m in self.of(request))
        texts = (data.get("text/plain", "") for data in parts)
        return "\n".join([self.printed(request), *texts])

    def outcome(self, code: str) -> tuple[bool, str]:
        """Run a cell; return whether it raised, and what its reader sees of it without widgets."""
        request = self.start(code)
        raises = self.reply(request)["status"] == "error"
        self.listen_until(lambda: self.is_idle(request), "the cell is done")
        parts = []
        for content in (message["content"] for message in self.of(request)):
            if "text" in content:
                parts.append(content["text"])
            elif "ename" in content:
                parts.append(f"{content['ename']}: {content['evalue']}")
            else:
                parts.append(content.get("data", {}).get("text/plain", ""))
        return raises, "\n".join(parts)

    def of(self, request: str) -> list[dict[str, Any]]:
        """The messages that belong to a cell."""
        return [m for m in self.messages if m["parent_header"].get("msg_id") == request]

    def is_idle(self, request: str) -> bool:
        """Whether the cell is done."""
        return any(
            m["msg_type"] == "status" and m["content"]["execution_state"] == "idle"
            for m in self.of(request)
        )

    # --- widgets ----------------------------------------------------------------------

    def click(self, button: str, *, subshell: bool = False) -> None:
        """Click the button that says *button*, the newest of that name, once it is there.

        Args:
            button: What it says.
            subshell: Send it as JupyterLab does, for a thread of its own.
        """
        # It would be a double click
        at_once = self._clicked.get(button, 0.0) + 0.5
        self.listen_until(lambda: time.monotonic() > at_once, "it is another click")
        self._clicked[button] = time.monotonic()
        self.listen_until(lambda: self._called(button), f"there is a button {button!r}")
        comm = self._called(button)[-1]
        data = {"method": "custom", "content": {"event": "click", "settled": True}}
        message = self.client.session.msg("comm_msg", {"comm_id": comm, "data": data})
        if subshell:
            message["header"]["subshell_id"] = self.subshell()
        self.client.shell_channel.send(message)

    def _called(self, button: str) -> list[str]:
        """The buttons that say *button* and that a person could click: they stand in a box."""
        self.listen()
        boxes = [s.get("children") or () for s in self.states.values()]
        placed = {child.removeprefix("IPY_MODEL_") for box in boxes for child in box}
        return [
            comm
            for comm, state in self.states.items()
            if state.get("description") == button and comm in placed
        ]

    def subshell(self) -> str | None:
        """The subshell all comms share."""
        if self._subshell is None:
            request = self.client.session.msg("create_subshell_request", {})
            self.client.control_channel.send(request)
            reply = self.client.get_control_msg(timeout=PATIENCE)
            self._subshell = reply["content"].get("subshell_id")
        return self._subshell

    def sees(self, text: str) -> bool:
        """Whether some widget shows *text* now."""
        self.listen()
        return any(
            isinstance(state.get("value"), str) and text in state["value"]
            for state in self.states.values()
        )

    def wait_for(self, text: str) -> None:
        """Wait until some widget shows *text*."""
        self.listen_until(lambda: self.sees(text), f"{text!r} is shown")

    # --- iopub ------------------------------------------------------------------------

    def listen(self, seconds: float = 0) -> None:
        """Take in what has arrived."""
        while True:
            try:
                message = self.client.get_iopub_msg(timeout=seconds)
            except queue.Empty:
                return
            seconds = 0
            self.messages.append(message)
            content = message["content"]
            if message["msg_type"] == "comm_open":
                self.states[content["comm_id"]] = dict(content["data"]["state"])
            elif message["msg_type"] == "comm_msg":
                state = content["data"].get("state", {})
                self.states.setdefault(content["comm_id"], {}).update(state)
            elif message["msg_type"] == "comm_close":
                self.states.pop(content["comm_id"], None)

    def listen_until(self, condition: Any, what: str) -> None:
        """Take in what arrives until *condition* holds."""

        def holds() -> Any:
            if answer := condition():
                return answer
            self.listen(0.05)
            return condition()

        self._wait_until(holds, what)

    def _wait_until(self, condition: Any, what: str) -> Any:
        """Wait until *condition* holds; a kernel that ended before the last look says no more."""
        ended = False

        def cannot_come() -> str | None:
            nonlocal ended
            had_ended, ended = ended, not self._manager.is_alive()
            return "the kernel has ended" if had_ended else None

        try:
            return eventually(condition, unless=cannot_come, what=repr(what))
        except AssertionError as error:
            error.add_note(f"The kernel printed last: {self._printed_last()}")
            raise

    def _printed_last(self) -> list[str]:
        """The end of what was printed, in which an error of a callback or of a view stands."""
        streams = (m["content"] for m in self.messages if m["msg_type"] == "stream")
        return [f"{content['name']}: {content['text']}" for content in streams][-5:]
