import asyncio
from collections import deque
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from types import SimpleNamespace

import pytest
from hostile_values import (
    Endless,
    NoAttributes,
    NoDict,
    NoItems,
    NoPath,
    NoSlots,
    NoValues,
)
from pydantic import BaseModel, ConfigDict, PrivateAttr, SecretStr

from toolbench import Action, Conversation, ConversationState, ToolDefinition
from toolbench.redaction import MARK
from toolbench.redaction.known import Secrets
from toolbench.redaction.redactor import Redactor

SECRET = "hunter2-éß"
redactor = Redactor([SECRET])


class Plain:
    def __init__(self, text):
        self.text = text
        self.me = self


class Slotted:
    __slots__ = ("text",)

    def __init__(self, text):
        self.text = text


class Opaque:
    """Can be neither copied nor looked into, and shows what it holds."""

    def __init__(self, text):
        self.content = text

    def __repr__(self):
        return f"Opaque({self.content})"

    def __copy__(self):
        raise OSError("there is one of me")


class Level(Enum):
    LEAKED = SECRET


class Model(BaseModel):
    model_config = ConfigDict(extra="allow", frozen=True)

    a: int = 1
    _secret: str = PrivateAttr("")


@dataclass(frozen=True, slots=True)
class Point:
    text: str


class TestReaches:
    def test_paths(self):
        """A path is a path afterwards."""
        assert redactor.value(Path(f"/a/{SECRET}/b")) == Path(f"/a/{MARK}/b")

    def test_queues_and_namespaces(self):
        """Whatever holds things is looked into."""
        assert redactor.value(deque([SECRET], maxlen=2)) == deque([MARK])
        assert redactor.value(SimpleNamespace(a=SECRET)) == SimpleNamespace(a=MARK)

    def test_bytes_that_are_looked_at(self):
        """A view of bytes shows them too."""
        assert redactor.value(memoryview(SECRET.encode())) == MARK.encode()

    @pytest.mark.parametrize("make", [Plain, Slotted, Point], ids=repr)
    def test_attributes_of_any_object(self, make):
        """The copy holds no secret, and the object is as it was."""
        original = make(SECRET)
        assert redactor.value([original])[0].text == MARK
        assert original.text == SECRET

    def test_what_models_keep_beside_their_fields(self):
        """Extra fields and private attributes are attributes."""
        original = Model(b=SECRET)
        original._secret = SECRET
        masked = redactor.value(original)
        assert (type(masked), masked.b, masked._secret) == (Model, MARK, MARK)

    @pytest.mark.parametrize("value", [Opaque(SECRET), Level.LEAKED], ids=["it", "enum"])
    def test_what_cannot_be_copied(self, value):
        """It becomes its text: a secret never gets out for want of a copy."""
        masked = redactor.value({"a": value})["a"]
        assert MARK in masked and SECRET not in masked

    def test_no_wrapped_secret(self):
        """What never shows need not be hidden."""
        original = {"a": SecretStr(SECRET)}
        assert redactor.value(original) is original


class TestUnreadable:
    """What cannot be looked into becomes the mark; what stands beside it stays."""

    @pytest.mark.every_case
    @pytest.mark.parametrize(
        "make",
        [
            NoDict,
            NoSlots,
            NoAttributes,
            lambda: NoValues(a=1),
            lambda: NoItems([1]),
            lambda: NoPath("/"),
        ],
        ids=["dict", "slots", "all", "values", "items", "path"],
    )
    def test_things(self, make):
        """An attribute, an item or the text of it raises."""
        masked = redactor.value({"a": make(), "b": 1})
        assert masked == {"a": MARK, "b": 1}

    def test_what_never_ends(self):
        """A mapping may make another each time it is asked."""
        masked = redactor.value(Model(b=Endless(), c=1))
        assert (masked.b, masked.c) == (MARK, 1)

    def test_the_content_of_a_text_counts(self):
        """Whatever a class of texts prints, JSON and files hold the content."""

        class Label(str):
            def __str__(self):
                return "label"

        assert redactor.value([Label(SECRET)]) == [MARK]

    def test_errors(self):
        """What an error holds may raise; the error in its place says its kind."""
        error = ValueError(SECRET)
        error.value = NoDict()
        masked = redactor.error(error)
        assert str(masked) == MARK and masked.value == MARK


class TestCircles:
    def test_come_to_an_end(self):
        """A list or an object that holds itself is hidden there."""
        items = [SECRET, {"a": Plain(SECRET)}]
        items.append(items)
        items[1]["all"] = items
        masked = redactor.value(items)
        assert masked[2] == masked[1]["all"] == masked[1]["a"].me == MARK
        assert masked[0] == masked[1]["a"].text == MARK

    def test_without_a_secret_are_left_alone(self):
        """Nothing to hide, nothing copied, and it comes to an end."""
        items = ["a"]
        items.append(items)
        assert redactor.value(items) is items

    def test_too_deep_to_follow_are_hidden_whole(self):
        """What cannot be looked through is not shown."""
        deep = [SECRET]
        for _ in range(5_000):
            deep = [deep]
        assert redactor.value(deep) == MARK
        assert redactor.error(ValueError(deep, 1)).args == (MARK,)
        assert redactor.value([ValueError(deep, 1)])[0].args == (MARK,)


