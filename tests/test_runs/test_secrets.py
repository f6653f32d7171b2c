"""Secrets among the arguments of a run show nowhere, whatever they came in."""

import pickle
import sys
from copy import copy, deepcopy
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Annotated

import pytest
from pydantic import BaseModel, Field, SecretStr

from toolbench import (
    ConversationState,
    Observation,
    current_run,
    history,
    run_tool,
    tool,
)
from toolbench.core.schema import hide_in_views, redactor_of
from toolbench.errors import ToolbenchError
from toolbench.redaction import MARK
from toolbench.redaction.redactor import Redactor
from toolbench.runs.perform import perform
from toolbench.runs.plain_calls import forget_calls, record_calls
from toolbench.runs.questions import answering
from toolbench.runs.run import Run, run_here

_SECRET = "hunter2-the-secret"
_LONG = "sk-live-0123456789abcdefghijKLMNOPQRSTUVWXYZ-9876543210-zyxwvutsrqponm"
_WRAPPED = SecretStr(_SECRET)


class Login(BaseModel):
    password: str
    pin: SecretStr = SecretStr("")


@dataclass
class Key:
    token: str


@tool
def say(
    login: Login | None = None,
    many: tuple[Login, ...] = (),
    key: Key | None = None,
    anything: object = None,
) -> str:
    """Say everything."""
    return f"{login} {login and login.pin.get_secret_value()} {many} {key} {anything}"


@pytest.fixture
def recorded():
    record_calls()
    yield
    forget_calls()


def everything():
    record = history()[-1]
    return f"{record!r} {record._repr_mimebundle_()} {history().to_json()} {history()}"


class TestArguments:
    @pytest.mark.every_case
    @pytest.mark.parametrize(
        "arguments",
        [
            {"login": {"password": _SECRET}},
            {"login": Login(password=_SECRET)},
            {"login": Login(password="", pin=_SECRET)},
            {"login": f'{{"password": "{_SECRET}"}}'},
            {"many": ({"password": _SECRET},)},
            {"many": [Login(password=_SECRET)]},
            {"key": Key(_SECRET)},
            {"anything": [{"api_key": _SECRET.encode()}]},
            {"undeclared": {"api_key": _SECRET}},
        ],
        ids=str,
    )
    def test_show_no_secret_whatever_they_are(self, arguments):
        """Models, dataclasses, tuples and texts hide what a dict hides, results too."""
        run_tool(say, arguments)
        assert MARK in str(history()[-1].arguments)
        assert _SECRET not in everything()

    def test_reach_the_tool_as_they_were_given(self):
        """What is recorded is a copy: the executor gets the objects."""
        assert _SECRET in run_tool(say, login=Login(password="", pin=_SECRET)).text
        values = [object()]
        run_tool(tool(lambda x: x.append(1), name="add"), x=values)
        assert values[1:] == [1]
        assert history()[-1].arguments == {"x": [repr(values[0])]}

    def test_without_end_are_recorded(self):
        """A list that holds itself is no reason to lose the run."""
        circle = [_SECRET]
        circle.append(circle)
        assert not run_tool(say, anything=circle).is_error
        assert history()[-1].arguments == {"anything": MARK}
        assert _SECRET not in everything()


class TestConversations:
    @pytest.mark.parametrize(
        "conversation",
        [
            ConversationState(secrets={"KEY": _SECRET}),
            SimpleNamespace(state=SimpleNamespace(secrets={"KEY": _SECRET})),
        ],
        ids=["a state", "somebody else's"],
    )
    def test_are_read_alike_for_arguments_and_results(self, conversation, recorded):
        """Who masks the result masks the arguments."""
        observation = say({"anything": f"a {_SECRET}"}, conversation)
        assert MARK in observation.text
        assert history()[-1].arguments == {"anything": f"a {MARK}"}

    def test_with_secrets_that_are_no_mapping_are_recorded(self, recorded):
        """A recorded call works where a plain one does."""
        theirs = SimpleNamespace(state=SimpleNamespace(secrets=object()))
        assert say({}, theirs).text == say.execute({}, theirs).text
        assert not perform(run_here(say, {}, conversation=theirs)).is_error

    def test_keep_their_names_if_a_secret_is_the_same_word(self):
        """A password may be the word `password`, and later calls have an argument of that name."""

        @tool
        def login(user: str, password: str) -> str:
            """Log in."""
            return "ok"

        for password in ("password", "correct-horse-9"):
            assert run_tool(login, user="ada", password=password).text == "ok"
            assert history()[-1].arguments == {"user": "ada", "password": MARK}
            assert history()[-1].lost == ("password",)
        unknown = {"user": "ada", "password": "sesame-open-9", "sesame-open-9": 1}
        assert run_tool(login, unknown).is_error
        assert "sesame" not in everything()

    @pytest.mark.parametrize("secret", ["abc", 123])
    def test_hide_a_short_secret_in_all_that_is_shown(self, secret, recorded, capsys):
        """Whoever declares a secret means it: of two or three characters too."""

        @tool
        def tell() -> str:
            """Tell the secret."""
            print(f"printed {secret}")
            return f"returned {secret}"

        conversation = SimpleNamespace(state=ConversationState(secrets={"K": secret}))
        tell({}, conversation)
        assert capsys.readouterr().out == f"printed {MARK}\n"
        assert history()[-1].observation.text == f"returned {MARK}"


