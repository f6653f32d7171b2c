"""Write a report as JUnit XML for a CI.

Source: the schema of the Jenkins xUnit plugin, `junit-10.xsd`.
"""

from collections.abc import Iterable
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from toolbench.display.escape import visible
from toolbench.evals.trial import Trial, by_model
from toolbench.values import clip

# Characters of a value
_LONGEST = 2_000
# Problems of an answer
_MOST = 100


def junit_xml(trials: Iterable[Trial], name: str = "toolbench.evals") -> str:
    """Return *trials* as JUnit XML: a suite for each model, a test case for each answer.

    An answer that is not as expected is a failure; a trial without an answer is an error.
    """
    all_trials = list(trials)
    root = Element("testsuites", _facts(name, all_trials))
    for model, group in by_model(all_trials).items():
        suite = SubElement(root, "testsuite", _facts(model, group))
        for trial in group:
            _add_case(suite, trial)
    indent(root, space="")
    return tostring(root, encoding="unicode", xml_declaration=True) + "\n"


def _facts(name: str, trials: list[Trial]) -> dict[str, str]:
    failures = sum(trial.passed is False for trial in trials)
    errors = sum(trial.error is not None for trial in trials)
    seconds = sum(trial.seconds for trial in trials)
    return {
        "name": _text(name),
        "tests": str(len(trials)),
        "failures": str(failures),
        "errors": str(errors),
        "skipped": "0",
        "time": f"{seconds:.3f}",
    }


def _add_case(suite: Element, trial: Trial) -> None:
    title = f"{trial.title} [{trial.repeat}]"
    seconds = f"{trial.seconds:.3f}"
    case = SubElement(
        suite, "testcase", classname=_text(trial.model), name=_text(title), time=seconds
    )
    if trial.error is not None:
        SubElement(case, "error", message=_text(trial.error))
    elif not trial.passed:
        failure = SubElement(case, "failure", message=_text(trial.problem))
        calls = [_text(clip(call, _LONGEST)) for call in trial.calls] or ["no call"]
        problems = map(_text, trial.problems[:_MOST])
        failure.text = "\n".join([*problems, "", *calls])


def _text(text: str) -> str:
    """Return the beginning of *text*; characters that XML 1.0 does not allow become escapes."""
    return visible(text[:_LONGEST])
