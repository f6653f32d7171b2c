import pytest
from IPython.core.error import UsageError

from toolbench import history
from toolbench.core.tool import ToolDefinition
from toolbench.errors import BodyError, ToolFailedError, ToolNotFoundError
from toolbench.magics.catalog import Entry


def line(shell, text):
    name, _, rest = text.removeprefix("%").partition(" ")
    return shell.run_line_magic(name, rest)


def cell(shell, head, body):
    return shell.run_cell_magic("tool", head, body)


class TestTools:
    def test_lists_name_source_and_first_line(self, shell):
        """%tools shows each tool once, with where it is from and what it does."""
        rows = {r[0]: r[1:] for r in line(shell, "%tools").rows}
        assert rows["add"] == ("notebook", "Add two numbers.")

    @pytest.mark.parametrize(
        ("description", "summary"),
        [
            ("Finds files. Source of the names: a seed.", "Finds files."),
            ("Reads files, e.g. Python. `x` is not.", "Reads files, e.g. Python."),
            ("Needs Python 3.11. That is all", "Needs Python 3.11."),
            ("Shows J. Doe's v1.2 page", "Shows J. Doe's v1.2 page"),
            ("Is it there? Perhaps.", "Is it there?"),
            ("One line\nand another. More.", "One line"),
            ("", ""),
        ],
    )
    def test_says_in_a_sentence_what_a_tool_does(self, description, summary):
        """The first one of the description; where names come from is for the source."""
        assert Entry("x", "registry", description, "", ToolDefinition).summary == summary

    @pytest.mark.parametrize("pattern", ["gre", "gr*t", "greet", "GREET"])
    def test_takes_a_part_or_a_pattern(self, shell, pattern):
        """A part of the name, or a pattern with *, narrows the list."""
        assert [r[0] for r in line(shell, f"%tools {pattern}").rows] == ["greet"]

    def test_says_when_nothing_matches(self, shell):
        """No match is a sentence, in text for any front end."""
        assert "No tool matches 'xyz'" in repr(line(shell, "%tools xyz"))


class TestOlderNames:
    @pytest.mark.parametrize("name", ["execute_bash", "BashTool", "bash", "Terminal"])
    def test_mean_the_tool_of_today(self, shell, name):
        """A name the seeds or a model know a runtime tool by is understood, and not listed."""
        shell.run_cell(
            "@tool(name='terminal')\ndef run(command: str) -> str:\n    'Run.'\n    return command"
        ).raise_error()
        assert line(shell, f"%tool {name} command=ls").text == "ls"
        assert [r[0] for r in line(shell, "%tools term").rows] == ["terminal"]


