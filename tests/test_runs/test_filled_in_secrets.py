"""Secrets that are filled in where a tool runs: no schema has them, and nothing shows them."""

import json
import pickle
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from contextvars import Context
from io import StringIO
from threading import Event
from typing import Annotated

import pytest
from patience import PATIENCE, eventually
from pydantic import BaseModel, SecretStr
from test_widgets.front import page
from test_widgets.tooling import finish

from toolbench import (
    Action,
    Secret,
    ToolDefinition,
    ToolExecutor,
    answering,
    history,
    policy,
    run_tool,
    run_tools,
    secret,
    tool,
)
from toolbench.core.secrets import store_in_keyring
from toolbench.errors import RegistrationError, SecretError
from toolbench.evals import sweep
from toolbench.llm.formats import to_format
from toolbench.runs.control import stop
from toolbench.runs.perform import perform
from toolbench.runs.questions import Answer
from toolbench.runs.run import Run
from toolbench.runs.secret_question import place_of_secret
from toolbench.widgets.panel.panel import ToolPanel

VALUE = "tracker-value-8f1c"
pytestmark = pytest.mark.usefixtures("no_records")


@tool
def search(query: str, token: str = secret("TRACKER")) -> str:
    """Search the tracker.

    Args:
        query: What to look for.
        token: The token of the tracker.
    """
    print("sent", token)
    return f"{query}: {token}"


@tool
def sealed(query: str, token: Annotated[SecretStr, Secret("TRACKER")]) -> int:
    """Search the tracker."""
    return len(query + token.get_secret_value())


@tool
def passed_on(query: str) -> str:
    """Search the tracker."""
    return run_tool(search, query=query).text


@tool
def called(query: str, fails: bool = False) -> str:
    """Search the tracker."""
    text = search(query=query).text
    if fails:
        raise ValueError(text)
    return text


class Count(ToolExecutor):
    """A class declares what it needs."""

    secrets = {"token": Secret("TRACKER")}  # noqa: RUF012 - as people write it

    def __call__(self, action, conversation=None):
        return len(self.secrets["token"].value())


COUNT = ToolDefinition(name="count", description="Count.", executor=Count())


@pytest.fixture(autouse=True)
def _nowhere(monkeypatch):
    monkeypatch.delenv("TRACKER", raising=False)


class TestWhereItIsNot:
    def test_no_schema_has_it(self):
        assert list(search.action_type.model_fields) == ["query"]
        for name in ("mcp", "openai", "responses", "anthropic", "gemini"):
            assert "oken" not in json.dumps(to_format(search, name))

    @pytest.mark.parametrize("value", [VALUE, "q7#"])
    def test_the_function_gets_it_and_nothing_shows_it(self, capsys, monkeypatch, value):
        monkeypatch.setenv("TRACKER", value)
        observation = run_tool(search, query="crash")
        assert observation.result == f"crash: {value}"
        record = history()[-1]
        shown = [
            json.dumps(record.to_dict()),
            record.to_html(),
            observation._repr_mimebundle_()["text/html"],
            capsys.readouterr().out,
        ]
        assert not [text for text in shown if value in text]
        assert value not in perform(Run(search, {"query": "a"}, source="model")).text
        # Even of a tool that asks another tool
        for asking in (passed_on, called):
            assert value not in perform(Run(asking, {"query": "a"}, source="model")).text
        assert value not in perform(Run(called, {"query": "a", "fails": True}, source="model")).text
        assert value not in sweep(called, {"query": ["a"]}).to_html()
        assert run_tool(sealed, query="crash").result == len("crash" + value)
        monkeypatch.delenv("TRACKER")
        with pytest.raises(SecretError):
            Secret("TRACKER").value()

    def test_the_caller_cannot_send_it(self):
        observation = run_tool(search, query="crash", token="x")
        assert observation.is_error
        assert "token" in observation.text


