import re
import threading
from contextlib import suppress

import pytest
from patience import PATIENCE

from test_agent.checks import check_answered, of
from test_agent.scripts import add, call, calls, talk
from toolbench import Conversation, ImageContent, tool
from toolbench.agent import (
    Agent,
    LLMSecurityAnalyzer,
    LLMSummarizingCondenser,
    NoticeEvent,
    ObservationEvent,
)
from toolbench.agent.tools import DelegateTool, EditFileTool
from toolbench.errors import ModelError
from toolbench.llm.models import Answer, ScriptedModel, Usage
from toolbench.runs.questions import answering
from toolbench.wording import estimate_tokens

NAN = float("nan")


def paid(message, cost):
    if isinstance(message, str):
        message = {"role": "assistant", "content": message}
    return Answer(message, None, Usage(1, 1, cost))


def adding(times):
    return [paid(calls(call("add", {"a": n}, id=f"i{n}")), 0.1) for n in range(times)]


def test_what_rates_calls_is_counted():
    """The limit is that of the conversation, whichever model spends."""
    rater = ScriptedModel([paid("LOW", 10.0)] * 3)
    analyzer = LLMSecurityAnalyzer(rater)
    c = talk(adding(3), max_cost=1.0, security_analyzer=analyzer)
    assert c.run() == "max_cost"
    assert len(rater.requests) == 1


def test_what_condenses_is_counted():
    """A summary costs too."""
    condenser = LLMSummarizingCondenser(ScriptedModel([paid("Short.", 10.0)]))
    c = talk([*adding(3), "Done."], max_cost=1.0, condenser=condenser)
    c.step(), c.step()
    condenser.keep_tokens = 0
    c.condense()
    assert c.run() == "max_cost"


def test_what_edits_by_a_draft_is_counted(tmp_path):
    """The model of a tool spends for the conversation."""
    path = tmp_path / "a.txt"
    path.write_text("one\n")
    editor = ScriptedModel([paid("<updated>\ntwo\n</updated>", 10.0)])
    edit = call("edit_file", {"path": str(path), "content": "two"})
    c = talk([paid(calls(edit), 0.1), "no"], [EditFileTool.create(llm=editor)])
    c.agent.max_cost = 1.0
    with answering(True):
        assert c.run() == "max_cost"
    assert path.read_text() == "two\n"


def test_a_delegate_spends_what_is_left():
    """Its own limit may be lower; what it took counts outside."""
    inner = ScriptedModel([paid(calls(call("add", {"a": n})), 0.3) for n in range(9)])
    task = calls(call("delegate", {"task": "t"}))
    outer = ScriptedModel([paid(task, 0.5), "no"])
    c = Conversation(agent=Agent(outer, [Agent(inner, [add])], max_cost=1.0))
    c.send_message("Do it.")
    assert c.run() == "max_cost"
    assert len(inner.requests) == 2 and len(outer.requests) == 1
    check_answered(c)


def test_delegates_side_by_side_have_one_limit_together():
    """What each spends counts at once, once: they take no more than what is left for all."""
    barrier = threading.Barrier(2, timeout=PATIENCE)

    def inner(messages, tools):
        with suppress(threading.BrokenBarrierError):
            # Both have begun before one has spent anything
            barrier.wait()
        return paid(calls(call("add", {"a": len(messages)})), 0.3)

    tasks = [call(name, {"task": "t"}, id=name) for name in ("one", "two")]
    outer = ScriptedModel([paid(calls(*tasks), 0.1), "no"])
    tools = [Agent(inner, [add]).as_tool(name) for name in ("one", "two")]
    c = Conversation(agent=Agent(outer, tools, max_cost=1.0))
    c.send_message("Do it.")
    assert c.run() == "max_cost"
    spent = [e.observation.conversation.usage for e in of(c, ObservationEvent)]
    assert c.usage.cost == pytest.approx(0.1 + sum(u.cost for u in spent))
    assert c.usage.cost < 1.0 + 2 * 0.3
    check_answered(c)


@pytest.mark.parametrize("cost", [None, NAN, float("inf"), -1.0])
def test_that_a_cost_is_not_known_is_said_once(cost):
    """A limit that cannot be kept is no secret; one answer without a sum spoils no other."""
    script = [paid(calls(call("add", {"a": 1})), cost), *adding(20)]
    c = talk(script, max_cost=1.0)
    assert c.run() == "max_cost"
    notices = [e.text for e in of(c, NoticeEvent)]
    assert len([text for text in notices if "max_cost=1" in text]) == 1


def test_a_limit_is_a_number():
    """No cost is more than one that is none."""
    with pytest.raises(ValueError, match="max_cost"):
        Agent(ScriptedModel([]), max_cost=NAN)


