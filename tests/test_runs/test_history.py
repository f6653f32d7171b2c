"""What is kept of runs: enough, never a secret, never too much."""

import gc
import json
import subprocess
import sys
import weakref
from datetime import date
from enum import Enum
from typing import Annotated

import pytest
from pydantic import Field, SecretStr

from test_runs import tools
from toolbench import (
    Conversation,
    ConversationState,
    ImageContent,
    Observation,
    history,
    run_tool,
    tool,
)
from toolbench.errors import ToolbenchError
from toolbench.runs.history import RunHistory
from toolbench.runs.perform import perform
from toolbench.runs.record import LIMIT
from toolbench.runs.run import Run, run_here


@tool
def login(user: str, password: SecretStr, api_token: str = "") -> str:
    """Log in."""
    return f"{user} with {api_token}"


class Color(Enum):
    RED = "red"
    BLUE = "blue"


@tool
def paint(color: Color = Color.RED, day: date | None = None) -> str:
    """Paint."""
    return f"{color.value} on {day}"


class Big:
    """Something large that a tool returns."""

    def __str__(self):
        return "something large"


@tool
def send(key: Annotated[str, Field(alias="api-key")]) -> str:
    """Send a key."""
    return "sent"


ARGUMENTS = {"user": "ada", "password": "hunter2", "api_token": "t0k3n"}
RERUNS = [
    ".rerun(password=getpass('password: '), api_token=getpass('api_token: '))",
    ".rerun({'api-key': getpass('api-key: ')})",
]


class TestNumbers:
    def test_are_of_runs_that_started(self):
        """A click on Run with a field to mend makes a run that never starts: no number is lost."""
        run_tool(tools.add, a=1)
        Run(tools.add, {}, source="button")
        run_tool(tools.add, a=2)
        assert history()[-1].id - history()[-2].id == 1

    def test_of_an_outer_run_comes_first(self):
        """It started first, though it ends last."""

        @tool
        def outer() -> str:
            """Run another tool."""
            return run_tool(tools.add, a=1).text

        run_tool(outer)
        inner, around = history()[-2:]
        assert (inner.tool, around.tool) == ("add", "outer")
        assert around.id < inner.id


class TestRecords:
    def test_say_what_ran_and_how_it_ended(self):
        """A record holds the tool, the arguments as sent, the result and the state."""
        run_tool(tools.add, a=1)
        record = history()[-1]
        assert (record.tool, record.arguments, record.state) == ("add", {"a": 1}, "ok")
        assert record.observation.text == "2"

    def test_show_themselves(self):
        """A record is readable as text and as HTML: what was called, and what came out."""
        run_tool(tools.add, a=1)
        bundle = history()[-1]._repr_mimebundle_()
        for part in ("add", "The user and the model read the same"):
            assert part in bundle["text/plain"]
            assert part in bundle["text/html"]
        assert '"a": 1' in bundle["text/plain"]

    def test_show_arguments_as_they_are_sent(self):
        """A call in Python may have objects: a member of an enum shows its value, a date its text."""
        run_tool(paint, color=Color.BLUE, day=date(2026, 2, 3))
        record = history()[-1]
        sent = {"color": "blue", "day": "2026-02-03"}
        assert record.known_arguments == sent
        texts = [repr(history()), record.to_text(), record.to_html()]
        for text in texts:
            assert "blue" in text and "2026-02-03" in text
            assert "Color." not in text and "datetime.date" not in text
        assert record.rerun().text == "blue on 2026-02-03"

    def test_of_a_file_show_themselves_too(self, tmp_path):
        """A record whose tool is not known is shown by its name."""
        history().persist(tmp_path / "h.ndjson")
        run_tool(tools.add, a=1)
        again = RunHistory()
        again.persist(tmp_path / "h.ndjson")
        assert "add" in again[0].to_html()

    def test_of_this_session_are_in_the_file_too(self, tmp_path):
        """Whoever thinks of a file late loses no run, and the line may run twice."""
        path = tmp_path / "h.ndjson"
        run_tool(tools.add, a=1)
        for _ in range(2):
            history().persist(path)
        run_tool(tools.add, a=2)
        again = RunHistory()
        again.persist(path)
        assert [record.arguments["a"] for record in again] == [1, 2]
        assert len(path.read_text("utf-8").splitlines()) == 2

    def test_keep_what_is_falsy(self):
        """An observation of a tool's own may be falsy; it is a result like any other."""

        class NoneFound(Observation):
            def __bool__(self):
                return False

        @tool
        def search() -> NoneFound:
            """Search."""
            return NoneFound.from_text("nothing found")

        run_tool(search)
        assert history()[-1].observation.text == "nothing found"


