"""A model behind an address: its key, its name, and what a server may send."""

import pytest

from test_llm.test_models.conftest import hello
from test_llm.test_models.provider_server import KEY, Reply, refusal, spoken
from toolbench.errors import ModelError
from toolbench.llm.models import as_model


class TestAddress:
    def test_gets_no_key_of_its_own(self, server, monkeypatch):
        """Whatever is in the environment, nothing is sent to a host that somebody typed."""
        monkeypatch.setenv("OPENAI_API_KEY", KEY)
        server.reply(spoken("openai", "Hi"))
        model = as_model(f"{server.url}/v1#toy")
        model.complete(hello(model))
        ((_, headers, body),) = server.requests
        assert "authorization" not in headers
        assert body["model"] == "toy"

    def test_gets_the_key_that_is_named(self, server, monkeypatch):
        """And nobody else sees it."""
        monkeypatch.setenv("MY_KEY", KEY)
        server.reply(spoken("openai", "Hi"))
        model = as_model(f"{server.url}/v1#toy", api_key_env="MY_KEY")
        model.complete(hello(model))
        assert server.requests[0][1]["authorization"] == f"Bearer {KEY}"
        assert KEY not in repr(model) + repr(vars(model)) + str(model.secrets)
        assert model.secrets.redactor.text(f"x {KEY}") != f"x {KEY}"

    def test_says_that_the_variable_is_not_set(self):
        """Not later, in the middle of a conversation."""
        with pytest.raises(ValueError, match="NO_SUCH_KEY is not set"):
            as_model("http://localhost/v1#x", api_key_env="NO_SUCH_KEY")

    @pytest.mark.parametrize("key", ["sk-proj-4c2", "AIzaSy4c2", "a4c2"])
    def test_does_not_repeat_a_key_given_in_the_place_of_its_name(self, key):
        """A commonly made mistake, whose output is saved with the notebook."""
        with pytest.raises(ValueError, match="name of a variable") as caught:
            as_model("http://localhost/v1#x", api_key_env=key)
        assert key not in str(caught.value)

    def test_reads_no_endless_answer(self, server, monkeypatch):
        """A line, a JSON value, a refusal or a list without an end is left at the limit."""
        monkeypatch.setattr("toolbench.network.MOST_BYTES", 1_000)
        long = "x" * 100_000
        model = as_model(f"{server.url}/v1#toy")
        replies = [Reply([long]), Reply(body=long), refusal(400, long)]
        server.reply(*replies)
        for _ in replies:
            with pytest.raises(ModelError, match=r"1,?000 byte"):
                model.complete(hello(model))
        server.models = [long]
        with pytest.raises(ModelError, match="1,000 bytes"):
            as_model(f"{server.url}/v1").complete(hello(model))

    def test_takes_no_byte_order_mark_for_a_part_of_the_first_event(self, server):
        """Without the first event the beginning of the text would be lost without a word."""
        events = [{"choices": [{"delta": {"content": text}}]} for text in ("Äp", "fel")]
        events += [{"choices": [{"delta": {}, "finish_reason": "stop"}]}]
        server.reply(Reply(events, before=b"\xef\xbb\xbf"))
        model = as_model(f"{server.url}/v1#toy")
        assert model.complete(hello(model)).text == "Äpfel"

    def test_without_a_model_takes_the_only_one(self, server):
        """A server of one model needs no name."""
        server.reply(spoken("openai", "Hi"))
        model = as_model(f"{server.url}/v1")
        model.complete(hello(model))
        assert server.bodies[0]["model"] == "toy"

    def test_without_a_model_asks_which(self, server):
        """A server of several says which there are."""
        server.models = ["small", "large"]
        model = as_model(f"{server.url}/v1")
        with pytest.raises(ModelError, match="has small, large"):
            model.complete(hello(model))

    @pytest.mark.parametrize("models", [{"data": 5}, {"data": [3, {"id": 4}]}, 3, "x"])
    def test_without_a_model_and_a_strange_list_says_so(self, server, models):
        """Whatever a server lists, it is a ModelError that says where."""
        server.models = models
        model = as_model(f"{server.url}/v1")
        with pytest.raises(ModelError, match=r"127\.0\.0\.1"):
            model.complete(hello(model))

    def test_keeps_passwords_to_itself(self):
        """Of an address, nothing but the host is shown."""
        model = as_model(f"https://me:{KEY}@host.example/v1?token={KEY}#toy")
        assert repr(model) == "<AddressModel toy (openai) at https://host.example>"

    def test_hides_a_key_in_it_that_a_server_quotes(self, server):
        """As some take their keys there."""
        server.reply(refusal(400, f"no key {KEY}"))
        model = as_model(f"{server.url}/v1?api_key={KEY}#toy")
        with pytest.raises(ModelError, match="no key <secret-hidden>"):
            model.complete(hello(model))

    @pytest.mark.parametrize("key", ["sk-ab\u2013cdef", "sk-ab\ncdef", "sk ab"])
    def test_says_that_no_header_can_carry_a_key(self, key, monkeypatch):
        """Before the first request, and without the key."""
        monkeypatch.setenv("MY_KEY", key)
        with pytest.raises(ValueError, match="variable MY_KEY has") as caught:
            as_model("http://localhost/v1#x", api_key_env="MY_KEY")
        assert key not in str(caught.value)

    @pytest.mark.parametrize("address", ["ftp://x/v1#m", "gpt-5", "http://#m", ""])
    def test_that_is_none_is_refused(self, address):
        """With an example of one."""
        with pytest.raises(ValueError, match="http://host/v1#model-name"):
            as_model(address)
