"""Secrets among the arguments of a run show nowhere, whatever they came in."""

from dataclasses import dataclass
from types import SimpleNamespace

import pytest
from pydantic import BaseModel, SecretStr

from toolbench import ConversationState, history, run_tool, tool
from toolbench.core.masking import MASK
from toolbench.core.secrecy import HIDDEN
from toolbench.runs.calls import forget_calls, record_calls
from toolbench.runs.engine import perform, run_here

_SECRET = "hunter2-the-secret"


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
    @pytest.mark.parametrize(
        "given",
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
    def test_show_no_secret_whatever_they_are(self, given):
        """Models, dataclasses, tuples and texts hide what a dict hides, results too."""
        run_tool(say, given)
        assert HIDDEN in str(history()[-1].arguments)
        assert _SECRET not in everything()

    def test_reach_the_tool_as_they_were_given(self):
        """What is recorded is a copy: the executor gets the objects."""
        assert _SECRET in run_tool(say, login=Login(password="", pin=_SECRET)).text
        given = [object()]
        run_tool(tool(lambda x: x.append(1), name="add"), x=given)
        assert given[1:] == [1]
        assert history()[-1].arguments == {"x": given[:1]}

    def test_without_end_are_recorded(self):
        """A list that holds itself is no reason to lose the run."""
        circle = [_SECRET]
        circle.append(circle)
        assert not run_tool(say, anything=circle).is_error
        assert history()[-1].arguments == {"anything": HIDDEN}
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
        seen = say({"anything": f"a {_SECRET}"}, conversation)
        assert MASK in seen.text
        assert history()[-1].arguments == {"anything": f"a {MASK}"}

    def test_with_secrets_that_are_no_mapping_are_recorded(self, recorded):
        """A recorded call works where a plain one does."""
        theirs = SimpleNamespace(state=SimpleNamespace(secrets=object()))
        assert say({}, theirs).text == say.execute({}, theirs).text
        assert not perform(run_here(say, {}, conversation=theirs)).is_error