class TestAnswers:
    def test_that_are_secrets_show_nowhere(self, recorded, capsys):
        """A password that is asked for in the middle of a run is hidden from then on."""
        schema = {"type": "object", "properties": {"password": {"type": "string"}}}

        @tool
        def unlock() -> str:
            """Ask for a password, and say it."""
            password = current_run().ask("Password?", schema)["password"]
            print("It is", password)
            return password

        with answering({"password": _SECRET}):
            assert unlock({}).text == _SECRET
        assert capsys.readouterr().out == f"It is {MARK}\n"
        assert _SECRET not in everything()


class TestErrors:
    def test_of_a_plain_call_keep_their_kind(self, recorded):
        """What the tool raises is raised, without the secret that a cell would show."""

        @tool
        def unlock(password: str) -> str:
            """Fail."""
            raise KeyError(password)

        with pytest.raises(KeyError) as caught:
            unlock({"password": _SECRET})
        assert caught.value.args == (MARK,)
        assert caught.traceback[-1].name == "unlock"

    @pytest.mark.parametrize("kind", [SystemExit, KeyboardInterrupt, BaseException])
    def test_that_nobody_catches_keep_their_kind_and_say_no_secret(self, kind, recorded):
        """What ends a program, or a cell, is raised as it is, but for the secret."""

        @tool
        def unlock(password: str) -> str:
            """Unlock a door."""
            raise kind(f"no door for {password}")

        with pytest.raises(kind) as raised:
            unlock({"password": _SECRET})
        assert str(raised.value) == f"no door for {MARK}"
        assert _SECRET not in repr(getattr(raised.value, "code", ""))


class TestResults:
    def test_are_as_they_were_and_shown_without_secrets(self, recorded):
        """Code goes on with what the tool returned; a cell shows it masked, however it does."""

        @tool
        def unlock(password: str) -> str:
            """Return it."""
            return f"got {password}"

        observation = unlock({"password": _SECRET})
        assert observation.text == f"got {_SECRET}"
        texts = (repr(observation), str(observation), repr([observation]))
        assert _SECRET not in f"{texts} {observation._repr_mimebundle_()}"

    @pytest.mark.every_case
    @pytest.mark.parametrize(
        "copied",
        [
            copy,
            deepcopy,
            Observation.model_copy,
            lambda observation: observation.model_copy(deep=True),
            lambda observation: deepcopy([observation])[0],
            lambda observation: copy(deepcopy(observation)),
        ],
        ids=["copy", "deepcopy", "model", "deep model", "in a list", "twice"],
    )
    def test_hide_the_same_in_a_copy(self, copied, recorded):
        """A copy has what the tool returned, and is shown as the result itself."""

        @tool
        def unlock(password: str) -> str:
            """Return it."""
            return f"got {password}"

        observation = copied(run_tool(unlock, password=_SECRET))
        assert observation.text == f"got {_SECRET}"
        texts = (repr(observation), repr([observation]))
        assert _SECRET not in f"{texts} {observation._repr_mimebundle_()}"
        assert _SECRET not in repr(observation.visualize)

    def test_that_were_masked_keep_no_secret(self, recorded):
        """What history keeps has nothing to hide, and nothing that knows a secret."""

        @tool
        def unlock(password: str) -> str:
            """Return it."""
            return f"got {password}"

        run_tool(unlock, password=_SECRET)
        assert not redactor_of(history()[-1].observation)

    def test_are_no_part_of_the_result(self):
        """What is hidden is neither compared, nor dumped, nor pickled."""
        result, other = Observation.from_text("done"), Observation.from_text("done")
        hide_in_views(result, Redactor([_SECRET]))
        assert result == other
        assert result.model_dump() == other.model_dump()
        assert _SECRET.encode() not in pickle.dumps(result)
        assert redactor_of(result).text(_SECRET) == MARK
        assert not redactor_of(other)