class TestWhereItIs:
    def test_the_order_is_keyring_environment_answer(self, monkeypatch):
        keyring = pytest.importorskip("keyring")
        stored = {}

        class Backend(keyring.backend.KeyringBackend):
            priority = 1

            def get_password(self, service, name):
                if "locked" in stored:
                    raise keyring.errors.KeyringLocked("It is locked.")
                return stored.get((service, name))

            def set_password(self, service, name, value):
                if value == "1234":
                    raise keyring.errors.PasswordSetError(f"no {value}, too short")
                stored[service, name] = value

            def delete_password(self, service, name):
                del stored[service, name]

        before = keyring.get_keyring()
        keyring.set_keyring(Backend())
        try:
            answer = Answer("accept", {"secret": "as-answered", "store": True})
            run = Run(search, {"query": "a"}, source="button", asker=lambda question: answer)
            assert perform(run).result == "a: as-answered"
            assert stored == {("toolbench", "TRACKER"): "as-answered"}
            monkeypatch.setenv("TRACKER", VALUE)
            assert run_tool(search, query="a").result == "a: as-answered"
            with pytest.warns(RuntimeWarning, match="did not store PIN: no <secret-hidden>, too s"):
                store_in_keyring("PIN", "1234")
            stored["locked"] = True
            with pytest.warns(RuntimeWarning, match="not read for TRACKER: It is locked"):
                assert run_tool(search, query="a").result == f"a: {VALUE}"
        finally:
            keyring.set_keyring(before)

    def test_two_calls_at_once_ask_once(self):
        asked, begun, go = [], Event(), Event()

        def ask(question):
            asked.append(question)
            begun.set()
            assert go.wait(PATIENCE)
            return Answer("accept", {"secret": VALUE})

        def call(query):
            return perform(Run(search, {"query": query}, source="button", asker=ask))

        with ThreadPoolExecutor(2) as pool:
            first = pool.submit(call, "a")
            assert begun.wait(PATIENCE)
            run = Run(search, {"query": "b"}, source="button", asker=ask)
            second = pool.submit(perform, run)
            # Which is no time of its work
            eventually(lambda: run.state == "waiting", what="the second call waits")
            # The cell that has the main thread would keep the answer of a page away
            assert "another run is asking for it" in call("c").text
            go.set()
            assert [first.result().result, second.result().result] == [f"a: {VALUE}", f"b: {VALUE}"]
        assert len(asked) == 1
        assert not history()[-1].answers
        assert VALUE not in json.dumps([record.to_dict() for record in history()])

    def test_a_call_that_is_cancelled_while_it_asks_lets_the_next_ask(self):
        begun = Event()

        def wait(question):
            begun.set()
            cancelled = Event()
            first.on_cancel(cancelled.set)
            assert cancelled.wait(PATIENCE)
            return Answer("cancel")

        def answer(question):
            return Answer("accept", {"secret": VALUE})

        first = Run(search, {"query": "a"}, source="button", asker=wait)
        second = Run(search, {"query": "b"}, source="button", asker=answer)
        with ThreadPoolExecutor(2) as pool:
            pool.submit(perform, first)
            assert begun.wait(PATIENCE)
            later = pool.submit(perform, second)
            stop(first)
            assert later.result().result == f"b: {VALUE}"

    def test_nobody_is_asked_for_the_secret_of_a_call_that_is_refused(self):
        asked = []

        def ask(question):
            asked.append(question)
            return Answer("decline")

        policy.ask(search)
        perform(Run(search, {"query": "a"}, source="button", asker=ask))
        assert [question.consent is not None for question in asked] == [True]

    def test_the_form_says_from_where(self, monkeypatch):
        panel = ToolPanel(search)
        assert "<code>token</code>: asked at the first run</div>" in page(panel)
        panel.form.value = {"query": "a"}
        # Of "Run again on change", which asks nothing
        panel.run_by_itself()
        assert panel.runs.latest is None and panel.controls.is_refusing
        monkeypatch.setenv("TRACKER", VALUE)
        panel.run()
        finish(panel)
        assert "from the environment variable TRACKER" in page(panel)
        assert VALUE not in page(panel)
        earlier = panel.tabs.widget.children[0]
        panel.staleness.reload()
        assert earlier.comm is None
        assert "from the environment variable TRACKER" in page(panel)
        panel.close()

    def test_a_sweep_asks_before_its_calls(self, monkeypatch):
        monkeypatch.setattr("toolbench.runs.input_prompt.has_kernel", lambda: True)
        monkeypatch.setattr("toolbench.runs.input_prompt.getpass", lambda prompt: VALUE)
        report = sweep(search, {"query": ["a", "b"]})
        assert report.columns["state"] == ["ok", "ok"]
        assert VALUE not in report.to_html()
        assert place_of_secret(Secret("TRACKER")) == "as you gave it in this session"

    def test_the_process_that_does_the_work_gets_it(self, monkeypatch):
        class Elsewhere(Executor):
            def submit(self, work, /, *args):
                assert VALUE not in repr(args)
                sent = pickle.loads(pickle.dumps((work, *args)))
                future = Future()
                with monkeypatch.context() as there:
                    there.delenv("TRACKER")
                    future.set_result(Context().run(*sent))
                return future

        monkeypatch.setenv("TRACKER", VALUE)
        [observation] = run_tools([(COUNT, {})], executor=Elsewhere())
        assert observation.result == len(VALUE)


class TestNobodyCanBeAsked:
    def test_it_is_one_sentence_before_the_call(self, monkeypatch):
        monkeypatch.setattr("sys.stdin", StringIO("the data of a script"))
        # No answer of a block is meant for it
        with answering("not-the-secret"):
            observation = run_tool(search, query="crash")
        assert observation.is_error
        assert observation.text.startswith(
            "search was not run: the secret TRACKER is missing, and it was declined: nobody "
            "could be asked. Set the environment variable TRACKER"
        )
        assert not history()[-1].traceback
        with pytest.raises(SecretError, match="The secret TRACKER is missing"):
            search(query="crash")
        [one] = run_tools([(search, {"query": "crash"})])
        assert one.is_error
        with pytest.raises(SecretError):
            sweep(search, {"query": ["a"]})

    def test_another_program_is_not_asked(self):
        asked = []
        run = Run(search, {"query": "a"}, source="agent", asker=asked.append)
        assert "another program made the call" in perform(run).text
        assert not asked


class TestWrongUse:
    @pytest.mark.parametrize(
        "name", ["", "my token", "ghp_abcdefghijklmnopqrstuvwxyz0123456789", 7]
    )
    def test_a_value_in_place_of_the_name(self, name):
        with pytest.raises(RegistrationError) as caught:
            secret(name)
        assert "by its name, not by its value" in str(caught.value)
        assert not name or str(name) not in str(caught.value)

    def test_a_type_that_a_secret_does_not_have(self):
        def count(pin: int = secret("PIN")) -> int: ...

        with pytest.raises(
            RegistrationError, match="pin is a secret, so its type is str or SecretStr"
        ):
            tool(count)

    def test_a_field_of_a_schema(self):
        with pytest.raises(RegistrationError, match="declare it in the `secrets` of the executor"):

            class Login(Action):
                token: str = secret("TRACKER")

        with pytest.raises(RegistrationError, match="cannot be a field of a schema"):

            class Inner(BaseModel):
                token: Annotated[str, Secret("TRACKER")]
