"""A model that uses the client object of a provider's package, without importing the package.

The client is recognised by the module of its class: `openai`, `anthropic`, `google.genai`.
"""

import socket
import sys
from asyncio import get_running_loop, sleep
from base64 import b64decode, urlsafe_b64decode
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import partial
from inspect import signature
from operator import methodcaller
from threading import Lock, Thread
from typing import Any

from toolbench.core.background_loop import portal
from toolbench.errors import ModelError
from toolbench.jsonschema.types import Json
from toolbench.llm.models.price import Price
from toolbench.llm.models.transport.client_pool import Pooled
from toolbench.llm.models.transport.inbox import Ended, Send, Start, ending
from toolbench.llm.models.transport.streamed_model import StreamedModel
from toolbench.llm.providers import Provider
from toolbench.network import limit_answer, limit_async_answer

_DIALECTS: Mapping[str, tuple[Provider, ...]] = {
    "openai": ("openai", "responses"),
    "anthropic": ("anthropic",),
    "google.genai": ("gemini",),
}


def package_of(x: Any) -> str | None:
    """Return the package of the client *x*: "openai", "anthropic", "google.genai", or None."""
    for kind in type(x).__mro__:
        for package in _DIALECTS:
            if kind.__module__ == package or kind.__module__.startswith(f"{package}."):
                is_client = hasattr(x, "models") or hasattr(x, "messages")
                return package if is_client else None
    return None


class ClientModel(StreamedModel):
    """A model that sends its requests with the client of a provider's package.

    Args:
        client: `openai.OpenAI`, `anthropic.Anthropic`, `google.genai.Client`, their async
            versions, or subclasses.
        model: The provider's name of the model.
        name: The name for people; *model* if left out.
        provider: "responses" for OpenAI's Responses API; else the client's own dialect.
        options: Fields sent with every request, such as `temperature`.
        price: The price of tokens.
        written_calls: Whether the model writes calls into its text.

    Raises:
        ValueError: If the client does not support the dialect of *provider*.
    """

    def __init__(
        self,
        client: Any,
        model: str,
        *,
        name: str | None = None,
        provider: Provider | None = None,
        options: Mapping[str, Any] | None = None,
        price: Price | None = None,
        written_calls: bool = False,
    ) -> None:
        package = package_of(client) or ""
        providers = _DIALECTS[package]
        if provider is not None and provider not in providers:
            msg = f"The client of {package} supports {' or '.join(providers)}, not {provider!r}."
            raise ValueError(msg)
        super().__init__(
            name or model,
            provider or providers[0],
            model,
            place=_place_of(client, package),
            secrets=_keys_of(client),
            options=options,
            price=price,
            written_calls=written_calls,
        )
        # Identifies the model
        self._base = str(getattr(client, "base_url", ""))
        if package == "google.genai":
            self._door: _Door = _Gemini(client)
        else:
            is_async = any(k.__name__.startswith("Async") for k in type(client).__mro__)
            self._door = (_AsyncDoor if is_async else _ThreadDoor)(client, package)

    def _start(self, body: Json) -> Start:
        return self._door.start(self.provider, body)


def _place_of(client: Any, package: str) -> str:
    url = getattr(client, "base_url", None)
    return str(getattr(url, "host", "") or "") or f"the client of {package}"


def _keys_of(client: Any) -> dict[str, str]:
    """Return the secrets of the client, by the names of its attributes."""
    names = ("api_key", "auth_token", "admin_api_key", "webhook_secret")
    values = {
        name: getattr(holder, name, None)
        for holder in (getattr(client, "_api_client", None), client)
        for name in names
        if hasattr(holder, name)
    }
    return {name: value for name, value in values.items() if isinstance(value, str)}


def _call(client: Any, provider: Provider, body: Json) -> Any:
    """Send a request with *client*; fields without a matching argument go into the extra body."""
    match provider:
        case "responses":
            create = client.responses.create
        case "anthropic":
            create = client.messages.create
        case _:
            create = client.chat.completions.create
    known = signature(create).parameters
    arguments = {name: value for name, value in body.items() if name in known}
    others = {name: value for name, value in body.items() if name not in known}
    if others:
        arguments["extra_body"] = {**(arguments.get("extra_body") or {}), **others}
    return create(**arguments)


