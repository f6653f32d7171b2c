"""Find calls that a model wrote into its text, not as tool calls.

Small models do this, each kind with its own marks. JSON counts as a call if it is the whole text,
or if it ends the text after a mark. JSON in the middle of words, or in quoted code, is an example
and never runs. Sources: the chat templates of Hermes and Qwen
(`<tool_call>`, `<tools>`), Granite (`<|tool_call|>`), Llama 3 (`<|python_tag|>`), Mistral
(`[TOOL_CALLS]`) and Phi-4 (`functools`); vLLM's tool parsers.

Other models write calls that are not JSON. Those are found, but not read.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from toolbench.llm.calls.json_text import NotJsonError, embedded, json_at, read_json
from toolbench.values import clip

_THINKING = re.compile(
    r"\A\s*<think>.*?(?:</think>|\Z)|\A(?!\s*(?:[{\[`]|<(?!think>))).*?</think>",
    re.DOTALL,
)
_MARK = re.compile(
    r"<tool_call>|<tools>|<function_call>|<\|tool_call\|>|<\|python_tag\|>|\[TOOL_CALLS\]"
    r"|\bfunctools(?=\s*\[)"
)
_END = re.compile(r"</(?:tool_call|tools|function_call)>")
_SKIPPED = re.compile(rf"(?:{_MARK.pattern}|{_END.pattern}|```\w*|[\s;,])+")
_INVENTED = re.compile(r"</tool_call>\s*<tool_response>")
"""The marks of an answer that a model invents after its own call."""
_OVER = ("<|im_end|>", "<|eom_id|>", "<|eot_id|>", "<|end|>", "<|end_of_text|>", "</s>")
_BETWEEN = "\t\r\n ;,`"
_NAME = re.compile(r'"(?:name|function)"\s*:\s*"([^"\\]*)"')
_ARGUMENTS = re.compile(r'"(?:arguments|parameters)"\s*:\s*(?=[{"\[])')
_FOREIGN = re.compile(
    # Qwen3-Coder, and Llama 3 with its own tools
    r"<function=(?P<qwen>[\w.-]+)>(?=\s*[<{])"
    # Claude and MiniMax
    r"|<invoke name=\"(?P<claude>[\w.-]+)\">(?=\s*<)"
    r"|\[TOOL_CALLS\]\s*(?P<mistral>[\w.-]+)\s*\[(?:ARGS|CALL_ID)\]"
    r"|<tool_call>\s*(?P<glm>[\w.-]+)\s*<arg_key>"
    r"|<\|tool_call_begin\|>\s*(?:functions\.)?(?P<kimi>[\w.-]+)"
    # DeepSeek: V3 has "function" before the name
    r"|<\uff5ctool\u2581call\u2581begin\uff5c>(?:function<\uff5ctool\u2581sep\uff5c>)?"
    r"(?P<deepseek>[\w.-]+)"
    r"|<\|channel\|>\s*commentary\s+to=(?:functions\.)?(?P<gpt_oss>[\w.-]+)"
    # Llama 4: it is the whole text
    r"|\A\s*\[(?P<llama>[A-Za-z_]\w*)\((?:\w+\s*=.*)?\)\]\s*\Z",
    re.DOTALL,
)
"""The marks of calls that are not JSON, each with the name of the tool."""
# Of the first call in a list, or of one behind another
_LLAMA_NAME = re.compile(r"(?:\A\s*\[|\),)\s*([A-Za-z_]\w*)\(")
_NOT_READ = (
    "the call is written in a form that is not read here: write it as JSON, "
    '<tool_call>{"name": ..., "arguments": {...}}</tool_call>'
)
_KEYS = ("arguments", "parameters", "args")


@dataclass(frozen=True)
class WrittenCall:
    """One call in a text, not checked yet."""

    name: str
    arguments: Any
    problem: str | None = None
    """Why the arguments cannot be read, if that is known."""


def written_calls(text: str) -> tuple[list[WrittenCall], str]:
    """Return the calls in *text*, and the words before them; no calls if *text* has only words.

    JSON counts as calls in two cases: it is the whole text, with or without a code fence; or it comes
    after a mark such as `<tool_call>` that is not in quoted code, and no words come after it.
    Thinking before the calls, in `<think>`, is returned with the words. A call that is not JSON is
    returned with a `problem`.
    """
    start = 0
    if thinking := _THINKING.match(text):
        start = thinking.end()
    thought, rest = text[:start], _before_end(text[start:])
    if "{" in rest:
        if calls := _whole(rest.strip()):
            return calls, thought.strip()
        if mark := _MARK.search(rest):
            words = rest[: mark.start()]
            if not _is_quoted(words) and (calls := _marked(rest[mark.start() :])):
                return calls, f"{thought}{words}".strip()
    unread: list[WrittenCall] = []
    for match in _foreign(rest):
        for name in _names_in(match):
            unread.append(WrittenCall(name, None, _NOT_READ))
    return unread, text


def words_before_calls(text: str) -> str:
    """Return the words of *text* before the calls in it, also before those that are not read."""
    if foreign := _foreign(text):
        return text[: foreign[0].start()]
    return written_calls(text)[1]


def _foreign(text: str) -> list[re.Match[str]]:
    """Find the calls in *text* that are not JSON."""
    return [call for call in _FOREIGN.finditer(text) if not _is_quoted(text[: call.start()])]


def _names_in(call: re.Match[str]) -> list[str]:
    """Return the name of the tool in *call*; Llama 4 has several calls in one list."""
    if call["llama"]:
        return _LLAMA_NAME.findall(call[0])
    return [call[call.lastgroup or 0]]


def unread_call(text: str) -> str | None:
    """Return a sentence if *text*, the answer of a model, looks like a call that was not read."""
    calls, _ = written_calls(text)
    if not calls:
        return None
    return (
        f"The text of this answer looks like a call of {clip(calls[0].name)}, and it was not run. If "
        "the model writes its calls as text, make it by as_model(..., written_calls=True)."
    )


def _before_end(text: str) -> str:
    """Return the part of *text* before the marks that end a turn, and before an invented answer."""
    if invented := _INVENTED.search(text):
        text = text[: invented.start()]
    text = text.rstrip()
    while text.endswith(_OVER):
        text = text[: text.rindex("<")].rstrip()
    return text


def _is_quoted(words: str) -> bool:
    """Tell whether *words* open a code block or a quotation and do not close it.

    A code fence directly at the end does not count: it may be the fence around the calls.
    """
    opened = words.rstrip()
    if words.count("```") % 2:
        return re.fullmatch(r"```\w*", opened) is None
    line = words.rsplit("\n", 1)[-1].replace("```", "")
    return line.count("`") % 2 == 1 or opened.endswith(
        ('"', "'", "\u201c", "\u2018", "\u00ab", "(")
    )


def _marked(text: str) -> list[WrittenCall]:
    """Return the calls in *text*, which begins with a mark; none if *text* also has words."""
    calls: list[WrittenCall] = []
    at = 0
    while at < len(text):
        if skipped := _SKIPPED.match(text, at):
            at = skipped.end()
            continue
        try:
            value, at = json_at(text, at)
            parts = _calls(value)
        except NotJsonError:
            body = text[at:]
            if end := _END.search(text, at):
                body = text[at : end.start()]
            at += len(body)
            parts = _unclear(body.rstrip("` \n"))
        if not parts:
            return []
        calls += parts
    return calls


def _unclear(body: str) -> list[WrittenCall]:
    """Return the calls in *body*, which follows a mark and is not correct JSON.

    The JSON is repaired if possible. Otherwise the text of the arguments stays as it is, and the
    parser reports the error.
    """
    if body[:1] not in ("{", "["):
        return []
    try:
        return _calls(read_json(body)[0])
    except NotJsonError:
        name = _NAME.search(body)
        if name is None:
            return []
        rest = body
        if arguments := _ARGUMENTS.search(body):
            rest = body[arguments.end() :]
        return [WrittenCall(name[1], rest)]


def _whole(text: str) -> list[WrittenCall]:
    """Return the calls in *text*; none if there are words around the calls."""
    try:
        return _calls(read_json(text)[0])
    except NotJsonError:
        values, around = embedded(text)
        if around.strip(_BETWEEN):
            return []
        return _calls(values)


def _calls(value: Any) -> list[WrittenCall]:
    """Return the calls in *value*; none if a part of it is not a call."""
    if isinstance(value, list):
        found: list[WrittenCall] = []
        for item in value:
            calls = _calls(item)
            if not calls:
                return []
            found += calls
        return found
    if not isinstance(value, Mapping):
        return []
    if isinstance(value.get("tool_calls"), list):
        return _calls(value["tool_calls"])
    if isinstance(value.get("function"), Mapping):
        return _calls(value["function"])
    name = value.get("name", value.get("function"))
    for key in _KEYS:
        if key in value:
            if isinstance(name, str) and isinstance(value[key], dict | str):
                return [WrittenCall(name, value[key])]
            break
    return []
