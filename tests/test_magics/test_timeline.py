"""%mcp timeline and history().timeline(): when things happened in a session."""

import json
from threading import Event
from time import time

import pytest
from fastmcp import Context, FastMCP
from patience import PATIENCE, eventually

from toolbench import Conversation, answering, current_run, history, run_tool, tool
from toolbench.agent import Agent
from toolbench.llm.models import Answer, ScriptedModel, Usage
from toolbench.runs.history import RunHistory
from toolbench.runs.perform import perform, start
from toolbench.runs.questions import Answer as Reply
from toolbench.runs.run import Run

server = FastMCP("lib")


@server.tool
async def count(ctx: Context, shelf: int) -> str:
    """Count."""
    await ctx.report_progress(1, 2, "half")
    await ctx.info(f"shelf {shelf}")
    return f"{shelf} books"


@server.tool
def fail() -> str:
    """Fail."""
    raise ValueError("there is no shelf")


@tool
def shout(text: str) -> str:
    """Shout after a question."""
    if current_run().ask(f"Really shout {text}?"):
        return text.upper()
    return text


@pytest.fixture
def library(shell, mcp):
    """Connects two servers with the same tools."""
    shell.user_ns["server"] = server
    for name in ("lib", "other"):
        mcp(f"connect {name} server")
    yield
    mcp("disconnect --all --forget")


def of_kind(timeline, kind):
    return [each for each in timeline.spans if each.kind == kind]


@pytest.mark.filterwarnings("ignore:The logging capability is deprecated")
def test_a_call_is_a_run_and_what_went_back_and_forth(shell, mcp, library):
    """Each in its lane; the request is within its run, and what the server sent, within the request."""
    shell.run_line_magic("tool", "lib.count shelf=3 --yes")
    timeline = mcp("timeline lib")
    (run,) = of_kind(timeline, "run")
    (request,) = [each for each in of_kind(timeline, "request") if each.tool]
    (progress,) = of_kind(timeline, "progress")
    (log,) = of_kind(timeline, "log")
    assert (run.lane, request.lane, log.lane) == ("runs", "lib sent", "lib received")
    assert run.start <= request.start <= progress.start <= request.end
    assert (progress.text, run.state, request.state) == ("half", "ok", "ok")
    assert "shelf 3" in log.text
    assert of_kind(timeline, "connection")
    assert [row.name for row in timeline.by_tool()] == ["lib.count"]
    assert not [each for each in mcp("timeline other").spans if each.kind == "run"]
    assert {"lib sent", "other sent"} <= set(mcp("timeline").lanes())


def test_words_after_the_server_are_a_filter(shell, mcp, library):
    """The first word is a server if one is called so."""
    for name in ("lib", "other"):
        shell.run_cell(f"%tool {name}.fail --yes")
    failed = mcp("timeline lib failed")
    assert {(each.state, each.server) for each in failed.spans} == {("failed", "lib")}
    assert {each.server for each in mcp("timeline failed").spans} == {"lib", "other"}
    assert not mcp("timeline lbi").spans


def test_a_run_that_waits_shows_its_question_and_then_its_answer(shell):
    """The question is open while nobody answers; the time of waiting is no time of work."""
    seen = []

    def answer(question):
        seen.append(history().timeline())
        return Reply("accept", {"answer": True})

    run = Run(shout, {"text": "hey"}, source="python", asker=answer)
    perform(run)
    states = [(each.kind, each.state, each.name) for each in seen[0].spans]
    assert states == [("run", "open", "shout"), ("question", "waiting", "Really shout hey?")]
    now = seen[0].latest()
    (question,), (ended,) = of_kind(now, "question"), of_kind(now, "run")
    assert (ended.state, question.text, question.key) == ("ok", "yes", ended.key)
    assert ended.start <= question.start <= question.end <= ended.end
    assert ended.waited == pytest.approx(question.end - question.start, abs=0.05)


def test_consent_and_long_questions_have_their_answers(shell):
    """What was decided is the answer to a question for consent, and to no other."""
    erase = shell.user_ns["erase"]
    perform(Run(erase, {"path": "/x"}, source="magic", asker=lambda question: Reply("decline")))
    with answering(False):
        run_tool(shout, text="hey " * 100)
    consent, long = of_kind(history().timeline(), "question")
    assert consent.text.startswith("declined: erase can delete")
    assert long.name.endswith("…")
    assert long.text == "no"


def test_a_question_that_is_asked_twice_has_two_answers(shell):
    """Each span has its own."""

    @tool
    def insist() -> str:
        """Ask until it is a yes."""
        while not current_run().ask("Go on?"):
            pass
        return "on"

    with answering(False, True):
        run_tool(insist)
    assert [each.text for each in of_kind(history().timeline(), "question")] == ["no", "yes"]


def test_a_run_that_ends_while_somebody_looks_is_there_once(shell):
    """From its beginning to its record."""
    seen = []
    stop_looking = history().observe(None, lambda: seen.append(history().timeline().spans))
    run_tool(shell.user_ns["erase"], path="/x")
    stop_looking()
    assert [[each.state for each in spans] for spans in seen] == [["ok"]]