class _Door:
    """The base class of the ways to send a request with a provider's SDK client.

    There are two ways: with an async client, or with a blocking client in a thread.
    """

    def start(self, provider: Provider, body: Json) -> Start:
        raise NotImplementedError


class _AsyncDoor(_Door):
    """Sends requests with an async client of OpenAI or Anthropic, in the background loop."""

    def __init__(self, client: Any, package: str) -> None:
        # the user closes the connections of the user's own HTTP client
        close = None if _has_own_http(client) else methodcaller("close")
        self._pooled = Pooled(partial(_async_copy, client, package), close)

    def start(self, provider: Provider, body: Json) -> Start:
        def start(send: Send) -> Callable[[], object]:
            return portal.start(self._stream, provider, body, send).cancel

        return start

    async def _stream(self, provider: Provider, body: Json, send: Send) -> None:
        with ending(send):
            stream = await self._open(provider, body)
            try:
                async for chunk in stream:
                    send(chunk)
            finally:
                # It may be closed already
                with suppress(Exception):
                    await getattr(stream, "close", stream.aclose)()

    async def _open(self, provider: Provider, body: Json) -> Any:
        return await _call(self._pooled.here(), provider, body)


class _Gemini(_AsyncDoor):
    """Sends requests with the async part of Google's client, which has connections for each loop."""

    def __init__(self, client: Any) -> None:
        half = getattr(client, "aio", client)
        self._pooled = Pooled(lambda: half, _close_google)

    async def _open(self, provider: Provider, body: Json) -> Any:
        contents = [
            {**turn, "parts": [*map(_with_bytes, turn["parts"])]} for turn in body["contents"]
        ]
        sent = {**body, "contents": contents}
        client = self._pooled.here()
        _stay_at_the_host(client._api_client)
        return await client.models.generate_content_stream(**sent)


def _stay_at_the_host(api: Any) -> None:
    """Stop a Google client from following redirects, which would send its key to other hosts.

    OpenAI's and Anthropic's clients drop their keys in a redirect; Google's client does
    not.

    Raises:
        ModelError: If the user gave the client an HTTP client that follows redirects.
    """
    options: Any = getattr(api, "_http_options", None)
    arguments = getattr(api, "_async_client_session_request_args", None)
    # For aiohttp; a retry makes new ones
    if arguments is not None:
        arguments["allow_redirects"] = False
        made_of = getattr(options, "async_client_args", None) or {}
        options.async_client_args = {**made_of, "allow_redirects": False}
        return
    http: Any = getattr(api, "_async_httpx_client", None)
    # This loop has its own client
    if getattr(http, "_per_loop", False):
        http = http._client_for_running_loop()
        http.follow_redirects = False
    responses = getattr(http, "event_hooks", {}).get("response")
    if responses is not None and limit_async_answer not in responses:
        responses.append(limit_async_answer)
    if getattr(http, "follow_redirects", False):
        msg = (
            "This client of google.genai follows redirects, which sends its key to any host that "
            "a server names. Make it with http_options={'async_client_args': "
            "{'follow_redirects': False}}, or its own HTTP client with follow_redirects=False."
        )
        raise ModelError(msg)


async def _close_google(client: Any) -> None:
    """Close the connections of *client* in the running loop; the user can still use the client."""
    api, loop = client._api_client, get_running_loop()
    http = getattr(api, "_async_httpx_client", None)
    mine = getattr(http, "_loop_clients", {}).pop(loop, None)
    if mine is not None:
        await mine.aclose()
    session = getattr(api, "_aiohttp_sessions", {}).pop(loop, None)
    # If aiohttp is installed, requests go through it
    if session is not None:
        await session.close()
        # Its connections close in the loop's next round
        await sleep(0)


def _with_bytes(part: Json) -> Json:
    """Return the part in the package's form, with bytes in place of base64."""
    part = dict(part)
    for name in ("inlineData", "inline_data"):
        blob = part.get(name)
        if isinstance(blob, Mapping) and isinstance(blob.get("data"), str):
            part[name] = {**blob, "data": _decoded(blob["data"])}
    for name in ("thoughtSignature", "thought_signature"):
        if isinstance(part.get(name), str):
            part[name] = _decoded(part[name])
    response = part.get("functionResponse")
    if isinstance(response, Mapping) and response.get("parts"):
        inner = [*map(_with_bytes, response["parts"])]
        part["functionResponse"] = {**response, "parts": inner}
    return part


