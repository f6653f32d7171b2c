"""What libraries log of the servers they reach, and of what is sent there, holds no secret."""

import logging

import pytest
from patience import PATIENCE
from test_mcp.peers import serving_app

from toolbench import run_tool
from toolbench.mcp import MCPClient
from toolbench.redaction import MARK
from toolbench.redaction.known import remembered
from toolbench.redaction.logs import hide_in_logs_of
from toolbench.runs.redirect import forget_secrets

SECRET = "tok-0123456789abcdef"
PASSWORD = "hunter2-of-the-call"


@pytest.fixture
def forgotten():
    """What is remembered before and here is forgotten."""
    forget_secrets()
    yield
    forget_secrets()


def server():
    from fastmcp import FastMCP

    mcp = FastMCP("made")

    @mcp.tool
    def log_in(password: str) -> str:
        return f"in with {password}"

    return mcp.http_app(path="/mcp", stateless_http=True)


@pytest.mark.parametrize("level", ["INFO", "DEBUG"])
@pytest.mark.usefixtures("forgotten")
def test_of_a_server_over_http_hide_its_token_and_the_arguments(level, caplog):
    """`logging.basicConfig(level="INFO")` writes every request's address into the notebook."""
    caplog.set_level(level)
    with serving_app(server()) as url, MCPClient(timeout=PATIENCE) as client:
        entry = {"url": f"{url}/mcp?api_key={SECRET}"}
        session = client.connect("made", entry)
        text = run_tool(session.tool("log_in"), password=PASSWORD).text
    assert text == f"in with {PASSWORD}"
    records = [r for r in caplog.records if r.name.startswith(("httpx2", "mcp."))]
    assert any(MARK in record.getMessage() for record in records)
    logged = [(r.name, f"{r.getMessage()} {r.args}") for r in caplog.records]
    loggers = {name for name, text in logged if SECRET in text or PASSWORD in text}
    # in this process the server logs too, by its own libraries
    assert not {name for name in loggers if not name.startswith("sse_starlette")}


@pytest.mark.usefixtures("forgotten")
def test_hide_secrets_in_the_traceback_of_a_record(caplog):
    """An exception that quotes an address is logged without the token in it."""
    hide_in_logs_of(["alibrary"])
    remembered.add([SECRET])
    try:
        raise ValueError(f"https://host/?key={SECRET}")
    except ValueError:
        logging.getLogger("alibrary").exception("failed at %s", SECRET)
    assert SECRET not in caplog.text
    assert caplog.text.count(MARK) == 2


@pytest.mark.usefixtures("forgotten")
def test_a_bad_log_call_of_a_library_fails_nothing(caplog):
    """Its handlers tell of it, as always."""
    hide_in_logs_of(["alibrary"])
    remembered.add([SECRET])
    logging.getLogger("alibrary").debug("%d of %d", "one")
    logging.getLogger("alibrary").warning("fine")
    assert "fine" in caplog.text