class TestRun:
    def test_with_words(self, shell):
        """key=value: JSON where it can be; the observation is the value."""
        assert line(shell, "%tool add a=2 b=3").result == 5

    @pytest.mark.parametrize(
        ("word", "text"),
        [
            (r"C:\Users\ada\f.txt", r"C:\Users\ada\f.txt"),
            (r"\d+\n", r"\d+\n"),
            ("C:\\", "C:\\"),
            (r"My\ Files\a", r"My Files\a"),
            (r"'C:\Users'\ada", r"C:\Users\ada"),
            (r"C:\\Users", r"C:\Users"),
        ],
    )
    def test_keeps_a_backslash_that_escapes_nothing(self, shell, word, text):
        """Only before a blank, a quote or another backslash it escapes, as in a shell's quotes."""
        assert line(shell, f"%tool greet name={word}").text == f"Hello {text}"

    def test_shows_no_secret(self, shell):
        """The cell, which is saved, hides what a tool repeats; a variable holds what came."""
        shell.run_cell(
            "@tool\ndef log_in(password: str, right: bool = True) -> str:\n    'Log in.'\n"
            "    assert right, f'{password} is wrong'\n    return f'in with {password}'\n"
            "word = 'hunter2'"
        ).raise_error()
        assert "hunter2" not in line(shell, '%tool log_in {"password": "${word}"}').text
        line(shell, '%tool log_in -o got {"password": "${word}"}')
        assert shell.user_ns["got"].text == "in with hunter2"
        with pytest.raises(ToolFailedError) as raised:
            line(shell, '%tool log_in {"password": "${word}", "right": false}')
        assert "is wrong" in str(raised.value)
        assert "hunter2" not in str(raised.value)

    def test_keeps_text_for_text(self, shell):
        """An argument the schema calls a string stays text, even if it looks like a number."""
        assert line(shell, "%tool greet name=007").text == "Hello 007"

    @pytest.mark.parametrize(("words", "text"), [("7", "7"), ("true", "true"), ("null", "None")])
    def test_keeps_text_for_optional_text(self, shell, words, text):
        """So it does where the argument may be null, and null is null."""
        shell.run_cell(
            "@tool\ndef echo(text: str | None = None) -> str:\n    'Echo.'\n    return str(text)"
        ).raise_error()
        assert line(shell, f"%tool echo text={words}").text == text

    def test_with_an_object(self, shell):
        """JSON on the line keeps its quotes."""
        assert line(shell, '%tool greet {"name": "Ada Lovelace"}').text == "Hello Ada Lovelace"

    @pytest.mark.parametrize(
        ("options", "body"),
        [
            ("", '{"a": 2, "b": 3}'),
            ("", "a: 2\nb: 3"),
            ("-f json", '{"a": 2, "b": 3}'),
            ("-f yaml", "{a: 2, b: 3}"),
            ("-f py", "a = 1 + 1\nb = 3"),
            ("b=3", "a: 2"),
            ('{"b": 3}', "a: 2"),
        ],
    )
    def test_with_a_body(self, shell, options, body):
        """The body of %%tool holds the arguments, in three forms, beside those on the line."""
        assert cell(shell, f"add {options}", body).result == 5

    @pytest.mark.parametrize(
        "body",
        [
            "_k = 2\na = sum(_k for _ in range(2))",
            "import math\na = math.floor(4.5)",
            "from math import floor\na = floor(4.5)",
            "def f():\n    return 4\na = f()",
            "class C:\n    n = 4\na = C.n",
            "a = 2\ndef g():\n    return a + 1\nb = g() - 1\na = 3 - 1 + 1",
            "if n:\n    a = n\n",
            "a, b = n, 1",
            "n_ = 3\na = n_ + 1\ndel n_",
        ],
    )
    def test_with_a_body_in_python(self, shell, body):
        """It runs as a cell does; the names it assigns are arguments, helpers are not."""
        shell.user_ns["n"] = 4
        assert cell(shell, "add -f py", body).result == 5
        assert shell.user_ns["n"] == 4
        assert "a" not in shell.user_ns

    def test_fills_in_variables(self, shell):
        """The string ${name} becomes the object of that name, and nothing else is expanded."""
        shell.user_ns["n"] = 41
        assert cell(shell, "add", '{"a": "${n}"}').result == 42
        assert line(shell, "%tool greet name='{n} $n'").text == "Hello {n} $n"
        # Its text may be of a stranger
        shell.user_ns |= {"page": "${n}"}
        assert line(shell, "%tool greet name=${page}").text == "Hello ${n}"
        assert cell(shell, "greet", "name: ${page}").text == "Hello ${n}"
        assert cell(shell, "greet -f py", "name = page").text == "Hello ${n}"

    def test_keeps_the_result(self, shell):
        """-o VAR keeps the observation, and the cell shows nothing."""
        assert line(shell, "%tool add a=1 -o kept") is None
        assert shell.user_ns["kept"].result == 2

    @pytest.mark.parametrize(
        "text",
        [
            'add {"a": 1} -o kept',
            'add -o kept {"a": 1}',
            'add {"a": 1} -o kept --timeout 5 b=1',
            'add --timeout=5 {"a": 1} --out kept',
        ],
    )
    def test_takes_an_object_anywhere(self, shell, text):
        """JSON stands before, after or between the options."""
        assert line(shell, f"%tool {text}") is None
        assert shell.user_ns["kept"].result == 2

    @pytest.mark.parametrize("text", ["name='a {b}'", "name='a {\"b\": 1} c' -o kept"])
    def test_leaves_braces_in_quotes_alone(self, shell, text):
        """A brace inside a quoted word begins no JSON."""
        observation = line(shell, f"%tool greet {text}") or shell.user_ns["kept"]
        assert observation.text.startswith("Hello a {")

    def test_is_recorded(self, shell):
        """A run by magic is in the history, as one."""
        line(shell, "%tool add a=1")
        assert [(r.tool, r.source) for r in history()] == [("add", "magic")]

    def test_asks_before_destroying(self, shell, monkeypatch):
        """A destructive tool asks, unless --yes says it need not."""
        monkeypatch.setattr("builtins.input", lambda prompt: "n")
        with pytest.raises(ToolFailedError, match="You declined; erase was not run"):
            line(shell, "%tool erase path=x")
        assert line(shell, "%tool erase path=x --yes").text == "erased x"

    @pytest.mark.parametrize("name", ["mcp", "openai", "responses", "anthropic", "gemini"])
    def test_shows_what_a_model_is_given(self, shell, name):
        """`%tools schema` gives the provider's dict."""
        assert "Add two numbers." in str(line(shell, f"%tools schema add {name}"))


