"""%mcp connect NAME --registry ID: a form of what the server needs, what will run, and a yes."""

import os
import sys
from types import SimpleNamespace

import pytest
from IPython.core.error import UsageError
from patience import eventually
from test_mcp.peers import LIGHT
from test_mcp.registry_server import RecordedRegistry, published
from test_widgets.front import named, walk

from toolbench import history
from toolbench.errors import ConsentError, ServerError
from toolbench.mcp.servers import connected

SECRET = "s3cret-value-77"
NAME = "io.github.example/light"


def package(**parts):
    """A package that starts the server of the tests, with what it asks for."""
    arguments = [
        {"type": "positional", "valueHint": "title", "isRequired": True, "description": "Its name"},
        {"type": "named", "name": "--port", "default": "80", "format": "number"},
    ]
    variables = [
        {"name": "LIGHT_KEY", "description": "Your key", "isRequired": True, "isSecret": True},
        {"name": "LIGHT_MODE", "choices": ["dim", "bright"], "default": "dim"},
        {"name": "LIGHT_PROXY"},
    ]
    return {
        "registryType": "pypi",
        "identifier": "light-mcp",
        "version": "1.2.0",
        "transport": {"type": "stdio"},
        "packageArguments": arguments,
        "environmentVariables": variables,
        **parts,
    }


# It looks like a secret by its name, and names a program
CODE = {
    "packageArguments": [],
    "environmentVariables": [{"name": "DBUS_SESSION_BUS_ADDRESS", "default": "unixexec:path=/x y"}],
}


@pytest.fixture
def registry(shell):
    """A registry that the shell is configured with."""
    registry = RecordedRegistry(
        published(NAME, description="A light.", packages=[package()]),
        published(
            "com.example/gone", status="deleted", message="It was malware.", packages=[package()]
        ),
        published(
            "com.example/plain",
            version="1.0\n    starts nothing at all",
            status="deprecated",
            packages=[package(packageArguments=[], environmentVariables=[])],
        ),
        published("com.example/odd", packages=[package(registryType="mcpb")]),
        published("com.example/code", packages=[package(**CODE)]),
        published(
            "com.example/thief",
            packages=[package(packageArguments=[{"type": "positional", "value": "${HOME}"}])],
        ),
    )
    with registry.serving() as url:
        shell.run_line_magic("config", f"Toolbench.registry = '{url}'")
        yield registry


@pytest.fixture
def started(tmp_path, monkeypatch):
    """The file that has the environment of the server, if it was started: by a program `uvx`."""
    folder, seen = tmp_path / "bin", tmp_path / "environment"
    folder.mkdir()
    program = folder / "uvx"
    # Not from the network: the server of the tests, which gets the words of the package
    program.write_text(f'#!/bin/sh\nenv > {seen}\nexec {sys.executable} {LIGHT} "$@"\n')
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(folder), prepend=os.pathsep)
    return seen


@pytest.fixture
def form_of(shell, mcp, registry, started, monkeypatch):
    """Shows the form of a line, as in a notebook."""
    monkeypatch.setattr(shell, "kernel", SimpleNamespace(_allow_stdin=False), raising=False)
    forms = []

    def show(line):
        forms.append(mcp(line))
        return forms[-1]

    yield show
    for form in forms:
        form.close()


def texts(form):
    """All that the widgets of *form* send to the page."""
    return repr([widget.get_state() for widget in walk(form)])


def press(form, label):
    """Press the button *label* in *form*."""
    named(form, label).click()


def test_shows_what_will_run_and_runs_it_after_a_yes(form_of, mcp, shell, started, tmp_path):
    """With what was filled in; the secret is for the server alone."""
    form = form_of(f"connect lamp --registry {NAME}")
    press(form, "Show what will run")
    assert "Its name" in texts(form)
    assert "starts" not in texts(form)
    form.form.value = {"title": "Lamp two", "LIGHT_KEY": SECRET}
    press(form, "Show what will run")
    shown = texts(form)
    assert "starts uvx light-mcp==1.2.0 &#x27;Lamp two&#x27; --port 80" in shown
    assert "LIGHT_MODE=dim" in shown
    assert SECRET not in shown
    assert not started.exists()
    press(form, "Connect")
    eventually(lambda: not form.is_busy)
    assert "Lamp two" in texts(form)
    environment = started.read_text().splitlines()
    assert {f"LIGHT_KEY={SECRET}", "LIGHT_MODE=dim"} <= set(environment)
    assert not [line for line in environment if line.startswith("LIGHT_PROXY")]
    session = connected.session("lamp")

    mcp(f"save {tmp_path / 'saved.json'}")
    leaves = [
        texts(form),
        repr(session),
        repr(form._static()),
        (tmp_path / "saved.json").read_text(),
    ]
    assert SECRET not in "".join(leaves)


