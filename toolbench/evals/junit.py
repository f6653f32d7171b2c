"""Write reports of evaluations and of checks as JUnit XML for a CI.

Source: the schema of the Jenkins xUnit plugin, `junit-10.xsd`.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
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
    """A test case of a report."""

    suite: str
    """The name of its suite, such as the model of an answer."""
    name: str
    seconds: float
    error: str | None = None
    """Why it was not tested; None if it was."""
    failure: str | None = None
    """Why the result is not as expected, in several lines; None if it is."""


def case_of_trial(trial: Trial) -> JUnitCase:
    """Return *trial* as a test case of the suite of its model.

    An answer that is not as expected is a failure; a trial without an answer is an error.
    """
    failure = None
    if trial.passed is False:
        calls = [clip(call, _LONGEST) for call in trial.calls] or ["no call"]
        failure = "\n".join([trial.problem, *trial.problems[1:_MOST], "", *calls])
    return JUnitCase(
        suite=trial.model,
        name=f"{trial.title} [{trial.repeat}]",
        seconds=trial.seconds,
        error=trial.error,
        failure=failure,
    )


def junit_xml(cases: Iterable[JUnitCase], name: str) -> str:
    """Return *cases* as JUnit XML of the report *name*; the suites are in the order of their first cases."""
    suites: dict[str, list[JUnitCase]] = {}
    for case in cases:
        suites.setdefault(case.suite, []).append(case)
    all_cases = [case for group in suites.values() for case in group]
    root = Element("testsuites", _facts(name, all_cases))
    for suite, group in suites.items():
        element = SubElement(root, "testsuite", _facts(suite, group))
        for case in group:
            _add_case(element, case)
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


def _add_case(suite: Element, case: JUnitCase) -> None:
    seconds = f"{case.seconds:.3f}"
    element = SubElement(
        suite, "testcase", classname=_text(case.suite), name=_text(case.name), time=seconds
    )
    if case.error is not None:
        SubElement(element, "error", message=_text(case.error))
    elif case.failure is not None:
        lines = [_text(line) for line in case.failure.splitlines()]
        SubElement(element, "failure", message=lines[0]).text = "\n".join(lines)


def _text(text: str) -> str:
    """Return the beginning of *text*; characters that XML 1.0 does not allow become escapes."""
    return visible(text[:_LONGEST])
