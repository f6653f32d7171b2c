import json
import pickle
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from types import MappingProxyType, SimpleNamespace
from typing import Any, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, Field, SecretStr

from toolbench import (
    Action,
    Conversation,
    ConversationState,
    Observation,
    TextContent,
    ToolDefinition,
)
from toolbench.core.state import Workspace, secrets_of
from toolbench.redaction import MARK
from toolbench.redaction.known import Secrets
from toolbench.redaction.redactor import WORD, Redactor

SECRET = "hunter2-éß"
QUOTED = 'line "one"\nline two'


class TestState:
    def test_works_in_the_current_directory(self, tmp_path, monkeypatch):
        """Unless told otherwise, tools work where the kernel does."""
        monkeypatch.chdir(tmp_path)
        state = ConversationState()
        assert state.workspace.working_dir == str(tmp_path)
        assert state.persistence_dir is None
        assert len(state.secrets) == 0

    @pytest.mark.parametrize(
        "options",
        [
            {"working_dir": Path("/w")},
            {"workspace": "/w"},
            {"workspace": Path("/w")},
            {"workspace": Workspace("/w")},
            {"workspace": SimpleNamespace(working_dir="/w")},
        ],
        ids=repr,
    )
    def test_works_where_it_is_told(self, options):
        """A directory, or the reference's workspace: tools read a string either way."""
        state = ConversationState(**options, persistence_dir=Path("/p"))
        assert state.workspace.working_dir == "/w"
        assert state.persistence_dir == "/p"

    def test_a_conversation_has_a_state(self):
        """What an executor is given leads to the state."""
        state = ConversationState("/w")
        assert Conversation(state).state is state
        assert Conversation().state.workspace.working_dir == str(Path.cwd())


class TestSecrets:
    def test_never_show(self):
        """No repr, string or format of anything that holds a secret tells it."""
        state = ConversationState("/w", secrets={"TOKEN": SECRET, "KEY": SecretStr("k3y")})
        conversation = Conversation(state)
        for holder in (state, state.secrets, conversation, state.secrets["TOKEN"]):
            for text in (repr(holder), str(holder), f"{holder}", f"{[holder]!r}"):
                assert SECRET not in text and "k3y" not in text
        assert "TOKEN" in repr(state)

    def test_are_told_one_by_one(self):
        """A tool that needs one asks for it by name, and unwraps it."""
        secrets = Secrets({"TOKEN": SECRET})
        assert secrets["TOKEN"].get_secret_value() == SECRET
        assert (list(secrets), len(secrets), "X" in secrets) == (["TOKEN"], 1, False)


class Level(StrEnum):
    HIGH = "high"


class Pair(NamedTuple):
    left: str
    right: Any = None


class Inner(BaseModel):
    text: str
    deep: list["Inner"] = []


@dataclass(frozen=True)
class Frozen:
    text: str
    many: tuple[str, ...] = ()


redactor = Redactor([SECRET, QUOTED, "two", ""], shortest=1)


class TestMasking:
    @pytest.mark.parametrize(
        ("value", "masked"),
        [
            (f"a {SECRET} b", f"a {MARK} b"),
            (f"x{SECRET}".encode(), f"x{MARK}".encode()),
            (bytearray(SECRET.encode()), MARK.encode()),
            ([SECRET, 1], [MARK, 1]),
            ((SECRET, None), (MARK, None)),
            ({SECRET}, {MARK}),
            (frozenset({SECRET}), frozenset({MARK})),
            ({SECRET: {"a": [SECRET]}}, {MARK: {"a": [MARK]}}),
            (MappingProxyType({"a": SECRET}), {"a": MARK}),
            (Pair(SECRET), Pair(MARK)),
            (
                Inner(text="", deep=[Inner(text=SECRET)]),
                Inner(text="", deep=[Inner(text=MARK)]),
            ),
            (Frozen("a", (SECRET,)), Frozen("a", (MARK,))),
            (QUOTED, MARK),
            (json.dumps({"a": QUOTED}), json.dumps({"a": MARK})),
            (json.dumps([SECRET], ensure_ascii=True), json.dumps([MARK])),
            (json.dumps([SECRET], ensure_ascii=False), json.dumps([MARK])),
        ],
        ids=repr,
    )
    def test_reaches_everything(self, value, masked):
        """Text, bytes, keys, items, fields, and what JSON made of it."""
        assert redactor.value(value) == masked

    @pytest.mark.every_case
    @pytest.mark.parametrize(
        "value",
        [
            "a",
            b"a",
            [1, "a"],
            {"a": (1,)},
            Level.HIGH,
            Pair("a"),
            Inner(text="a"),
            Frozen("a"),
            None,
            5,
            pytest.param(object(), id="an object"),
        ],
        ids=repr,
    )
    def test_leaves_alone_what_holds_no_secret(self, value):
        """Nothing is copied, converted or changed without need."""
        assert redactor.value(value) is value

    def test_hides_the_longest_first(self):
        """A secret that holds another does not leave its ends behind."""
        assert Redactor(["ab", "xaby"], shortest=1).text("xaby ab") == f"{MARK} {MARK}"

    def test_does_not_mask_the_mask(self):
        """A secret that is part of the mask changes nothing twice."""
        assert Redactor(["secret", "x"], shortest=1).text("x secret") == f"{MARK} {MARK}"

    @given(st.text(min_size=WORD), st.lists(st.text(), max_size=3))
    def test_leaves_no_trace(self, secret, around):
        """Whatever a secret looks like, it is not in what comes out; a short one only as a word."""
        text = secret.join(["", *around, ""])
        masked = Redactor([secret], shortest=1).text(text)
        assert secret not in masked.replace(MARK, "\0") or secret in "\0"


