"""Make a model from a function, a provider's client or an address."""

from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from inspect import isawaitable
from threading import current_thread, main_thread
from typing import Any

from toolbench.llm.message import Provider
from toolbench.llm.models.clients import ClientModel, wires_of
from toolbench.llm.models.http import AddressModel
from toolbench.llm.models.inbox import (
    InLoop,
    InThread,
    Send,
    StoppedError,
    result,
)
from toolbench.llm.models.model import (
    Answer,
    Messages,
    Model,
    OfferedTools,
    OnChunk,
    Price,
    not_cancelled,
    offered,
    stopped,
    whole_answer,
    writes_calls,
)
from toolbench.llm.wire import WIRES, wire_of
from toolbench.runs.control import Cancellable
from toolbench.values import whole_characters


def as_model(
    x: Any,
    *,
    name: str | None = None,
    provider: Provider | None = None,
    api_key_env: str | None = None,
    options: Mapping[str, Any] | None = None,
    price: Price | tuple[float, float] | None = None,
    written_calls: bool = False,
) -> Model:
    """Turn *x* into a model.

    *x* may be one of these:

    - A URL: the address of a server with OpenAI's protocol, then `#` and the name of the model, as
      in `"http://localhost:11434/v1#qwen3"`.
    - A client of `openai`, `anthropic` or `google.genai`, sync or async, together with the name of
      the model: `(client, "model")`. You can also pass only the client, and the model as *name*.
    - A function `(messages, tools) -> message`. It gets the messages and the tools in the
      provider's format, and returns a message, an `Answer`, a string or a provider's response.
    - A model, which is returned unchanged.

    If the server is overloaded or fails temporarily, the request is retried. A request is sent at
    most four times. Before each retry, the model waits as long as the server asks, and `on_chunk`
    gets a chunk of the kind "retry".

    A client keeps its own settings, such as a proxy and headers. Its keys, and the secrets in its
    headers and `default_query`, are masked in everything that is shown or saved. Tokens from a
    token provider (Azure AD, Vertex) and headers of `google.genai` are not masked. To mask them,
    pass them to the conversation: `Conversation(secrets={"token": token})`.

    If a server redirects a client of `google.genai`, the client sends its key to the new address.
    To prevent this, put `"follow_redirects": False` into its `client_args` and `async_client_args`.

    Cancelling closes the request of an async client immediately. With a sync client, the connection
    stays open until the next part of the answer arrives, and the provider may charge for that part.
    Do not also use an async client with `await` in cells, because its connections belong to one
    event loop.

    Args:
        x: A URL, a client, a function or a model.
        name: The display name of the model.
        provider: The message format: "openai", "responses", "anthropic", "gemini" or "mcp". For
            functions and URLs, the default is "openai". For a client of `openai`, "responses"
            selects the Responses API.
        api_key_env: The name of the environment variable that holds the key for a URL. If left
            out, no key is sent. A client has its own key.
        options: Fields sent with every request, such as `{"temperature": 0}`.
        price: The prices of a million input tokens and a million output tokens, in US dollars.
            `usage.cost` is computed from them.
        written_calls: Whether to read calls that the model writes into its text. Set this for a
            small model whose server does not parse its calls. Do not set it for other models,
            because their text may quote a call from a page.

    Raises:
        TypeError: If *x* cannot be a model.
        ValueError: If *x* can be a model, but the other arguments do not fit *x*.

    Examples:
        >>> from toolbench.llm import as_model, user_message
        >>> def echo(messages, tools):
        ...     return messages[-1]["content"].upper()
        >>> as_model(echo).complete([user_message("hello")]).text
        'HELLO'
        >>> as_model("http://localhost:11434/v1#qwen3", price=(0.1, 0.4)).name
        'qwen3'
    """
    if provider is not None:
        wire_of(provider)
    if isinstance(price, tuple):
        price = Price(*price)
    if isinstance(x, str):
        return AddressModel(
            x,
            name=name,
            provider=provider or "openai",
            api_key_env=api_key_env,
            options=options,
            price=price,
            written_calls=written_calls,
        )
    if api_key_env is not None:
        msg = "api_key_env is for an address: a client, or a function, has its own key."
        raise ValueError(msg)
    client, model = x, name
    if isinstance(x, tuple) and len(x) == 2:
        client, model = x
    if wires_of(client):
        return ClientModel(
            client,
            model,
            name=name,
            provider=provider,
            options=options,
            price=price,
            written_calls=written_calls,
        )
    if options or price:
        msg = "options and price are for a client or an address, whose requests are made here."
        raise ValueError(msg)
    return _own(x, name, provider or "openai", written_calls=written_calls)