class TestSecrets:
    def test_are_nowhere_in_a_record(self):
        """What the schema or the name calls a secret is hidden, in the result as well."""
        run_tool(login, ARGUMENTS)
        record = history()[-1]
        everything = f"{record!r} {record._repr_mimebundle_()} {history().to_json()}"
        assert "hunter2" not in everything
        assert "t0k3n" not in everything
        assert "ada" in record.observation.text

    def test_of_the_conversation_are_hidden(self):
        """A conversation's secrets are masked in arguments and results."""
        state = ConversationState(secrets={"KEY": "s3cr3t"})
        run = Run(
            tools.erase,
            {"path": "/tmp/s3cr3t"},
            source="python",
            conversation=Conversation(state),
        )
        perform(run)
        assert "s3cr3t" not in history().to_json()

    def test_inside_objects_and_lists_are_hidden(self):
        """However deep a secret lies, and whatever else it is found in."""

        @tool
        def deep(servers: list[dict[str, str]]) -> str:
            """Say everything."""
            return str(servers)

        run_tool(deep, servers=[{"host": "h", "password": "hunter2"}])
        assert "hunter2" not in history().to_json()
        assert "'host': 'h'" in history()[-1].observation.text


class TestRunningAgain:
    def test_takes_the_same_arguments(self):
        """A record can be run again, with the same arguments or others."""
        run_tool(tools.add, a=1)
        assert history()[0].rerun().text == "2"
        assert history()[0].rerun(b=5).text == "6"
        assert history()[0].rerun({"a": 2}, b=5).text == "7"
        assert len(history()) == 4

    def test_takes_arguments_of_any_name(self):
        """No name is taken: the tool may have arguments called like ours."""

        @tool
        def read(self: str, source: str = "a", confirm: bool = False) -> str:
            """Say what was given."""
            return f"{self} {source} {confirm}"

        run_tool(read, {"self": "x"})
        again = history()[0].rerun(source="b", confirm=True, self="y")
        assert again.text == "y b True"
        assert history()[1].source == "python"

    def test_is_part_of_the_same_conversation(self):
        """The executor is given what it was given, and its secrets stay secrets."""

        @tool
        def connect(key: str, conversation: object) -> str:
            """Say where."""
            return f"{conversation.state.workspace.working_dir} {key}"

        state = ConversationState("/somewhere", secrets={"KEY": "s3cr3t"})
        perform(run_here(connect, {"key": "k"}, conversation=Conversation(state)))
        assert history()[0].rerun(key="s3cr3t").text == "/somewhere <secret-hidden>"
        assert "s3cr3t" not in history().to_json()

    def test_needs_the_secrets_again(self):
        """Dots are never sent as a password: what was not kept has to be given."""
        run_tool(login, ARGUMENTS)
        with pytest.raises(ToolbenchError, match="did not keep password, api_token"):
            history()[0].rerun()
        run_tool(send, {"api-key": "s3cret-key"})
        for record, call in zip(history(), RERUNS, strict=True):
            with pytest.raises(ToolbenchError) as raised:
                record.rerun()
            lines = str(raised.value).split("\n")
            assert lines[1:3] == ["from getpass import getpass", "from toolbench import history"]
            assert lines[3] == f"history().find({record.id}){call}"
        assert history()[0].known_arguments == {"user": "ada"}
        changes = {"password": "other-one", "api_token": ""}
        assert history()[0].rerun(**changes).text == "ada with "

    def test_asks_like_any_run_of_its_source(self, monkeypatch):
        """Repeating something destructive by a magic asks as it did the first time."""
        perform(run_here(tools.erase, {"path": "x"}, "magic"), confirm=False)

        def no_input(prompt):
            raise EOFError

        monkeypatch.setattr("builtins.input", no_input)
        assert perform(history()[0].again("magic")).is_error
        assert not history()[0].rerun().is_error


