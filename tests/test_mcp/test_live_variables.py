"""The variables of a notebook that a server's configuration refers to."""

import pickle

from pydantic import SecretStr

from toolbench.mcp.config.placeholders import LiveVariables
from toolbench.mcp.config.reader import read_entry

NAMESPACE = {"token": "first-1234", "key": SecretStr("key-1234"), "n": 3, "no": ""}


def entry(namespace, environment=()):
    variables = LiveVariables(namespace, ["token", "key", "n", "no", "absent"])
    headers = {"X-Key": "k ${key}"}
    config = read_entry(
        {
            "url": "https://a.example/mcp",
            "auth": "${token}",
            "headers": headers,
            "notebookVariables": variables,
        }
    )
    return config, config.expanded(dict(environment))


class TestLiveVariables:
    def test_are_the_texts_that_are_there_now(self):
        """What is no text, or empty, is none of them."""
        namespace = dict(NAMESPACE)
        variables = LiveVariables(namespace, ["token", "key", "n", "no", "absent"])
        assert list(variables) == ["token", "key"]
        namespace["token"] = "second-1234"
        assert variables["token"] == "second-1234"
        assert "first" not in repr(variables) + repr(entry(namespace)[0])

    def test_fill_the_references_of_an_entry(self):
        """The environment comes first; both are secrets."""
        _, expanded = entry(NAMESPACE)
        assert expanded.auth == "first-1234"
        assert expanded.headers == {"X-Key": "k key-1234"}
        assert {"first-1234", "key-1234"} <= set(expanded.secrets)
        _, expanded = entry(NAMESPACE, {"token": "of-the-environment", "key": ""})
        assert expanded.auth == "of-the-environment"
        assert expanded.headers == {"X-Key": "k key-1234"}

    def test_go_to_another_process_as_they_are(self):
        """Which has no such namespace."""
        config, expanded = entry(NAMESPACE)
        copy = pickle.loads(pickle.dumps(config))
        assert copy.expanded({}).auth == expanded.auth
        assert copy == config
