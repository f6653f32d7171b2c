"""A preset answer may be for one server; no other gets it, and no other run."""

import asyncio
from contextlib import nullcontext
from threading import Barrier

import pytest
from patience import PATIENCE

from toolbench import answering, current_run, run_tool, tool
from toolbench.mcp import create_mcp_tools
from toolbench.runs.parallel import run_tools
from toolbench.testing import FakeMCPServer

FORM = {
    "type": "object",
    "properties": {"word": {"type": "string"}},
    "required": ["word"],
}


class Asking:
    """A server with a tool that asks for a password, and keeps what it gets."""

    def __init__(self, name, era="modern"):
        self.server = FakeMCPServer(name, era=era)
        self.got = []
        self.begun = Barrier(1)

        @self.server.tool
        @tool(name=f"{name}_log_in", read_only=True)
        def log_in(user: str = "ann") -> str:
            """Log in."""
            self.begun.wait(PATIENCE)
            answer = current_run().ask("The word, please.", FORM)
            self.got.append(answer.get("word"))
            # Else the first of two calls may have ended before the other asks
            self.begun.wait(PATIENCE)
            return answer.action


@pytest.fixture(params=["modern", "legacy"])
def servers(request):
    return Asking("bank", request.param), Asking("evil", request.param)


@pytest.fixture
def client(servers):
    bank, evil = servers
    with create_mcp_tools(bank.server) as client:
        client.connect("evil", evil.server)
        yield client


def test_an_answer_for_a_server_is_for_no_other(servers, client):
    """The other asks first, and gets a decline: nobody is there who could answer."""
    bank, evil = servers
    with answering({"word": "hunter2"}, by="bank"):
        run_tools([(client["evil_log_in"], {}), (client["bank_log_in"], {})], max_parallel=1)
    assert (bank.got, evil.got) == (["hunter2"], [None])


def test_a_session_is_no_name(client):
    """Else it would fit no question, and nobody would notice."""
    with pytest.raises(TypeError, match="by= is the name of a server, such as 'bank', not MCPServ"):
        answering(True, by=client.servers["bank"]).__enter__()


def test_the_block_around_answers_the_others(servers, client):
    """So that each server has answers of its own."""
    bank, evil = servers
    with answering({"word": "guest"}), answering({"word": "hunter2"}, by="bank"):
        for name in ("evil", "bank", "bank"):
            run_tool(client[f"{name}_log_in"])
    assert (bank.got, evil.got) == (["hunter2", None], ["guest"])


def test_a_question_belongs_to_the_call_and_not_to_the_connection(servers, client):
    """The block that connects a server answers nothing that other code calls later."""
    bank, _ = servers
    with answering({"word": "hunter2"}):
        client.connect("again", bank.server)
    log_in = client["again_bank_log_in"]
    asyncio.run(log_in.acall(log_in.action_of({})))
    assert bank.got == [None]

    async def called():
        with answering({"word": "of the block"}):
            await log_in.acall(log_in.action_of({}))

    asyncio.run(called())
    assert bank.got == [None, "of the block"]


@pytest.mark.parametrize("order", [("inside", "outside"), ("outside", "inside")])
def test_a_question_that_may_be_of_a_call_outside_is_for_a_person(servers, client, order):
    """A question of the older protocol names no call: only a person knows for which it is."""
    bank, _ = servers
    log_in = client["bank_log_in"]
    bank.begun = Barrier(2)

    async def called():
        calls = []
        for user in order:
            block = nullcontext()
            if user == "inside":
                block = answering({"word": "of the block"})
            with block:
                call = log_in.acall(log_in.action_of({"user": user}))
                calls.append(asyncio.create_task(call))
        await asyncio.gather(*calls)

    asyncio.run(called())
    assert bank.got.count("of the block") == (bank.server.era == "modern")
