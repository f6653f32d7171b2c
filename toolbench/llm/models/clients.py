"""A model that uses the client object of a provider's package, without importing the package.

The client is recognised by the module of its class: `openai`, `anthropic`, `google.genai`. It is used
as the user made it, so its kind (Azure, Bedrock, Vertex), its headers and its HTTP client stay.
"""

from collections.abc import Mapping
from contextlib import suppress
from functools import partial
from inspect import signature
from typing import Any

from toolbench.errors import ModelError
from toolbench.jsonschema.types import Json
from toolbench.llm.models.faults import causes
from toolbench.llm.models.inbox import Send, Start, in_loop, in_thread
from toolbench.llm.models.model import Price
from toolbench.llm.models.streamed import StreamedModel
from toolbench.llm.providers import Provider
from toolbench.redaction.detect import secrets_in
from toolbench.values import bytes_in

_DIALECTS: Mapping[str, tuple[Provider, ...]] = {
    "openai": ("openai", "responses"),
    "anthropic": ("anthropic",),
    "google.genai": ("gemini",),
}
_SECRETS = (
    *("api_key", "auth_token", "admin_api_key", "webhook_secret"),
    # Of Bedrock and Vertex
    *("aws_secret_key", "aws_session_token", "access_token"),
)
_ANOTHER_LOOP = ("different event loop", "different loop", "event loop is closed")


def package_of(x: Any) -> str | None:
    """Return the package of the client *x*: "openai", "anthropic", "google.genai", or None."""
    for kind in type(x).__mro__:
        for package in _DIALECTS:
            if kind.__module__ == package or kind.__module__.startswith(f"{package}."):
                if hasattr(x, "models") or hasattr(x, "messages"):
                    return package
                return None
    return None


class ClientModel(StreamedModel):
    """A model that sends its requests with the client of a provider's package.

    An async client is awaited in toolbench's background loop, and a stop closes its request at once.
    A sync client is called in a thread, which nothing can stop: after a stop it stays connected until
    the next part of the answer arrives, and the provider may charge for what it wrote until then.

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
        ValueError: If there is no *model*, or the client does not support the dialect of *provider*.
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
        package = package_of(client) or ""
        if not isinstance(model, str) or not model:
            msg = (
                f"A client of {package} has many models: say which, as in "
                "as_model((client, 'model-name'))."
            )
            raise ValueError(msg)
        providers = _DIALECTS[package]
        if provider is not None and provider not in providers:
            msg = f"The client of {package} supports {' or '.join(providers)}, not {provider!r}."
            raise ValueError(msg)
        super().__init__(
            name or model,
            provider or providers[0],
            model,
            place=_place_of(client, package),
            secrets=_secrets_of(client),
            options=options,
            price=price,
            written_calls=written_calls,
        )
        # Identifies the model
        self._base = str(getattr(client, "base_url", ""))
        self._client = client
        self._is_async = any(kind.__name__.startswith("Async") for kind in type(client).__mro__)
        if not self._is_async:
            self._after_stop = (
                "; its client is not async, so it stays connected until the next part of the "
                "answer arrives"
            )

    def _start(self, body: Json) -> Start:
        if self._is_async:
            return in_loop(partial(self._await_chunks, body))
        return in_thread(partial(self._read_chunks, body))

    def _read_chunks(self, body: Json, send: Send) -> None:
        stream = self._opened(body)
        try:
            for chunk in stream:
                send(chunk)
        finally:
            # It may be closed already
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
                # It may be closed already
                with suppress(Exception):
                    await close()
        except Exception as error:
            # A package may wrap it in an error of its own
            if not any(map(_is_of_another_loop, causes(error))):
                raise
            msg = (
                "This async client was used in another event loop, such as by `await` in a cell, and "
                "its connections belong to that loop: give the model an async client of its own, or "
                "a sync client."
            )
            raise ModelError(msg) from None

    def _opened(self, body: Json) -> Any:
        """Send the request, and return its stream, or what an async client awaits for its stream.

        Fields without a matching argument go into the extra body.
        """
        create = self._create()
        if self.provider == "gemini":
            contents = [
                {**turn, "parts": [*map(_with_bytes, turn["parts"])]} for turn in body["contents"]
            ]
            return create(**{**body, "contents": contents})
        known = signature(create).parameters
        arguments, others = {}, {}
        for name, value in body.items():
            if name in known:
                arguments[name] = value
            else:
                others[name] = value
        if others:
            arguments["extra_body"] = {**(arguments.get("extra_body") or {}), **others}
        return create(**arguments)

    def _create(self) -> Any:
        """Return the method of the client that sends a request."""
        if self.provider == "gemini":
            return self._client.models.generate_content_stream
        client = _without_retries(self._client)
        match self.provider:
            case "responses":
                return client.responses.create
            case "anthropic":
                return client.messages.create
        return client.chat.completions.create


def _is_of_another_loop(error: BaseException) -> bool:
    if not isinstance(error, RuntimeError):
        return False
    return any(words in str(error).lower() for words in _ANOTHER_LOOP)


def _without_retries(client: Any) -> Any:
    """Return *client* with the setting not to try again: the model does this, shows it, and can be stopped.

    The package makes it for one request, and it shares all else with *client*, such as connections.
    """
    try:
        return client.with_options(max_retries=0)
    except TypeError:
        # A subclass with a constructor of its own
        return client


def _place_of(client: Any, package: str) -> str:
    url = getattr(client, "base_url", None)
    return str(getattr(url, "host", "") or "") or f"the client of {package}"


def _secrets_of(client: Any) -> dict[str, str]:
    """Return the secrets of *client*, by the attributes that have them, so that they can be hidden."""
    secrets: dict[str, str] = {}
    # Google's client has no public name for its key, and what shows a request has to hide it
    for holder in (getattr(client, "_api_client", None), client):
        for name in _SECRETS:
            value = getattr(holder, name, None)
            if isinstance(value, str):
                secrets[name] = value
    # A gateway's token, or one of Azure AD. What the package asks a token provider for is not here
    for headers in ("default_headers", "auth_headers"):
        for number, value in enumerate(secrets_in(dict(getattr(client, headers, {})))):
            secrets[f"{headers}[{number}]"] = value
    return secrets


def _with_bytes(part: Json) -> Json:
    """Return the part in the form of Google's package, with bytes in place of base64."""
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
    return bytes_in(text + "=" * (-len(text) % 4)) or b""