class TestMemory:
    def test_a_huge_result_does_not_stay(self):
        """A result of many megabytes is not kept; its start is."""

        @tool
        def shout() -> str:
            """Return far too much."""
            return "a" * (3 * LIMIT)

        assert len(run_tool(shout).text) == 3 * LIMIT
        text = history()[-1].observation.text
        assert text.startswith("aaaa")
        assert "3,000,0" in text
        assert len(text) < LIMIT / 10

    def test_a_huge_image_does_not_stay(self):
        """It counts like text."""

        @tool
        def draw() -> Observation:
            """Return far too large an image."""
            return Observation(content=[ImageContent(image_urls=["data:," + "a" * (3 * LIMIT)])])

        assert run_tool(draw).content[0].type == "image"
        assert history()[-1].size < LIMIT

    def test_python_objects_do_not_stay(self):
        """What a function returned is given to the caller, and not kept alive."""
        references = []

        @tool
        def make() -> object:
            """Return an object."""
            references.append(weakref.ref(big := Big()))
            return big

        assert isinstance(run_tool(make).result, Big)
        gc.collect()
        assert references[0]() is None
        assert history()[-1].observation.text == '"something large"'

    def test_huge_arguments_do_not_stay(self):
        """An argument of many megabytes is counted; the record cannot be run again with it."""
        run_tool(tools.erase, path="x" * (2 * LIMIT))
        assert history()[-1].size < LIMIT * 3
        assert len(history()[-1].arguments["path"]) < 100
        with pytest.raises(ToolbenchError, match="did not keep path"):
            history()[-1].rerun()

    def test_is_bounded_by_count_and_by_size(self):
        """The oldest records go first, when there are too many or they are too large."""
        few, small = RunHistory(size=2), RunHistory(room=200)
        for n in range(5):
            run_tool(tools.erase, path=f"{n}" * 50)
            few.add(history()[-1])
            small.add(history()[-1])
        assert [r.arguments["path"][0] for r in few] == ["3", "4"]
        assert [r.arguments["path"][0] for r in small] == ["4"]

    @pytest.mark.parametrize("odd", ["\ud800", float("nan"), b"\xff", "\x00\x1b[0m"])
    def test_takes_what_json_cannot(self, odd, tmp_path):
        """Whatever a tool returns or is given, it is recorded, and the file stays readable."""
        history().persist(tmp_path / "h.ndjson")

        class Odd(Observation):
            thing: object

        @tool
        def give(value: object = None) -> Observation:
            """Give it back."""
            return Odd(thing=odd, content=[])

        run_tool(give, value=odd)
        assert history()[-1].state == "ok"
        line = (tmp_path / "h.ndjson").read_text()
        json.loads(line, parse_constant=lambda name: pytest.fail(name))


class TestHistory:
    def test_becomes_a_dataframe(self):
        """A row per run; without runs, the columns."""
        assert "decision" in history().to_dataframe().columns
        run_tool(tools.add, a=1)
        run_tool(tools.fail)
        assert list(history().to_dataframe()["state"]) == ["ok", "error"]
        # It failed while it ran
        assert [record.refused for record in history()] == ["", ""]
        assert history().df.equals(history().to_dataframe())

    def test_becomes_json(self):
        """An array of objects."""
        run_tool(tools.add, a=1)
        [record] = json.loads(history().to_json())
        assert (record["tool"], record["arguments"]) == ("add", {"a": 1})

    def test_reads_well(self):
        """It is a table a person can read; no run is a sentence."""
        assert repr(history()) == "No runs yet."
        for n in range(25):
            run_tool(tools.add, a=n)
        bundle = history()._repr_mimebundle_()
        assert "The last 20 of 25 runs." in bundle["text/plain"]
        assert "a = 24" in bundle["text/html"]
        newest = bundle["text/plain"].index("a = 24")
        assert newest < bundle["text/plain"].index("a = 23")

    def test_says_which_numbers_are_missing(self):
        """A person who counts need not ask where a run is."""
        run_tool(tools.add, a=1)
        slow = [run_here(tools.add, {"a": 2}) for _ in range(3)]
        for run in slow:
            run.begin()
        run_tool(tools.add, a=3)
        first, last = history()[0].id, history()[1].id
        assert last - first == 4
        remark = f"Missing numbers: {first + 1} to {last - 1}. A run is listed when it has ended."
        assert history().remarks_on(history()[:]) == [remark]
        assert remark in repr(history())
        perform(slow[1])
        assert history().remarks_on(history()[:]) == [
            f"Missing numbers: {first + 1}, {last - 1}. A run is listed when it has ended."
        ]
        assert history().remarks_on(history()[-1:]) == ["The last 1 of 3 runs."]

    def test_shows_the_start_of_what_is_long(self):
        """A cell of the table has a limit, as the table has."""
        for _ in range(3):
            run_tool(tools.erase, path="word " * 10_000)
        for text in history()._repr_mimebundle_().values():
            assert 3 * 10 < text.count("word") < 3 * 100

    def test_finds_the_newest_of_a_number(self):
        """Numbers of other sessions may be the same."""
        run_tool(tools.add, a=1)
        number = history()[-1].id
        assert history().find(number) is history()[-1]
        assert history().find(-1) is None


def test_a_record_from_a_file_runs_again_in_a_new_process(tmp_path):
    """Nothing but `history` has to be imported for that: it knows who runs tools."""
    journal = tmp_path / "runs.jsonl"
    history().persist(journal)
    run_tool(tools.add, a=1)
    script = f"""
from toolbench import history, register_tool, tool

history().persist({str(journal)!r})

@tool
def add(a: int, b: int = 1) -> int:
    return a + b

register_tool("add", add)
assert history()[0].rerun(a=2).text == "3"
assert [record.tool for record in history()] == ["add", "add"]
"""
    done = subprocess.run(
        [sys.executable, "-c", script], check=False, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
