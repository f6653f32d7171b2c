"""Make a model from a function, a provider's client or an address."""

from collections.abc import Mapping
from typing import Any, get_args

from toolbench.llm.models.function import FunctionModel
from toolbench.llm.models.protocol import Model, Price, writes_calls
from toolbench.llm.models.transport.address_model import AddressModel
from toolbench.llm.models.transport.client_model import ClientModel, package_of
from toolbench.llm.providers import Provider


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