class SayAction(Action):
    text: str


class SayObservation(Observation):
    raw: bytes = b""
    parts: tuple[str, ...] = ()
    by_name: dict[str, Inner] = Field({})
    level: Level = Level.HIGH


def say(action):
    inner = Inner(text=action.text)
    return SayObservation(
        content=[TextContent(text=f"said {action.text}")],
        raw=action.text.encode(),
        parts=(action.text,),
        by_name={action.text: inner},
    )


class TestWhatComesOutOfATool:
    TOOL = ToolDefinition(name="say", action_type=SayAction, executor=say)

    @pytest.mark.parametrize(
        "conversation",
        [
            Conversation(ConversationState(secrets={"T": SECRET})),
            ConversationState(secrets={"T": SECRET}),
            SimpleNamespace(state=SimpleNamespace(secrets={"T": SECRET})),
        ],
        ids=["conversation", "state", "somebody else's"],
    )
    def test_is_masked(self, conversation):
        """Secrets of the conversation are in no field of the observation, however deep."""
        observation = self.TOOL({"text": SECRET}, conversation)
        assert SECRET not in repr(observation) and SECRET.encode() not in observation.raw
        assert observation.text == f"said {MARK}"
        assert observation.by_name == {MARK: Inner(text=MARK)}
        assert (type(observation), observation.level) == (SayObservation, Level.HIGH)

    def test_is_as_it_was_without_secrets(self):
        """Nothing to hide, nothing changed."""
        values = []
        tool = self.TOOL.set_executor(lambda action: values.append(say(action)) or values[0])
        for conversation in (
            None,
            Conversation(),
            Conversation(ConversationState(secrets={"T": "z"})),
        ):
            values.clear()
            assert tool({"text": "x"}, conversation) is values[0]

    def test_of_a_function_keeps_no_secret_in_its_result(self):
        """The Python object beside the content is masked as well."""
        tool = ToolDefinition(name="t", action_type=SayAction, executor=lambda a: [a.text])
        observation = tool({"text": SECRET}, Conversation(ConversationState(secrets={"T": SECRET})))
        assert observation.result == [MARK]
        assert SECRET not in observation.text


def test_state_can_be_sent_to_other_processes():
    """A state pickles, for executors elsewhere: they need its secrets to mask them."""
    state = pickle.loads(pickle.dumps(ConversationState("/w", secrets={"T": SECRET})))
    assert state.secrets.redactor.text(SECRET) == MARK


class TestOfAConversation:
    @pytest.mark.parametrize(
        "conversation",
        [
            None,
            object(),
            SimpleNamespace(state=None),
            SimpleNamespace(state=SimpleNamespace(secrets=["x"])),
            SimpleNamespace(state=SimpleNamespace(secrets=object())),
        ],
        ids=["none", "anything", "no state", "a list", "an object"],
    )
    def test_there_may_be_none(self, conversation):
        """Only a mapping holds secrets by name, whoever made the conversation."""
        assert secrets_of(conversation) is None

    def test_what_is_no_text_is_left_out(self):
        """Somebody else may keep other things among the secrets."""
        state = SimpleNamespace(secrets={"T": SECRET, "other": object()})
        assert dict(secrets_of(SimpleNamespace(state=state))) == {"T": SecretStr(SECRET)}
