"""No secret shows: every kind of secret, by every way in, at every place, in every writing."""

import json
import sys
from functools import partial
from pathlib import Path
from random import Random
from urllib.parse import quote

import pytest
from IPython.utils.capture import capture_output
from patience import PATIENCE, eventually
from shells import new_shell
from test_mcp.peers import serving_app
from test_widgets.front import Wire

from test_redaction.kinds import KINDS, KNOWN, received, text_with
from test_redaction.leaky_server import END
from test_redaction.ways_in import QUIET, REQUEST, WAYS_IN, run_cell
from test_redaction.writings import leaks, writings
from toolbench import Conversation, ConversationState, history, tool
from toolbench.errors import ServerError
from toolbench.mcp import MCPClient
from toolbench.redaction import MARK

SECRETS = {
    "a word": "hunter2-tHe_sEcret",
    "odd": 'p@ss/w+rd "it\'s" <ü&>',
    "a key": "-----BEGIN KEY-----\nMIIEvQIBADANBgkqhki\nG9w0BAQEFAASCBKcw\n-----END KEY-----",
}


@pytest.fixture(scope="module")
def shell():
    with new_shell() as shell:
        shell.run_line_magic("load_ext", "toolbench")
        shell.run_cell("import json\nfrom toolbench import Conversation, run_tool, history")
        shell.run_cell("from toolbench.agent import Agent")
        shell.run_cell("from toolbench.llm import parse_tool_calls")
        shell.run_cell("from toolbench.serving import serve")
        shell.run_cell(REQUEST)
        shell.run_cell("from toolbench.llm.models import RecordedModel, ScriptedModel")
        yield shell
        shell.run_line_magic("unload_ext", "toolbench")


@pytest.fixture
def wire(monkeypatch):
    import comm
    import ipywidgets

    recorded = Wire()
    monkeypatch.setattr(comm, "create_comm", recorded.comm)
    yield recorded
    ipywidgets.Widget.close_all()


def places(captured, wire, journal: Path) -> dict[str, str]:
    """Everything that people, files and pages see of the last run, by where they see it."""
    record = history()[-1]
    outputs = [output.data for output in captured.outputs]
    return {
        "cell stdout": captured.stdout,
        "cell stderr": captured.stderr,
        **{f"cell output {kind}": str([o.get(kind) for o in outputs]) for kind in KINDS_OF_OUTPUT},
        "all cell outputs": repr(outputs),
        "record": f"{record!r} {record.observation!r} {record.arguments}",
        "record displayed": str(record._repr_mimebundle_()),
        "history": f"{history()!r} {history()._repr_mimebundle_()}",
        "to_json": history().to_json(),
        "to_dataframe": history().to_dataframe().to_csv(),
        "traceback": "".join(record.traceback for record in history()),
        "journal": journal.read_text(),
        "widgets": wire.text(),
    }


def covering(pairs):
    """A few of *pairs* of a kind and a way, in which each kind and each way stands."""
    order, met, chosen = Random("few").sample(pairs, len(pairs)), set(), []
    # Those first in which both are new
    for most in (2, 1):
        for kind, *way in order:
            new = {kind, tuple(way)} - met
            if len(new) >= most:
                chosen.append((kind, *way))
                met |= new
    return chosen


def with_each_secret(pairs):
    """Join *pairs* of a kind and a way (and more) with each secret, as parameters of a test.

    Each kind and each way meets a secret, by turns; all other cases are marked `long`.
    """
    few = covering(pairs)
    for turn, (name, secret) in enumerate(SECRETS.items()):
        for pair in pairs:
            is_short = pair in few[turn :: len(SECRETS)]
            marks = [] if is_short else [pytest.mark.long]
            yield pytest.param(*pair, secret, marks=marks, id="-".join([*pair, name]))


KINDS_OF_OUTPUT = ("text/plain", "text/html", "text/markdown", "application/json")


OF_A_NOTEBOOK = [
    (kind, way)
    for kind in KINDS
    for way in WAYS_IN
    # The text in the form is the person's
    if (kind, way) != ("in JSON", "button")
]


