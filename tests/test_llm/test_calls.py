"""What a model sent becomes an action that can run, or an error it can mend."""

from copy import deepcopy

import pytest

from test_llm.chat import TOOLS, chat, one, repair_texts
from test_llm.recorded import FIRST, MESSAGES, SECOND
from test_llm.samples import GREP, WRITE, foreign, taking
from toolbench.core.schema import Observation
from toolbench.core.security import SecurityRisk
from toolbench.errors import (
    ArgumentsError,
    ToolbenchError,
    ToolNotFoundError,
)
from toolbench.llm.calls import (
    FunctionCallNotExistsError,
    FunctionCallValidationError,
    parse_tool_calls,
    respond,
)
from toolbench.llm.calls.call_display import calls_bundle
from toolbench.llm.formats import to_openai


class TestNames:
    """The name that is sent, and the tool that is meant."""

    @pytest.mark.parametrize(
        "name",
        [
            "functions.grep",
            "Grep",
            "GREP",
            " grep",
            "grep ",
            "grep</parameter>",
            "default_api:grep",
        ],
    )
    def test_near_enough(self, name):
        """A name that can mean one tool only is that tool's, and that is told."""
        call = one(chat(FIRST, name))
        assert call.tool is GREP
        assert call.metadata.sent_name == name
        assert repair_texts(call) == [f"the tool {name!r} was read as 'grep'"]

    def test_alias(self):
        """Names models learned elsewhere are known."""
        call = one(chat(SECOND, "str_replace_editor"))
        assert (call.name, call.metadata.sent_name) == (
            "file_editor",
            "str_replace_editor",
        )
        assert repair_texts(call) == ["the tool 'str_replace_editor' was read as 'file_editor'"]

    @pytest.mark.parametrize(
        ("called", "name"),
        [
            ("BashTool", "terminal"),
            ("execute_bash", "terminal"),
            ("bash_tool", "terminal"),
            ("functions.bash", "terminal"),
            ("StrReplaceEditorTool", "file_editor"),
            ("ipython", "execute_ipython_cell"),
            ("IPythonTool", "execute_ipython_cell"),
            ("TaskTrackerTool", "task_tracker"),
            ("web-read", "web_read"),
        ],
    )
    def test_names_of_the_seeds(self, called, name):
        """Every name the seeds use finds its tool, and the repairs say so."""
        names = ("terminal", "file_editor", "task_tracker", "web_read")
        tools = [foreign({"type": "object"}, n) for n in (*names, "execute_ipython_cell")]
        call = one(chat({}, called), tools)
        assert call.name == name
        assert repair_texts(call) == [f"the tool {called!r} was read as {name!r}"]

    @pytest.mark.parametrize(
        ("provider", "answer"), [("openai", "tool_call_id"), ("anthropic", "content")]
    )
    def test_provider_of_a_bare_call(self, provider, answer):
        """A shape everybody could have sent is the provider's that is named."""
        bare = {"name": "grep", "arguments": FIRST}
        assert one(bare).metadata.provider == "mcp"
        call = one(bare, provider=provider)
        assert call.metadata.provider == provider
        assert answer in respond(call, Observation.from_text("x"))

    def test_alias_of_ones_own(self):
        """Other aliases can be given, or none."""
        assert one(chat(FIRST, "rg"), aliases={"rg": "grep"}).tool is GREP
        assert one(chat(SECOND, "str_replace_editor"), aliases={}).error

    def test_own_name_first(self):
        """A tool that is called what another's alias is, is meant."""
        bash = foreign({"type": "object"}, "bash")
        terminal = foreign({"type": "object"}, "terminal")
        assert one(chat({}, "bash"), [terminal, bash]).tool is bash

    def test_two_alike(self):
        """A name that can mean two tools means neither."""
        tools = [foreign({"type": "object"}, n) for n in ("get_file", "getFile")]
        assert one(chat({}, "GetFile"), tools).tool is None

    def test_one_name_twice(self):
        """Of two tools with one name, the first is meant, and it is listed once."""
        first, second, other = (foreign({"type": "object"}, n) for n in ("list", "list", "count"))
        assert one(chat({}, "list"), [first, second, other]).tool is first
        unknown = one(chat({}, "nothing"), [first, second, other])
        assert "The tools are: list, count." in str(unknown.error)

    def test_renamed(self):
        """The stand-in a provider was given leads back to the tool."""
        tool = foreign({"type": "object"}, "jira.issues/list all")
        name = to_openai(tool)["function"]["name"]
        call = one(chat({}, name), [GREP, tool])
        assert (call.tool, call.name) == (tool, "jira.issues/list all")
        assert call.repairs == ()

    def test_unknown(self):
        """An unknown tool is an error with the nearest names."""
        call = one(chat(FIRST, "gerp"))
        assert isinstance(call.error, FunctionCallNotExistsError)
        assert isinstance(call.error, ToolNotFoundError)
        assert "'gerp'" in str(call.error)
        assert "Did you mean 'grep'?" in str(call.error)
        assert call.action is None
        assert call.arguments == FIRST

    def test_many_tools(self):
        """Of many tools, the first twenty are listed."""
        tools = [foreign({"type": "object"}, f"tool_{i}") for i in range(30)]
        assert "and 10 more" in str(one(chat({}, "nothing"), tools).error)

    def test_one_bad_call(self):
        """One call that fails takes nothing from the others."""
        message = deepcopy(MESSAGES["openai"])
        message["choices"][0]["message"]["tool_calls"][0]["function"]["name"] = "nope"
        first, second = parse_tool_calls(message, TOOLS)
        assert first.error
        assert second.action