class TestMistakes:
    """Each is one sentence that says what to do."""

    @pytest.mark.parametrize(
        ("text", "kind", "message"),
        [
            ("%tool", UsageError, "Which tool?"),
            ("%tool ad a=1", ToolNotFoundError, "Did you mean 'add'?"),
            ("%tool zzz a=1", ToolNotFoundError, "%tools lists them all"),
            ("%tool add a", UsageError, "Expected key=value, not 'a'"),
            ("%tool add 'a=1", UsageError, "No closing quotation"),
            ("%tool add --frob a=1", UsageError, "%tool has no option '--frob'. %tool --help"),
            ("%tool add --timout 5", UsageError, "Did you mean '--timeout'"),
            ("%tools schema add xml", UsageError, "invalid choice: 'xml'"),
            ('%tool add {"a": 1} -o class', UsageError, "'class' cannot be the name"),
            ("%tool add a=1 -o 2x", UsageError, "'2x' cannot be the name"),
            ("%tool add a=1 --timeout -3", UsageError, "--timeout 300, not '-3'"),
            ("%tool add a=1 --timeout 0", UsageError, "--timeout 300, not '0'"),
            ("%tool add a=1 --timeout nan", UsageError, "--timeout 300, not 'nan'"),
            ("%tool add a=1 --timeout soon", UsageError, "--timeout 300, not 'soon'"),
            ('%tool add {"a": 1 -o x', BodyError, "The body is not JSON"),
            ('%tool add {"a": 1} {"b": 2}', UsageError, "Expected key=value"),
            ("%tool add b=1", ToolFailedError, "add: a: is required"),
            ("%tool add a=x", ToolFailedError, "a: should be an integer"),
            (
                "%tool add a=1 c=1",
                ToolFailedError,
                "c: is an unknown argument",
            ),
            ("%tool add a=${nope}", BodyError, "There is no variable 'nope'"),
            ("%tool fail {}", ToolFailedError, "fail: ValueError: the disk is full"),
            ("%tools history --rerun 99", UsageError, "There is no run 99"),
        ],
    )
    def test_on_the_line(self, shell, text, kind, message):
        """What is not understood, or would be ignored, is one sentence."""
        with pytest.raises(kind) as caught:
            line(shell, text)
        assert message in str(caught.value)

    @pytest.mark.parametrize(
        ("options", "body", "message"),
        [
            ("", '{"a": 1,', "The body is not JSON: Expecting"),
            ("-f yaml", "a: [1", "The body is not YAML:"),
            ("", "- 1\n- 2", "this is a list"),
            ("-f json", "3", "this is an int"),
            ("", "just text", "this is a str"),
            ("-f py", "a = (", "The body is not Python that runs: SyntaxError"),
            ("-f py", "a = 1 / 0", "ZeroDivisionError: division by zero"),
        ],
    )
    def test_in_the_body(self, shell, options, body, message):
        with pytest.raises(BodyError) as caught:
            cell(shell, f"add {options}", body)
        assert message in str(caught.value)

    @pytest.mark.parametrize("kind", ["def", "async def"])
    def test_of_a_tool_name_the_line_of_the_cell(self, shell, kind, monkeypatch):
        """The last line that the person wrote, also if a library raised the error in it."""
        monkeypatch.setattr("IPython.get_ipython", lambda: shell)
        cells = [
            "import json\n\ndef read(text):\n    return json.loads(text)",
            f"@tool\n{kind} load(text: str) -> str:\n    'Load.'\n    return read(text)",
        ]
        for code in cells:
            shell.run_cell(code, store_history=True).raise_error()
        number = shell.execution_count - len(cells)
        with pytest.raises(ToolFailedError) as caught:
            line(shell, "%tool load text=x")
        assert str(caught.value) == (
            "load: JSONDecodeError: Expecting value: line 1 column 1 (char 0) "
            f"(In[{number}], line 4, in read)"
        )

    def test_show_no_traceback(self, shell):
        """IPython shows the sentence alone."""
        error = shell.run_cell("%tool ad").error_in_exec
        assert error._render_traceback_() == [f"ToolNotFoundError: {error}"]

    def test_empty_bodies_are_no_arguments(self, shell):
        """An empty body runs the tool without arguments: here that is a missing one."""
        with pytest.raises(ToolFailedError, match="a: is required"):
            cell(shell, "add", "\n")


