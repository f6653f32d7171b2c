from collections import namedtuple
from dataclasses import dataclass, field

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, Field, RootModel, SecretBytes, SecretStr

from toolbench.jsonschema.node import SchemaView, read
from toolbench.redaction import MARK
from toolbench.redaction.detect import Secrecy, hide, is_secret


class Login(BaseModel):
    password: str
    user: str = ""


class Loose(BaseModel, extra="allow"):
    user: str = ""


class Renamed(BaseModel):
    key: str = Field("", alias="api_key")


@dataclass(slots=True)
class Key:
    token: str
    more: list = field(default_factory=list)


Pair = namedtuple("Pair", "user password")


class TestIsSecret:
    # Each case is a rule of its own
    @pytest.mark.every_case
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
        assert is_secret(name, read({"type": "string"}))
        assert is_secret(name, read({"type": ["string", "null"]}))
        assert is_secret(name, read(None))

    # Each case is a rule of its own
    @pytest.mark.every_case
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
        assert not is_secret(name, read(schema))

    @pytest.mark.parametrize("schema", [{"format": "password"}, {"writeOnly": True}])
    def test_by_schema(self, schema):
        """A schema may say so of any property."""
        assert is_secret("x", read({"type": "string", **schema}))


class TestHide:
    def test_reaches_as_deep_as_the_schema(self):
        """Objects and lists are looked into, with the schema of each."""
        schema = {
            "properties": {
                "logins": {"items": {"properties": {"code": {"format": "password"}, "n": {}}}}
            }
        }
        hidden = hide(
            {"logins": [{"code": "c", "n": 1}], "api_key": "k", "x": {"token": "t"}},
            schema,
        )
        assert hidden == {
            "logins": [{"code": MARK, "n": 1}],
            "api_key": MARK,
            "x": {"token": MARK},
        }

    def test_leaves_the_original_and_what_is_unset(self):
        """A copy is changed; that there is no password is no secret."""
        value = {"password": None, "token": "t"}
        assert hide(value, {}) == {"password": None, "token": MARK}
        assert value["token"] == "t"

    @pytest.mark.parametrize("schema", [None, True, False, [], {"properties": 5}])
    def test_copes_with_any_schema(self, schema):
        """A schema that says nothing hides by name alone."""
        assert hide({"token": "t", "a": [1]}, schema) == {"token": MARK, "a": [1]}

    # Each case is a rule of its own
    @pytest.mark.every_case
    @pytest.mark.parametrize(
        ("schema", "value", "hidden"),
        [
            ({"anyOf": [{"format": "password"}, {"type": "null"}]}, "s", MARK),
            ({"allOf": [{"format": "password"}]}, "s", MARK),
            ({"$ref": "#/$defs/P"}, "s", MARK),
            ({"$ref": "#/$defs/O"}, {"x": "s"}, {"x": MARK}),
            ({"items": {"format": "password"}}, ["s"], [MARK]),
            ({"prefixItems": [{}, {"format": "password"}]}, [1, "s"], [1, MARK]),
            (
                {"additionalProperties": {"format": "password"}},
                {"k": "s"},
                {"k": MARK},
            ),
            (
                {"patternProperties": {"^k": {"format": "password"}}},
                {"k": "s"},
                {"k": MARK},
            ),
            *(
                (
                    {
                        "if": {"required": ["y"]},
                        keyword: {"properties": {"x": {"writeOnly": True}}},
                    },
                    {"x": "s"},
                    {"x": MARK},
                )
                for keyword in ("then", "else")
            ),
            (
                {"dependentSchemas": {"a": {"properties": {"x": {"writeOnly": True}}}}},
                {"a": 1, "x": "s"},
                {"a": 1, "x": MARK},
            ),
            (
                {"properties": {"x": {}}, "then": {"properties": {"x": {"writeOnly": True}}}},
                {"x": "s"},
                {"x": MARK},
            ),
            ({"if": {"minLength": 1}, "then": {"format": "password"}}, "s", MARK),
            ({"then": {"allOf": [{"then": {"items": {"writeOnly": True}}}]}}, ["s"], MARK),
            ({"contains": {"writeOnly": True}}, ["s"], MARK),
            (
                {"contains": {"properties": {"x": {"writeOnly": True}}}},
                [{"x": "s", "y": "t"}],
                [{"x": MARK, "y": "t"}],
            ),
            ({"unevaluatedItems": {"writeOnly": True}}, ["s"], MARK),
            (
                {"items": [{}], "additionalItems": {"writeOnly": True}},
                ["a", "s"],
                [MARK, MARK],
            ),
            (
                {
                    "properties": {"x": {"type": "string"}},
                    "anyOf": [{"properties": {"x": {"writeOnly": True}}}, {"required": ["y"]}],
                },
                {"x": "s"},
                {"x": MARK},
            ),
            ({"$dynamicRef": "#secret"}, "s", MARK),
            ({"$ref": "secret.json"}, "s", MARK),
            ({"$ref": "https://a.example/secret.json"}, "s", MARK),
            ({"$ref": "https://a.example/root#/$defs/P"}, "s", MARK),
            ({"$ref": "http://["}, "s", "s"),
            ({"$ref": "#/$defs/gone"}, "s", "s"),
            ({"$ref": "#/properties/v"}, "s", "s"),
        ],
    )
    def test_follows_the_schema(self, schema, value, hidden):
        """`SecretStr | None`, a list, a map and a nested model of secrets are as secret."""
        parts = {
            "P": {"writeOnly": True},
            "O": {"properties": {"x": {"$ref": "#/$defs/P"}}},
            "S": {
                "$id": "secret.json",
                "$dynamicAnchor": "secret",
                "format": "password",
            },
        }
        whole = {
            "$id": "https://a.example/root",
            "properties": {"v": schema},
            "$defs": parts,
        }
        assert hide({"v": value}, whole) == {"v": hidden}

    @pytest.mark.every_case
    @pytest.mark.parametrize(
        ("value", "hidden"),
        [
            (Login(password="s"), {"password": MARK, "user": ""}),
            (RootModel[list[Login]]([Login(password="s")]), [{"password": MARK}]),
            (Renamed(api_key="s"), {"api_key": MARK}),
            (Key("s"), {"token": MARK, "more": []}),
            (Pair("u", "s"), {"user": "u", "password": MARK}),
            (({"password": "s"}, 1), [{"password": MARK}, 1]),
            ({"x": Login(password="s")}, {"x": {"password": MARK, "user": ""}}),
            (SecretStr("s"), MARK),
            ([SecretBytes(b"s"), b"b"], [MARK, b"b"]),
            ({"password": b"s"}, {"password": MARK}),
        ],
        ids=repr,
    )
    def test_looks_into_whatever_python_has(self, value, hidden):
        """What holds a secret becomes the JSON it stands for, the secret hidden."""
        result = hide({"v": value}, {})["v"]
        if isinstance(value, RootModel):
            result = [{"password": login["password"]} for login in result]
        assert result == hidden

    @pytest.mark.every_case
    @pytest.mark.parametrize(
        "value",
        [
            Login(password=""),
            (1, ("a",)),
            pytest.param({"a", 5}, id="a set"),
            frozenset({SecretStr}),
            pytest.param(object(), id="an object"),
            Pair("u", None),
            Login,
        ],
        ids=repr,
    )
    def test_what_has_no_secret_stays_what_it_is(self, value):
        """A tool that is run again gets the object it was given."""
        assert hide({"v": value}, {})["v"] is value

    def test_a_generator_is_not_used_up(self):
        """To look is not to take."""
        numbers = (n for n in range(3))
        assert hide({"v": numbers}, {})["v"] is numbers
        assert list(numbers) == [0, 1, 2]

    @pytest.mark.every_case
    @pytest.mark.parametrize(
        ("schema", "value"),
        [
            ({"properties": {"x": {"format": "password"}}}, '{"x": "s"}'),
            ({"type": "object", "properties": {"token": {}}}, ["s"]),
            ({"type": "array", "items": {"writeOnly": True}}, "s"),
            ({"$ref": "#/$defs/O"}, "s"),
            ({"properties": {"x": {"$ref": "#/$defs/P"}}}, "s"),
            ({"allOf": [{"$ref": "#/$defs/O"}, {"description": "x"}]}, "s"),
            ({"anyOf": [{"$ref": "#/$defs/O"}, {"type": "null"}]}, ["s"]),
        ],
    )
    def test_hides_whole_what_the_schema_describes_as_something_else(self, schema, value):
        """An object that a model sent as text: nobody can tell which part is the secret."""
        parts = {
            "O": {"type": "object", "properties": {"password": {}}},
            "P": {"writeOnly": True},
        }
        whole = {"properties": {"v": schema}, "$defs": parts}
        assert hide({"v": value}, whole) == {"v": MARK}

    def test_the_same_name_elsewhere_is_no_secret(self):
        """What one object calls a secret, another may call by the same name."""
        schema = {
            "properties": {
                "login": {"properties": {"value": {"format": "password"}}},
                "query": {"properties": {"value": {"type": "string"}}},
            }
        }
        value = {"login": {"value": "s"}, "query": {"value": "t"}}
        assert hide(value, schema) == {"login": {"value": MARK}, "query": {"value": "t"}}
        unused = {"P": schema["properties"]["login"]}
        schema = {"properties": {"value": {"type": "integer"}}, "$defs": unused}
        assert hide({"value": "t"}, schema) == {"value": "t"}

    def test_shows_what_an_alternative_describes(self):
        """Text is no secret where text may stand beside an object that holds one."""
        either = {"anyOf": [{"properties": {"password": {}}}, {"type": "string"}]}
        assert hide({"v": "plain"}, {"properties": {"v": either}}) == {"v": "plain"}

    def test_a_number_of_tokens_is_no_secret(self):
        """An optional number under a telling name shows, as a number does."""
        count = {"anyOf": [{"type": "integer"}, {"type": "null"}]}
        assert hide({"token": 5}, {"properties": {"token": count}}) == {"token": 5}

    @pytest.mark.parametrize("schema", [{"type": "array"}, {"format": "password"}])
    def test_names_show_whatever_the_schema_says(self, schema):
        """Arguments stay a dict, even of a schema that describes none."""
        schema = {**schema, "properties": {"token": {}}}
        assert hide({"v": "s"}, schema) == {"v": MARK}

    def test_shows_nothing_of_what_has_no_end(self):
        """Arguments that hold themselves, or are too deep, are no reason to break."""
        circle = {"n": 1}
        circle["again"] = circle
        deep = []
        for _ in range(10_000):
            deep = [deep]
        for value in (circle, deep):
            assert hide({"v": value, "x": 1}, {}) == {"v": MARK, "x": MARK}


