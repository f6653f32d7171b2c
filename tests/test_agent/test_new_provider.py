"""A new provider is one class and one line in a table: here is one that nobody has."""

import json

import pytest

from test_agent.scripts import PROVIDERS, add
from toolbench import Conversation, Observation, ToolDefinition
from toolbench.agent import Agent
from toolbench.errors import BodyError
from toolbench.llm import (
    ScriptedModel,
    ToolCallAccumulator,
    as_model,
    format_report,
    parse_tool_calls,
    user_message,
)
from toolbench.llm.compose import as_call
from toolbench.llm.formats import to_format
from toolbench.llm.lint import lint_tool
from toolbench.llm.message import (
    Chunk,
    Message,
    OtherPart,
    Response,
    TextPart,
    ToolCallPart,
    ToolResultPart,
    Usage,
)
from toolbench.llm.names import NameRule
from toolbench.llm.wire import WIRES, titles
from toolbench.llm.wire.wire import Stream, Wire
from toolbench.redaction import MARK

KEY = "telegraph-key-0815"
# A message of this provider looks as if it were another's
LIKE_ANOTHER = {"role": "assistant", "content": [{"type": "text", "text": ""}]}


class TelegraphStream(Stream):
    """Joins telegrams, of which each brings a few lines more."""

    response = None

    def __init__(self):
        self.response = {"telegram": {"by": "clerk", **LIKE_ANOTHER, "lines": []}}

    def add(self, chunk):
        """Add the lines of the next telegram."""
        lines = chunk["telegram"]["lines"]
        self.response["telegram"]["lines"] += lines
        self.response |= {key: chunk[key] for key in ("end", "words") if key in chunk}
        return [Chunk("text", line["say"]) for line in lines if "say" in line]

    @property
    def has_end(self):
        """Whether the last telegram said that it is the last."""
        return "end" in self.response


class TelegraphWire(Wire):
    """A provider that takes small letters only, and wants back the seals of its lines."""

    provider, title, maker = "telegraph", "Telegraph", "Telegraph Company"
    stream, parts_key, response_keys = TelegraphStream, "lines", frozenset({"telegram", "lines"})
    part_keys = frozenset({"say", "call", "seal"})
    call_prefix = "no"
    reasons = {"over": "stop"}  # noqa: RUF012 - a constant of the class
    tool_names = NameRule("a-z", "a-z0-9_", 20, "20 small letters")
    package, method = "telegraph", "office.send"

    def read(self, data):
        parts = []
        for line in data["lines"]:
            if "say" in line:
                parts.append(TextPart(line["say"], line))
            elif "call" in line:
                parts.append(ToolCallPart(line["call"], line["with"], line.get("no"), raw=line))
            elif "result" in line:
                parts.append(ToolResultPart(line["no"], "", (TextPart(line["result"]),), raw=line))
            else:
                parts.append(OtherPart(line))
        role = {"clerk": "assistant", "office": "system"}.get(data.get("by", "clerk"), "user")
        return Message(role, tuple(parts), "telegraph", {"by": "clerk", **data})

    def read_response(self, data):
        message = self.read(data.get("telegram", data))
        return Response(message, data.get("end"), Usage(None, data.get("words")))

    def write(self, message):
        message = message.sent_to("telegraph")
        by = {"assistant": "clerk", "system": "office"}.get(message.role, "sender")
        lines = [line for part in message.parts if (line := self._line(part))]
        return [{"by": by, **(message.raw or {}), "lines": lines}]

    def _line(self, part):
        match part:
            case TextPart(text, raw):
                return {**(raw or {}), "say": text}
            case ToolCallPart():
                return self.write_call(part)
            case ToolResultPart(raw=None):
                return {"no": part.id, "result": part.text}
        return part.raw

    def write_call(self, call):
        return {**(call.raw or {}), "no": call.id, "call": call.name, "with": call.arguments}

    def write_tool(self, tool, changes, *, security_risk=False, summary=False):
        name = changes.fitting_name("name", tool.name, self.tool_names)
        return {"name": name, "takes": tool.parameters(security_risk=security_risk)}

    def request(self, model, messages, tools, options):
        telegrams = [one for message in self.accepted(messages) for one in self.write(message)]
        return {"clerk": model, "telegrams": telegrams, "tools": list(tools), **options}


class Office:
    """A client of the package `telegraph`: it sends what a script says, in telegrams of one line."""

    __module__ = "telegraph.client"

    def __init__(self, *answers):
        self.api_key, self.office = KEY, self
        self.answers, self.bodies = list(answers), []

    def send(self, *, clerk, telegrams, tools, temperature=None):
        self.bodies.append((telegrams, tools))
        lines = self.answers.pop(0)
        for line in lines:
            yield {"telegram": {"lines": [line]}}
        yield {"telegram": {"lines": []}, "end": "over", "words": len(lines)}


CALL = [
    {"seal": "wax"},
    {"say": "I add them.", "seal": "wax"},
    {"call": "add", "with": {"a": 20, "b": 22}, "seal": "wax"},
    {"call": "add", "with": {"a": 4}, "no": "7"},
]
BYE = [{"say": "Bye.", "seal": "wax"}]


