"""All that we use of other packages and that they may change without a word, by name.

An upgrade that takes one of them away fails here first. What is used is in pyproject.toml with an
upper bound, or looked for and done without where it is missing. tests/laws sees that none is missing here.
"""

import argparse
import codecs
import inspect
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from importlib import import_module
from pathlib import Path

import pytest
from shells import new_shell

PACKAGE = Path(__file__).parents[1] / "toolbench"
ATTRIBUTES = {
    # a kernel: where its loop is, whose cell runs, whether it may ask
    "ipykernel.kernelbase:Kernel": ["get_parent", "_allow_stdin", "kernel_info"],
    # a display is changed after the cell it is in has ended
    "ipykernel.zmqshell:ZMQDisplayPublisher": [
        "session", "pub_socket", "topic", "parent_header", "publish", "clear_output",
    ],
    # a cell is run as IPython runs it
    "IPython.core.interactiveshell:InteractiveShell": [
        "transform_cell", "transform_ast", "builtin_trap", "user_global_ns",
        "magics_manager", "display_formatter", "_showtraceback",
    ],
    "IPython.core.compilerop:CachingCompiler": ["ast_parse", "extra_flags", "format_code_name"],
    "IPython.core.magic:MagicsManager": ["magics"],
    "IPython.core.formatters:DisplayFormatter": ["mimebundle_formatter"],
    # a click says whether the page has waited for keys before it
    "ipywidgets:Button": ["_handle_custom_msg"],
    # a widget is made in one message, and its classes are changed in one
    "ipywidgets:DOMWidget": ["_dom_classes", "keys", "class_traits", "_repr_mimebundle_"],
    # our session of a server is a kind of the SDK's
    "mcp:ClientSession": [
        "send_discover", "dispatch_input_request", "protocol_version",
    ],
    "mcp.shared.jsonrpc_dispatcher:JSONRPCDispatcher": ["send_raw_request", "notify"],
    # the server of `%mcp connect example`
    "mcp.server.mcpserver": ["Context", "MCPServer", "Resolve"],
    "mcp.server.mcpserver.resolve": ["Elicit"],
    "mcp.shared.dispatcher": ["CallOptions"],
    "mcp.shared.inbound": [
        "MCP_NAME_HEADER", "encode_header_value", "find_invalid_x_mcp_header",
        "mcp_param_headers", "x_mcp_header_map",
    ],
    "mcp.shared.message": ["ClientMessageMetadata", "SessionMessage"],
    "mcp.client.auth.utils": [
        "build_oauth_authorization_server_metadata_discovery_urls", "issuers_match",
    ],
    "mcp.client.extension": ["ClaimContext"],
    "mcp.client.session": ["ClientRequestContext"],
    "mcp.shared._httpx_utils": ["request_within_origin", "sse_within_origin"],
    "mcp.client.subscriptions": ["SubscriptionLost", "listen"],
    "mcp.client.stdio": ["get_default_environment"],
    "mcp.client.streamable_http": ["streamable_http_client"],
    # what we serve: requests answered by ourselves, news for both eras, an end without delay
    "mcp.server.connection:Connection": ["exit_stack", "session_id"],
    "mcp.server.connection": ["allowed_log_levels"],
    "mcp.server.context": ["ServerRequestContext"],
    "mcp.server.session": ["ServerSession"],
    "mcp.server.subscriptions": [
        "InMemorySubscriptionBus", "ListenHandler", "ServerEvent", "ToolsListChanged",
    ],
    "mcp.shared.exceptions": ["MCPError"],
    "mcp.server.stdio": ["stdio_server"],
    "mcp.server.lowlevel:Server": ["add_request_handler"],
    "mcp.shared.auth": ["AuthorizationCodeResult"],
    "uvicorn:Server": ["startup", "shutdown"],
    # connections have limits
    "uvicorn.protocols.http.h11_impl:H11Protocol": [
        "connection_made", "data_received", "on_response_complete", "connection_lost",
    ],
    "fastmcp.client.oauth_callback": ["OAuthCallbackResult", "create_oauth_callback_server"],
    "mcp_types.version": ["MODERN_PROTOCOL_VERSIONS"],
    "fastmcp.client.auth:OAuth": ["_bind"],
    "fastmcp.client.transports.base": ["ClientTransport", "TransportOptions"],
    "sys": ["_current_frames", "_getframe"],
    # a tool of a cell runs beside the loop of its thread; these are for authors of event loops
    "asyncio.events": ["_get_running_loop", "_set_running_loop"],
    "asyncio.tasks": ["_enter_task", "_leave_task"],
}  # fmt: skip
"""By `module` or `module:class`."""
PARAMETERS = {
    "mcp:ClientSession": [
        "dispatcher", "elicitation_callback", "sampling_callback", "list_roots_callback",
        "logging_callback", "message_handler", "sampling_capabilities",
    ],
}  # fmt: skip
"""What we give their constructors."""
OF_OBJECTS = {
    "_reply_subshell_id",
    "_api_client",
}  # fmt: skip
"""Of clients that a user hands us; see test_private_names_of_google_genai."""
OF_SERVERS = {"_mcp_server", "_callback_host"}
"""Of FastMCP's servers and of its OAuth; see test_private_names_of_fastmcp."""
OF_SESSIONS = {"_build_capabilities", "_stamp"}
"""Of the SDK's sessions with servers; see test_the_stamp_of_a_session."""
ELSEWHERE = {
    "_actions",
    "_option_string_actions",
    "_is_text_encoding",
    "_max_workers",
}
"""Of the standard library's objects; see test_private_names_of_python."""
PUBLIC = {"_asdict", "_emscripten_info", "_exit"}
"""Private in looks only: documented names of named tuples, of `os`, and of `sys` in a page."""


