"""The clients that call what is served: FastMCP's own, in both eras."""

import asyncio

import httpx2
from fastmcp import Client

ERAS = {"the newer era": "auto", "the older era": "legacy"}
HEADERS = {
    "accept": "application/json, text/event-stream",
    "content-type": "application/json",
}


def client_of(served, mode="auto", **options):
    """FastMCP's client of *served*."""
    return Client(served.url, auth=str(served.token), mode=mode, **options)


def talk(served, conversation, mode="auto", **options):
    """Return what `conversation(client)` returns, a coroutine function."""
    return talk_at(served.url, served.token, conversation, mode=mode, **options)


def talk_at(url, token, conversation, **options):
    """The same with what is served at *url*."""

    async def go():
        async with Client(url, auth=str(token), **options) as client:
            return await conversation(client)

    return asyncio.run(go())


def call(served, name, arguments=None, mode="auto", **options):
    """Return the result of one call of the tool *name*; an error is a result too."""
    call_options = {"raise_on_error": False}
    for key in ("progress_handler",):
        if key in options:
            call_options[key] = options.pop(key)
    return talk(
        served,
        lambda client: client.call_tool(name, arguments or {}, **call_options),
        mode,
        **options,
    )


def post(served, **headers):
    """Return the answer to a bare `tools/list` with these *headers*."""
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}
    return httpx2.post(served.url, headers=HEADERS | headers, json=message)
