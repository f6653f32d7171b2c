"""The real client packages, and plain HTTP, against a server that speaks their protocols."""

import asyncio
import gc
import json
import resource
import socket
import threading
from contextlib import suppress
from functools import partial

import psutil
import pytest
from patience import PATIENCE, join
from payload_bombs import bomb

from test_llm.samples import GREP, sdk
from test_llm.test_models.conftest import MODELS, close, hello
from test_llm.test_models.provider_server import (
    CUT_OFF,
    KEY,
    Reply,
    openai_events,
    provider_server,
    refusal,
    spoken,
)
from toolbench import Conversation, ImageContent, Observation, TextContent
from toolbench.agent import Agent
from toolbench.core.background_loop import portal
from toolbench.errors import ModelConnectionError, ModelError
from toolbench.llm import parse_tool_calls, respond_all, user_message
from toolbench.llm.models import Usage, as_model
from toolbench.llm.models.http import AddressModel
from toolbench.network import MOST_BYTES
from toolbench.redaction import MARK

GATEWAY = "gw-7c2e51d09a"

ARGUMENTS = {"pattern": "TODO", "limit": 5}
PNG = (
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAA"
    "AABJRU5ErkJggg=="
)
PICTURE = f"data:image/png;base64,{PNG}"


def _pictures(body):
    """How often the picture is in *body*; Google's package writes base64 for URLs."""
    return str(body).translate(str.maketrans("-_", "+/")).count(PNG)


def _client(server):
    return sdk("openai").OpenAI(api_key=KEY, base_url=f"{server.url}/v1")


class TestAnswer:
    def test_is_streamed(self, model, server):
        """Text and calls come piece by piece, and the whole of them is the answer."""
        server.reply(spoken(model.provider, "I look for it.", [("grep", ARGUMENTS)]))
        chunks = []
        answer = model.complete(hello(model), [GREP], on_chunk=chunks.append)
        assert answer.text == "I look for it."
        assert answer.finish_reason == "tool_calls"
        assert answer.usage == Usage(12, 5)
        assert answer.problem is None
        (call,) = parse_tool_calls(answer.message, [GREP], provider=model.provider)
        assert (call.name, call.arguments) == ("grep", ARGUMENTS)
        texts = [chunk.text for chunk in chunks if chunk.kind == "text"]
        assert "".join(texts) == answer.text
        assert len(texts) > 1
        assert [c.name for c in chunks if c.kind == "call" and c.name] == ["grep"]
        arguments = "".join(chunk.text for chunk in chunks if chunk.kind == "call")
        assert json.loads(arguments) == ARGUMENTS

    def test_may_come_in_one_piece(self, server):
        """Some servers do not stream, whatever they are asked."""
        choice = {"message": {"role": "assistant", "content": "Whole."}}
        server.reply(Reply(body={"choices": [{**choice, "finish_reason": "stop"}]}))
        model, chunks = as_model(f"{server.url}/v1#toy"), []
        answer = model.complete(hello(model), on_chunk=chunks.append)
        assert answer.text == "Whole."
        assert [chunk.text for chunk in chunks] == ["Whole."]

    def test_that_is_cut_off_says_so(self, model, server):
        """What has come stays, and one sentence says that it is not all."""
        finish = CUT_OFF[model.provider]
        server.reply(spoken(model.provider, "And then", finish=finish))
        answer = model.complete(hello(model))
        assert answer.text == "And then"
        assert answer.finish_reason == "length"
        assert "cut off" in answer.problem

    def test_is_asked_for_with_instructions_and_tools(self, model, server):
        """They are where the provider wants them, and nothing else is made up."""
        server.reply(spoken(model.provider, "Yes."))
        model.complete(hello(model), [GREP])
        (body,) = server.bodies
        assert "Be brief." in str(body)
        assert "grep" in str(body["tools"])

    def test_and_what_follows_is_taken(self, model, server):
        """The answer's message and the answers to its calls are the next request."""
        calls = [("grep", ARGUMENTS), ("grep", {"pattern": "b"})]
        server.reply(spoken(model.provider, "Both.", calls), spoken(model.provider, "Ok"))
        messages = hello(model)
        answer = model.complete(messages, [GREP])
        tool_calls = parse_tool_calls(answer.message, [GREP], provider=model.provider)
        results = [(call, Observation.from_text(f"seen {call.id}")) for call in tool_calls]
        messages += [answer.message, *respond_all(results)]
        assert model.complete(messages, [GREP]).text == "Ok"
        sent = str(server.bodies[1])
        assert all(f"seen {call.id}" in sent for call in tool_calls)
        assert sent.count("TODO") == 1
        # Which refuses a call without its signature
        if model.provider == "gemini":
            assert sent.count("c2lnbmVk") == 2

    @pytest.mark.parametrize("way", ["an address", "a client"])
    def test_and_what_only_the_provider_knows_goes_back(self, way, server):
        """Gemini at OpenAI's protocol refuses a call without its signature; OpenRouter wants its details."""
        chunks = list(openai_events("", [("grep", ARGUMENTS)]))
        [first] = [c for c in chunks if '"id": "c0"' in json.dumps(c)]
        part = first["choices"][0]["delta"]
        part["tool_calls"][0]["extra_content"] = {"google": {"thought_signature": "U0lH"}}
        part["reasoning_details"] = [{"type": "reasoning.encrypted", "data": "c2VhbGVk"}]
        server.reply(Reply(chunks), spoken("openai", "Ok"))
        model = as_model(
            f"{server.url}/v1#toy" if way == "an address" else (_client(server), "toy")
        )
        conversation = Conversation(agent=Agent(model, [GREP]))
        conversation.send_message("Find it.")
        assert conversation.run() == "answered"
        assert '"thought_signature": "U0lH"' in json.dumps(server.bodies[1])
        assert '"data": "c2VhbGVk"' in json.dumps(server.bodies[1])

    def test_can_be_about_an_image(self, model, server):
        """Of a person, or of a tool: the same bytes come to the server."""
        server.reply(*[spoken(model.provider, "Seen", [("grep", ARGUMENTS)])] * 2)
        picture = ImageContent(image_urls=[PICTURE])
        content = [TextContent(text="What is it?"), picture]
        messages = [user_message(content, model.provider)]
        answer = model.complete(messages, [GREP])
        assert _pictures(server.bodies[0]) == 1
        (call,) = parse_tool_calls(answer.message, [GREP], provider=model.provider)
        observation = Observation(content=[TextContent(text="a dot"), picture])
        model.complete([*messages, answer.message, *respond_all([(call, observation)])])
        assert _pictures(server.bodies[1]) == 2


