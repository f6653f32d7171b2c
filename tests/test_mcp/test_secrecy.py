"""What a server gives away of the secrets in its own entry: nothing."""

from threading import Event, Thread, current_thread

import pytest
from patience import PATIENCE

from test_mcp.peers import scripted, serving_app
from toolbench import history, run_tool
from toolbench.errors import ServerError
from toolbench.mcp.elicitation import answering, reporting
from toolbench.mcp.monitoring.notifications import Inbox
from toolbench.redaction import MARK
from toolbench.redaction.redactor import Redactor

SECRET = "tok-0123456789abcdef"
TOOL = {
    "name": "t",
    "description": "with $API_TOKEN",
    "inputSchema": {"type": "object"},
}
INFO = {
    "protocolVersion": "2025-11-25",
    "capabilities": {"tools": {}, "resources": {}, "prompts": {}},
    "serverInfo": {"name": "s", "version": "$API_TOKEN"},
    "instructions": "Use $API_TOKEN.",
}
QUESTION = (
    '{"jsonrpc":"2.0","id":"q","method":"elicitation/create","params":{"mode":"form",'
    '"message":"Is it $API_TOKEN?","requestedSchema":{"type":"object","properties":{}}}}'
)
LOGGED = (
    '{"jsonrpc":"2.0","method":"notifications/message","params":'
    '{"level":"$API_TOKEN","logger":"$API_TOKEN","data":["$API_TOKEN"]}}'
)
ERROR = {"error": {"code": -32002, "message": "no $API_TOKEN", "data": "$API_TOKEN"}}
SCRIPT = {
    "initialize": [{"result": INFO}],
    "tools/list": [{"result": {"tools": [TOOL]}}],
    "tools/call": [QUESTION, LOGGED, "noise $API_TOKEN", ERROR],
    "resources/list": [{"result": {"resources": [{"uri": "x://$API_TOKEN"}]}}],
    "resources/templates/list": [{"result": {"resourceTemplates": []}}],
    "resources/read": [ERROR],
    "prompts/list": [ERROR],
}


@pytest.fixture
def blabs(client, tmp_path):
    """A server that tells its secret wherever it can."""
    entry = scripted(tmp_path / "script", SCRIPT, env={"API_TOKEN": SECRET})
    return client.connect("blabs", entry)


def hidden(value):
    """Whether *value* told the secret before it was masked."""
    return MARK in str(value) and SECRET[:8] not in str(value)


