"""Make a model from a function, a provider's client or an address."""

from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from inspect import CORO_CREATED, getcoroutinestate, isawaitable, iscoroutine
from threading import current_thread, main_thread
from typing import Any, get_args

from toolbench.llm.models.clients import ClientModel, package_of
from toolbench.llm.models.http import AddressModel
from toolbench.llm.models.inbox import (
    Send,
    StoppedError,
    in_loop,
    in_thread,
    result,
)
from toolbench.llm.models.model import (
    Answer,
    Messages,
    Model,
    OfferedTools,
    OnChunk,
    Price,
    copied,
    offered,
    stopped,
    whole_answer,
    writes_calls,
)
from toolbench.llm.providers import Provider
from toolbench.runs.control import Cancellable
from toolbench.runs.current_run import current_run
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

    Args:
        x: One of:

            - a model, which is returned unchanged;
            - a function `(messages, tools) -> message`, which gets both in the provider's
              format, and may return a message, an `Answer`, a text or a provider's response;
            - a client of the package `openai`, `anthropic` or `google.genai`, sync or async,
              alone (then *name* is the provider's name of the model) or as `(client, "model")`;
            - an address of a server with OpenAI's protocol, `"http://localhost:11434/v1#qwen3"`.
        name: The name of the model, for people.
        provider: The dialect of the model's messages. The default for functions and addresses is
            "openai"; "responses" makes a client of `openai` use the Responses API.
        api_key_env: For an address: the environment variable that holds the key. If left out,
            no key is sent. A client has its own key.
        options: Fields sent with every request, such as `{"temperature": 0}`.
        price: US dollars for a million input and output tokens, for `usage.cost`.
        written_calls: Whether the model writes calls into its text, as small models do whose server
            does not read them. Of any other model a text is never a call: it may quote a page.

    Raises:
        TypeError: If *x* cannot be a model.
        ValueError: If *x* can be a model, but not with these options.
    """
    if provider is not None and provider not in get_args(Provider):
        known = ", ".join(get_args(Provider))
        msg = f"provider must be one of {known}, not {provider!r}."
        raise ValueError(msg)
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
    if isinstance(x, tuple) and len(x) == 2 and package_of(x[0]):
        client, model = x
    else:
        client, model = x, name
    if package_of(client) and not isinstance(client, type):
        if not isinstance(model, str) or not model:
            msg = (
                f"A client of {package_of(client)} has many models: say which, as in "
                "as_model((client, 'model-name'))."
            )
            raise ValueError(msg)
        return ClientModel(
            client,
            model,
            name=name,
            provider=provider,
            options=options,
            price=price,
            written_calls=written_calls,
        )
    return _own(
        x, name, provider, written_calls=written_calls, with_requests=bool(options or price)
    )


def _own(
    x: Any,
    name: str | None,
    provider: Provider | None,
    *,
    written_calls: bool,
    with_requests: bool,
) -> Model:
    """Return *x* if it is a model; if *x* is a function, return a `FunctionModel`.

    *with_requests* tells whether the caller gave options or a price.

    Raises:
        TypeError: If *x* is a class, or is neither a model nor a function.
        ValueError: If *with_requests* is true, because only a client or an address has requests;
            or if *written_calls* is true and *x* is a model, which says this of itself.
    """
    if isinstance(x, type):
        msg = f"{x.__name__} is a class: give an object of it, as in {x.__name__}(...)."
        raise TypeError(msg)
    if with_requests and (isinstance(x, Model) or callable(x)):
        msg = "options and price are for a client or an address, whose requests are made here."
        raise ValueError(msg)
    if isinstance(x, Model):
        if written_calls and not writes_calls(x):
            msg = f"{x.name} is a model already: set its attribute, model.written_calls = True."
            raise ValueError(msg)
        return x
    if callable(x):
        return FunctionModel(
            x, name=name, provider=provider or "openai", written_calls=written_calls
        )
    msg = (
        f"{type(x).__name__} cannot answer for a model. Give a function (messages, tools) -> "
        "message, a client of openai, anthropic or google.genai as (client, 'model-name'), or an "
        "address like 'http://localhost:11434/v1#model-name'."
    )
    raise TypeError(msg)


class FunctionModel:
    """A model that calls a function `(messages, tools) -> message`.

    Args:
        function: Gets the messages and the tools in the provider's format; returns a
            message, an `Answer`, a text, or a provider's response. It may be async: then it
            runs in the background loop.
        name: The name of the model, for people; the function's own name if left out.
        provider: The dialect of the model's messages.
        written_calls: Whether the model writes calls into its text.
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
        cancel = current_run() if cancel is None else cancel
        # The function may send them
        copies = whole_characters(copied(messages))
        arguments = (copies, whole_characters(offered(tools, self.provider)))
        if cancel.cancelled:
            raise stopped(self.name)
        # Here it may ask, and can be interrupted
        if current_thread() is main_thread():
            returned = self._function(*arguments)
            # During the call: the answer is not used
            if cancel.cancelled:
                raise stopped(self.name)
        else:
            try:
                returned = result(in_thread(partial(self._call, arguments)), cancel)
            except StoppedError:
                raise stopped(self.name) from None
        if isawaitable(returned):
            returned = self._awaited(returned, cancel)
        return whole_answer(returned, self.provider, len(messages), on_chunk)

    def _call(self, arguments: tuple[Any, ...], send: Send) -> None:
        send(self._function(*arguments))

    def _awaited(self, returned: Awaitable[Any], cancel: Cancellable) -> Any:
        """Return the result of an async function, which runs in the background loop."""

        async def work(send: Send) -> None:
            send(await returned)

        try:
            return result(in_loop(work), cancel)
        except StoppedError:
            raise stopped(self.name) from None
        finally:
            if iscoroutine(returned) and getcoroutinestate(returned) == CORO_CREATED:
                # It never began
                returned.close()