def test_a_list_of_tools_lets_nobody_delegate_for_ever():
    """The agent that a DelegateTool makes delegates no further, wherever the tool stood."""
    task = calls(call("delegate", {"task": "t"}))
    model = ScriptedModel([task, "Inner.", "Done."])
    c = talk(model, [[DelegateTool], add])
    assert c.run() == "answered"
    inner_offer = [t["function"]["name"] for t in model.requests[1][1]]
    assert inner_offer == ["add"]


def test_agents_that_delegate_to_each_other_end():
    """There is a limit to how deep conversations are inside of each other."""
    task = calls(call("delegate", {"task": "t"}))

    def model(messages, tools):
        return "Done." if messages[-1]["role"] == "tool" else task

    agent = Agent(model)
    agent.tools = (agent.as_tool(),)
    c = Conversation(agent=agent)
    c.send_message("Do it.")
    assert c.run() == "answered"
    [answer] = of(c, ObservationEvent)
    depth, observation = 0, answer.observation
    while observation.conversation is not None:
        depth += 1
        [answer] = of(observation.conversation, ObservationEvent)
        observation = answer.observation
    assert depth == 5 and "do this one yourself" in observation.text


def test_an_image_costs_the_same_however_large():
    """What is summarised has no image in it, and a large one is no reason to condense."""
    url = "data:image/png;base64," + "A" * 400_000
    requests = []

    def summarise(messages, tools):
        requests.append(str(messages))
        return "Short."

    @tool(read_only=True)
    def shot(n: int) -> str:
        """Shoot."""
        return str(n)

    condenser = LLMSummarizingCondenser(summarise, max_tokens=10_000)
    script = [calls(call("shot", {"n": n}, id=f"i{n}")) for n in range(4)]
    c = talk([*script, "Done."], [shot], condenser=condenser)

    c.send_message([ImageContent(image_urls=[url])])
    assert c.run() == "answered" and requests == []
    c.condense()
    condenser.keep_tokens = 0
    c.send_message("And?")
    c.run()
    assert len(requests) == 1 and "AAAA" not in requests[0] and "[image]" in requests[0]


def test_what_cannot_be_condensed_is_not_asked_for_at_each_step():
    """The task alone is over the budget: a summary is wanted only where it saves enough."""
    parts = []

    def summarise(messages, tools):
        parts.append(estimate_tokens(messages[-1]["content"]))
        return "Short."

    condenser = LLMSummarizingCondenser(summarise, max_tokens=1_000, keep_tokens=100)
    agent = Agent(ScriptedModel([*adding(20), "Done."]), [add], condenser=condenser)
    c = Conversation(agent=agent)
    # Kept as it is: the first turn
    c.send_message("word " * 5_000)
    assert c.run() == "answered"
    assert parts and min(parts) >= (1_000 - 100) // 2
    assert len(parts) < 20 / 4


def test_a_condensation_that_fails_by_itself_is_a_notice():
    """The conversation goes on with all its messages, and does not ask again at once."""
    model = ScriptedModel([ModelError("No summary.")])
    condenser = LLMSummarizingCondenser(model, max_tokens=200, keep_tokens=10)
    c = talk([*adding(8), "Done."], [add], condenser=condenser)
    assert c.run() == "answered"
    assert any("No summary." in e.text for e in of(c, NoticeEvent))


def test_a_transcript_shows_what_each_step_took(tmp_path):
    """Tokens, cost and time above each step, on one scale; the sum in the head; from a file too."""
    answers = [Answer(calls(call("add", {"a": 1})), None, Usage(2_000, 40, 0.02)), "Done."]
    answers[1] = Answer({"role": "assistant", "content": "Done."}, None, Usage(1_000, 10, 0.01))
    c = talk(answers)
    c.run()
    c.save(tmp_path / "talk.jsonl")
    again = Conversation.load(tmp_path / "talk.jsonl", c.agent)
    for html in (c.to_html(), again.to_html(), c._repr_mimebundle_()["text/html"]):
        assert re.search(r"2 steps, [\d.]+ m?s, 3,000 tokens in, 50 tokens out, \$0.0300", html)
        first, second = html.split("Step 1<")[1].split("Step 2<")
        assert "2,000 tokens in" in first and "width:100.0%" in first
        assert "1,000 tokens in" in second and "$0.0100" in second and "width:50.0%" in second
        time = re.search(r'title="the model \S+ ms \+ its calls \S+ ms"(.*?)</span></span>', first)
        assert time[1].count("%;background") == 2 and "its calls" not in second
    assert [e.seconds is not None for e in c.events[1:4:2]] == [True, True]