class TestSecrets:
    def test_are_in_nothing_a_server_describes(self, blabs):
        """Its version, instructions, tools and resources are masked."""
        assert hidden(blabs.server_info)
        assert hidden(blabs.instructions)
        assert hidden(blabs.tool("t").description)
        assert hidden(blabs.resources)

    def test_are_in_no_error(self, blabs):
        """Neither in what a call gives and the history keeps, nor in what is raised."""
        assert hidden(run_tool(blabs.tool("t")).text)
        assert hidden(history()[-1].observation)
        with pytest.raises(ServerError) as reading:
            blabs.read_resource("x://1")
        assert hidden(reading.value)
        with pytest.raises(ServerError) as listing:
            list(blabs.prompts)
        assert hidden(listing.value)

    def test_are_in_no_message_beside_the_answer(self, blabs):
        """Questions, logs, noise and the traffic are masked."""
        questions = []
        with answering(questions.append):
            blabs.call("t")
        (entry,) = blabs.log
        assert all(map(hidden, (entry.level, entry.logger, entry.text)))
        assert hidden(questions[0].message)
        assert hidden(blabs.noise)
        assert hidden([message.text for message in blabs.traffic])

    def test_are_in_no_progress(self, client, tmp_path):
        """What a call reports on its way is masked."""
        notification = (
            '{"jsonrpc":"2.0","method":"notifications/progress","params":'
            '{"progressToken":"$PROGRESS_TOKEN","progress":1,"message":"at $API_TOKEN"}}'
        )
        script = {"tools/call": [notification, {"result": {"content": []}}]}
        entry = scripted(tmp_path / "script", script, env={"API_TOKEN": SECRET})
        session, messages = client.connect("s", entry), []
        with reporting(lambda value, total, message: messages.append(message)):
            session.call("t")
        assert hidden(messages)

    def test_are_hidden_in_data_too_deep_to_copy(self, client, tmp_path):
        """What nobody can look into is hidden as a whole, and the call goes on."""
        deep = "[" * 500 + '"$API_TOKEN"' + "]" * 500
        answer = '{"jsonrpc":"2.0","id":$ID,"result":{"a":%s}}'
        script = {"tools/call": [answer % deep]}
        entry = scripted(tmp_path / "script", script, env={"API_TOKEN": SECRET})
        session = client.connect("s", entry)
        assert hidden(session.call("t").text)

    def test_are_masked_before_anything_is_cut(self, client, tmp_path):
        """A secret across the place where noise is cut does not show its first half."""
        noise = "n" * 490 + "$API_TOKEN"
        script = {"tools/call": [noise, {"result": {"content": []}}]}
        entry = scripted(tmp_path / "script", script, env={"API_TOKEN": SECRET})
        session = client.connect("s", entry)
        session.call("t")
        assert SECRET[:4] not in session.noise[0]

    def test_are_in_no_line_without_an_end(self, client, tmp_path):
        """Nor does one across the end of what is shown of an unfinished line."""
        begun = "import os, sys; print('x' * 190 + os.environ['API_TOKEN'], end='', flush=True); sys.stdin.read()"
        entry = scripted(tmp_path / "script", {}, env={"API_TOKEN": SECRET})
        client.timeout = 2
        with pytest.raises(ServerError, match="and no newline") as caught:
            client.connect("s", entry | {"args": ["-c", begun]})
        assert SECRET[:4] not in str(caught.value)

    def test_are_in_no_page_of_an_http_server(self, client):
        """Nor in the first characters of a page that is no message, wherever that is cut."""

        async def page(scope, receive, send):
            body = b"p" * 490 + SECRET.encode()
            head = {"type": "http.response.start", "status": 500, "headers": []}
            await send(head)
            await send({"type": "http.response.body", "body": body})

        with serving_app(page) as url:
            entry = {"url": url, "headers": {"Authorization": f"Bearer {SECRET}"}}
            with pytest.raises(ServerError, match="HTTP 500") as caught:
                client.connect("s", entry)
        assert SECRET[:4] not in str(caught.value)


def test_errors_reach_no_terminal_raw(client, tmp_path):
    """What a server writes is spelled out in the error that quotes it: it moves no cursor."""
    words = "import sys; sys.stderr.write('\\x1b]0;owned\\x07\\x1b[2J'); sys.exit(1)"
    entry = scripted(tmp_path / "script", {}, args=["-c", words])
    with pytest.raises(ServerError) as caught:
        client.connect("s", entry)
    assert "^[]0;owned^G^[[2J" in str(caught.value)


class TestSecretsOfSeveralThreads:
    def test_each_of_two_at_once_is_hidden(self):
        """A thread that keeps a secret while another one does takes nothing away from it."""
        inbox, arrived = Inbox("s"), Event()
        second = Thread(target=inbox.keep_secret, args=[["second-4711"]])

        class Watched(Redactor):
            """While the first thread makes its redactor, the second comes as far as it can."""

            def including(self, secrets):
                if current_thread() is second:
                    arrived.set()
                else:
                    second.start()
                    assert arrived.wait(PATIENCE)
                return super().including(secrets)

        class WatchedLock:
            """The lock of the inbox."""

            def __init__(self, lock):
                self.lock = lock

            def __enter__(self):
                if current_thread() is second:
                    arrived.set()
                self.lock.acquire()

            def __exit__(self, *error):
                self.lock.release()

        inbox._lock = WatchedLock(inbox._lock)
        inbox.redactor = Watched()
        inbox.keep_secret(["first-4711"])
        second.join(PATIENCE)
        assert inbox.redactor.text("first-4711 second-4711") == f"{MARK} {MARK}"