class TestArguments:
    """Arguments that do not fit are told, every misfit, in the model's words."""

    def problems(self, arguments, tool=GREP):
        call = one(chat(arguments, tool.name), [tool])
        assert isinstance(call.error, FunctionCallValidationError)
        assert call.action is None
        return {p.where: p.message for p in call.error.problems}

    def test_all_of_them(self):
        """Missing, unexpected and wrong: one list."""
        problems = self.problems({"limit": "many", "globs": 3, "pth": "x"})
        assert problems.keys() == {"pattern", "limit", "globs", "pth"}
        assert problems["pattern"] == "is required"
        assert "Did you mean 'path'?" in problems["pth"]

    def test_foreign(self):
        """A foreign schema is as exact."""
        schema = {"n": {"type": "integer", "minimum": 3}, "m": {"enum": ["a", "b"]}}
        tool = taking(schema, "m", additionalProperties=False)
        problems = self.problems({"n": 1, "x": 0}, tool)
        assert problems.keys() == {"n", "m", "x"}
        assert problems["n"] == "should be at least 3"

    def test_sentence(self):
        """The message says what was called, what is wrong, and what to do."""
        call = one(chat({}))
        assert str(call.error) == (
            "The call of 'grep' was not run, 1 problem with its arguments:\n"
            "- pattern: is required\n"
            "Correct this and send the whole call again."
        )
        assert isinstance(call.error, ArgumentsError)
        assert isinstance(call.error, ToolbenchError)

    def test_observation(self):
        """The error is an observation for the model."""
        call = one(chat({}))
        assert call.observation.is_error
        assert call.observation.text == str(call.error)
        assert one(chat(FIRST)).observation is None

    @pytest.mark.parametrize("arguments", ["[]", "3", '"x"', "true", "[{}]", '"[1]"'])
    def test_no_object(self, arguments):
        """Arguments are an object."""
        call = one(chat(arguments))
        assert "JSON object" in str(call.error)

    @pytest.mark.parametrize("arguments", ["", "  ", "null", None, "{}"])
    def test_none(self, arguments):
        """A tool without arguments is called in many ways."""
        message = chat("")
        message["tool_calls"][0]["function"]["arguments"] = arguments
        message["tool_calls"][0]["function"]["name"] = "ping"
        call = one(message, [taking({}), foreign({"type": "object"}, "ping")])
        assert call.action is not None
        assert call.arguments == {}

    def test_names_the_model_knows(self):
        """Where an argument has a stand-in, the error uses it."""
        tool = taking({"$top": {"type": "integer"}}, "$top")
        block = {"type": "tool_use", "id": "x", "name": tool.name, "input": {}}
        (problem,) = one(block, [tool]).error.problems
        assert problem.where.startswith("_top_")

    def test_nested(self):
        """A misfit deep inside has its path."""
        item = {"type": "object", "properties": {"n": {"type": "integer"}}}
        tool = taking({"items": {"type": "array", "items": item}})
        assert self.problems({"items": [{"n": 1}, {"n": []}]}, tool).keys() == {"items[1].n"}


class TestAsides:
    """What a model says of the call itself."""

    def test_taken_out(self):
        """The rating and the summary are no arguments."""
        call = one(chat({**SECOND, "security_risk": "HIGH", "summary": "Save."}, WRITE.name))
        assert call.action
        assert call.arguments == SECOND
        assert call.security_risk is SecurityRisk.HIGH
        assert call.summary == "Save."

    def test_of_a_reader(self):
        """A rating nobody asked for does not spoil the call."""
        assert one(chat({**FIRST, "security_risk": "LOW"})).action

    def test_other_case(self):
        """A rating in another case is read, and that is told."""
        call = one(chat({**FIRST, "security_risk": "low"}))
        assert call.security_risk is SecurityRisk.LOW
        assert repair_texts(call) == ['security_risk: "low" was read as LOW']

    def test_invented(self):
        """An invented level is a problem like any other."""
        call = one(chat({"security_risk": "EXTREME"}))
        assert {p.where for p in call.error.problems} == {"security_risk", "pattern"}

    def test_ones_own(self):
        """A tool's own argument of that name is its own."""
        tool = taking({"summary": {"type": "string"}, "security_risk": {"type": "integer"}})
        call = one(chat({"summary": "x", "security_risk": 3}, tool.name), [tool])
        assert call.arguments == {"summary": "x", "security_risk": 3}
        assert call.summary is call.security_risk is None


class TestShown:
    """A call shows itself without its secrets."""

    def test_repr(self):
        """A secret is hidden, the rest is there."""
        tool = taking({"password": {"type": "string"}, "user": {"type": "string"}})
        text = repr(one(chat({"password": "hunter2", "user": "ada"}, tool.name), [tool]))
        assert "hunter2" not in text
        assert "ada" in text

    def test_repaired_secret(self):
        """Not even a repair quotes it."""
        numbers = {"type": "array", "items": {"type": "integer"}, "writeOnly": True}
        tool = taking({"pin": {"type": "integer", "format": "password"}, "codes": numbers})
        call = one(chat({"pin": "40871234", "codes": ["40875678"]}, tool.name), [tool])
        assert call.arguments == {"pin": 40871234, "codes": [40875678]}
        assert len(call.repairs) == 2
        assert "4087" not in str(calls_bundle([call], [None]))

    def test_state(self):
        """Ready or not, and how much was repaired."""
        assert repr(one(chat({"pattern": "x", "limit": "3"}))).endswith(
            '{"pattern": "x", "limit": 3} ready, 1 repaired>'
        )
        assert "error" in repr(one(chat({})))
