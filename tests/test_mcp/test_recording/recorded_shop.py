"""A server with one of each thing that may happen, and what is seen of it."""

from toolbench import current_run
from toolbench.mcp import create_mcp_tools
from toolbench.mcp.elicitation import reporting
from toolbench.testing import FakeMCPServer, Raw, RpcError


def fake(era="modern"):
    """A server with one of each thing that may happen during a call."""
    server = FakeMCPServer("shop", era=era)
    prices = {"tea": 3, "jam": 4}

    @server.tool
    def price(of: str) -> int:
        """Look up a price."""
        current_run().progress(1, 2, f"looking for {of}")
        current_run().log(f"asked for {of}")
        return prices[of]

    @server.tool
    def pay(amount: int) -> str:
        """Pay, if the customer agrees."""
        return "paid" if current_run().ask(f"Pay {amount}?") else "not paid"

    server.answer("fail", Raw({"content": [{"type": "text", "text": "no"}], "isError": True}))
    server.answer("refuse", RpcError("closed today", -32001))
    server.resource("shop://hours", "9 to 5")
    server.prompt("greet", "Say hello to {who}.", arguments=["who"])
    return server


def seen_of(client):
    """All that a person sees of the server `shop`, after using all of it."""
    session = client.servers["shop"]
    progress = []
    with reporting(lambda *report: progress.append(report)):
        results = [
            session.tool("price")({"of": "tea"}),
            session.tool("price")({"of": "jam"}),
            session.tool("price")({"of": "tea"}),
            session.tool("pay")({"amount": 5}),
            session.tool("fail")({}),
            session.tool("refuse")({}),
        ]
    return {
        "era": session.era,
        "offer": session.snapshot().json,
        "results": [result.model_dump() for result in results],
        "progress": progress,
        "log": [str(line) for line in session.log],
        "resource": session.read_resource("shop://hours").text,
        "prompt": session.get_prompt("greet", who="Ada").text,
    }


def recorded(path, era="modern", answer=True):
    """What was seen while *path* was recorded."""
    config = {"mcpServers": {"shop": {"server": fake(era)}}}
    with create_mcp_tools(config, record=path, elicitation_handler=lambda _: answer) as client:
        return seen_of(client)