class TestMask:
    def test_keeps_the_secrets_by_their_paths(self):
        """Whoever hides can put back."""
        masked, secrets = Secrecy({}).mask({"a": [{"token": "t"}], "key": "k"})
        assert masked == {"a": [{"token": MARK}], "key": "k"}
        assert secrets == {("a", 0, "token"): "t"}

    def test_reads_a_part_by_the_references_of_the_whole(self):
        """A field of a form is a part of a schema, and has a name of its own."""
        root = {"$defs": {"P": {"writeOnly": True}}}
        part = {"items": {"$ref": "#/$defs/P"}}
        assert Secrecy(part, SchemaView(root)).mask(["s"])[0] == [MARK]
        assert Secrecy({}, SchemaView(root)).mask("s", "password")[0] == MARK


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=3),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.text(max_size=3) | st.just("x"), inner, max_size=3)
    ),
    max_leaves=8,
)
_PARTS = st.sampled_from(
    [
        {"type": "string"},
        {"type": "object", "properties": {"x": {"$ref": "#"}}},
        {"items": {"$ref": "#/$defs/gone"}},
        {"anyOf": [{"type": "array"}, {"$ref": "#"}]},
        {"additionalProperties": {"type": "integer"}},
        {"type": 5, "properties": [], "prefixItems": {}, "$ref": 5},
    ]
)


