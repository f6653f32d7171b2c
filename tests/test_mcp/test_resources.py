"""Resources, templates and prompts as they are listed and read."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolbench.mcp.lists.prompts import prompt_observation, read_prompts
from toolbench.mcp.lists.resources import read_resources, read_templates, resource_observation
from toolbench.testing import FakeMCPServer


class TestLists:
    def test_leave_out_only_what_has_no_name(self):
        """An item without what it is called cannot be asked for; the others can."""
        odd = [
            None,
            {},
            {"uri": 3},
            {"uri": "x://a"},
            {"uri": "x://b", "name": 1, "size": "?"},
        ]
        assert [r.uri for r in read_resources(odd)] == ["x://a", "x://b"]
        assert [r.name for r in read_resources(odd)] == ["x://a", "x://b"]
        assert [p.name for p in read_prompts([{"name": "p", "arguments": "?"}, 3])] == ["p"]


def test_a_read_is_one_request(client):
    """The first read of a resource asks for nothing else, such as the templates."""
    server = FakeMCPServer("s")
    server.resource("memo://a", "hello")
    session = client.connect("s", server)
    session.traffic.clear()
    assert session.read_resource("memo://a").text == "hello"
    assert [m.method for m in session.traffic if m.kind == "request"] == ["resources/read"]


class TestTemplates:
    @pytest.mark.parametrize(
        ("template", "variables", "expanded"),
        [
            ("x://{a}/{b}", ["a", "b"], "x://1%202/v"),
            ("x://{+a}{?b}", ["a", "b"], "x://1%202?b=v"),
            ("x://{a}{?b,a}", ["a", "b"], "x://1%202?b=v&a=1%202"),
            ("x://plain", [], "x://plain"),
            ("x:{/a:1}{.b}{#b}{;b}{&a}", ["a", "b"], "x:/1.v#v;b=v&a=1%202"),
            # FastMCP's wildcard
            ("repo://{b}/{a*}", ["b", "a"], "repo://v/1%202"),
            ("x://{b}/{b}{?b*}", ["b"], "x://v/v?b=v"),
        ],
    )
    def test_name_and_fill_in_their_variables(self, template, variables, expanded):
        """The variables make a form; their values go into the URI as RFC 6570 says."""
        (url_template,) = read_templates([{"uriTemplate": template, "name": "t"}])
        assert url_template.variables == variables
        assert list(url_template.schema["properties"]) == variables
        values = {name: value for name, value in (("a", "1 2"), ("b", "v")) if name in variables}
        assert url_template.expand(**values) == expanded

    @pytest.mark.parametrize(
        ("template", "value", "expanded"),
        [
            ("{+a}", "50%", "50%25"),
            ("{#a}", "%foo", "#%25foo"),
            ("{+a}", "a%20b", "a%20b"),
            ("{;a}", "", ";a"),
            ("{?a}", "", "?a="),
            ("{a:3}", "12é45", "12%C3%A9"),
        ],
    )
    def test_follow_the_rfc_to_the_letter(self, template, value, expanded):
        """A percent sign, an empty value and a length come out as in RFC 6570's examples."""
        (url_template,) = read_templates([{"uriTemplate": template, "name": "t"}])
        assert url_template.expand(a=value) == expanded

    @given(st.text("{}ab+#/.?&;:,*3x$=!|é ", max_size=14))
    def test_that_are_none_hide_nothing(self, text):
        """Whatever a server lists as a template can be listed and shown; to fill it in may fail."""
        (url_template,) = read_templates([{"uriTemplate": text, "name": "t"}])
        values = dict.fromkeys(url_template.schema["properties"], "v")
        try:
            assert isinstance(url_template.expand(**values), str)
        except ValueError as error:
            assert "is not valid by RFC 6570" in str(error)

    def test_say_what_is_missing(self):
        """A template without a value says which."""
        (url_template,) = read_templates([{"uriTemplate": "x://{a}/{b}", "name": "t"}])
        with pytest.raises(ValueError, match="also needs b"):
            url_template.expand(a="1")


class TestPrompts:
    def test_make_a_form_of_texts(self):
        """Arguments are texts; those the server demands are required."""
        arguments = [
            {"name": "a", "required": True, "description": "what"},
            {"name": "b"},
        ]
        (prompt,) = read_prompts([{"name": "p", "arguments": arguments}])
        assert prompt.schema["required"] == ["a"]
        assert prompt.schema["properties"]["a"] == {
            "type": "string",
            "description": "what",
        }

    def test_messages_are_kept_and_read(self):
        """The observation holds each message and what they all say."""
        messages = [
            {"role": "user", "content": {"type": "text", "text": "Hello."}},
            {"role": "assistant", "content": [{"type": "text", "text": "Hi."}]},
        ]
        observation = prompt_observation("p", {"messages": messages, "description": "d"})
        assert observation.messages == messages
        assert observation.text == "Hello.\nHi."


class TestReading:
    def test_texts_are_content(self):
        """A text resource is its text, and JSON in it is data."""
        result = {"contents": [{"uri": "x://a", "text": '{"n": 1}'}]}
        observation = resource_observation("x://a", result)
        assert observation.text == '{"n": 1}'
        assert observation.data == {"n": 1}

    def test_bytes_are_data(self):
        """A binary resource is told to the model and is bytes in Python."""
        result = {"contents": [{"uri": "x://a", "blob": "AAEC", "mimeType": "x/y"}]}
        observation = resource_observation("x://a", result)
        assert "x/y, 3 bytes" in observation.text
        assert observation.data == b"\x00\x01\x02"

    @pytest.mark.parametrize("result", [{}, {"contents": []}, {"contents": "?"}])
    def test_nothing_is_said_to_be_nothing(self, result):
        """An empty answer is no error, and is not silent."""
        assert resource_observation("x://a", result).warnings