def _own(x: Any, name: str | None, provider: Provider, *, written_calls: bool) -> Model:
    """Return *x* if it is a model; if it is a function, return a `FunctionModel`.

    Raises:
        TypeError: If *x* is a class, or is neither a model nor a function.
        ValueError: If *written_calls* is true for a model whose attribute of this name is false.
    """
    if isinstance(x, type):
        msg = f"{x.__name__} is a class: give an object of it, as in {x.__name__}(...)."
        raise TypeError(msg)
    if not isinstance(x, Model) and not callable(x):
        packages = ", ".join(dict.fromkeys(w.package for w in WIRES.values() if w.package))
        msg = (
            f"{type(x).__name__} cannot answer for a model. Give a function (messages, tools) -> "
            f"message, a client ({packages}) as (client, 'model-name'), or an address like "
            "'http://localhost:11434/v1#model-name'."
        )
        raise TypeError(msg)
    if not isinstance(x, Model):
        return FunctionModel(x, name=name, provider=provider, written_calls=written_calls)
    if written_calls and not writes_calls(x):
        msg = f"{x.name} is a model already: set its attribute, model.written_calls = True."
        raise ValueError(msg)
    return x


class FunctionModel:
    """A model that calls a function `(messages, tools) -> message`.

    Args:
        function: A function that gets the messages and the tools in the provider's format. It
            returns a message, an `Answer`, a string or a provider's response. An async function
            runs in toolbench's background event loop.
        name: The display name of the model; by default the name of the function.
        provider: The provider whose message format the model uses.
        written_calls: Whether to read calls that the model writes into its text.
    """

    def __init__(
        self,
        function: Callable[..., Any],
        *,
        name: str | None = None,
        provider: Provider = "openai",
        written_calls: bool = False,
    ) -> None:
        self._function = function
        self.written_calls = written_calls
        """Whether calls in the model's text are read as calls."""
        self.name = name or str(getattr(function, "__name__", type(function).__name__))
        self.provider = provider

    def __repr__(self) -> str:
        return f"<FunctionModel {self.name}>"

    def complete(
        self,
        messages: Messages,
        tools: OfferedTools = (),
        *,
        on_chunk: OnChunk | None = None,
        cancel: Cancellable | None = None,
    ) -> Answer:
        """Return the function's answer to *messages* and *tools*.

        Raises:
            ModelError: If the function returns no message.
            ModelStoppedError: If *cancel* was cancelled.
        """
        cancel = not_cancelled(cancel, self.name)
        # Whole characters, because the function may send the messages
        copies = whole_characters(messages)
        ask = partial(self._function, copies, whole_characters(offered(tools, self.provider)))
        try:
            # In the main thread, the function may ask the user, and can be interrupted
            if current_thread() is main_thread():
                returned = ask()
            else:
                returned = result(InThread(lambda send: send(ask())), cancel)
            if isawaitable(returned):
                returned = result(InLoop(partial(_await, returned)), cancel)
        except StoppedError:
            raise stopped(self.name) from None
        # If it was cancelled during the call, the answer is not used
        cancel = not_cancelled(cancel, self.name)
        return whole_answer(returned, self.provider, len(messages), on_chunk)


async def _await(returned: Awaitable[Any], send: Send) -> None:
    send(await returned)
