"""A recording with connections of both eras is answered as it was, by a connection of the newer one."""

import json
from dataclasses import dataclass

import pytest
from fastmcp import Context, FastMCP
from mcp_types import SamplingMessage, TextContent

from toolbench import current_run
from toolbench.errors import ServerError
from toolbench.mcp import MCPClient
from toolbench.mcp.elicitation import reporting
from toolbench.mcp.recording.notebook import write_notebook
from toolbench.testing import FakeMCPServer

pytestmark = pytest.mark.filterwarnings("ignore::mcp.shared.exceptions.MCPDeprecationWarning")
ORDERS = [("modern", "legacy"), ("legacy", "modern")]


@dataclass
class Shipment:
    """What a parcel needs."""

    speed: str
    insured: bool


def parcels():
    """A real server with a tool that can ask in the older era only."""
    server = FastMCP("parcels")

    @server.tool
    async def send(to: str, context: Context) -> str:
        """Send a parcel."""
        answer = await context.elicit(f"How to send it to {to}?", Shipment)
        return f"{to}: {answer.data.speed}"

    @server.tool
    async def describe(what: str, context: Context) -> str:
        """Let a model describe something."""
        text = TextContent(type="text", text=f"Describe {what}.")
        messages = [SamplingMessage(role="user", content=text)]
        answer = await context.session.create_message(messages, max_tokens=50)
        return answer.content.text

    return server


def shipment(question):
    """Answer the questions of `parcels`, as a person and as a model."""
    return "A box." if hasattr(question, "messages") else {"speed": "slow", "insured": False}


def till(era):
    """A fake server of one era, whose tool asks two questions and reports progress between them."""
    server = FakeMCPServer("till", era=era)

    @server.tool
    def pay(amount: int) -> str:
        """Pay."""
        run = current_run()
        run.progress(1, 3, "first")
        first = run.ask(f"Pay {amount}?")
        run.progress(2, 3, "second")
        second = run.ask("Really?")
        run.progress(3, 3, "third")
        return f"{first.action} {second.action} {amount}"

    return server


class ChangingServer:
    """A server that is of the next era at each connection."""

    name = "till"

    def __init__(self, eras):
        """Be of each of *eras* in turn."""
        self._servers = [till(era) for era in eras]

    def client_transport(self):
        """Return the transport to the server of the next era."""
        return self._servers.pop(0).client_transport()


def paid(session, amount):
    """The result of a payment, and its progress."""
    progress = []
    with reporting(lambda *report: progress.append(report)):
        return session.call("pay", {"amount": amount}).text, progress


def recorded(path, eras):
    """Record one payment in each of *eras*; return what was seen."""
    with MCPClient(elicitation_handler=lambda _: True) as client:
        session = client.connect("till", {"server": ChangingServer(eras)}, record=path)
        payments = [paid(session, 1)]
        session.reconnect("auto")
        return [*payments, paid(session, 2)]


class TestQuestions:
    @pytest.mark.parametrize("eras", ORDERS)
    def test_are_asked_in_the_era_of_the_replay(self, path, eras):
        """A call with questions and progress gives the same, whatever era it was made in."""
        before = recorded(path, eras)
        assert [text for text, _ in before] == ["accept accept 1", "accept accept 2"]
        with MCPClient() as client:
            session = client.connect("till", replay=path)
            assert session.era == "modern"
            assert [paid(session, amount) for amount in (1, 2)] == before
            # In the older era, those of the newer one are refused, and not guessed
            session.reconnect("legacy")
            again = [paid(session, amount) for amount in (1, 2)]
        for era, shown, was in zip(eras, again, before, strict=True):
            if era == "legacy":
                assert shown == was
            else:
                assert "connect without a mode" in shown[0]

    @pytest.mark.parametrize("eras", ORDERS)
    def test_that_are_answered_otherwise_are_errors(self, path, eras):
        """An answer of another kind than the recorded one is named, in either era."""
        recorded(path, eras)
        with MCPClient(elicitation_handler=lambda _: None) as client:
            session = client.connect("till", replay=path)
            texts = [paid(session, amount)[0] for amount in (1, 2)]
        assert all("Not recorded: " in text for text in texts)


class TestAfterTheWayBack:
    """A server said that it needs the older era; the recording goes on in that era."""

    @pytest.fixture
    def texts(self, path):
        """What was seen while `path` was recorded."""
        handlers = {"elicitation_handler": shipment, "sampling_handler": shipment}
        with MCPClient(**handlers) as client:
            session = client.connect("p", parcels(), record=path)
            refused = session.call("send", {"to": "Oslo"}).text
            session.reconnect("legacy")
            sent = session.call("send", {"to": "Bonn"}).text
            return [refused, sent, session.call("describe", {"what": "it"}).text]

    def test_the_replay_needs_no_way_back(self, path, texts):
        """Each call gives what it gave, though the replay was connected once."""
        assert texts[1:] == ["Bonn: slow", "A box."]
        with MCPClient() as client:
            session = client.connect("p", replay=path)
            again = [session.call("send", {"to": to}).text for to in ("Oslo", "Bonn")]
            again.append(session.call("describe", {"what": "it"}).text)
        assert again == texts

    def test_its_notebook_has_the_recorded_results(self, path, texts, tmp_path):
        """No output of the notebook is an error that did not happen."""
        with MCPClient() as client:
            session = client.connect("p", replay=path)
            book = json.loads(write_notebook(session, tmp_path / "p.ipynb").read_text("utf-8"))
        printed = [c["outputs"][0]["text"] for c in book["cells"] if c.get("outputs")]
        assert printed == [f"{text}\n" for text in texts]

    def test_no_notebook_is_made_of_errors_of_the_replay(self, path, texts, tmp_path):
        """A call that the replay cannot repeat is named in place of a notebook with its error."""
        with MCPClient(elicitation_handler=lambda _: None) as client:
            session = client.connect("p", replay=path)
            with pytest.raises(ServerError, match=r"send.*another answer"):
                write_notebook(session, tmp_path / "p.ipynb")
        assert not (tmp_path / "p.ipynb").exists()