CONVERSATION = Conversation(ConversationState(secrets={"T": SECRET}))


def failing(error, cause=None):
    def fail(action):
        raise error from cause

    return ToolDefinition(name="fail", executor=fail)


class TellAction(Action):
    n: int = 0


class TestErrors:
    @pytest.mark.every_case
    @pytest.mark.parametrize(
        "error",
        [
            ValueError(f"no {SECRET}"),
            KeyError(SECRET),
            FileNotFoundError(2, "no file", f"/x/{SECRET}"),
            ExceptionGroup("many", [ValueError(SECRET)]),
        ],
        ids=lambda error: type(error).__name__,
    )
    @pytest.mark.parametrize("how", ["called", "awaited"])
    def test_of_an_executor_tell_no_secret(self, error, how):
        """Its kind stays, its words and arguments are masked; awaited calls do the same."""
        tool = failing(error)
        with pytest.raises(type(error)) as caught:
            if how == "called":
                tool({}, CONVERSATION)
            else:
                asyncio.run(tool.acall({}, CONVERSATION))
        text = f"{caught.value} {caught.value!r} {caught.value.args}"
        assert MARK in text and SECRET not in text
        assert caught.traceback[-1].name == "fail"

    def test_that_cannot_be_changed_are_replaced(self):
        """One that keeps its words to itself becomes a RuntimeError that quotes them."""
        error = UnicodeDecodeError("utf-8", b"x", 0, 1, SECRET)
        with pytest.raises(RuntimeError, match=r"UnicodeDecodeError: .*hidden") as caught:
            failing(error)({}, CONVERSATION)
        assert caught.value.__context__ is caught.value.__cause__ is None

    def test_that_cannot_be_changed_are_no_context_either(self):
        """A traceback would show it; one that tells nothing stays."""
        silent, telling = ValueError("fine"), ValueError("fine")
        silent.__context__ = KeyError("plain")
        telling.__context__ = UnicodeDecodeError("utf-8", b"x", 0, 1, SECRET)
        redactor = Redactor([SECRET])
        assert repr(redactor.error(silent).__context__) == repr(KeyError("plain"))
        assert redactor.error(telling).__context__ is None

    def test_are_hidden_with_what_they_came_from(self):
        """The cause is shown in a traceback, so it is masked too."""
        with pytest.raises(ValueError, match="fine") as caught:
            failing(ValueError("fine"), KeyError(SECRET))({}, CONVERSATION)
        assert repr(caught.value.__cause__) == repr(KeyError(MARK))

    def test_of_arguments_tell_no_secret(self):
        """What a model sent may be a secret too."""
        tool = ToolDefinition(name="t", action_type=TellAction, executor=print)
        with pytest.raises(ValueError, match="should be an integer") as caught:
            tool({"n": SECRET}, CONVERSATION)
        assert SECRET not in f"{caught.value} {caught.value.problems}"

    def test_without_secrets_are_as_they_were(self):
        """Nobody's exception is touched without need."""
        error = ValueError(SECRET)
        for conversation in (None, Conversation(), object()):
            with pytest.raises(ValueError, match=SECRET) as caught:
                failing(error)({}, conversation)
            assert caught.value is error


class TestResults:
    def test_keep_no_secret_in_their_python_object(self):
        """`result` is what the function returned, but for the secrets in it."""
        tool = ToolDefinition(name="t", executor=lambda a: {Path(SECRET): Plain(SECRET)})
        [(path, plain)] = tool({}, CONVERSATION).result.items()
        assert (path, plain.text) == (Path(MARK), MARK)

    def test_that_cannot_be_looked_through_are_not_shown(self):
        """The observation says so in place of what it was."""

        def deep(action):
            items = [SECRET]
            for _ in range(500):
                items = [items]
            return {"items": items, "more": deque([items])}

        observation = ToolDefinition(name="t", executor=deep)({}, CONVERSATION)
        assert SECRET not in repr(observation)


class TestSecretValues:
    def test_may_be_numbers_and_bytes(self):
        """A PIN is a secret as well."""
        secrets = Secrets({"pin": 1234, "key": b"abc"})
        assert secrets.redactor.text("1234 abc") == f"{MARK} {MARK}"

    @pytest.mark.parametrize(
        "value", [None, True, pytest.param(object(), id="an object"), ["x"]], ids=repr
    )
    def test_are_nothing_else(self, value):
        """An environment variable that is not set is no secret: the error names it."""
        with pytest.raises(TypeError, match="Secret 'T' is text, not a"):
            ConversationState(secrets={"T": value})

    def test_of_others_hide_what_they_can(self):
        """A conversation of somebody else's may hold anything; its texts are masked."""
        theirs = SimpleNamespace(secrets={"a": None, "b": SECRET, "c": print})
        tool = ToolDefinition(name="t", executor=lambda a: SECRET)
        assert tool({}, theirs).text == MARK
        assert tool({}, SimpleNamespace(secrets=5)).text == SECRET
