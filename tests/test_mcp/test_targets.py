"""Servers in this kernel, from modules, from OpenAPI documents, and over HTTP."""

import json
import socket
import subprocess
import sys
import textwrap
import time
import urllib.error
import urllib.request

import pytest
from fastmcp import FastMCP

from test_mcp.peers import GOOD
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
        assert session.pid is None

        @server.tool
        def triple(n: int) -> int:
            return 3 * n

        session.refresh()
        assert session.last_change.added == ("triple",)

    @pytest.mark.parametrize("ending", ["", ":mcp", ":other"])
    def test_a_module_or_file_holds_a_server(
        self, client, tmp_path, monkeypatch, ending
    ):
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
        ("target", "said"),
        [
            ("nowhere.py", "There is no file"),
            ("no_such_module:mcp", "Cannot import 'no_such_module'"),
            ("json:mcp", "'json' has no 'mcp'"),
            (object(), "is no MCP server"),
        ],
    )
    def test_what_holds_none_says_so(self, client, target, said):
        """A wrong place is one sentence."""
        with pytest.raises(ServerError, match=said):
            client.connect("x", target)

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


@pytest.fixture(scope="module")
def url():
    """The well-behaved server over HTTP."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    process = subprocess.Popen(
        [sys.executable, str(GOOD), "--http", str(port)], stderr=subprocess.DEVNULL
    )
    end = time.monotonic() + 30
    while time.monotonic() < end:
        try:
            urllib.request.urlopen(f"http://127.0.0.1:{port}/mcp")
        except urllib.error.HTTPError:
            break  # it answers
        except OSError:
            continue
    yield f"http://127.0.0.1:{port}/mcp"
    process.kill()
    process.wait()


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

    def test_nothing_there_is_a_sentence(self, client):
        """A port where nobody listens says so."""
        with pytest.raises(ServerError, match="nothing answers there"):
            client.connect("x", "http://127.0.0.1:9/mcp")