def object_at(place: str) -> object:
    module, _, name = place.partition(":")
    owner = import_module(module)
    return getattr(owner, name) if name else owner


# Each is used somewhere in toolbench/
@pytest.mark.every_case
@pytest.mark.parametrize("place", ATTRIBUTES)
def test_is_there(place):
    """What we use of another package's insides is where we look for it."""
    owner = object_at(place)
    annotated = getattr(owner, "__annotations__", {})
    assert [n for n in ATTRIBUTES[place] if not hasattr(owner, n) and n not in annotated] == []


@pytest.mark.parametrize("place", PARAMETERS)
def test_is_taken(place):
    """Their constructors take what we give them."""
    parameters = inspect.signature(object_at(place)).parameters
    assert [name for name in PARAMETERS[place] if name not in parameters] == []


def test_private_names_of_fastmcp():
    """A server of FastMCP's is made around one of the SDK's, which can be told a tool's schema."""
    from fastmcp import FastMCP
    from fastmcp.client.auth import OAuth

    assert {"_mcp_server", "_callback_host"} == OF_SERVERS
    assert OAuth()._callback_host == "localhost"
    assert hasattr(FastMCP("s")._mcp_server, "get_tool_input_schema")


def test_the_stamp_of_a_session():
    """A session adds the version of the protocol, and HTTP headers, to a request that we send ourselves."""
    from mcp import ClientSession
    from mcp.shared.jsonrpc_dispatcher import JSONRPCDispatcher
    from mcp_types import DiscoverResult, ServerCapabilities

    session = ClientSession(dispatcher=JSONRPCDispatcher(None, None))
    session.adopt(
        DiscoverResult(supported_versions=["2026-07-28"], capabilities=ServerCapabilities())
    )
    data, options = {"method": "tools/call", "params": {"name": "t", "arguments": {}}}, {}
    session._stamp(data, options)
    assert data["params"]["_meta"]["io.modelcontextprotocol/protocolVersion"] == "2026-07-28"
    assert options["headers"]["mcp-method"] == "tools/call"
    assert session._build_capabilities("2026-07-28").extensions is None


def test_a_shell_has_what_objects_of_it_have():
    """Completion is added to the shell's matchers, and what is shown goes to its publisher."""
    with new_shell() as shell:
        assert isinstance(shell.Completer.custom_matchers, list)
        assert callable(shell.display_pub.publish)
        assert shell.display_formatter.mimebundle_formatter.pop
        assert callable(shell.events.trigger)


def test_the_loop_of_a_kernel_has_asyncios():
    """An interrupt is passed to the kernel's loop, which is tornado's, by its name for asyncio's."""
    from ipykernel.kernelbase import Kernel
    from tornado.platform.asyncio import AsyncIOLoop

    assert "self.io_loop = " in inspect.getsource(Kernel)
    loop = AsyncIOLoop(make_current=False)
    try:
        assert loop.asyncio_loop.call_soon_threadsafe
    finally:
        loop.close()


def test_a_comm_knows_the_thread_its_messages_come_to():
    """A Stop button has it forget that; before ipykernel 7.4 there is nothing to forget."""
    from ipykernel.comm.comm import BaseComm

    assert "self._reply_subshell_id = " in inspect.getsource(BaseComm)


def test_private_names_of_google_genai():
    """The key of a client is read to hide it: there is no public name for it."""
    from google import genai

    assert genai.Client(api_key="none")._api_client.api_key == "none"
    assert genai.Client(api_key="none").aio._api_client.api_key == "none"


def test_private_names_of_python():
    """How wide a pool is; the options of a line; whether an encoding is text."""
    assert ThreadPoolExecutor(3)._max_workers == 3
    assert ProcessPoolExecutor(3)._max_workers == 3
    parser = argparse.ArgumentParser()
    assert parser._actions[0] is parser._option_string_actions["--help"]
    assert codecs.lookup("base64")._is_text_encoding is False
