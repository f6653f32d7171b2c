"""What `serve` is told, and cannot do: one sentence says so, before anything is served."""

import math

import pytest

from test_serving.clients import post
from toolbench import Action, ToolDefinition, tool
from toolbench.errors import RegistrationError, ToolbenchError
from toolbench.serving import serve
from toolbench.serving.access.connection_file import folder
from toolbench.serving.served_tools import open_servers

HOSTS = "A name in allowed_hosts must be one host"


@tool(read_only=True)
def now() -> str:
    """Say the time."""
    return "noon"


def add(a, b):
    """Add."""
    return a + b


def three():
    """Return no tool."""
    return 3


WRONG = {
    "port": [
        ("80", "'80'"),
        (True, "True"),
        (-1, "-1"),
        (65_536, "65536"),
        (8.0, "8.0"),
    ],
    "require": [("maybe", "'maybe'"), (None, "None"), (["policy"], r"\['policy'\]")],
    "answer_within": [
        *((0, "0"), (-1, "-1"), ("60", "'60'"), (None, "None"), (True, "True")),
        *((math.nan, "nan"), (math.inf, "inf"), (10**400, "1000")),
    ],
    "name": [("a b", "'a b'"), ("", "''"), (3, "3"), ("../up", "'../up'")],
    "allowed_hosts": [
        ("hub.example.org", r"a list of names.*'hub\.example\.org'"),
        (3, "a list of names.*3"),
        ([3], f"{HOSTS}.*3"),
        ([""], f"{HOSTS}.*''"),
        (["*"], f"{HOSTS}.*a pattern would also allow web pages of other hosts"),
        (["*.example.org"], f"{HOSTS}.*a pattern would"),
        (["hub?.example.org"], f"{HOSTS}.*'hub"),
        (["https://hub.example.org"], f"{HOSTS}.*without scheme"),
        (["hub.example.org:8000"], f"{HOSTS}.*port"),
        (["hub.example.org/path"], f"{HOSTS}.*path"),
        (["good.example.org", "hub example"], f"{HOSTS}.*'hub example'"),
    ],
}
CASES = [(name, *case) for name, cases in WRONG.items() for case in cases]


@pytest.mark.parametrize(("setting", "value", "message"), CASES)
def test_a_wrong_setting_is_refused(setting, value, message):
    """With the value, and what it should be."""
    before = list(open_servers), list(folder().glob("*"))
    with pytest.raises(ToolbenchError, match=message) as raised:
        serve([now], **{setting: value})
    assert "\n" not in str(raised.value)
    assert (list(open_servers), list(folder().glob("*"))) == before


@pytest.mark.parametrize(
    ("tools", "message"),
    [
        ([], "There is no tool to serve"),
        (None, "not null"),
        (3, "not 3"),
        ({"a": 1}, "a"),
        (add, "add is a function that takes arguments.*with @tool"),
        ([now, add], "add is a function that takes arguments"),
        (three, "three is a function that returns 3, not tools"),
        ([now, b"x"], "not 120"),
    ],
)
def test_what_is_no_tool_is_refused(tools, message):
    """And what to do is said."""
    with pytest.raises((RegistrationError, LookupError), match=message):
        serve(tools)


@pytest.mark.parametrize(
    ("hosts", "host"),
    [
        (["hub.example.org"], "hub.example.org:443"),
        ({"Hub", "10.0.0.7"}, "hub"),
        (("[fd00::1]", "::1"), "[fd00::1]:80"),
        (iter(["a"]), "a"),
    ],
)
def test_names_and_addresses_are_allowed(hosts, host):
    """In any collection."""
    with serve([now], name="hosts", allowed_hosts=hosts) as served:
        assert post(served, host=host).status_code == 401
        assert post(served, host="other").status_code == 421


def test_a_function_may_return_one_tool():
    """As well as several, or none yet."""
    with serve(lambda: now) as served:
        assert list(served.tools) == ["now"]
    nothing = []
    with serve(lambda: nothing) as served:
        assert not served.tools


def test_the_name_of_a_tool_says_what_it_is_not():
    """A tool that cannot run is refused as before."""
    with pytest.raises(NotImplementedError):
        serve(lambda: ToolDefinition(name="idle", action_type=Action))
