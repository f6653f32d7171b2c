"""A model that replays recorded answers."""

import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import asdict, replace
from difflib import SequenceMatcher, unified_diff
from functools import cached_property
from os import PathLike
from pathlib import Path
from threading import Lock
from typing import Any
from warnings import warn

from toolbench.display.escape import on_one_line
from toolbench.errors import ModelDriftError, ModelError
from toolbench.files import append_whole, write_whole
from toolbench.jsonschema.types import Json
from toolbench.llm.calls.written_calls import (
    named_schema,
    read_arguments,
    without_unread,
    written_calls,
)
from toolbench.llm.message import (
    ImagePart,
    Message,
    Part,
    Provider,
    TextPart,
    ToolCallPart,
    ToolResultPart,
    as_mapping,
    function_of,
)
from toolbench.llm.models.model import (
    Answer,
    Messages,
    Model,
    OfferedTools,
    OnChunk,
    Usage,
    not_cancelled,
    offered,
    provider_of,
    report,
    writes_calls,
)
from toolbench.llm.wire import WIRES
from toolbench.llm.wire.wire import items_of
from toolbench.redaction import MARK
from toolbench.redaction.detect import Secrecy
from toolbench.redaction.known import Secrets, remembered
from toolbench.redaction.redactor import Redactor
from toolbench.runs.control import Cancellable
from toolbench.values import copied, plain

_WRITTEN_RESULT = re.compile(r"<tool_response>|What the call \S+ of \S+ returned:")
_IMAGE_WORDS = re.compile(r"\n?\[(?:an image|image: [^\]\n]*)\]|What the call \S+ of \S+ returned:")
# Accept incomplete characters too
_ANY = "surrogatepass"
# Maximum lines of a difference to show
_MOST_LINES = 30
# Maximum characters of such a line
_WIDEST = 160
# Maximum recorded descriptions, or messages, to name
_MOST_TEXTS = 4


