"""A model at the address of any HTTP server that uses OpenAI's protocol."""

import json
import os
import re
from asyncio import AbstractEventLoop, run_coroutine_threadsafe
from collections.abc import Iterator, Mapping
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, urldefrag, urlsplit
from weakref import finalize

from pydantic import SecretStr

from toolbench.core.background_loop import portal
from toolbench.errors import BodyError, ModelError
from toolbench.jsonschema.types import Json
from toolbench.llm.message import Provider
from toolbench.llm.models.faults import HttpRefusal, fault_of
from toolbench.llm.models.inbox import InLoop, Request, Send, StoppedError, result
from toolbench.llm.models.model import Price, stopped
from toolbench.llm.models.streamed import DONE, StreamedModel
from toolbench.llm.wire import WIRES, wire_of
from toolbench.llm.wire.wire import first_of, items_of
from toolbench.network import limit_async_answer
from toolbench.redaction.names import is_secret_setting
from toolbench.runs.control import Cancellable
from toolbench.values import clip

if TYPE_CHECKING:
    from httpx2 import AsyncClient, Response

CONNECT_WITHIN = 10.0
"""The maximum time for connecting, in seconds."""
SILENCE = 600.0
"""The maximum time without data, in seconds; long, because a model may think for minutes."""

# ASCII without spaces
_CARRIED = re.compile(r"[!-~]*")
_VARIABLE = re.compile(r"[A-Z][A-Z0-9_]*")


class AddressModel(StreamedModel):
    """A model at an address such as `http://localhost:11434/v1#qwen3`.

    Args:
        address: The base URL, and after `#` the name of the model. Without a name, the server
            must have exactly one model.
        name: The display name of the model; by default the name of the model, or else the host.
        provider: "openai" (chat completions) or "responses".
        api_key_env: The name of the environment variable that holds the API key. No other variable
            is ever sent.
        api_key: The API key of a server that this program started. It is used if there is no
            *api_key_env*.
        options: Fields sent with every request, such as `temperature`.
        price: The price of tokens.
        written_calls: Whether to read calls that the model writes into its text.

    Raises:
        ValueError: If the address is not valid, or the variable is not set.
    """

    def __init__(
        self,
        address: str,
        *,
        name: str | None = None,
        provider: Provider = "openai",
        api_key_env: str | None = None,
        api_key: str | None = None,
        options: Mapping[str, Any] | None = None,
        price: Price | None = None,
        written_calls: bool = False,
    ) -> None:
        base, model = urldefrag(address)
        parts = urlsplit(base)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            msg = (
                f"{parts.scheme or base[:40]!r} is not the address of a model: write "
                "'http://host/v1#model-name', with the base URL of a server with OpenAI's protocol."
            )
            raise ValueError(msg)
        if wire_of(provider).path is None:
            known = [repr(wire.provider) for wire in WIRES.values() if wire.path]
            msg = (
                f"A server at an address uses OpenAI's protocol: provider is {' or '.join(known)}, "
                f"not {provider!r}. For another provider, give the client of its package."
            )
            raise ValueError(msg)
        if api_key_env is not None:
            api_key = _key_from(api_key_env)
        place = f"{parts.scheme}://{parts.hostname}"
        if parts.port:
            place += f":{parts.port}"
        super().__init__(
            name or model or place,
            provider,
            model,
            place=place,
            secrets={
                **dict(_keys_in(parts.query)),
                "api_key": api_key or "",
                "password": parts.password or "",
            },
            options=options,
            price=price,
            written_calls=written_calls,
        )
        self._base = base
        self._connections = _Connections(self.secrets.get("api_key"))
        finalize(self, self._connections.close).atexit = False

    def close(self) -> None:
        """Close open connections; a later request opens new ones."""
        self._connections.close(within=5.0)

    def _prepare(self, cancel: Cancellable) -> None:
        """Ask the server for the name of the model if the address has none."""
        if self.model:
            return
        answer = self._listed(cancel)
        names = _names_in(answer)
        if len(names) == 1:
            self.model = names[0]
            return
        several, example = f"lists no model ({clip(answer, 200)})", "model-name"
        if names:
            several, example = f"has {', '.join(names[:10])}", names[0]
        msg = (
            f"{self._place} {several}: write the name of the model after the address, such as "
            f"'…/v1#{example}'."
        )
        raise ModelError(self.secrets.redactor.sentence(msg))

    def _listed(self, cancel: Cancellable) -> Any:
        """Return the server's answer to the request for its list of models."""
        try:
            return result(InLoop(self._list), cancel)
        except StoppedError:
            raise stopped(self.name) from None
        except Exception as error:
            # `fault_of` recognizes errors of the provider
            fault = fault_of(error, self._place, self.secrets.redactor)
            if fault is None:
                raise
        # Outside `except`, where the error's context would keep the key
        raise fault.error(1)

    async def _list(self, send: Send) -> None:
        async with self._connections.client().stream("GET", self._url("models")) as response:
            body = await response.aread()
            if response.status_code >= 300:
                raise _refusal(response, body)
            send(_value_in(body))

    def _request(self, body: Json) -> Request:
        return InLoop(partial(self._stream, body))

    async def _stream(self, body: Json, send: Send) -> None:
        url = self._url(self._wire.path or "")
        async with self._connections.client().stream("POST", url, json=body) as response:
            await _pass_on(response, send)

    def _url(self, path: str) -> str:
        base, mark, query = self._base.partition("?")
        return f"{base.rstrip('/')}/{path}{mark}{query}"


