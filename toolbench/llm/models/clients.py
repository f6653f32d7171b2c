"""A model that uses the client object of a provider's package, without importing the package.

The client is recognized by the module of its class; see `Wire.package`. It is used as the user
created it, so its kind (Azure, Bedrock, Vertex), its headers and its HTTP client are kept.
"""

from collections.abc import Mapping
from contextlib import suppress
from functools import partial
from inspect import signature
from operator import attrgetter
from typing import Any

from toolbench.errors import ModelError
from toolbench.jsonschema.types import Json
from toolbench.llm.message import Provider
from toolbench.llm.models.faults import causes
from toolbench.llm.models.inbox import InLoop, InThread, Request, Send
from toolbench.llm.models.model import Price
from toolbench.llm.models.streamed import StreamedModel
from toolbench.llm.wire import WIRES
from toolbench.llm.wire.wire import Wire
from toolbench.redaction.detect import secrets_in

_ANOTHER_LOOP = ("different event loop", "different loop", "event loop is closed")


def wires_of(x: Any) -> list[Wire]:
    """Return the formats in which the client *x* can send requests; empty if *x* is no client."""
    return [wire for wire in WIRES.values() if wire.is_client(x)]


class ClientModel(StreamedModel):
    """A model that sends its requests with the client of a provider's package.

    Cancelling closes the request of an async client immediately. With a sync client, the connection
    stays open until the next part of the answer arrives, because its thread cannot be stopped. The
    provider may charge for the tokens of this part.

    Args:
        client: An object of the class `openai.OpenAI`, `anthropic.Anthropic` or
            `google.genai.Client`, of its async version, or of a subclass.
        model: The provider's name for the model.
        name: The display name of the model; by default *model*.
        provider: The message format, such as "responses" for OpenAI's Responses API. By default,
            a client of `openai` uses chat completions.
        options: Fields sent with every request, such as `temperature`.
        price: The price of tokens.
        written_calls: Whether to read calls that the model writes into its text.

    Raises:
        ValueError: If *model* is missing, or the client does not support the format *provider*.
    """

    def __init__(
        self,
        client: Any,
        model: str | None,
        *,
        name: str | None = None,
        provider: Provider | None = None,
        options: Mapping[str, Any] | None = None,
        price: Price | None = None,
        written_calls: bool = False,
    ) -> None:
        wires = wires_of(client)
        package, providers = wires[0].package, [wire.provider for wire in wires]
        if not isinstance(model, str) or not model:
            msg = (
                f"A client of {package} has many models: say which, as in "
                "as_model((client, 'model-name'))."
            )
            raise ValueError(msg)
        if provider is None:
            provider = providers[0]
        if provider not in providers:
            msg = f"The client of {package} supports {' or '.join(providers)}, not {provider!r}."
            raise ValueError(msg)
        url = getattr(client, "base_url", None)
        host = str(getattr(url, "host", "") or "")
        super().__init__(
            name or model,
            provider,
            model,
            place=host or f"the client of {package}",
            secrets=_secrets_of(client, WIRES[provider]),
            options=options,
            price=price,
            written_calls=written_calls,
        )
        # Identifies the model
        self._base = str(url or "")
        self._client = client
        self._is_async = any(kind.__name__.startswith("Async") for kind in type(client).__mro__)
        if not self._is_async:
            self._after_stop = (
                "; its client is not async, so it stays connected until the next part of the "
                "answer arrives"
            )

    def _request(self, body: Json) -> Request:
        if self._is_async:
            return InLoop(partial(self._await_chunks, body))
        return InThread(partial(self._read_chunks, body))

    def _read_chunks(self, body: Json, send: Send) -> None:
        stream = self._opened(body)
        try:
            for chunk in stream:
                send(chunk)
        finally:
            # The stream may be closed already
            with suppress(Exception):
                stream.close()

    async def _await_chunks(self, body: Json, send: Send) -> None:
        try:
            stream = await self._opened(body)
            try:
                async for chunk in stream:
                    send(chunk)
            finally:
                # Google's stream is a generator
                close = getattr(stream, "close", None) or stream.aclose
                # The stream may be closed already
                with suppress(Exception):
                    await close()
        except Exception as error:
            # A package may wrap the error in one of its own
            if not any(map(_is_of_another_loop, causes(error))):
                raise
            msg = (
                "This async client was used in another event loop, such as by `await` in a cell, and "
                "its connections belong to that loop: give the model an async client of its own, or "
                "a sync client."
            )
            raise ModelError(msg) from None

    def _opened(self, body: Json) -> Any:
        """Send the request, and return its stream; for an async client, an awaitable of the stream.

        Fields that the client's method has no argument for are passed as its extra body, if it
        accepts one.
        """
        send = attrgetter(self._wire.method)(_without_retries(self._client))
        body = self._wire.for_client(body)
        known = signature(send).parameters
        if "extra_body" not in known:
            return send(**body)
        arguments, others = {}, {}
        for name, value in body.items():
            if name in known:
                arguments[name] = value
            else:
                others[name] = value
        if others:
            arguments["extra_body"] = {**(arguments.get("extra_body") or {}), **others}
        return send(**arguments)


def _is_of_another_loop(error: BaseException) -> bool:
    if not isinstance(error, RuntimeError):
        return False
    return any(words in str(error).lower() for words in _ANOTHER_LOOP)


def _without_retries(client: Any) -> Any:
    """Return a copy of *client* that does not retry, because the model itself retries.

    The copy is for one request. It shares everything else, such as connections, with *client*.
    """
    try:
        return client.with_options(max_retries=0)
    except (AttributeError, TypeError):
        # Google's client has no retries, and a subclass may have a different constructor
        return client


def _secrets_of(client: Any, wire: Wire) -> dict[str, str]:
    """Map the attributes of *client* that contain secrets to these secrets, to mask them."""
    secrets: dict[str, str] = {}
    holder = wire.holder_of_secrets(client)
    for name in wire.secrets:
        value = getattr(holder, name, None)
        if isinstance(value, str):
            secrets[name] = value
    # Tokens of a gateway or of Azure AD; those that the package gets from a token provider are not
    # here
    for fields in ("default_headers", "auth_headers", "default_query"):
        for number, value in enumerate(secrets_in(dict(getattr(client, fields, {})))):
            secrets[f"{fields}[{number}]"] = value
    return secrets
