"""One table says which names are secrets, and how surely."""

import pytest
from corpus import lines_of, needs_corpus

from toolbench.jsonschema.node import read
from toolbench.redaction import MARK
from toolbench.redaction.detect import Secrecy, hide, is_secret
from toolbench.redaction.names import (
    is_secret_argument,
    is_secret_setting,
    name_at,
)

TEXT = {"type": "string"}
# Of the 9,376 arguments of the corpus, each looked at
SECRET_TEXTS = 28


class TestArguments:
    # Each case is a rule of its own
    @pytest.mark.every_case
    @pytest.mark.parametrize(
        "name",
        [
            *("pwd", "passcode", "pass", "db_pass", "password2", "confirm_password"),
            *("cookie", "cookies", "bearer", "jwt", "auth", "authorization", "pat"),
            *("connection_string", "connectionString", "dsn", "otp", "sessionToken"),
            *(
                "session_key",
                "github_pat",
                "secretValue",
                "token_string",
                "auth_header",
            ),
            *("passkey", "mnemonic", "seed_phrase", "seedPhrase", "mfa_code", "sas"),
            *("credentials_json", "sessionid", "recovery_code"),
            *("accountKey", "ssh-key", "creds", "api_keys", "access_tokens"),
            *("DBPassword", "APIToken", "AWSSecret", "JWTToken", "APIKeys", "PATs"),
        ],
    )
    def test_that_are_secrets(self, name):
        """A word of the table at the end of a name, however that is spelled."""
        assert is_secret_argument(name)
        assert is_secret_setting(name, "a value")

    @pytest.mark.parametrize("name", ["database_url", "connection_uri", "REDIS_URL"])
    def test_that_are_addresses_with_a_password(self, name):
        """Of a database's address people expect no part in a record."""
        assert is_secret_argument(name)

    # Each case is a rule of its own
    @pytest.mark.every_case
    @pytest.mark.parametrize(
        "name",
        [
            *(
                "key",
                "keys",
                "issueKey",
                "idempotencyKey",
                "ssh-public-key",
                "sort_key",
            ),
            *("session", "session_id", "sessionId", "signature", "sig", "design"),
            *(
                "auth_type",
                "auth-method",
                "author",
                "oauth2",
                "useOAuth2",
                "cookie_policy",
                "path",
            ),
            *("pattern", "bypass", "compass", "passage", "secretary", "tokenizer"),
            *("next_token", "tokens", "max_tokens", "idempotency_token", "secret_name"),
        ],
    )
    def test_that_are_none(self, name):
        """What counts, names or locates a secret is none, nor is a word that only holds one."""
        assert not is_secret_argument(name)

    @pytest.mark.parametrize("name", ["key", "SESSION_ID", "X-Signature", "DBPASSWORD"])
    def test_are_fewer_than_settings(self, name):
        """The environment of a server is read with more suspicion."""
        assert is_secret_setting(name, "a value")
        assert not is_secret_argument(name)

    @pytest.mark.parametrize(
        ("name", "value"), [("PORT", "8080"), ("TOKEN_URL", "https://a"), ("MAX_TOKENS", "9")]
    )
    def test_settings_that_are_none(self, name, value):
        """Nor a place of a secret, nor a count."""
        assert not is_secret_setting(name, value)

    def test_that_are_chosen_from_a_list_are_none(self):
        """`auth: basic` is no secret; what stands there and is not of the list may be one."""
        auth = {"type": "string", "enum": ["none", "basic"]}
        assert is_secret("auth", read(TEXT)) and not is_secret("auth", read(auth))
        schema = {"properties": {"auth": auth}}
        assert hide({"auth": "basic"}, schema) == {"auth": "basic"}
        assert hide({"auth": "hunter2"}, schema) == {"auth": MARK}

    def test_in_a_list_go_by_its_name(self):
        """A list of passwords holds passwords, also as a list sent as text."""
        lists = {"properties": {"passwords": {"type": "array"}}}
        assert hide({"passwords": ["a", ["b"]]}, lists) == {"passwords": [MARK, MARK]}
        assert name_at(("login", "passwords", 0, 1)) == "passwords"
        keys = {"properties": {"api_keys": {"type": "array", "items": TEXT}}}
        sent_as_text = {"login": '{"api_keys": ["k"]}'}
        assert hide(sent_as_text, {"properties": {"login": keys}}) == {"login": MARK}

    @needs_corpus
    def test_of_real_tools_are_hidden_where_they_hold_secrets(self):
        """Of thousands of real arguments, hardly any is a secret: no ordinary one is hidden."""
        names = []
        for each in lines_of("tools_public.jsonl"):
            properties = each["inputSchema"].get("properties", {})
            names += [n for n, schema in properties.items() if is_secret(n, read(schema))]
        assert len(names) == SECRET_TEXTS
        ordinary = {"key", "sessionId", "session-id", "signature", "auth-method"}
        assert not ordinary & set(names)


LOGIN = {"properties": {"password": {"type": "string"}, "code": {"format": "password"}}}


class TestNames:
    @pytest.mark.parametrize(
        ("value", "expected"),
        [
            ({"api_keys": {"work": "a1b2"}}, {"api_keys": {"work": MARK}}),
            ({"cookies": {"a": {"b": ["c"]}}}, {"cookies": {"a": MARK}}),
            ({"auth": {"type": "basic"}}, {"auth": {"type": "basic"}}),
            ({"headers": {"x": "y"}}, {"headers": {"x": "y"}}),
        ],
        ids=str,
    )
    def test_of_a_map_hold_for_its_values(self, value, expected):
        """Its keys are no names; but those that say of which kind a secret is are."""
        schema = {"additionalProperties": {"type": "object"}}
        assert hide(value, schema) == expected
        strings = {"type": "object", "additionalProperties": {"type": "string"}}
        assert Secrecy({"properties": {"api_keys": strings}}).has_secrets
        assert not Secrecy({"properties": {"headers": strings}}).has_secrets

    def test_that_the_schema_declares_are_meant_as_they_stand(self):
        """What stands beside a password, in an object that is called a secret, is none."""
        login = {"type": "object", "properties": {"user": {"type": "string"}}}
        value = {"credentials": {"user": "bob"}}
        assert hide(value, {"properties": {"credentials": login}}) == value

    @pytest.mark.every_case
    @pytest.mark.parametrize(
        "name", ["passwrod", "pasword", "Passwords_", "cdoe", "api-kee", "secrte"]
    )
    def test_that_are_misspelt_hide_what_is_refused(self, name):
        """An argument that nobody takes may be a secret that does not reach its tool."""
        assert hide({name: "hunter2"}, LOGIN) == {name: MARK}

    @pytest.mark.every_case
    @pytest.mark.parametrize(
        "name", ["passport", "taken", "node", "page", "keyboard", "compass", "author"]
    )
    def test_that_only_look_alike_hide_nothing(self, name):
        """Other words are other things."""
        assert hide({name: "text"}, LOGIN) == {name: "text"}
        # A free map
        assert hide({"passwrod": "text"}, {}) == {"passwrod": "text"}