class _Connections:
    """The open connections of an `AddressModel`: an HTTP client for the current background loop.

    A connection of an earlier loop would never answer, so each loop gets a new client. The
    connections are closed before the loop stops. This object does not refer to the model, so that
    the model can be garbage-collected, which closes the connections too.
    """

    def __init__(self, key: SecretStr | None) -> None:
        self._key = key
        self._open: tuple[AbstractEventLoop, AsyncClient] | None = None

    def client(self) -> "AsyncClient":
        """Return the client of the background loop; call this only in that loop."""
        if self._open is None or self._open[0] is not portal.loop:
            self._open = (portal.loop, _new_client(self._key))
            portal.close_first(self.aclose)
        return self._open[1]

    def close(self, within: float | None = None) -> None:
        """Close the connections; any thread may call this.

        Wait at most *within* seconds until they are closed; do not wait if it is None.
        """
        if self._open is None or not self._open[0].is_running():
            self._open = None
            return
        # A failure to close does no harm
        with suppress(Exception):
            closing = run_coroutine_threadsafe(self.aclose(), self._open[0])
            if within is not None:
                closing.result(within)

    async def aclose(self) -> None:
        """Close the connections, in their loop."""
        portal.is_closed(self.aclose)
        if self._open is not None:
            client, self._open = self._open[1], None
            await client.aclose()


def _new_client(key: SecretStr | None) -> "AsyncClient":
    from httpx2 import (  # noqa: PLC0415 - 0.2 s, only needed for an address
        AsyncClient,
        Limits,
        Timeout,
    )

    headers = {}
    if key is not None:
        headers["Authorization"] = f"Bearer {key.get_secret_value()}"
    return AsyncClient(
        headers=headers,
        timeout=Timeout(SILENCE, connect=CONNECT_WITHIN),
        limits=Limits(max_connections=None, max_keepalive_connections=20),
        event_hooks={"response": [limit_async_answer]},
    )


def _key_from(variable: str) -> str:
    # *variable* may be the key itself, so the message does not repeat it
    if not _VARIABLE.fullmatch(variable):
        msg = (
            "api_key_env is the name of a variable that holds the key, such as OPENAI_API_KEY: capital "
            "letters, digits and underscores. Never give the key itself."
        )
        raise ValueError(msg)
    key = os.environ.get(variable, "").strip()
    if not key:
        msg = (
            f"The variable {variable} is not set, or is empty: put the key in it before the "
            "kernel starts, or set os.environ from where you keep it."
        )
        raise ValueError(msg)
    if not _CARRIED.fullmatch(key):
        msg = (
            f"The key in the variable {variable} has a character that is not allowed in a header, such "
            "as a line break, a space or a long dash: copy the key again, without anything around it."
        )
        raise ValueError(msg)
    return key


def _names_in(answer: Any) -> list[str]:
    """Return the names of the models in *answer*, which may be anything that a server sends."""
    if isinstance(answer, dict):
        answer = answer.get("data")
    names = []
    for item in items_of(answer):
        name = first_of(item, "id")
        if isinstance(name, str) and name:
            names.append(name)
    return names


def _keys_in(query: str) -> Iterator[tuple[str, str]]:
    """Yield the API keys in *query* (`?api_key=`), which a server may repeat in errors."""
    for name, value in parse_qsl(query):
        if is_secret_setting(name, value):
            yield f"?{name}", value


async def _pass_on(response: "Response", send: Send) -> None:
    """Pass each event of *response* to *send*, or its JSON value if it is not streamed."""
    from httpx2 import EventSource  # noqa: PLC0415 - as above

    if response.status_code >= 300:
        raise _refusal(response, await response.aread())
    kind = response.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "text/event-stream":
        send(_value_in(await response.aread()))
        return
    # Events are UTF-8; a byte order mark before the first event is not part of it
    response.encoding = "utf-8-sig"
    async for event in EventSource(response, max_event_size=None):
        if event.data.strip() == "[DONE]":
            send(DONE)
            return
        if event.data:
            send(json.loads(event.data))


def _value_in(body: bytes) -> Any:
    """Return the JSON value in *body*.

    Raises:
        ValueError: If *body* is not JSON; a `BodyError` if it is a web page.
    """
    try:
        return json.loads(body)
    except ValueError:
        if body.lstrip().startswith(b"<"):
            msg = "it is a web page, not the answer of a model. Is the address right?"
            raise BodyError(msg) from None
        raise


def _refusal(response: "Response", body: bytes) -> HttpRefusal:
    words = body.decode(errors="replace")
    try:
        value = json.loads(words)
    except (ValueError, RecursionError):
        value = words
    return HttpRefusal(response.status_code, response.headers, value)
