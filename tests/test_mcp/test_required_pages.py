"""A server that answers with the pages to visit first: they are asked, then the call goes again."""

import json

import pytest

from test_mcp.peers import scripted
from toolbench.errors import ServerError
from toolbench.mcp.elicitation import Answer, UrlQuestion, answering

PAGES = [
    {
        "mode": "url",
        "message": "Sign in",
        "url": "https://a.test/1",
        "elicitationId": "1",
    },
    {
        "mode": "url",
        "message": "Agree",
        "url": "https://a.test/2",
        "elicitationId": "2",
    },
]
METHODS = {
    "tools/call": lambda session: session.call("t").text,
    "resources/read": lambda session: session.read_resource("a://b").text,
    "prompts/get": lambda session: session.get_prompt("p").text,
}
RESULTS = {
    "tools/call": {"content": [{"type": "text", "text": "fine"}]},
    "resources/read": {"contents": [{"uri": "a://b", "text": "fine"}]},
    "prompts/get": {"messages": [{"role": "user", "content": {"type": "text", "text": "fine"}}]},
}


def refusal(pages):
    """The answer of a server that wants *pages* visited."""
    return {
        "error": {
            "code": -32042,
            "message": "Sign in first",
            "data": {"elicitations": pages},
        }
    }


@pytest.fixture
def questions():
    """The questions that were asked."""
    return []


@pytest.mark.parametrize("method", METHODS)
def test_after_the_visit_the_request_is_sent_again(client, tmp_path, questions, method):
    """Each page is one question; after a yes to all of them the answer comes."""
    path = tmp_path / "script"
    session = client.connect("s", scripted(path, {method: [refusal(PAGES)]}))

    def visit(question):
        questions.append(question)
        if len(questions) == len(PAGES):
            scripted(path, {method: [{"result": RESULTS[method]}]})
        return {}

    session.answerer = visit
    assert METHODS[method](session) == "fine"
    assert all(isinstance(question, UrlQuestion) for question in questions)
    assert [(q.message, q.url) for q in questions] == [
        ("Sign in", "https://a.test/1"),
        ("Agree", "https://a.test/2"),
    ]
    assert len(session.traffic.find(method=method, kind="request")) == 2


@pytest.mark.parametrize("action", ["decline", "cancel"])
def test_without_the_visit_the_page_is_named(client, tmp_path, questions, action):
    """A no ends the call: nothing is sent again, and the sentence has the address."""
    entry = scripted(tmp_path / "script", {"tools/call": [refusal(PAGES)]})
    session = client.connect("s", entry)
    with answering(lambda question: questions.append(question) or Answer(action)):
        observation = session.call("t")
    assert observation.is_error
    assert "https://a.test/1" in observation.text
    assert "elicitationId" not in observation.text
    assert len(questions) == 1
    assert len(session.traffic.find(method="tools/call", kind="request")) == 1


def test_a_server_that_is_never_content_ends(client, tmp_path, questions):
    """Who always wants one more visit is asked for a limited number of times."""
    entry = scripted(tmp_path / "script", {"tools/call": [refusal(PAGES[:1])]})
    session = client.connect("s", entry)
    with answering(lambda question: questions.append(question) or {}):
        observation = session.call("t")
    assert observation.is_error
    assert "still gave no result" in observation.text
    assert len(questions) == 10


@pytest.mark.parametrize(
    "data",
    [None, [], {}, {"elicitations": "x"}, {"elicitations": [3, {"url": 5}]}],
    ids=json.dumps,
)
def test_an_error_without_a_page_is_an_error(client, tmp_path, questions, data):
    """What names no page is told as any other refusal."""
    error = {"code": -32042, "message": "Sign in first", "data": data}
    entry = scripted(tmp_path / "script", {"prompts/get": [{"error": error}]})
    session = client.connect("s", entry)
    session.answerer = questions.append
    with pytest.raises(ServerError, match="Sign in first"):
        session.get_prompt("p")
    assert questions == []
