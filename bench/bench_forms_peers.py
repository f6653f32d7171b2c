"""Forms beside other form builders: all of them in one process, over the same schemas."""

from statistics import median, quantiles

import pytest
from probe import Probe

OURS, HAND = "toolbench", "by hand"
# One of twelve tools: with all of them it takes five minutes
EVERY = 12
OTHERS = ("ipyautoui", "ipywidgets-jsonschema")


@pytest.fixture(scope="module", name="forms")
def _forms(probe) -> Probe:
    return probe("forms", "forms", PYTHONWARNINGS="ignore")


@pytest.fixture(scope="module", name="found")
def _found(forms, corpus):
    return forms.ask("corpus", path=str(corpus), every=EVERY)


def the(rows, name):
    return [row[name] for row in rows]


def p99(values):
    return quantiles(values, n=100)[-1]


@pytest.mark.parametrize("other", [HAND, *OTHERS])
def test_ten_fields(ledger, forms, other):
    """A form of ten fields costs less than theirs."""
    ours, theirs = (forms.ask("weight", builder=each) for each in (OURS, other))
    goal = None if other == HAND else 1
    for what, unit in (("comms", "comms"), ("bytes", "B")):
        ledger.beside(
            f"form of 10 fields: {what}, beside {other}",
            ours[what],
            unit,
            peer=theirs[what],
            peer_name=other,
            goal=goal,
        )
    ledger.compare(
        f"form of 10 fields: built, beside {other}",
        ours=forms.timed("ten", builder=OURS),
        peer=forms.timed("ten", builder=other),
        peer_name=other,
        goal=goal,
    )


@pytest.mark.parametrize("other", OTHERS)
def test_real_tools(ledger, found, other):
    """Forms of real tools are right, and cost less than theirs."""
    ours, theirs = found[OURS], found[other]
    for what, floor in (("built", 100), ("right", 100)):
        ledger.beside(
            f"forms of {ours['tools']} real tools: {what}, beside {other}",
            100 * ours[what] / ours["tools"],
            "%",
            peer=100 * theirs[what] / theirs["tools"],
            peer_name=other,
            floor=floor,
        )
    for what, unit in (("comms", "comms"), ("bytes", "B"), ("cpu", "s CPU")):
        for name, of in (("median", median), ("99th percentile", p99)):
            ledger.beside(
                f"forms of real tools: {what}, {name}, beside {other}",
                of(the(ours["rows"], what)),
                unit,
                peer=of(the(theirs["rows"], what)),
                peer_name=other,
                goal=1,
                note=f"of the {theirs['built']} it builds",
            )
