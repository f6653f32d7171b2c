"""Servers in this kernel, from modules, from OpenAPI documents, and over HTTP."""

import json
import logging
import os
import ssl
import textwrap
from typing import Annotated

import pytest
from fastmcp import FastMCP
from loading import loaded
from pydantic import Field

from test_mcp.peers import GOOD, light, serving, serving_app
from toolbench.errors import ServerError

OPENAPI = {
    "openapi": "3.1.0",
    "info": {"title": "Pets", "version": "1"},
    "paths": {
        "/pets/{name}": {
            "get": {
                "operationId": "get_pet",
                "parameters": [
                    {
                        "name": "name",
                        "in": "path",
                        "required": True,
                        "schema": {"type": "string"},
                    }
                ],
                "responses": {"200": {"description": "ok"}},
            }
        }
    },
}


class TestInThisProcess:
    def test_a_fastmcp_object_is_a_server(self, client):
        """Define a server in a cell, connect it, call it: no process, no port."""
        server = FastMCP("mine")

        @server.tool
        def double(n: int) -> int:
            return 2 * n

        session = client.connect("mine", server)
        assert session.tool("double")({"n": 21}).data == 42
        assert session.connection.pid is None

        @server.tool
        def triple(n: int) -> int:
            return 3 * n

        session.refresh()
        assert session.tools.last_change.added == ("triple",)

    @pytest.mark.parametrize("ending", ["", ":mcp", ":other"])
    def test_a_module_or_file_holds_a_server(self, client, tmp_path, monkeypatch, ending):
        """`file.py`, `file.py:name` and `module:name` are servers."""
        (tmp_path / "holds_a_server.py").write_text(
            textwrap.dedent("""
                from fastmcp import FastMCP
                mcp = other = FastMCP("held")
                @mcp.tool
                def where() -> str: return "here"
            """)
        )
        monkeypatch.syspath_prepend(tmp_path)
        monkeypatch.chdir(tmp_path)
        session = client.connect("held", f"holds_a_server.py{ending}")
        assert session.tool("where")({}).text == "here"
        if ending:
            session = client.connect("held", f"holds_a_server{ending}")
            assert session.tool("where")({}).text == "here"

    @pytest.mark.parametrize(
        ("target", "message"),
        [
            ("nowhere.py", "There is no file"),
            ("no_such_module:mcp", "Cannot import 'no_such_module'"),
            ("json:mcp", "'json' has no 'mcp'"),
            (object(), "is not an MCP server"),
        ],
    )
    def test_what_holds_none_says_so(self, client, target, message):
        """A wrong place is one sentence."""
        with pytest.raises(ServerError, match=message):
            client.connect("x", target)

    @pytest.mark.parametrize("key", ["tools", "include_tags", "exclude_tags"])
    def test_fastmcps_transforms_are_refused(self, client, key):
        """A tool that the file leaves out or changes would be shown and called as it is."""
        value = {"x": {"name": "near"}} if key == "tools" else ["public"]
        with pytest.raises(ServerError, match=f"'{key}' asks FastMCP to change the tools"):
            client.connect("renamed", {**light("far", "x"), key: value})
        for tools in (["*"], {"x": {"approval_mode": "approve"}}):
            session = client.connect("all", {**light("far", "x"), "tools": tools})
            assert session.tool("x")({}).text == "far"

    def test_an_openapi_document_is_a_server(self, client, tmp_path):
        """Operations become tools; a document may be a file, and needs to say where it is."""
        file = tmp_path / "pets.json"
        file.write_text(json.dumps(OPENAPI))
        entry = {"openapi": str(file), "base_url": "http://127.0.0.1:9"}
        session = client.connect("pets", entry)
        assert [t.name for t in session.tools] == ["get_pet"]
        assert session.tool("get_pet")({"name": "x"}).is_error
        with pytest.raises(ServerError, match="names no server URL"):
            client.connect("pets", {"openapi": OPENAPI})

    def test_a_document_by_itself_is_a_server(self, client, tmp_path):
        """As an object, or a file: it is called by its title, and names its server."""
        document = {**OPENAPI, "servers": [{"url": "http://127.0.0.1:9"}]}
        file = tmp_path / "pets.json"
        file.write_text(json.dumps(document))
        assert client.connect("pets", document).tool("get_pet").name == "get_pet"
        for config in (document, file):
            client.add(config, approve=True)
            assert [t.name for t in client.server("Pets").tools] == ["get_pet"]

    def test_a_document_behind_a_url_may_leave_its_server_out(self, client):
        """It is the one the document came from, as OpenAPI has it."""
        from starlette.applications import Starlette
        from starlette.responses import JSONResponse, PlainTextResponse
        from starlette.routing import Route

        async def document(request):
            return JSONResponse(OPENAPI)

        async def pet(request):
            return PlainTextResponse(request.path_params["name"])

        app = Starlette(routes=[Route("/openapi.json", document), Route("/pets/{name}", pet)])
        with serving_app(app) as url:
            session = client.connect("pets", f"{url}/openapi.json")
            assert "rex" in session.tool("get_pet")({"name": "rex"}).text