class TestRedefinition:
    """The first law: a cell that is run again replaces what it defined."""

    def test_by_decorator(self, shell):
        shell.run_cell(
            "@tool\ndef add(a: int) -> str:\n    'Add anew.'\n    return 'new'"
        ).raise_error()
        assert line(shell, "%tool add a=1").text == "new"
        assert [r[0] for r in line(shell, "%tools add").rows] == ["add"]

    def test_by_classes(self, shell, registered):
        source = """
from toolbench import Action, Observation, ToolDefinition
class EchoAction(Action):
    text: str
class EchoObservation(Observation):
    pass
class EchoTool(ToolDefinition[EchoAction, EchoObservation]):
    @classmethod
    def create(cls, conv_state=None, **params):
        return [cls(description="Echo.", action_type=EchoAction,
                    observation_type=EchoObservation,
                    executor=lambda action: EchoObservation.from_text(action.text + "%s"))]
from toolbench import register_tool
register_tool("echo_registered", EchoTool)
echo = EchoTool.create()[0]
"""
        registered("echo_registered")
        for mark in ("!", "?"):
            shell.run_cell(source % mark).raise_error()
            assert line(shell, "%tool echo text=hi").text == f"hi{mark}"
            assert shell.ev("EchoAction.resolve_kind('EchoAction') is EchoAction")
            assert shell.ev("echo(EchoAction(text='x'))").text == f"x{mark}"

    def test_under_another_variable(self, shell):
        """Of two tools of one name the one defined last is meant, whatever the variables."""
        source = "@tool(name='t')\ndef {0}() -> str:\n    'T.'\n    return '{0}'"
        for variable in ("x", "y", "x"):
            shell.run_cell(source.format(variable)).raise_error()
            assert line(shell, "%tool t --yes").text == variable

    def test_by_factory(self, shell, registered):
        """A factory that is registered anew takes the place of the old, whose tool ends."""
        source = """
from toolbench import Action, ToolDefinition, ToolExecutor, register_tool
class Said(ToolExecutor):
    closed = False
    def __call__(self, action, conversation=None):
        return "%s"
    def close(self):
        type(self).closed = True
def made(conv_state=None):
    return [ToolDefinition(name="again", action_type=Action, executor=Said())]
register_tool("again", made)
"""
        registered("again")
        shell.run_cell(source % "first").raise_error()
        assert line(shell, "%tool again --yes").text == "first"
        old = shell.ev("Said")
        shell.run_cell(source % "second").raise_error()
        assert line(shell, "%tool again --yes").text == "second"
        assert old.closed
        assert not shell.ev("Said.closed")

    def test_by_registered_class(self, shell, registered):
        """So does a class that is only defined anew, without being registered again."""
        source = """
from toolbench import Action, ToolDefinition, register_tool
class AnewTool(ToolDefinition):
    @classmethod
    def create(cls, conv_state=None):
        return [cls(action_type=Action, executor=lambda action: "%s")]
"""
        registered("anew")
        shell.run_cell(source % "first" + "register_tool('anew', AnewTool)")
        assert line(shell, "%tool anew --yes").text == "first"
        shell.run_cell(source % "second").raise_error()
        assert line(shell, "%tool anew --yes").text == "second"


class TestRegistered:
    def test_is_made_once(self, shell, registered):
        """What a registered tool keeps, it keeps from one cell to the next."""
        registered("counter")
        shell.run_cell(
            """
from itertools import count
from toolbench import Action, ToolDefinition, register_tool
def made(conv_state=None):
    numbers = count(1)
    return [ToolDefinition(name="counter", action_type=Action,
                           executor=lambda action: str(next(numbers)))]
register_tool("counter", made)
"""
        ).raise_error()
        texts = [line(shell, "%tool counter --yes").text for _ in range(3)]
        assert texts == ["1", "2", "3"]

    def test_that_makes_none(self, shell, registered):
        """A recipe that makes no tools is a sentence."""
        registered("none")
        shell.run_cell(
            "from toolbench import register_tool\nregister_tool('none', lambda conv_state=None: [])"
        ).raise_error()
        with pytest.raises(ToolNotFoundError, match="'none' creates no tools"):
            line(shell, "%tool none --yes")
