"""What a model sent of a secret and nobody could read is nowhere kept, and the conversation goes on."""

import json

import pytest
from pydantic import SecretStr

from test_agent.checks import check_answered
from test_agent.scripts import PROVIDERS, add, call, calls, calls_of, talk
from toolbench import tool
from toolbench.evals import Case, evaluate
from toolbench.llm.models import RecordedModel, ScriptedModel

SECRET = "modelSecret778899"
CUT = f'{{"user": "a", "password": "{SECRET}"'
MARK = "not kept: login takes a secret"
LOGIN = {"name": "login", "arguments": {"user": "a"}}


@tool
def login(user: str, password: SecretStr) -> str:
    """Log in."""
    return "in"


def text(words):
    """A message that is only text."""
    return {"role": "assistant", "content": words}


FUNCTION = f"<function=login>\n<parameter=password>{SECRET}</parameter></function>"
CALLS = {
    "cut off": calls(call("login", CUT)),
    "half a character": calls(call("login", CUT + ', "x": "\\ud83d"}')),
    "single quotes": calls(call("login", f"{{'user': 'a', 'password': '{SECRET}")),
    "two objects": calls(call("login", CUT + "}{}")),
    "a stray comma": calls(call("login", CUT + ",,}x")),
    "a list": calls(call("login", f"[{CUT}}}]")),
    "JSON in JSON in JSON": calls(call("login", json.dumps(json.dumps(CUT + "}")))),
    "another spelling": calls(call("Login", CUT)),
    "an unknown name": calls(call("log_in_now", CUT)),
    "beside others": calls(call("add", {"a": 1}), call("login", CUT, id="c2")),
    "with words": calls(call("login", CUT), text=f"I take {SECRET} as password."),
    "with a refusal": calls(call("login", CUT)) | {"refusal": f"I do not take {SECRET}."},
    "of a named speaker": calls(call("login", CUT)) | {"name": "ada"},
    "OpenAI's old form": text(None) | {"function_call": {"name": "login", "arguments": CUT}},
}
TEXTS = {
    "Qwen": f"Wait. {FUNCTION}",
    "JSON": f'<tool_call>{{"name": "login", "arguments": {CUT}}}}}</tool_call>',
    "JSON, cut off": f'<tool_call>{{"name": "login", "arguments": {CUT}',
    "Llama": f'[login(user="a", password="{SECRET}")]',
    "Llama, behind another call": f'[add(a=1), login(user="a", password="{SECRET}")]',
    "Qwen, behind another call and a name": f"See `<function=login>{{`.\n<function=add></function>{FUNCTION}",
}


def everything(message, folder, provider="openai", **options):
    """All that is kept and shown of a conversation and of an evaluation with this message."""
    script = ScriptedModel([message, "Done."], provider=provider)
    vars(script).update(options)
    c = talk(RecordedModel(folder / "recorded.jsonl", script), [login, add])
    c.run()
    check_answered(c)
    c.save(folder / "saved.jsonl")
    model = ScriptedModel([message], provider=provider)
    vars(model).update(options)
    report = evaluate(model, [login, add], [Case("Do it.", LOGIN)], save=folder / "eval.jsonl")
    texts = [path.read_text() for path in folder.iterdir()]
    assert len(texts) == 3
    shown = [c.to_html(), c, c.events, c._repr_mimebundle_(), script.requests, report.failures]
    return [*texts, *map(str, [*shown, report._repr_mimebundle_()])]


@pytest.mark.every_case  # each is another way in
@pytest.mark.parametrize("kind", CALLS)
def test_a_call_that_cannot_be_read_is_not_kept(kind, tmp_path):
    """The file, the page, the recording, the evaluation, the next request: a mark says why."""
    texts = everything(CALLS[kind], tmp_path)
    assert not [text for text in texts if SECRET in text]
    assert len([text for text in texts if MARK in text]) > 3


@pytest.mark.parametrize("provider", PROVIDERS)
def test_of_each_provider(provider, tmp_path):
    """The message keeps the form that its provider expects."""
    message = unreadable(calls_of(provider, ("login", {"user": "a", "password": SECRET})))
    texts = everything(message, tmp_path, provider)
    assert not [text for text in texts if SECRET in text]


def unreadable(part):
    """The same message with a list in place of each object of arguments."""
    if isinstance(part, list):
        return [unreadable(item) for item in part]
    if not isinstance(part, dict):
        return part
    changed = {}
    for key, value in part.items():
        if key == "arguments":
            changed[key] = f"[{value}]"
        elif key in ("input", "args"):
            changed[key] = [value]
        else:
            changed[key] = unreadable(value)
    return changed


@pytest.mark.every_case
@pytest.mark.parametrize(
    ("kind", "is_writing"),
    # Of a model that is known to write its calls, whole JSON is read
    [*((kind, False) for kind in TEXTS), *((kind, True) for kind in TEXTS if kind != "JSON")],
)
def test_a_call_in_a_text_that_is_not_read_is_not_kept(kind, is_writing, tmp_path):
    """Whether the model is known to write its calls or not."""
    texts = everything(text(TEXTS[kind]), tmp_path, written_calls=is_writing)
    assert not [text for text in texts if SECRET in text]


def test_of_a_tool_without_secrets_all_is_kept(tmp_path):
    """A person sees what the model sent."""
    c = talk(ScriptedModel([calls(call("add", '{"a": 1')), "Done."]), [add, login])
    c.run()
    c.save(tmp_path / "c.jsonl")
    assert '{\\"a\\": 1' in (tmp_path / "c.jsonl").read_text()
