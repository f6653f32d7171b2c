"""Secrets in the defaults of a schema, which a server may put there: looked for only where there are any."""

import sys

import pytest

from toolbench.redaction.detect import Secrecy

PARTS = 100


def schema(**last):
    """A schema of many objects; *last* are further keywords of a property of the last one."""
    names = [f"part_{n}" for n in range(PARTS)]
    inner = {"type": "object", "properties": {"token": {"type": "string"}}}
    properties = dict.fromkeys(names, inner)
    if last:
        token = {"type": "string", **last}
        properties[names[-1]] = {"type": "object", "properties": {"token": token}}
    return {"type": "object", "properties": properties}


def calls_for(work):
    """How many functions of Python are entered while *work* runs."""
    entered = []
    sys.setprofile(lambda frame, event, _: entered.append(event))
    try:
        work()
    finally:
        sys.setprofile(None)
    return entered.count("call")


@pytest.mark.parametrize("value", ["s3cr3t-0f-4-server", "plain-w0rd5-here"])
def test_one_in_the_last_of_many_parts_counts(value):
    """However deep it stands."""
    assert Secrecy(schema(default=value)).defaults == [value]


def test_a_schema_without_defaults_is_only_looked_through():
    """A server lists hundreds of tools, each time anew: a few steps for each object, and no more."""
    without = Secrecy(schema())
    assert calls_for(lambda: without.defaults) <= 4 * PARTS
    assert without.defaults == []
