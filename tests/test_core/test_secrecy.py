import pytest

from toolbench.core.secrecy import HIDDEN, hide, is_secret


class TestIsSecret:
    @pytest.mark.parametrize(
        "name",
        [
            "password",
            "api_key",
            "apiKey",
            "githubToken",
            "access-key",
            "SECRET",
            "db_passwd",
            "token",
            "access_token",
            "auth_token",
            "refreshToken",
            "GITHUB_TOKEN",
            "client_secret",
            "secret_key",
        ],
    )
    def test_by_name(self, name):
        """Text under such a name is a secret, however it is spelled."""
        assert is_secret(name, {"type": "string"})
        assert is_secret(name, {"type": ["string", "null"]})
        assert is_secret(name, None)

    @pytest.mark.parametrize(
        ("name", "schema"),
        [
            ("max_tokens", {"type": "integer"}),
            ("token", {"type": "integer"}),
            ("keyboard", {"type": "string"}),
            ("passwords_file", {"type": "string"}),
            ("tokenize", None),
            *[
                (name, {"type": "string"})
                for name in (
                    "next_token",
                    "nextPageToken",
                    "page_token",
                    "continuation-token",
                    "max_tokens",
                    "token_count",
                    "tokenizer",
                    "eos_token",
                )
            ],
        ],
    )
    def test_not_by_any_name(self, name, schema):
        """A count of tokens is no token, nor is where a listing goes on."""
        assert not is_secret(name, schema)

    @pytest.mark.parametrize("schema", [{"format": "password"}, {"writeOnly": True}])
    def test_by_schema(self, schema):
        """A schema may say so of any property."""
        assert is_secret("x", {"type": "string", **schema})


class TestHide:
    def test_reaches_as_deep_as_the_schema(self):
        """Objects and lists are looked into, with the schema of each."""
        schema = {
            "properties": {
                "logins": {
                    "items": {"properties": {"code": {"format": "password"}, "n": {}}}
                }
            }
        }
        hidden = hide(
            {"logins": [{"code": "c", "n": 1}], "api_key": "k", "x": {"token": "t"}},
            schema,
        )
        assert hidden == {
            "logins": [{"code": HIDDEN, "n": 1}],
            "api_key": HIDDEN,
            "x": {"token": HIDDEN},
        }

    def test_leaves_the_original_and_what_is_unset(self):
        """A copy is changed; that there is no password is no secret."""
        given = {"password": None, "token": "t"}
        assert hide(given, {}) == {"password": None, "token": HIDDEN}
        assert given["token"] == "t"

    @pytest.mark.parametrize("schema", [None, True, False, [], {"properties": 5}])
    def test_copes_with_any_schema(self, schema):
        """A schema that says nothing hides by name alone."""
        assert hide({"token": "t", "a": [1]}, schema) == {"token": HIDDEN, "a": [1]}

    @pytest.mark.parametrize(
        ("schema", "value", "hidden"),
        [
            ({"anyOf": [{"format": "password"}, {"type": "null"}]}, "s", HIDDEN),
            ({"allOf": [{"format": "password"}]}, "s", HIDDEN),
            ({"$ref": "#/$defs/P"}, "s", HIDDEN),
            ({"$ref": "#/$defs/O"}, {"x": "s"}, {"x": HIDDEN}),
            ({"items": {"format": "password"}}, ["s"], [HIDDEN]),
            ({"prefixItems": [{}, {"format": "password"}]}, [1, "s"], [1, HIDDEN]),
            (
                {"additionalProperties": {"format": "password"}},
                {"k": "s"},
                {"k": HIDDEN},
            ),
            (
                {"patternProperties": {"^k": {"format": "password"}}},
                {"k": "s"},
                {"k": HIDDEN},
            ),
            ({"$ref": "#/$defs/gone"}, "s", "s"),
            ({"$ref": "#/properties/v"}, "s", "s"),
        ],
    )
    def test_follows_the_schema(self, schema, value, hidden):
        """`SecretStr | None`, a list, a map and a nested model of secrets are as secret."""
        parts = {
            "P": {"writeOnly": True},
            "O": {"properties": {"x": {"$ref": "#/$defs/P"}}},
        }
        whole = {"properties": {"v": schema}, "$defs": parts}
        assert hide({"v": value}, whole) == {"v": hidden}