class RecordedModel:
    """A model that replays recorded answers from a file.

    A request gets a recorded answer only if its messages and tools are exactly the same. If the
    same request was recorded several times, its answers are used in the recorded order.

    - With an inner model: It answers each request for which no recorded answer is left. Its answer
      is added to the file.
    - Without an inner model: A new request raises an error, which shows how the request differs
      from the most similar recorded request. When all answers to a request have been used, they
      are used again from the first.

    The file has one JSON object per line, `{"request": ..., "answer": ...}`. In place of the inner
    model's key and of secret arguments, it contains a mark, which matches any value in a later
    request.

    Args:
        path: The file. It may be missing if there is an inner model.
        inner: The model that answers the requests that are not in the file.
        name: The display name. By default, it is the name of the inner model or, without an inner
            model, of the recorded model.

    Raises:
        ModelError: If the file is missing, or one of its lines is not a recorded answer.

    Examples:
        >>> from toolbench.llm import RecordedModel, ScriptedModel, user_message
        >>> question = [user_message("Two and two?")]
        >>> recorder = RecordedModel("answers.jsonl", ScriptedModel(["Four."]))
        >>> recorder.complete(question).text
        'Four.'
        >>> RecordedModel("answers.jsonl").complete(question).text
        'Four.'
    """

    def __init__(
        self,
        path: str | PathLike[str],
        inner: Model | None = None,
        *,
        name: str | None = None,
    ) -> None:
        self.path = Path(path)
        """The file."""
        self._inner = inner
        self._lines = _read(self.path, is_new=inner is not None)
        first: Json = next(iter(self._lines), {})
        self.name = str(name or first.get("name") or "recorded")
        self.provider: Provider = first.get("provider") or "openai"
        self.written_calls = bool(first.get("written_calls"))
        """Whether calls in the model's text are read as calls."""
        if inner is not None:
            self.name = str(name or inner.name or "recorded")
            self.provider = inner.provider
            self.written_calls = writes_calls(inner)
        self._answers: defaultdict[str, list[Json]] = defaultdict(list)
        for line in self._lines:
            self._answers[_key(line["request"])].append(line["answer"])
        self._request_counts: Counter[str] = Counter()
        self._lock = Lock()

    def __repr__(self) -> str:
        return f"<RecordedModel {self.name}: {len(self._lines)} answers in {self.path.name}>"

    @property
    def secrets(self) -> Secrets:
        """The secrets of the inner model, such as its API key; empty if there are none."""
        secrets: Secrets = getattr(self._inner, "secrets", None) or Secrets()
        return secrets

    def complete(
        self,
        messages: Messages,
        tools: OfferedTools = (),
        *,
        on_chunk: OnChunk | None = None,
        cancel: Cancellable | None = None,
    ) -> Answer:
        """Return the recorded answer to this request, or ask the inner model and record its answer.

        Raises:
            ModelDriftError: If there is no recorded answer and no inner model.
            ModelError: If the inner model fails. Errors are not recorded.
        """
        cancel = not_cancelled(cancel, self.name)
        tool_list = offered(tools, self.provider)
        kept, secrets = [], list[str]()
        for message in messages:
            as_kept, read = self._kept(plain(message), tool_list)
            kept.append(as_kept)
            secrets += _call_secrets(read, tool_list)
        redactor = self.secrets.redactor.including(secrets)
        request = redactor.value({"messages": kept, "tools": plain(tool_list)})
        with self._lock:
            key = self._recorded_key(request)
            times, known = self._request_counts[key], self._answers[key]
            self._request_counts[key] += 1
        if times < len(known) or (known and self._inner is None):
            answer = _answer(known[times % len(known)])
            report(answer, on_chunk)
            return answer
        if self._inner is None:
            raise ModelDriftError(self._drift(request))
        try:
            answer = self._inner.complete(messages, tool_list, on_chunk=on_chunk, cancel=cancel)
        except BaseException:
            # Also an interrupt: there is no answer to count
            with self._lock:
                self._request_counts[key] -= 1
            raise
        redactor = redactor.including(_call_secrets(answer.parsed, tool_list))
        kept_answer, _ = self._kept(plain(answer.message), tool_list)
        self._record(key, request, replace(answer, message=kept_answer), redactor)
        return answer

    def _kept(self, message: Json, tools: list[Json]) -> tuple[Json, Message]:
        """Return *message* without calls that may contain a secret: as JSON, and as a `Message`."""
        wire = WIRES[provider_of(message, self.provider)]
        read = wire.read(message)
        if read.role != "assistant":
            return message, read
        kept = without_unread(read, tools, are_written_calls_read=self.written_calls)
        if kept is read:
            return message, read
        return wire.write(kept)[0], kept

    def _recorded_key(self, request: Json) -> str:
        """Return the key of the recorded request that equals *request*, else that of *request*."""
        own = _key(request)
        if own in self._answers:
            return own
        for key in self._answers:
            if MARK in key and _is_same(json.loads(key), request):
                return key
        if self.written_calls:
            told, images = _told(request, self.provider)
            for key, (recorded, recorded_images) in self._told_before.items():
                if recorded_images in ([], images) and _is_same(recorded, told):
                    return key
        return own

    @cached_property
    def _told_before(self) -> dict[str, tuple[Any, list[str]]]:
        """The content of each recorded request, as `_told` returns it, by the request's key."""
        told = {}
        for line in self._lines:
            told[_key(line["request"])] = _told(line["request"], self.provider)
        return told

    def _record(self, secret_name: str, request: Json, answer: Answer, redactor: Redactor) -> None:
        """Write *request* and *answer* to the file, with all known secrets masked.

        *secret_name* is the key under which *request* was looked up. Masking the secrets of
        *answer* in *request* may change this key.
        """
        redactor = redactor.including(remembered.redactor.secrets)
        request = redactor.value(request)
        fields = redactor.value(plain(asdict(answer)))
        line: Json = {
            "name": self.name,
            "provider": self.provider,
            "request": request,
            "answer": {name: value for name, value in fields.items() if value is not None},
        }
        if self.written_calls:
            line["written_calls"] = True
        with self._lock:
            self._lines.append(line)
            key = _key(request)
            self._answers[key].append(line["answer"])
            # The answer revealed a secret of the request
            if key != secret_name:
                self._request_counts[key] += 1
            self._append(json.dumps(line, ensure_ascii=False) + "\n")

    def _append(self, line: str) -> None:
        """Append *line* to the file, completely or not at all; warn if that fails."""
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            append_whole(self.path, line, errors=_ANY)
        except OSError as error:
            # The caller still gets the answer, which has been paid for
            msg = f"An answer was not recorded in {str(self.path)!r}: {error.strerror}."
            warn(msg, RuntimeWarning, stacklevel=2)

    def _drift(self, request: Json) -> str:
        new = _pretty(request)
        recorded = [_pretty(line["request"]) for line in self._lines]
        if not recorded:
            return f"{self.path.name} holds no answer at all: record it with an inner model."
        nearest = max(recorded, key=lambda old: _likeness(old, new))
        difference = list(unified_diff(nearest, new, "recorded", "asked now", lineterm="", n=1))
        lines = [_narrow(line) for line in difference[:_MOST_LINES]]
        more = len(difference) - _MOST_LINES
        if more > 0:
            lines.append(f"… {more} more lines")
        lines += self._recorded_texts(request)
        return (
            f"{self.path.name} has no answer to this request. It differs from the nearest of "
            f"{len(recorded)} that were recorded:\n" + "\n".join(lines)
        )

    def _recorded_texts(self, request: Json) -> Iterator[str]:
        """Yield the recorded descriptions and last messages that differ from those of *request*."""
        recorded = [line["request"] for line in self._lines]
        for name, text in _descriptions(request).items():
            texts = [_descriptions(old).get(name) for old in recorded]
            yield from _instead(f"descriptions of {on_one_line(name)}", text, texts)
        same_tools = [old for old in recorded if old.get("tools") == request["tools"]]
        texts = [self._last_text(old) for old in same_tools or recorded]
        yield from _instead("last messages", self._last_text(request), texts)

    def _last_text(self, request: Json) -> str:
        """Return the text of the last message of *request*; empty if there is none."""
        messages = items_of(request.get("messages"))
        if not messages:
            return ""
        last = as_mapping(messages[-1])
        return WIRES[provider_of(last, self.provider)].read(last).text