class TestFailures:
    def test_of_a_busy_server_are_tried_again(self, model, server):
        """As late as the server says, and whoever watches is told."""
        busy = refusal(429, "Slow down.", retry_after="0")
        server.reply(busy, refusal(503, "Wait.", retry_after="0"))
        server.reply(spoken(model.provider, "At last."))
        chunks = []
        answer = model.complete(hello(model), on_chunk=chunks.append)
        assert answer.text == "At last."
        retries = [chunk.text for chunk in chunks if chunk.kind == "retry"]
        assert "Slow down" in retries[0]
        assert "(429)" in retries[0]
        assert "Try 2 of 4" in retries[0]
        assert "(503)" in retries[1]
        assert len(server.requests) == 3

    def test_of_a_server_that_stays_busy_end(self, model, server):
        """After four tries, with one sentence."""
        server.reply(*[refusal(429, "Slow down.", retry_after="0")] * 5)
        with pytest.raises(ModelError, match=r"Slow down.*tried 4 times") as raised:
            model.complete(hello(model))
        assert raised.value.status == 429
        assert len(server.requests) == 4

    def test_are_not_waited_for_too_long(self, model, server):
        """An hour is the person's decision."""
        server.reply(refusal(429, "Quota.", retry_after="3600"))
        with pytest.raises(ModelError, match="asks to wait 3,600 seconds"):
            model.complete(hello(model))

    @pytest.mark.parametrize("status", [400, 401, 404])
    def test_of_a_request_are_one_sentence(self, model, server, status):
        """Not tried again; the provider's words are in it, the key is not."""
        server.reply(refusal(status, f"Bad thing with {KEY}."))
        with pytest.raises(ModelError, match="Bad thing with") as raised:
            model.complete(hello(model))
        assert raised.value.status == status
        assert KEY not in str(raised.value)
        assert len(server.requests) == 1

    @pytest.mark.parametrize("streamed", [True, False])
    def test_keep_no_key_and_steer_no_terminal(self, server, streamed):
        """Neither the sentence nor an error behind it has the key, an escape or a turned text."""
        words = f"Bad \x1b[31m\u202e {KEY}"
        reply = Reply([{"error": {"message": words}}]) if streamed else None
        server.reply(reply or refusal(400, words))
        model = as_model((_client(server), "toy-1"))
        address = AddressModel(f"{server.url}/v1#toy", api_key=KEY)
        server.reply(reply or refusal(400, words))
        for either in (model, address):
            with pytest.raises(ModelError, match="Bad") as raised:
                either.complete(hello(either))
            assert "\x1b" not in str(raised.value)
            assert "\u202e" not in str(raised.value)
            assert KEY not in str(raised.value)
            assert raised.value.__cause__ is None
            assert raised.value.__context__ is None

    def test_in_the_middle_keep_what_came(self, model, server):
        """A connection that is cut, and an end without an end: an error with the beginning."""
        whole = spoken(model.provider, "It begins well and ends badly.").events
        server.reply(Reply(whole[:-3], then="cut"), Reply(whole[:-3]))
        for _ in range(2):
            with pytest.raises(ModelConnectionError) as raised:
                model.complete(hello(model))
            assert raised.value.answer.text.startswith("It be")
            assert "\n" not in str(raised.value)

    def test_of_the_network_are_one_sentence(self):
        """Where nobody listens."""
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            url = f"http://127.0.0.1:{free.getsockname()[1]}"
            for _, make in MODELS.values():
                model = make(url)
                with pytest.raises(ModelConnectionError, match="could not be reached"):
                    model.complete(hello(model))
                close(model)

    def test_leave_the_model_usable(self, model, server):
        """The conversation goes on with the next request."""
        server.reply(refusal(400, "No."), spoken(model.provider, "Yes."))
        with pytest.raises(ModelError):
            model.complete(hello(model))
        assert model.complete(hello(model)).text == "Yes."

    def test_that_are_no_protocol_are_one_sentence(self, server):
        """A page of a proxy is no answer, and a server that refuses with status 200 has its words."""
        server.reply(Reply(body="<html>Log in</html>"), Reply(body={"detail": "Not authenticated"}))
        model = as_model(f"{server.url}/v1#toy")
        with pytest.raises(ModelError, match=r"cannot be read: it is a web page.*address right"):
            model.complete(hello(model))
        with pytest.raises(
            ModelError, match=r"it is not the answer of a model: .*Not authenticated"
        ):
            model.complete(hello(model))
        for models in ("<html>Log in</html>", {"detail": "Not authenticated"}):
            server.models = models
            with pytest.raises(ModelError, match=r"a web page|no model .*Not authenticated"):
                as_model(f"{server.url}/v1").complete(hello(model))

    def test_in_a_stream_are_one_sentence(self, model, server):
        """Even without the code that the provider's package expects there."""
        server.reply(Reply([{"error": {"message": "Too busy."}}]))
        with pytest.raises(ModelError) as raised:
            model.complete(hello(model))
        assert "\n" not in str(raised.value)

    def test_of_whoever_watches_are_its_own(self, model, server):
        """What `on_chunk` raises comes out as it is."""
        server.reply(spoken(model.provider, "Hello"))
        with pytest.raises(ZeroDivisionError):
            model.complete(hello(model), on_chunk=lambda chunk: 1 / 0)