class TestParts:
    def test_hide_what_the_run_that_asked_for_them_knows(self, capsys, recorded):
        """A tool that hands its secret to another, under a name that says nothing, tells nobody."""

        @tool
        def inner(note: str) -> str:
            """Say it, and fail."""
            print(note)
            raise ValueError(note)

        @tool
        def outer(password: str) -> str:
            """Hand it on."""
            run_tool(inner, note=password)
            inner({"note": password})
            return "done"

        run_tool(outer, password=_SECRET)
        assert [record.tool for record in history()][-3:] == ["inner", "inner", "outer"]
        records = "".join(f"{r!r} {r._repr_mimebundle_()}" for r in history())
        text = f"{records} {history().to_json()} {capsys.readouterr()}"
        assert _SECRET not in text
        assert text.count(MARK) > 3


class TestLaterRuns:
    def test_hide_what_a_tool_keeps_of_an_earlier_one(self, capsys):
        """A tool that kept a secret says it in a run which was given none."""
        secrets = []

        @tool
        def login(password: str) -> str:
            """Log in."""
            secrets.append(password)
            return "in"

        @tool
        def fetch(how: str) -> str:
            """Say it in every way."""
            run = current_run()
            run.progress(1, 2, secrets[0])
            print(f"printed {secrets[0]}")
            if how == "fail":
                raise RuntimeError(f"401 for {secrets[0]}")
            return f"as {secrets[0]}"

        run_tool(login, password=_SECRET)
        observations = [run_tool(fetch, how=how) for how in ("work", "fail", _SECRET)]
        # The caller has it as it was
        assert observations[0].text == f"as {_SECRET}"
        records = list(history())
        texts = [f"{one!r} {one._repr_mimebundle_()}" for one in (*observations, *records)]
        texts += [history().to_json(), *(record.traceback for record in records)]
        texts += capsys.readouterr()
        assert _SECRET not in "".join(texts)
        assert all(MARK in text for text in texts[1:3])
        assert f"printed {MARK}" in texts[-2]


class TestActions:
    def test_hide_what_pydantic_wraps(self):
        """The text in a `SecretStr` is found in what the tool says, under an alias too."""

        @tool
        def login(
            pin: SecretStr, key: Annotated[SecretStr, Field(alias="api-key")] = _WRAPPED
        ) -> str:
            """Log in."""
            print(f"with {pin.get_secret_value()} and {key.get_secret_value()}")
            return "in"

        call = login.action_type.model_validate({"pin": _SECRET, "api-key": _LONG})
        run = Run(login, call, source="python")
        assert run.arguments == {"pin": SecretStr(_SECRET), "api-key": SecretStr(_LONG)}


class TestDefaults:
    def test_that_are_secrets_are_in_no_schema(self):
        """Who calls may leave the argument out, and need not know what it is then."""

        @tool
        def search(q: str, api_key: str = _SECRET, token: SecretStr = _WRAPPED) -> str:
            """Search."""
            return "found"

        properties = search.input_schema["properties"]
        assert not {"default"} & (properties["api_key"].keys() | properties["token"])
        assert _SECRET not in f"{search!r} {search._repr_mimebundle_()}"
        assert _SECRET not in str(search.to_openai_tool())
        assert search.problems({"q": "x"}) == []


class TestTextsWithAMark:
    def test_are_not_sent_again(self):
        """A text of which a secret was left out is no argument any more: it is asked for."""

        @tool
        def send(body: str) -> str:
            """Send it."""
            return "sent"

        run_tool(send, body=f'{{"password": "{_SECRET}"}}')
        assert _SECRET not in everything()
        with pytest.raises(ToolbenchError, match="did not keep body"):
            history()[-1].rerun()


class TestRunsWithoutSecrets:
    def test_go_around_what_hides_them(self):
        """Whoever has nothing to hide is asked once, at a glance: no text is read or copied."""

        @tool
        def add(a: float, b: int = 2) -> float:
            """Add."""
            return a + b

        run_tool(add, a=1)
        files = set()

        def note(frame, event, _):
            path = Path(frame.f_code.co_filename)
            if event == "call" and "redaction" in path.parts:
                files.add(path.name)

        sys.setprofile(note)
        try:
            run_tool(add, a=1)
        finally:
            sys.setprofile(None)
        at_a_glance = {"known.py", "detect.py", "redactor.py"}
        assert files == at_a_glance
