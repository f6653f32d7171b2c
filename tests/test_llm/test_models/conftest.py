from pathlib import Path

import certifi
import pytest

from test_llm.samples import sdk
from test_llm.test_models.provider_server import KEY, provider_server
from toolbench.core.background_loop import portal
from toolbench.llm import system_message, user_message
from toolbench.llm.models import as_model
from toolbench.llm.models.http import AddressModel


@pytest.fixture(autouse=True, scope="module")
def _one_certificate(tmp_path_factory):
    """The clients trust one authority: each reads all that it trusts, for 25 ms, and no test has TLS."""
    end = "-----END CERTIFICATE-----"
    file = tmp_path_factory.mktemp("certificate") / "one.pem"
    file.write_text(Path(certifi.where()).read_text("utf-8").partition(end)[0] + end)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SSL_CERT_FILE", str(file))
        yield


@pytest.fixture
def server():
    """A server that speaks every provider's protocol."""
    with provider_server() as server:
        yield server


def hello(model, text="Hello"):
    """A conversation of one message, and instructions."""
    provider = model.provider
    return [system_message("Be brief.", provider), user_message(text, provider)]


def _address(provider):
    return lambda url: AddressModel(f"{url}/v1#toy-1", provider=provider, api_key=KEY)


def _openai(kind, provider):
    def make(url):
        client = getattr(sdk("openai"), kind)(api_key=KEY, base_url=f"{url}/v1")
        return as_model((client, "toy-1"), provider=provider)

    return make


def _anthropic(kind):
    def make(url):
        client = getattr(sdk("anthropic"), kind)(api_key=KEY, base_url=url)
        return as_model((client, "toy-1"))

    return make


def _genai(half):
    def make(url):
        options = {"base_url": url}
        client = sdk("google.genai").Client(api_key=KEY, http_options=options)
        return as_model((client if half == "sync" else client.aio, "toy-1"))

    return make


MODELS = {
    "an address": ("openai", _address("openai")),
    "an address, Responses": ("responses", _address("responses")),
    "openai": ("openai", _openai("OpenAI", None)),
    "openai, async": ("openai", _openai("AsyncOpenAI", None)),
    "openai, Responses": ("responses", _openai("OpenAI", "responses")),
    "openai, Responses, async": ("responses", _openai("AsyncOpenAI", "responses")),
    "anthropic": ("anthropic", _anthropic("Anthropic")),
    "anthropic, async": ("anthropic", _anthropic("AsyncAnthropic")),
    "google-genai": ("gemini", _genai("sync")),
    "google-genai, aio": ("gemini", _genai("async")),
}


@pytest.fixture(params=MODELS)
def model(request, server):
    """A model of each kind, which asks the server."""
    provider, make = MODELS[request.param]
    model = make(server.url)
    assert model.provider == provider
    yield model
    close(model)


def close(model):
    """Close the client of *model*, as its owner does: an async one in the loop that it was used in."""
    client = getattr(model, "_client", model)
    if is_in_thread(model) or client is model:
        client.close()
    else:
        portal.call(getattr(client, "aclose", None) or client.close)


def is_in_thread(model):
    """Whether *model* has a sync client, which is called in a thread that nothing can stop."""
    return hasattr(model, "_client") and not model._is_async