def test_a_run_that_goes_on_is_open(shell):
    """Also one in another thread, until it ends."""
    go_on = Event()

    @tool
    def hold() -> str:
        """Hold on."""
        go_on.wait(PATIENCE)
        return "over"

    run = Run(hold, {}, source="python")
    start(run)
    timeline = eventually(lambda: history().timeline() if history().timeline().spans else None)
    assert [each.state for each in timeline.spans] == ["open"]
    go_on.set()
    run.done.wait(PATIENCE)
    assert [each.state for each in timeline.latest().spans] == ["ok"]


def test_a_file_keeps_when_a_run_waited(shell, tmp_path):
    """The questions of a journal are spans too; a file of an earlier version has none."""
    with answering(True):
        run_tool(shout, text="hey")
    history().persist(tmp_path / "runs.jsonl")
    line = json.loads((tmp_path / "runs.jsonl").read_text())
    old = {key: value for key, value in line.items() if key != "waits"} | {"session": "older"}
    with (tmp_path / "runs.jsonl").open("a") as file:
        file.write(json.dumps(old) + "\n")
    read = RunHistory()
    read.persist(tmp_path / "runs.jsonl")
    kinds = [each.kind for each in read.timeline().spans]
    assert sorted(kinds) == ["question", "run", "run"]
    assert of_kind(read.timeline(), "question") == of_kind(history().timeline(), "question")


def test_no_secret_is_in_a_timeline(shell, mcp):
    """A question may repeat one, and so may a result."""

    @tool
    def login(password: str) -> str:
        """Log in."""
        current_run().ask(f"Is {password} right?")
        return f"in with {password}"

    with answering(True):
        run_tool(login, password="hunter2-hunter2")
    timeline = mcp("timeline")
    shown = "".join(timeline._repr_mimebundle_().values())
    assert of_kind(timeline, "question")
    assert "hunter2" not in shown + timeline.to_svg() + str(timeline.spans)


def test_answers_of_a_model_have_tokens_and_cost(shell, mcp):
    """Those of the conversations in variables, each once; a failed request is one too."""
    answers = [Answer({"role": "assistant", "content": "Hi."}, None, Usage(900, 80, 0.02))]
    chat = Conversation(agent=Agent(ScriptedModel([*answers, ConnectionError("gone")]), []))
    shell.user_ns.update(chat=chat, again=chat)
    for _ in range(2):
        chat.send_message("Hello")
        chat.run()
    answer, failure = of_kind(mcp("timeline"), "answer")
    assert (answer.lane, answer.tokens, answer.cost, answer.text) == (
        "model",
        980,
        0.02,
        "Model: Hi.",
    )
    assert failure.state == "failed"
    assert "gone" in failure.text
    (row,) = mcp("timeline").by_tool()
    assert (row.kind, row.calls, row.failed, row.tokens) == ("model", 2, 1, 980)


def test_an_answer_before_a_fork_counts_once(shell, mcp):
    """The fork has it too, but it was paid for once."""
    answers = [
        Answer({"role": "assistant", "content": text}, None, Usage(9, 1, 0.5)) for text in "ab"
    ]
    chat = Conversation(agent=Agent(ScriptedModel(answers), []))
    chat.send_message("Hello")
    chat.run()
    fork = chat.fork()
    fork.send_message("Again")
    fork.run()
    shell.user_ns.update(chat=chat, fork=fork)
    assert [each.text for each in of_kind(mcp("timeline"), "answer")] == ["Model: a", "Model: b"]
    (row,) = mcp("timeline").by_tool()
    assert (row.calls, row.tokens, row.cost) == (2, 20, 1.0)


def test_a_conversation_in_no_variable_is_known_by_its_calls(shell, mcp):
    """As one that a function makes."""
    call = {
        "id": "1",
        "type": "function",
        "function": {"name": "erase", "arguments": '{"path": "/x"}'},
    }
    answers = [{"role": "assistant", "tool_calls": [call]}, "Done."]
    chat = Conversation(agent=Agent(ScriptedModel(answers), [shell.user_ns["erase"]]))
    with answering(True):
        chat.send_message("Erase it.")
        chat.run()
    texts = [each.text for each in of_kind(mcp("timeline"), "answer")]
    assert texts == ["calls erase", "Model: Done."]


@pytest.mark.slow
def test_what_gets_no_answer_ends_with_its_connection(shell, mcp):
    """A server that dies in a call: the request failed, and did not go on until the next connection."""
    mcp("connect example")
    shell.run_cell("%tool exit_in_call --yes")
    dead = time()
    shell.run_cell("%tool find --yes")
    timeline = mcp("timeline example")
    (request,) = [s for s in of_kind(timeline, "request") if s.tool == "exit_in_call"]
    assert request.state == "failed"
    assert request.start < request.end <= dead
    assert any("burns down" in each.text for each in of_kind(timeline, "stderr"))
    mcp("disconnect --all --forget")