class TestAnyValue:
    @given(_JSON, _JSON, _PARTS, st.sampled_from([list, tuple]))
    def test_shows_all_but_the_secret(self, above, beside, part, kind):
        """Wherever a secret stands in whatever a schema describes: it alone is hidden."""
        login = {"password": "hunter2", "x": beside}
        result = hide({"v": kind([above, login])}, {"properties": {"v": part}})
        assert result == {"v": [above, {"password": MARK, "x": beside}]}


class TestAGlance:
    @pytest.mark.every_case
    @pytest.mark.parametrize(
        ("schema", "value"),
        [
            ({"password": {"type": "string"}}, {"password": "a"}),
            ({"n": {"format": "password"}}, {"n": "a"}),
            ({"n": {"type": "integer", "writeOnly": True}}, {"n": 1}),
            ({"n": {"type": "string"}}, {"n": "a", "token": "b"}),
            ({"n": {}}, {"n": {"token": "b"}}),
            ({"n": {}}, {"n": SecretStr("b")}),
            ({"n": {"properties": {"token": {}}}}, {"n": '{"token": "b"}'}),
            ({"n": {}}, {"n": [{"name": "token", "value": "b"}]}),
            ({"n": {"properties": {"user": {}}}}, {"n": {"passwrod": "b"}}),
            ({"n": {}}, {"n": [["https://ada:hunter2@example.org"]]}),
            ({"n": {}}, {"n": [{"passcode": 1234}]}),
            ({"n": {"contains": {"properties": {"q": {"writeOnly": True}}}}}, {"n": [{"q": "b"}]}),
        ],
        ids=str,
    )
    def test_sees_nothing_harmless_where_a_closer_look_may_find_a_secret(self, schema, value):
        """Only JSON under declared names that no secret has is let through unread."""
        secrecy = Secrecy({"type": "object", "properties": schema})
        assert not secrecy.is_harmless(value)
        assert not Secrecy({"properties": schema, "writeOnly": True}).is_harmless(value)

    def test_is_enough_for_most_calls(self):
        """Numbers and texts under names that say nothing are no secrets."""
        schema = {"type": "object", "properties": {"n": {}, "text": {"type": "string"}}}
        assert Secrecy(schema).is_harmless({"n": 1, "text": "hunter2"})
        assert Secrecy(schema).is_harmless({})
        rows = [{"id": 1, "tags": ["a", "b"]}, {"id": 2.5, "tags": None}]
        assert Secrecy(schema).is_harmless({"n": rows})
        rows[1]["tags"] = rows
        assert not Secrecy(schema).is_harmless({"n": rows})
        assert not Secrecy({"type": "string"}).is_harmless({"n": 1})

    def test_looks_at_the_extra_names_of_each_object(self):
        """What one object of a class has in addition says nothing of the next."""
        secrecy = Secrecy(Loose.model_json_schema())
        assert secrecy.is_harmless(Loose(user="ada"))
        assert not secrecy.is_harmless(Loose(password="hunter2"))
        assert secrecy.is_harmless(Loose(user="ada"))

    @given(
        st.dictionaries(
            st.sampled_from(["n", "key", "token"]),
            _PARTS | st.sampled_from([{"format": "password"}, {"enum": ["a"]}, {}]),
        ),
        st.dictionaries(
            st.sampled_from(["n", "key", "token", "other"]),
            st.sampled_from(["a", 1, 1.5, None, "", [], {"token": "b"}]),
        ),
        st.sampled_from([{}, {"type": "object"}, {"type": "array"}]),
    )
    def test_lets_through_what_a_closer_look_does(self, parts, value, root):
        """It is quicker, and never another answer."""
        secrecy = Secrecy({"properties": parts, "$defs": {"gone": {}}, **root})
        if secrecy.is_harmless(value):
            assert secrecy.mask(value) == (value, {})