def _decoded(text: str) -> bytes:
    padded = text + "=" * (-len(text) % 4)
    return (urlsafe_b64decode if set(text) & set("-_") else b64decode)(padded)


class _ThreadDoor(_Door):
    """Sends each request with a blocking client of OpenAI or Anthropic, in a new thread."""

    def __init__(self, client: Any, package: str) -> None:
        self._client, self._package = client, package
        self._certificates: Any = None

    def start(self, provider: Provider, body: Json) -> Start:
        def start(send: Send) -> Callable[[], object]:
            line = _Line()
            Thread(
                target=self._stream,
                args=(provider, body, send, line),
                name="toolbench-model",
                daemon=True,
            ).start()
            return line.hang_up

        return start

    def _stream(self, provider: Provider, body: Json, send: Send, line: "_Line") -> None:
        try:
            client, close = self._copied(line)
            try:
                with _call(client, provider, body) as stream:
                    line.watch(stream.response)
                    for chunk in stream:
                        send(chunk)
            finally:
                line.is_over = True
                close()
        except Exception as error:  # noqa: BLE001 - the thread that waits raises it
            send(Ended(error))
        else:
            send(Ended())

    def _copied(self, line: "_Line") -> tuple[Any, Callable[[], object]]:
        """Return a copy of the client without retries, and a function that closes the copy.

        The copy has its own HTTP client, whose connection *line* can cut at any time.
        If the user gave the client an HTTP client, the copy uses that HTTP client, and
        does not close it.
        """
        if _has_own_http(self._client):
            return self._client.with_options(max_retries=0), lambda: None
        # Reading them is slow
        if self._certificates is None:
            self._certificates = http_package_of(self._client).create_ssl_context()
        http = sys.modules[self._package].DefaultHttpxClient(
            verify=self._certificates,
            event_hooks={"request": [line.mark], "response": [limit_answer]},
        )
        return self._client.with_options(max_retries=0, http_client=http), http.close


class _Line:
    """The connection of one request in a thread, which another thread can cut.

    To close a socket does not wake a thread that reads from it; to shut the socket down
    does.
    """

    def __init__(self) -> None:
        self.is_over = False
        self._is_cut = False
        self._sockets: list[socket.socket] = []
        self._lock = Lock()

    def trace(self, event: str, info: Mapping[str, Any]) -> None:
        """Remember the socket of a new connection. The HTTP library calls this for each of its events."""
        if event.endswith(("connect_tcp.complete", "start_tls.complete")):
            self._note(info.get("return_value"))

    def mark(self, request: Any) -> None:
        """Let the HTTP library call `trace` while it sends *request*."""
        request.extensions = {**request.extensions, "trace": self.trace}

    def watch(self, response: Any) -> None:
        """Remember the socket of *response*."""
        self._note(response.extensions.get("network_stream"))

    def _note(self, stream: Any) -> None:
        ask = getattr(stream, "get_extra_info", None)
        known = ask("socket") if ask is not None else None
        with self._lock:
            if isinstance(known, socket.socket):
                self._sockets.append(known)
            is_cut = self._is_cut
        if is_cut:
            self.hang_up()

    def hang_up(self) -> None:
        """Cut the connection, now or as soon as it is made."""
        with self._lock:
            self._is_cut = True
            sockets = [] if self.is_over else self._sockets
        for known in sockets:
            # It is closed already
            with suppress(OSError):
                known.shutdown(socket.SHUT_RDWR)


def http_package_of(client: Any) -> Any:
    """Return the HTTP package that *client* uses: httpx2, or httpx in older versions."""
    names = [kind.__module__.partition(".")[0] for kind in type(client._client).__mro__]
    return sys.modules[next(name for name in names if name.startswith("httpx"))]


def _has_own_http(client: Any) -> bool:
    """Return whether the user gave *client* an HTTP client. It is kept, because it may have a proxy."""
    own = getattr(client, "_client", None)
    return own is None or not type(own).__name__.endswith("HttpxClientWrapper")


def _async_copy(client: Any, package: str) -> Any:
    """Return a copy of the client without retries, and with its own connections.

    If the user gave an HTTP client, the copy uses it.
    """
    if _has_own_http(client):
        return client.with_options(max_retries=0)
    http = sys.modules[package].DefaultAsyncHttpxClient(
        event_hooks={"response": [limit_async_answer]}
    )
    return client.with_options(max_retries=0, http_client=http)