class TestRedirects:
    def test_take_no_key_to_another_host(self, model, server):
        """A server that names another host does not have the key sent there."""
        if model.provider == "gemini":
            pytest.skip("Google's package follows redirects with its key; as_model says so")
        with provider_server() as other:
            url = other.url.replace("127.0.0.1", "localhost")
            other.reply(*[spoken(model.provider, "Caught")] * 4)
            path = {"openai": "/v1/chat/completions", "anthropic": "/v1/messages"}
            place = url + path.get(model.provider, "/elsewhere")
            server.reply(Reply(status=307, headers={"Location": place}, body=""))
            with suppress(ModelError):
                model.complete(hello(model))
            assert len(server.requests) == 1
            sent = [headers for _, headers, _ in other.requests]
            assert KEY not in str(sent)


class TestClients:
    def test_need_a_model(self):
        """A client alone does not say which."""
        client = sdk("openai").OpenAI(api_key=KEY)
        with pytest.raises(ValueError, match="say which"):
            as_model(client)
        assert as_model(client, name="gpt-5").model == "gpt-5"

    def test_speak_their_own_dialect_only(self):
        """Another is refused, with those there are."""
        client = sdk("anthropic").Anthropic(api_key=KEY)
        with pytest.raises(ValueError, match="supports anthropic, not 'openai'"):
            as_model((client, "m"), provider="openai")

    def test_keep_their_key(self, model):
        """In no repr, and known to whoever redacts."""
        assert KEY not in model.secrets.redactor.text(f"the key is {KEY}")
        assert KEY not in repr(model)

    def test_are_left_as_they_were(self, server):
        """The user's client keeps its own retries, and works on."""
        client = sdk("openai").OpenAI(api_key=KEY, base_url=f"{server.url}/v1")
        server.reply(spoken("openai", "One"), spoken("openai", "Two"))
        model = as_model((client, "toy"))
        model.complete(hello(model))
        assert client.max_retries == 2
        stream = client.chat.completions.create(model="toy", messages=[], stream=True)
        assert sum(1 for _ in stream) > 1

    def test_with_an_http_client_keep_it(self, server):
        """There may be a proxy, or certificates, in it."""
        urls = []
        http = sdk("openai").DefaultHttpxClient(
            event_hooks={"request": [lambda request: urls.append(str(request.url))]}
        )
        url = f"{server.url}/v1"
        with sdk("openai").OpenAI(api_key=KEY, base_url=url, http_client=http) as client:
            server.reply(spoken("openai", "One"), spoken("openai", "Two"))
            model = as_model((client, "toy"))
            model.complete(hello(model))
            model.complete(hello(model))
        assert urls == [f"{url}/chat/completions"] * 2

    @pytest.mark.parametrize("kind", ["Azure", "Azure, async", "Vertex", "a class of the user"])
    def test_are_asked_as_they_are(self, kind, server):
        """What the user's client adds to a request comes to the server: paths, headers, tokens."""
        url, headers = server.url, {"x-team": "red", "x-gateway-token": GATEWAY}
        azure = {"azure_endpoint": url, "api_version": "1", "default_headers": headers}
        match kind:
            case "Azure":
                client, path = sdk("openai").AzureOpenAI(api_key=KEY, **azure), "/deployments/toy/"
            case "Azure, async":
                client = sdk("openai").AsyncAzureOpenAI(azure_ad_token=KEY, **azure)
                path = "/deployments/toy/"
            case "Vertex":
                place = {"region": "eu", "project_id": "mine", "base_url": url}
                vertex = sdk("anthropic").AnthropicVertex
                client = vertex(access_token=KEY, default_headers=headers, **place)
                path = "/projects/mine/locations/eu/"
            case _:

                class Ours(sdk("openai").OpenAI):
                    def __init__(self, team):
                        more = {
                            "default_headers": {"x-team": team},
                            "default_query": {"api-key": GATEWAY},
                        }
                        super().__init__(api_key=KEY, base_url=url, **more)

                client, path = Ours("red"), "/chat/completions"
        model = as_model((client, "toy"))
        server.reply(spoken(model.provider, "Hi"))
        assert model.complete(hello(model)).text == "Hi"
        ((asked, sent, _),) = server.requests
        assert path in asked
        assert sent["x-team"] == "red"
        assert KEY in str(sent)
        said = model.secrets.redactor.text(f"the keys are {KEY} and {GATEWAY} of team red")
        assert said == f"the keys are {MARK} and {MARK} of team red"
        close(model)

    def test_serve_two_conversations_at_once(self, model, server):
        """One is in the middle of its answer while the other gets a whole one."""
        events = spoken(model.provider, "Slow").events
        server.reply(Reply(events[:-3], then="pause", rest=events[-3:]))
        slow = []
        thread = threading.Thread(target=lambda: slow.append(model.complete(hello(model)).text))
        thread.start()
        assert server.stalling.wait(PATIENCE)
        server.reply(spoken(model.provider, "Fast"))
        assert model.complete(hello(model)).text == "Fast"
        assert slow == []
        server.go_on.set()
        join(thread)
        assert slow == ["Slow"]

    # On Python 3.13, of OpenAI's package, whose stream nobody can close from another loop
    @pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
    @pytest.mark.parametrize("provider", ["openai", "anthropic"])
    def test_that_are_async_belong_to_one_loop(self, provider, server):
        """Connections that `await` opened in a cell cannot be used in the background: it says so."""
        request = {"model": "toy", "messages": [], "stream": True}
        if provider == "openai":
            client = sdk("openai").AsyncOpenAI(api_key=KEY, base_url=f"{server.url}/v1")
            create = client.chat.completions.create
        else:
            # It wraps the error in one of its own
            client = sdk("anthropic").AsyncAnthropic(api_key=KEY, base_url=server.url)
            create = partial(client.messages.create, max_tokens=9)
        server.reply(*[spoken(provider, "Hi")] * 2)
        model = as_model((client, "toy"))

        async def in_a_cell():
            return [chunk async for chunk in await create(**request)]

        loop = asyncio.new_event_loop()
        assert loop.run_until_complete(in_a_cell())
        with pytest.raises(ModelError, match=r"another event loop.*an async client of its own"):
            model.complete(hello(model))
        loop.run_until_complete(client.close())
        loop.close()

    def test_send_the_options(self, model, server):
        """Such as the temperature, with every request."""
        model._options["temperature"] = 0.0
        server.reply(spoken(model.provider, "Cold"))
        model.complete(hello(model))
        body = server.bodies[0]
        assert body.get("generationConfig", body)["temperature"] == 0