def test_a_secret_that_comes_back_is_hidden(form_of, registry, started):
    """The server calls itself by its argument, and answers with it."""
    title = {"type": "positional", "valueHint": "title", "isRequired": True, "isSecret": True}
    arguments = [title, {"type": "positional", "value": "shine"}]
    parts = package(packageArguments=arguments, environmentVariables=[])
    # The first word of the package would be the name
    started.with_name("bin").joinpath("uvx").write_text(
        f'#!/bin/sh\nshift\nexec {sys.executable} {LIGHT} "$@"\n'
    )
    registry.entries.append(published("com.example/echo", packages=[parts]))
    form = form_of("connect echo --registry com.example/echo")
    form.form.value = {"title": SECRET}
    press(form, "Show what will run")
    press(form, "Connect")
    eventually(lambda: not form.is_busy)
    session = connected.session("echo")
    result = session.call("shine")
    assert "<secret-hidden>" in result.text
    rows = repr(list(session.traffic))
    assert SECRET not in "".join([texts(form), rows, repr(history()), result.text])


def test_a_no_starts_nothing(form_of, mcp, started):
    """Nor does another value before the yes: what is asked about is taken back."""
    form = form_of(f"connect --registry {NAME}")
    form.form.value = {"title": "one", "LIGHT_KEY": SECRET}
    press(form, "Show what will run")
    form.form.value = {"title": "two", "LIGHT_KEY": SECRET}
    press(form, "Show what will run")
    press(form, "Don't connect")
    assert "Nothing was connected" in texts(form)
    assert not started.exists()
    assert "light" not in repr(mcp("list"))


@pytest.mark.parametrize(
    ("title", "sentence"),
    [
        ("--from=evil", "begins with a dash"),
        ("${HOME}", "stands for a variable of this machine"),
        ("a\nb", "a line break"),
    ],
)
def test_a_value_is_only_a_value(form_of, title, sentence):
    """It adds no option, and reads no variable."""
    form = form_of(f"connect --registry {NAME}")
    form.form.value = {"title": title, "LIGHT_KEY": SECRET}
    press(form, "Show what will run")
    assert sentence in texts(form)
    assert "starts" not in texts(form)


def test_asks_at_once_if_there_is_nothing_to_fill_in(form_of, started):
    """The yes is still needed."""
    form = form_of("connect --registry com.example/plain")
    shown = texts(form)
    assert "plain 1.0 starts nothing at all of the registry (deprecated there)" in shown
    assert "starts uvx light-mcp==1.2.0" in shown
    assert not started.exists()


def test_a_default_that_cannot_be_shown_is_refused(form_of):
    """Hidden as a secret, it would run unseen."""
    form = form_of("connect --registry com.example/code")
    press(form, "Show what will run")
    assert "that could be code or a path" in texts(form)


@pytest.mark.parametrize(
    ("variables", "sentence"),
    [
        ({"lost_key": {}}, "LOST=x-"),
        ({"lost_key": {"value": "{b}", "variables": {"b": {}}}}, "that no form can ask for"),
        ({"lost_key": {"value": 5, "isRequired": True}}, "that no form can ask for"),
    ],
    ids=["left empty", "one in another", "no text"],
)
def test_reads_nothing_of_this_machine(form_of, registry, monkeypatch, variables, sentence):
    """Whatever the description calls its variables, and however it nests them."""
    monkeypatch.setenv("LOST_KEY", "of-another-program")
    lost = {"name": "LOST", "value": "x-{lost_key}", "variables": variables}
    parts = package(packageArguments=[], environmentVariables=[lost])
    registry.entries.append(published("com.example/lost", packages=[parts]))
    form = form_of("connect --registry com.example/lost")
    press(form, "Show what will run")
    assert sentence in texts(form)
    assert "passes on" not in texts(form)


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ("com.example/none", "no such server or version"),
        (f"{NAME} --version 9", "no such server or version"),
        ("com.example/gone", "was deleted there. It was malware."),
        ("com.example/odd", 'has packages of "mcpb": known are'),
        ("com.example/thief", "could read variables of this machine"),
    ],
)
def test_what_cannot_be_used_is_one_sentence(mcp, registry, line, sentence):
    """Before anything is asked."""
    with pytest.raises(ServerError) as caught:
        mcp(f"connect x --registry {line}")
    assert sentence in str(caught.value)


def test_a_script_gets_no_yes(mcp, registry, started):
    """Nobody can be asked: what would run is said, and does not."""
    with pytest.raises(ConsentError, match="its questions have no answer"):
        mcp(f"connect lamp --registry {NAME}")
    with pytest.raises(ConsentError, match=r"starts uvx light-mcp==1\.2\.0"):
        mcp("connect plain --registry com.example/plain")
    assert not started.exists()


def test_other_words_do_not_fit(mcp):
    """Neither a command, nor a version without a registry."""
    with pytest.raises(UsageError, match=r"--registry determines what runs, .* leave out --\."):
        mcp("connect x --registry com.example/plain -- python server.py")
    with pytest.raises(UsageError, match="--version is for a server of a registry"):
        mcp("connect x http://127.0.0.1:9/mcp --version 1")