# They are as few as cover each kind and each way
@pytest.mark.every_case
@pytest.mark.parametrize(("kind", "way", "secret"), list(with_each_secret(OF_A_NOTEBOOK)))
def test_of_a_notebooks_tool(kind, way, secret, shell, wire, tmp_path, caplog):
    """The tool gets the secret; people, files and pages get a mark in place of it."""
    function, arguments = KINDS[kind]
    KNOWN["secret"] = secret
    shell.user_ns["leaky"] = tool(function, name="leaky", description="Tell.")
    history().clear()
    history().persist(tmp_path / "journal")
    received.clear()
    for fails in (False, True):
        values = arguments(secret) | ({"fails": True} if fails else {})
        with capture_output() as captured:
            WAYS_IN[way](shell, values)
        texts = places(captured, wire, tmp_path / "journal")
        texts["a handler of logs"] = caplog.text
        caplog.clear()
        assert received.count(secret) == fails + 1
        assert {p: pieces for p, text in texts.items() if (pieces := leaks(text, secret))} == {}
        shows = {place for place, text in texts.items() if MARK in text}
        always = {"record", "to_json", "journal", "record displayed"}
        assert shows >= always | {"a handler of logs"}
        assert fails == bool(texts["traceback"])
        assert way in QUIET or "cell stdout" in shows
        # a delegated task need not show its stderr in the cell that delegates
        assert way in {*QUIET, "delegation"} or "cell stderr" in shows


@pytest.mark.every_case
@pytest.mark.parametrize("secret", SECRETS.values(), ids=SECRETS)
@pytest.mark.parametrize("way", ["tool(...)", "acall"])
def test_of_a_conversation(way, secret, shell, wire, tmp_path):
    """A secret of the conversation does not even reach who calls."""
    shell.user_ns["leaky"] = tool(
        lambda fails=False: text_with(fails, secret), name="leaky", description="Tell."
    )
    shell.user_ns["conversation"] = Conversation(ConversationState(secrets={"KEY": secret}))
    history().clear()
    history().persist(tmp_path / "journal")
    call = {
        "tool(...)": "leaky(arguments, conversation)",
        "acall": "asyncio.run(leaky.acall(arguments, conversation))",
    }[way]
    for fails in (False, True):
        with capture_output() as captured:
            run_cell(f"import asyncio; answer = None; answer = {call}\nanswer")(
                shell, {"fails": fails}
            )
        texts = places(captured, wire, tmp_path / "journal")
        answer = shell.user_ns["answer"]
        texts["answer"] = "" if fails else f"{answer.text} {answer.to_llm_content}"
        assert {p: pieces for p, text in texts.items() if (pieces := leaks(text, secret))} == {}
        assert all(MARK in texts[place] for place in ("cell stdout", "cell stderr", "record"))


SERVER_KINDS = {
    "by name": lambda secret: {"password": secret},
    "format": lambda secret: {"code": secret},
    "writeOnly": lambda secret: {"seal": secret},
    "nested": lambda secret: {"login": {"token": secret}},
    "in a list": lambda secret: {"api_keys": ["other-secret", secret]},
    "in a map": lambda secret: {"cookies": {"work": secret}},
    "in JSON": lambda secret: {"body": json.dumps({"password": secret})},
    "conversation": lambda secret: {"note": secret},
    "environment": lambda secret: {},
    "conditional": lambda secret: {"how": "badge", "badge": secret},
    "dependent": lambda secret: {"lane": "left", "stamp": secret},
}


@pytest.fixture(scope="module")
def client():
    with MCPClient(timeout=PATIENCE) as client:
        yield client


@pytest.fixture(scope="module")
def leaky_servers(client):
    """A server for each era and secret of its environment; they start once."""
    root = Path(__file__).parents[1]
    path = [str(root), str(root.parent)]
    sessions = {}

    def session(era, secret):
        if (era, secret) not in sessions:
            env = {"PYTHONPATH": ":".join(path), "API_TOKEN": f"{secret}-of-the-server"}
            entry = {
                "command": sys.executable,
                "args": ["-m", "test_redaction.leaky_server", era],
                "env": env,
            }
            connected = client.connect(f"leaky{len(sessions)}", entry)
            assert connected.era == era
            sessions[era, secret] = connected
        return sessions[era, secret]

    return session


def has_told(session, lines):
    return session.stderr.last(1, since=lines) == [END]