@pytest.fixture(autouse=True)
def _registered(monkeypatch):
    """The line in the table."""
    monkeypatch.setitem(WIRES, "telegraph", TelegraphWire())


def talk_with(model, text, path=None):
    """A conversation with *model*, new or from the file *path*, in which *text* was answered."""
    if path is None:
        conversation = Conversation(agent=Agent(model, [add]))
    else:
        conversation = Conversation.load(path, Agent(model, [add]))
    conversation.send_message(text)
    assert conversation.run() == "answered"
    return conversation


def test_has_whole_conversations(tmp_path):
    """Its client is recognised, calls run, and what it sealed goes back to it alone, also after loading."""
    office, path = Office(CALL, [{"say": "42 and 5."}], BYE, BYE), tmp_path / "talk.jsonl"
    model = as_model((office, "morse"), options={"temperature": 0})
    assert model.provider == "telegraph"
    assert model.secrets.redactor.text(f"the key is {KEY}") == f"the key is {MARK}"
    conversation = talk_with(model, "Add 20 and 22.")
    (first, tools), (second, _) = office.bodies
    assert first == [{"by": "sender", "lines": [{"say": "Add 20 and 22."}]}]
    assert tools == [{"name": "add", "takes": add.parameters()}]
    _, said, *results = second
    made_up = said["lines"][2]["no"]
    assert said["lines"] == [*CALL[:2], {**CALL[2], "no": made_up}, CALL[3]]
    assert [line for one in results for line in one["lines"]] == [
        {"no": made_up, "result": "42"},
        {"no": "7", "result": "5"},
    ]
    assert conversation.usage.output_tokens == 5

    conversation.save(path)
    fork = talk_with(model, "Thanks.", path).fork()
    thanked, _ = office.bodies[-1]
    assert thanked[: len(second)] == second
    fork.send_message("Again?")
    assert fork.run() == "answered"
    assert office.bodies[-1][0][:-1] == [*thanked, {"by": "clerk", **LIKE_ANOTHER, "lines": BYE}]


@pytest.mark.parametrize("other", [*PROVIDERS, "mcp"])
def test_hands_a_conversation_over_and_takes_it_back(other, tmp_path):
    """Text, calls and results go on at each other provider; what only one of them knows does not."""
    office = Office(CALL, [{"say": "42 and 5."}], BYE)
    talk_with(as_model((office, "morse")), "Add 20 and 22.").save(tmp_path / "first.jsonl")
    model = ScriptedModel(["You are welcome."], provider=other)
    again = talk_with(model, "Thanks.", tmp_path / "first.jsonl")
    wire = WIRES[other]
    body = wire.request("m", [wire.read(one) for one in model.requests[-1][0]], [], {})
    texts = ["Add 20 and 22.", "I add them.", "42", "42 and 5.", "Thanks."]
    places = [json.dumps(body).index(f'"{text}"') for text in texts]
    assert places == sorted(places)
    assert "wax" not in str(body)
    called = [call.name for one in model.requests[-1][0] for call in wire.read(one).calls]
    assert called == ["add", "add"]
    again.save(tmp_path / "second.jsonl")
    talk_with(as_model((office, "morse")), "Bye.", tmp_path / "second.jsonl")
    telegrams, _ = office.bodies[-1]
    lines = [line for one in telegrams for line in one["lines"]]
    assert [line["say"] for line in lines if "say" in line][-2:] == ["You are welcome.", "Bye."]
    sent = {line["no"] for line in lines if "call" in line}
    assert len(sent) == 2
    assert sent == {line["no"] for line in lines if "result" in line}


def test_is_known_wherever_a_provider_is_named():
    """Its rules for names, its messages, its calls, and who it is in a sentence."""
    shouted = ToolDefinition(name="ADD", description="Add.", action_type=add.action_type)
    [change] = format_report(shouted, "telegraph").changes
    assert change.message.endswith("at most 20 small letters")
    assert "Not accepted unchanged by Telegraph Company" in str(lint_tool(shouted))
    sent = as_call(shouted, {"a": 1}, "telegraph")
    assert sent["call"] == to_format(shouted, "telegraph")["name"] != "ADD"
    [call] = parse_tool_calls({"by": "clerk", "lines": [sent]}, [shouted])
    assert (call.name, call.id, call.metadata.provider) == ("ADD", sent["no"], "telegraph")
    assert call.answer(Observation.from_text("2"))["lines"] == [{"no": sent["no"], "result": "2"}]
    assert user_message("Hi.", "telegraph") == {"by": "sender", "lines": [{"say": "Hi."}]}
    joined = ToolCallAccumulator()
    joined.add({"telegram": {"lines": [sent]}})
    assert parse_tool_calls(joined.message, [shouted])[0].action == call.action
    assert titles()["Telegraph"] == "telegraph"
    for wrong, error in (
        (lambda: parse_tool_calls(3, []), BodyError),
        (lambda: as_model(3), TypeError),
    ):
        with pytest.raises(error, match=r"[Tt]elegraph"):
            wrong()
    with pytest.raises(ValueError, match=r"client of telegraph supports telegraph, not 'openai'"):
        as_model((Office(), "morse"), provider="openai")
