"""Write reports of evaluations and checks as JUnit XML for a CI.

Source: the schema of the Jenkins xUnit plugin, `junit-10.xsd`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from toolbench.display.escape import visible
from toolbench.evals.trial import Trial
from toolbench.values import clip

# Characters of a value
_LONGEST = 2_000
# Problems of an answer
_MOST = 100


@dataclass(frozen=True, kw_only=True)
class JUnitCase:
    """A test case in the XML."""

    name: str
    seconds: float
    error: str | None = None
    """Why there is no result to judge; None if there is a result."""
    failure: str | None = None
    """Why the result is not as expected, in several lines; None if it is as expected."""


def case_of_trial(trial: Trial) -> JUnitCase:
    """Return *trial* as a test case.

    An answer that is not as expected is a failure; a trial without an answer is an error.
    """
    failure = None
    if trial.passed is False:
        calls = [clip(call, _LONGEST) for call in trial.calls] or ["no call"]
        failure = "\n".join([trial.problem, *trial.problems[1:_MOST], "", *calls])
    return JUnitCase(
        name=f"{trial.title} [{trial.repeat}]",
        seconds=trial.seconds,
        error=trial.error,
        failure=failure,
    )


def junit_xml(suites: Mapping[str, Sequence[JUnitCase]], name: str) -> str:
    """Return the report *name* as JUnit XML; *suites* maps names of suites to their test cases."""
    root = Element("testsuites", _facts(name, [*chain(*suites.values())]))
    for suite, cases in suites.items():
        element = SubElement(root, "testsuite", _facts(suite, cases))
        for case in cases:
            _add_case(element, suite, case)
    indent(root, space="")
    return tostring(root, encoding="unicode", xml_declaration=True) + "\n"


def _facts(name: str, cases: Sequence[JUnitCase]) -> dict[str, str]:
    failures = sum(case.failure is not None for case in cases)
    errors = sum(case.error is not None for case in cases)
    seconds = sum(case.seconds for case in cases)
    return {
        "name": _text(name),
        "tests": str(len(cases)),
        "failures": str(failures),
        "errors": str(errors),
        "skipped": "0",
        "time": f"{seconds:.3f}",
    }


def _add_case(element: Element, suite: str, case: JUnitCase) -> None:
    seconds = f"{case.seconds:.3f}"
    added = SubElement(
        element, "testcase", classname=_text(suite), name=_text(case.name), time=seconds
    )
    if case.error is not None:
        SubElement(added, "error", message=_text(case.error))
    elif case.failure is not None:
        lines = [_text(line) for line in case.failure.splitlines()]
        SubElement(added, "failure", message=lines[0]).text = "\n".join(lines)


def _text(text: str) -> str:
    """Return the beginning of *text*, with characters that XML 1.0 forbids escaped."""
    return visible(text[:_LONGEST])
