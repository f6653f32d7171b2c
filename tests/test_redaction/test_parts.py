"""Secrets that are a part of a text: of an address, a header, a setting, a cookie."""

import json

import pytest
from corpus import lines_of, needs_corpus
from pydantic import SecretStr

from toolbench.redaction import MARK
from toolbench.redaction.detect import Secrecy, hide, secrets_in_argument, texts

# Of all texts of the tools of the corpus, each looked at
SECRETS_IN_TEXTS = 0


class TestSettingsInArguments:
    @pytest.mark.every_case
    @pytest.mark.parametrize(
        ("value", "expected"),
        [
            ("https://u:hunter2@h/?api_key=k3y-112233", "https://u:{}@h/?api_key={}"),
            ("see https://h/?key=0123456789abcdef now", "see https://h/?key={} now"),
            ("https://ghp_0123456789abcdef@h/x", "https://{}@h/x"),
            ("Authorization: Bearer abcdef", None),
            (["Accept: text/html", "Cookie: sid=hunter22"], None),
            (["API_KEY=hunter2"], ["API_KEY={}"]),
            ("--password=hunter2", "--password={}"),
            ([{"name": "Authorization", "value": "Bearer hunter2"}], None),
            ([{"key": "password", "value": "hunter2"}], None),
            ({"a": {"header": "X-Api-Key", "value": "hunter2"}}, None),
        ],
        ids=str,
    )
    def test_are_hidden_by_the_names_in_them(self, value, expected):
        """A URL, a header and an environment say what is secret though the argument does not."""
        schema = {"type": "object", "properties": {"x": {}}}
        hidden, known = Secrecy(schema).hide({"x": value})
        assert known and MARK in str(hidden)
        assert not any(secret in str(hidden) for secret in known)
        if isinstance(expected, str):
            assert hidden == {"x": expected.replace("{}", MARK)}
        assert not Secrecy(schema).is_harmless({"x": value})

    @pytest.mark.every_case
    @pytest.mark.parametrize(
        "value",
        [
            "https://h/a?key=PROJ-17&page_token=abcdefgh&q=token",
            "https://ada@example.com/x",
            "mailto:ada@example.com",
            "token: please rotate it",
            "def f(password: str) -> str:\n    return password",
            "password = get_password()\nprint(password)",
            "API_KEY=${API_KEY}",
            [{"name": "color", "value": "red"}],
            [{"name": "password", "type": "text"}],
            "2026-01-01T10:00:00",
            "path=/tmp/x",
        ],
        ids=str,
    )
    def test_hide_nothing_of_ordinary_texts(self, value):
        """Sentences, code and addresses have such words too."""
        assert Secrecy({}).hide({"x": value}) == ({"x": value}, [])

    @needs_corpus
    def test_hide_nothing_of_what_real_tools_describe(self):
        """No description, default or example of the corpus, thousands of texts, is hidden."""
        known = list[str]()
        for tool in lines_of("tools_public.jsonl"):
            for text in texts([tool.get("description"), tool["inputSchema"]]):
                known += secrets_in_argument(text)
        assert len(known) == SECRETS_IN_TEXTS, known

    @pytest.mark.parametrize("kind", ["integer", "number", ["integer", "null"]])
    def test_a_password_may_be_a_number(self, kind):
        """One that is hides; a number of tokens is none."""
        schema = {"properties": {"password": {"type": kind}, "token": {"type": kind}}}
        hidden, known = Secrecy(schema).hide({"password": 90210777, "token": 12345678})
        assert hidden == {"password": MARK, "token": 12345678}
        assert known == ["90210777"]


class TestParts:
    @pytest.mark.every_case
    @pytest.mark.parametrize(
        ("arguments", "part"),
        [
            ({"headers": {"Authorization": "Bearer abcdef-bearer"}}, "abcdef-bearer"),
            ({"authorization": "token ghp_123456"}, "ghp_123456"),
            ({"auth": "Basic YWRhOmxvdmVsYWNl"}, "lovelace"),
            ({"auth": "Basic YWRhOmxvdmVsYWNl"}, "ada:lovelace"),
            ({"cookie": "sid=cookieval-5566; theme=light"}, "cookieval-5566"),
            ({"api_key": "tok-hunter2\n"}, "tok-hunter2"),
            ({"api_key": SecretStr(" tok-hunter2 ")}, "tok-hunter2"),
        ],
    )
    def test_that_programs_use_alone_are_secrets_too(self, arguments, part):
        """A program cuts off `Bearer`, the name of a cookie, the end of a line: the rest hides."""
        redactor = Secrecy({}).redactor(arguments)
        assert redactor.text(f"used {part}.") == f"used {MARK}."

    @pytest.mark.parametrize(
        ("arguments", "text"),
        [
            ({"cookie": "sid=cookieval-5566; theme=light"}, "the light theme"),
            ({"password": "my password"}, "a new password"),
            ({"auth": "Bearer abcdef"}, "Bearer of news"),
        ],
    )
    def test_that_say_nothing_alone_are_none(self, arguments, text):
        """What stands in any text is no secret by itself."""
        assert Secrecy({}).redactor(arguments).text(text) == text


class TestJsonTexts:
    def test_hide_the_secrets_in_them(self):
        """Under whatever name, as deep as it is: and the rest of the text stays."""
        inner = '{"token": "a-token"}'
        value = {"body": f' [{{"password": "hunter2", "more": {json.dumps(inner)}}}]'}
        result, secrets = Secrecy({}).hide(value)
        assert result["body"].count(MARK) == 2
        assert sorted(secrets) == ["a-token", "hunter2"]
        assert '"password": ' in result["body"]

    @pytest.mark.parametrize("text", ["{", '{"password": ', "[1]", '{"a": "b"}', "{" * 9])
    def test_that_are_none_or_hold_none_stay_as_they_are(self, text):
        """A text that only begins like JSON is any text."""
        assert hide({"body": text}, {}) == {"body": text}