def _read(path: Path, *, is_new: bool) -> list[Json]:
    """Return the recorded answers in the file, without an incomplete last line.

    If *is_new* is true, the file may be missing, and an incomplete last line is also removed from
    it.

    Raises:
        ModelError: If the file is missing or cannot be read, or a line is not a recorded answer.
    """
    try:
        text = path.read_text(encoding="utf-8", errors=_ANY)
    except FileNotFoundError:
        if is_new:
            return []
        msg = f"{path} is not there: give an inner model to record it."
        raise ModelError(msg) from None
    except (OSError, UnicodeDecodeError) as error:
        msg = f"{path} cannot be read: {error}."
        raise ModelError(msg) from None
    whole = text[: text.rfind("\n") + 1]
    rest = text[len(whole) :]
    if rest and not _is_cut_off(rest):
        # Perhaps a file of another kind
        whole = f"{text}\n"
    answers: list[Json] = []
    for number, line in enumerate(whole.split("\n"), 1):
        if line.strip():
            answers.append(_recorded(path, number, line))
    if is_new and rest:
        write_whole(path, whole, errors=_ANY)
    return answers


def _is_cut_off(line: str) -> bool:
    """Tell whether *line*, which has no line break, is the beginning of a JSON object."""
    try:
        json.loads(line)
    except ValueError:
        return line.startswith("{")
    return False


def _recorded(path: Path, number: int, line: str) -> Json:
    try:
        value = json.loads(line)
    except ValueError:
        value = None
    recorded: Json = {}
    if isinstance(value, dict):
        recorded = value
    for key in ("request", "answer"):
        if not isinstance(recorded.get(key), dict):
            msg = (
                f"Line {number} of {path} is not a recorded answer of a model: "
                "remove it, or record again."
            )
            raise ModelError(msg)
    return recorded


def _answer(fields: Json) -> Answer:
    usage = None
    if isinstance(fields.get("usage"), dict):
        usage = Usage(**fields["usage"])
    return Answer(
        copied(fields.get("message") or {}),
        fields.get("finish_reason"),
        usage,
        fields.get("response_id"),
        fields.get("model"),
    )


def _key(request: Any) -> str:
    return json.dumps(request, sort_keys=True, ensure_ascii=False)


