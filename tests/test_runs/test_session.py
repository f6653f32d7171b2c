"""What a session keeps in modules is put back by one call."""

from test_runs.tools import add
from toolbench import history, policy, register_tool, run_tool, tool
from toolbench.core.registry import default_registry
from toolbench.redaction.known import remembered
from toolbench.runs.session import reset

SECRET = "correct-horse-9"


@tool
def login(user: str, password: str) -> str:
    """Log in."""
    return f"{user} is in"


def test_reset_is_a_new_session():
    """Whatever a session did, the next one knows nothing of it, and numbers its runs from 1."""
    register_tool("kept", add)
    policy.deny(add)
    run_tool(login, user="ada", password=SECRET)
    assert len(history()) == 1
    assert SECRET in remembered.redactor.secrets
    assert policy.verdict_on(add)[0] == "deny"
    reset()
    assert len(history()) == 0
    assert len(default_registry) == 0
    assert not remembered.redactor
    assert policy.verdict_on(add)[0] == "allow"
    run_tool(add, a=1, b=2)
    assert history()[-1].id == 1
