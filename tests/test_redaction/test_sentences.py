"""What is wrong with a secret is said without the secret."""

from typing import Annotated

import pytest
from pydantic import BaseModel, Field, SecretStr, field_validator

from toolbench import Action, ToolDefinition
from toolbench.errors import ArgumentsError
from toolbench.redaction import MARK
from toolbench.redaction.detect import texts
from toolbench.redaction.redactor import Redactor

_SECRET = "hunter2-the-secret"


class Login(BaseModel):
    user: str = ""
    password: str


class LoginAction(Action):
    password: Annotated[str, Field(max_length=10)] = ""
    pin: Annotated[int, Field(json_schema_extra={"format": "password"})] = 0
    login: Login | None = None
    api_key: str = ""

    @field_validator("api_key")
    @classmethod
    def _short(cls, key):
        if key == _SECRET[::-1]:
            raise KeyError(key)
        if key:
            msg = f"{key} is not known"
            raise ValueError(msg)
        return key


_FOREIGN = {
    "type": "object",
    "properties": {
        "password": {"type": "integer", "format": "password"},
        "login": {"type": "object", "properties": {"password": {"type": "string"}}},
    },
}


class TestProblems:
    @pytest.mark.every_case
    @pytest.mark.parametrize(
        "arguments",
        [
            pytest.param({"password": _SECRET}, id="too long"),
            pytest.param({"password": _SECRET * 9}, id="cut off"),
            pytest.param({"password": [_SECRET]}, id="of another type"),
            pytest.param({"pin": f"{_SECRET}!"}, id="no number"),
            pytest.param({"login": {"password": [_SECRET]}}, id="nested"),
            pytest.param({"login": f'{{"password": "{_SECRET}"}}'}, id="as text"),
            pytest.param({"api_key": _SECRET}, id="in words of the tool's own"),
            pytest.param({"api_key": _SECRET[::-1]}, id="a check that breaks"),
        ],
    )
    def test_quote_no_secret(self, arguments):
        """Whatever is wrong with a secret, and whoever says so."""
        tool = ToolDefinition(name="login", action_type=LoginAction)
        sentences = str(tool.problems(arguments))
        assert "hunter2" not in sentences
        assert _SECRET[::-1] not in sentences
        assert MARK in sentences

    @pytest.mark.parametrize(
        "arguments",
        [
            {"password": _SECRET},
            {"login": f'{{"password": "{_SECRET}"}}'},
            f'{{"password": "{_SECRET}"}}',
        ],
    )
    def test_of_a_foreign_schema_quote_none(self, arguments):
        """The sentences of JSON Schema are as discreet, also where it is no object at all."""
        action_type = Action.from_mcp_schema("Foreign", _FOREIGN)
        tool = ToolDefinition(name="login", action_type=action_type)
        with pytest.raises(ArgumentsError) as raised:
            tool.action_from_arguments(arguments)
        assert "hunter2" not in str(raised.value)

    def test_quote_what_is_no_secret(self):
        """Beside a secret, a value that does not fit is still told."""
        tool = ToolDefinition(name="login", action_type=LoginAction)
        [problem] = tool.problems({"password": "short", "login": 5})
        assert str(problem) == "login: should be an object, not 5"


class TestTexts:
    def test_are_what_could_be_quoted(self):
        """Texts and numbers, wrapped or in bytes, wherever they stand."""
        value = {
            "a": ["x", 5, None, True, SecretStr("s"), (b"b",)],
            "m": Login(password="p"),
        }
        assert sorted(texts(value)) == ["", "5", "b", "p", "s", "x"]

    def test_end_in_circles(self):
        """A value that holds itself is looked at once."""
        value = {"a": "x"}
        value["again"] = [value]
        assert list(texts(value)) == ["x"]


@pytest.mark.every_case
@pytest.mark.parametrize(
    ("sentence", "secret", "concealed"),
    [
        ('not "abcd"', "abcd", f'not "{MARK}"'),
        ("abcde", "abcd", "abcde"),
        ("the secret one", "secret", f"the {MARK} one"),
        ('a\\"quoted\\"', 'a"quoted"', MARK),
        ("not secre… (12)", "secret-is-long", f"not {MARK}… (12)"),
        ("anything", "", "anything"),
    ],
)
def test_a_sentence_shows_no_secret(sentence, secret, concealed):
    """Quoted, escaped or cut off; a short one only as a word."""
    assert Redactor([secret]).sentence(sentence) == concealed