SERVER_WAYS = ("tool(...)", "run_tool", "acall", "%%tool", "button")
IN_A_FORM = (
    # The text in the form is the person's
    ("in JSON", "button"),
)
# As only they take one
OF_A_CONVERSATION = ("tool(...)", "acall")


OF_A_SERVER = [
    *(
        (kind, way, "legacy")
        for kind in SERVER_KINDS
        for way in SERVER_WAYS
        if kind != "conversation" or way in OF_A_CONVERSATION
        if (kind, way) not in IN_A_FORM
    ),
    *((kind, "tool(...)", "modern") for kind in SERVER_KINDS),
]


@pytest.mark.parametrize(("pairs", "kinds"), [(OF_A_NOTEBOOK, KINDS), (OF_A_SERVER, SERVER_KINDS)])
def test_each_kind_each_way_and_each_secret_is_met(pairs, kinds):
    """Also among those that are not marked `long`."""
    short = [p.values for p in with_each_secret(pairs) if not p.marks]
    assert {kind for kind, *_ in short} == set(kinds)
    assert {tuple(way) for _, *way, _ in short} == {tuple(way) for _, *way in pairs}
    assert {secret for *_, secret in short} == set(SECRETS.values())


@pytest.mark.every_case
@pytest.mark.parametrize(("kind", "way", "era", "secret"), list(with_each_secret(OF_A_SERVER)))
def test_of_a_server(kind, way, era, secret, shell, wire, tmp_path, leaky_servers):
    """Secrets of a call or of the entry are in nothing that is kept of what a server says."""
    session = leaky_servers(era, secret)
    session.traffic.clear()
    lines = session.stderr.total
    history().clear()
    history().persist(tmp_path / "journal")
    shell.user_ns["conversation"] = Conversation(ConversationState(secrets={"KEY": secret}))
    for name in ("tell", "fail"):
        shell.user_ns["leaky"] = shell.user_ns[name] = session.tool(name)
        with capture_output() as captured:
            if kind == "conversation":
                call = (
                    "leaky(arguments, conversation)"
                    if way == "tool(...)"
                    else "asyncio.run(leaky.acall(arguments, conversation))"
                )
                run_cell(f"import asyncio\n{call}")(shell, SERVER_KINDS[kind](secret))
            elif way == "%%tool":
                body = json.dumps(SERVER_KINDS[kind](secret))
                shell.run_cell(f"%%tool {name} --yes\n{body}")
            else:
                WAYS_IN[way](shell, SERVER_KINDS[kind](secret))
        eventually(partial(has_told, session, lines))
        lines = session.stderr.total
        texts = places(captured, wire, tmp_path / "journal") | {
            "traffic": session.traffic.to_ndjson() + str([m.text for m in session.traffic]),
            "log": str([f"{entry} {entry!r}" for entry in session.log]),
            "stderr": session.stderr.text,
            "noise": str(session.noise),
        }
        own = f"{secret}-of-the-server"
        assert {
            p: pieces
            for p, text in texts.items()
            if (pieces := leaks(text, secret) | leaks(text, own))
        } == {}
        assert all(MARK in texts[place] for place in ("traffic", "log", "record"))


@pytest.mark.parametrize(
    ("kind", "secret"),
    [("header", SECRETS["a word"]), *(("URL", secret) for secret in SECRETS.values())],
)
def test_of_an_address(kind, secret):
    """What a server is reached with is in no error, log or view of it."""
    body = writings(secret).encode()

    async def page(scope, receive, send):
        await send({"type": "http.response.start", "status": 500, "headers": []})
        await send({"type": "http.response.body", "body": body})

    with serving_app(page) as url, MCPClient(timeout=PATIENCE) as client:
        entry = (
            {"url": url, "headers": {"Authorization": f"Bearer {secret}"}}
            if kind == "header"
            else {"url": f"{url}?api_key={quote(secret, safe='')}"}
        )
        with pytest.raises(ServerError, match="HTTP 500") as caught:
            client.connect("web", entry)
        session = client.servers["web"]
        texts = {
            "error": f"{caught.value} {session.error}",
            "session": f"{session!r} {session.traffic.to_ndjson()} {session.status}",
        }
        assert {p: pieces for p, text in texts.items() if (pieces := leaks(text, secret))} == {}
        assert MARK in texts["error"]