@pytest.fixture(scope="module")
def url():
    """The well-behaved server over HTTP."""
    with serving(good_server()) as url:
        yield url


def good_server():
    return loaded(GOOD).mcp


@pytest.mark.filterwarnings("ignore:The logging capability is deprecated")
class TestHttp:
    @pytest.mark.parametrize("mode", ["auto", "legacy"])
    def test_works_like_a_process(self, client, url, mode):
        """Tools, resources, progress and cancellation over streamable HTTP, in both eras."""
        session = client.connect("good", url, mode=mode)
        assert session.tool("add")({"a": 1}).data == 2
        assert session.read_resource("good://readme").text == "Read me."
        assert session.tool("steps")({"count": 2}).text == "done"
        session.call_seconds = 0.3
        assert "No answer" in session.tool("hang")({}).text
        session.call_seconds = 20
        assert session.tool("add")({"a": 1}).data == 2

    def test_connections_share_the_authorities_that_they_trust(
        self, client, url, monkeypatch, tmp_path
    ):
        """The file with the authorities is read once, and again when it has changed."""
        files = []

        def read(*, cafile):
            files.append(cafile)
            return ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)

        monkeypatch.setattr(ssl, "create_default_context", read)
        for name in ("some.pem", "other.pem"):
            file = tmp_path / name
            file.touch()
            monkeypatch.setenv("SSL_CERT_FILE", str(file))
            client.connect("first", url)
            client.connect("second", url)
            assert files.count(str(file)) == 1
        os.utime(file, (1, 1))
        client.connect("third", url)
        assert files.count(str(file)) == 2

    def test_the_older_transport_works_too(self, client):
        """Server-sent events, as servers of 2024 have them; the era is the older one."""
        with serving(good_server(), "sse") as url:
            session = client.connect("good", url)
            assert session.entry.transport == "sse"
            assert session.era == "legacy"
            assert session.tool("add")({"a": 1}).data == 2
            client.sync_close()

    @pytest.mark.parametrize("transport", ["http", "sse"])
    def test_large_results_come_in_event_streams_too(self, client, transport):
        """The SDK gives up on events of a megabyte; a result may be larger, and the next works."""
        server = FastMCP("large")

        @server.tool
        def large() -> str:
            return "x" * 3_000_000

        with serving(server, transport) as url:
            session = client.connect("large", url)
            for _ in range(2):
                assert len(session.tool("large")({}).text) == 3_000_000
            assert session.status == "connected"
            assert len(session.traffic.find(method="tools/list", kind="request")) == 1
            client.sync_close()

    @pytest.mark.parametrize("mode", ["auto", "legacy"])
    def test_refusals_of_the_server_itself_are_its_own_words(self, client, url, mode):
        """What is not there is told in the server's sentence, whatever HTTP status it came with."""
        session = client.connect("good", url, mode=mode)
        with pytest.raises(ServerError) as unread:
            session.read_resource("no://such")
        with pytest.raises(ServerError) as unwritten:
            session.get_prompt("no-such")
        for error in (unread, unwritten):
            text = str(error.value)
            assert "no-such" in text or "no://such" in text
            assert "HTTP" not in text
            assert "jsonrpc" not in text

    def test_unknown_methods_open_no_new_session(self, client, url):
        """The newer protocol answers them with the status of a forgotten session: 404."""
        session = client.connect("good", url)
        with pytest.raises(ServerError, match="MCP error -32601"):
            session.request("no/such", {})
        assert len(session.traffic.find(method="server/discover", kind="request")) == 1

    def test_headers_and_tokens_are_sent_and_never_shown(self, client):
        """A bearer token and headers reach the server, and nothing that is shown.

        So does an argument of which the server wants a header, as the newer protocol has it.
        """
        requests = []
        server = FastMCP("guarded")

        @server.tool
        def who(region: Annotated[str, Field(json_schema_extra={"x-mcp-header": "Region"})]) -> str:
            from fastmcp.server.dependencies import get_http_headers

            headers = get_http_headers(include_all=True)
            names = "authorization", "x-key", "mcp-param-region"
            requests.append([headers.get(name) for name in names])
            return f"you sent {headers.get('authorization')}"

        entry = {"auth": "s3cret-bearer", "headers": {"X-Key": "s3cret-header"}}
        with serving(server) as url:
            session = client.connect("guarded", {"url": url, **entry})
            text = session.tool("who")({"region": "eu"}).text
            assert requests == [["Bearer s3cret-bearer", "s3cret-header", "eu"]]
            assert "s3cret" not in text + repr(session.entry) + session.traffic.to_ndjson()
            client.sync_close()

    def test_an_answer_of_another_kind_names_its_kind(self, client):
        """JSON that is labelled as text is no page for people."""

        async def app(scope, receive, send):
            headers = [(b"content-type", b"text/plain")]
            await send({"type": "http.response.start", "status": 200, "headers": headers})
            await send({"type": "http.response.body", "body": b'{"jsonrpc":"2.0","id":1}'})

        with serving_app(app) as url, pytest.raises(ServerError) as error:
            client.connect("s", url)
        assert '{"jsonrpc":"2.0","id":1}. Its Content-Type is text/plain' in str(error.value)

    def test_nothing_there_is_a_sentence(self, client):
        """A port where nobody listens says so."""
        with pytest.raises(ServerError, match="nothing answers there"):
            client.connect("x", "http://127.0.0.1:9/mcp")

    def test_a_refusal_behind_a_redirect_says_what_to_do(self, client):
        """What the place says that a server redirects to counts as its own answer."""

        async def moved(scope, receive, send):
            is_old = scope["path"] == "/mcp"
            headers = [(b"location", b"/mcp/")] if is_old else []
            status = 307 if is_old else 401
            head = {"type": "http.response.start", "headers": headers}
            await send(head | {"status": status})
            await send({"type": "http.response.body", "body": b""})

        with (
            serving_app(moved) as url,
            pytest.raises(ServerError, match=r"HTTP 401 .* set 'auth' to a token"),
        ):
            client.connect("moved", f"{url}/mcp")


def test_connecting_again_changes_no_logger(client):
    """What the SDK logs is silenced once, not with every connection."""
    session = client.connect("far", light("far", "x"))
    handlers = [list(logging.getLogger(name).handlers) for name in ("mcp", "client")]
    session.reconnect()
    assert handlers == [logging.getLogger(name).handlers for name in ("mcp", "client")]


def test_a_server_that_takes_no_message_delays_no_time_limit(client, caplog):
    """The end of a call does not wait until the server has taken the message about it."""
    server, is_mute = FastMCP("mute"), []
    server.tool(lambda: "pong", name="ping", description="Answer.")
    inner = server.http_app(transport="sse")

    async def app(scope, receive, send):
        if not (is_mute and scope["type"] == "http" and scope["method"] == "POST"):
            await inner(scope, receive, send)
            return
        while (await receive())["type"] != "http.disconnect":
            pass

    with serving_app(app) as url:
        session = client.connect("mute", {"url": f"{url}/sse", "transport": "sse"})
        is_mute.append(True)
        session.call_seconds = 0.3
        assert "no answer within 0.3 s" in session.call("ping").text.lower()
        session.close()
    # The SDK's words after five seconds
    assert "write blocked" not in caplog.text