def test_many_at_once():
    """Fifty requests of one model at a time, each with its own answer."""
    with provider_server() as server:
        server.reply(*[spoken("openai", "Yes")] * 50)
        model, answers = as_model(f"{server.url}/v1#toy"), []
        threads = [
            threading.Thread(target=lambda: answers.append(model.complete(hello(model)).text))
            for _ in range(50)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            join(thread)
        assert answers == ["Yes"] * 50
        model.close()
    gc.collect()


def test_closing_the_loop_closes_what_models_keep_open(server):
    """A connection that outlived its loop could never be closed."""
    # Chat answers are read up to their "[DONE]", so no connection is left of them
    model = as_model(f"{server.url}/v1#toy", provider="responses")
    server.reply(spoken("responses", "Hi"))
    model.complete(hello(model))
    assert connections(server)
    portal.close()
    assert not connections(server)


def connections(server):
    """The connections of this process to *server*, seen from their client's end."""
    port = int(server.url.rpartition(":")[2])
    every = psutil.Process().net_connections("tcp")
    return [c for c in every if c.raddr and c.raddr.port == port and c.fd != -1]


def test_price(server):
    """What an answer cost, where its tokens are known; what the provider says goes before."""
    server.reply(spoken("openai", "Dear"))
    model = as_model(f"{server.url}/v1#toy", price=(1.0, 10.0))
    answer = model.complete(hello(model))
    assert answer.usage.cost == pytest.approx((12 * 1 + 5 * 10) / 1_000_000)


@pytest.mark.parametrize("key", ["sk-ab\u2013cdef", "sk-ab\ncdef"])
def test_a_key_that_no_header_can_carry(key, server):
    """The sentence says that it is the key, and does not quote it."""
    client = sdk("openai").OpenAI(api_key=key, base_url=f"{server.url}/v1")
    model = as_model((client, "toy"))
    with pytest.raises(ModelError, match="is not allowed in a header") as caught:
        model.complete(hello(model))
    assert key not in str(caught.value)


@pytest.mark.slow
class TestAnswerThatIsTooLong:
    @pytest.mark.parametrize("status", [200, 400])
    def test_is_refused_after_decompression(self, server, status):
        """1 MB that become 1 GB are not kept."""
        model = as_model(f"{server.url}/v1#toy")
        packed = {"Content-Encoding": "gzip"}
        server.reply(Reply(status=status, headers=packed, body=bomb(head=b'{"x":"')))
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
        with pytest.raises(ModelError, match="more than 100,000,000 bytes"):
            model.complete(hello(model), [GREP])
        grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 - before
        assert grown < 3 * MOST_BYTES