def _is_same(recorded: Any, now: Any) -> bool:
    """Tell whether *now* equals *recorded*, where a mark in *recorded* matches any value."""
    if isinstance(recorded, str) and isinstance(now, str):
        return _fits(recorded, now)
    if isinstance(recorded, dict) and isinstance(now, dict):
        return recorded.keys() == now.keys() and all(
            _is_same(value, now[key]) for key, value in recorded.items()
        )
    if isinstance(recorded, list) and isinstance(now, list):
        return len(recorded) == len(now) and all(map(_is_same, recorded, now))
    return bool(recorded == now)


def _told(request: Json, provider: Provider) -> tuple[Any, list[str]]:
    """Return the content of *request*, and the images in the results of calls written as text.

    The content of old and new files can be compared. Earlier versions joined several results,
    described images in other words, or left them out.
    """
    told: list[Any] = []
    images: list[str] = []
    for message in items_of(request.get("messages")):
        read = WIRES[provider_of(as_mapping(message), provider)].read(as_mapping(message))
        is_result = read.role == "user" and _WRITTEN_RESULT.match(read.text)
        for part in read.parts:
            if not is_result:
                told.append([read.role, asdict(part)])
            elif isinstance(part, TextPart):
                told += _IMAGE_WORDS.sub("", part.text).splitlines()
            elif isinstance(part, ImagePart):
                images.append(part.url)
    return [told, request.get("tools")], images


def _fits(recorded: str, now: str) -> bool:
    first, *others = recorded.split(MARK)
    if not others:
        return recorded == now
    *middle, last = others
    at = len(first)
    for part in middle:
        place = now.find(part, at)
        if place < 0:
            return False
        at = place + len(part)
    return now.startswith(first) and now.endswith(last) and len(now) >= at + len(last)


def _pretty(request: Any) -> list[str]:
    return json.dumps(request, indent=1, sort_keys=True, ensure_ascii=False).split("\n")


def _likeness(one: list[str], other: list[str]) -> float:
    return SequenceMatcher(None, one, other, autojunk=False).quick_ratio()


def _descriptions(request: Json) -> dict[str, str]:
    """Return the description of each tool in *request*, by the tool's name."""
    descriptions = {}
    for item in items_of(request.get("tools")):
        tool = function_of(as_mapping(item))
        descriptions[str(tool.get("name"))] = str(tool.get("description") or "")
    return descriptions


def _instead(kind: str, now: str, recorded: Iterable[str | None]) -> Iterator[str]:
    """Yield a line that lists the *recorded* texts, unless *now* is one of them.

    The texts that are most similar to *now* come first.
    """
    texts = sorted({text for text in recorded if text})
    if not texts or now in texts:
        return
    texts.sort(key=lambda text: _likeness(text.split(), now.split()), reverse=True)
    quoted = [f'"{_narrow(on_one_line(text))}"' for text in texts[:_MOST_TEXTS]]
    more = len(texts) - len(quoted)
    if more > 0:
        quoted.append(f"and {more} more")
    yield f"Recorded {kind}, the nearest first: {', '.join(quoted)}"


def _narrow(line: str) -> str:
    if len(line) <= _WIDEST:
        return line
    return f"{line[:_WIDEST]}…"


def _call_secrets(message: Message, tools: OfferedTools) -> Iterator[str]:
    """Yield the secret arguments of calls in *message*, as marked by the schemas of *tools*."""
    calls = list(_calls_in(message.parts))
    if not calls:
        return
    schemas = dict(map(named_schema, tools))
    for name, arguments in calls:
        if read := read_arguments(arguments):
            yield from Secrecy(schemas.get(name, {})).secrets_in(read)


def _calls_in(parts: Iterable[Part]) -> Iterator[tuple[str, Any]]:
    """Yield the name and arguments of each call in *parts*, including calls written as text."""
    for part in parts:
        if isinstance(part, ToolCallPart):
            yield str(part.name), part.arguments
        elif isinstance(part, ToolResultPart):
            yield from _calls_in(part.content)
        elif isinstance(part, TextPart):
            for call in written_calls(part.text)[0]:
                yield call.name, call.arguments
