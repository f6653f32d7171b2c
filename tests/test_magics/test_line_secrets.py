"""What is wrong with a line is told, and saved with the notebook, without its secrets."""

import pytest
from IPython.core.error import UsageError

from toolbench import tool
from toolbench.errors import BodyError, ToolNotFoundError
from toolbench.redaction import MARK

SECRET = "hunter2-998877"


@tool
def login(password: str, n: int = 1) -> str:
    """Log in."""
    return password * n


@pytest.mark.parametrize(
    "line",
    [
        f"connect a uvx --api-key {SECRET}",
        f"connect a foo --token {SECRET}",
        f"connect a ftp://host/?token={SECRET}",
        f'connect a "http://me:{SECRET}@host',
        f"connect --replay file a http://me:{SECRET}@host",
    ],
)
def test_of_a_command_line_or_an_address(shell, line):
    """An option, a header, an environment and the parts of a URL say what is a secret."""
    with pytest.raises(UsageError) as caught:
        shell.run_line_magic("mcp", line)
    assert SECRET not in str(caught.value)
    assert MARK in str(caught.value)


@pytest.mark.parametrize(
    "line",
    [
        f'login password="{SECRET}',
        f"login --password={SECRET}",
        f"login 'password: \"{SECRET}\"'",
        f"password={SECRET} login",
    ],
)
def test_of_a_call(shell, line):
    """An argument's name says it, also where the line cannot be read to its end, or names no tool."""
    shell.user_ns["login"] = login
    with pytest.raises((UsageError, ToolNotFoundError)) as caught:
        shell.run_line_magic("tool", line)
    assert SECRET not in str(caught.value)
    # An option that is none is told without its value
    assert (MARK in str(caught.value)) != ("no option" in str(caught.value))


@pytest.mark.parametrize(
    "body", [f"password: *{SECRET}", f"password = '{SECRET}'\nraise ValueError(password)"]
)
def test_of_a_body(shell, body):
    """In YAML, and in what Python code raises."""
    shell.user_ns["login"] = login
    form = "-f py" * ("raise" in body)
    with pytest.raises(BodyError) as caught:
        shell.run_cell_magic("tool", f"login {form}", body)
    assert SECRET not in str(caught.value)


def test_that_has_none_is_told_as_it_is(shell):
    """The words that are wrong are the help."""
    shell.user_ns["login"] = login
    with pytest.raises(UsageError, match="not 'twice'"):
        shell.run_line_magic("tool", "login twice")
