"""Write a report as JUnit XML for a CI.

Source: the schema of the Jenkins xUnit plugin, `junit-10.xsd`.
"""

from collections.abc import Iterable
from xml.sax.saxutils import escape, quoteattr

from toolbench.display.escape import visible
from toolbench.evals.trial import Trial
from toolbench.values import clip

# Characters of a value
_LONGEST = 2_000
# Problems of an answer
_MOST = 100


def junit_xml(trials: Iterable[Trial], name: str = "toolbench.evals") -> str:
    """Return *trials* as JUnit XML: a suite for each model, a test case for each answer.

    An answer that is not as expected is a failure; a trial without an answer is an error.
    """
    by_model: dict[str, list[Trial]] = {}
    for trial in trials:
        by_model.setdefault(trial.model, []).append(trial)
    suites = [_suite(model, group) for model, group in by_model.items()]
    counts = _counts([trial for group in by_model.values() for trial in group])
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n'
        f"<testsuites name={_attribute(name)} {counts}>\n{''.join(suites)}</testsuites>\n"
    )


def _suite(model: str, trials: list[Trial]) -> str:
    cases = "".join(map(_case, trials))
    return f"<testsuite name={_attribute(model)} {_counts(trials)}>\n{cases}</testsuite>\n"


def _counts(trials: list[Trial]) -> str:
    failures = sum(trial.passed is False for trial in trials)
    errors = sum(trial.error is not None for trial in trials)
    seconds = sum(trial.seconds for trial in trials)
    return (
        f'tests="{len(trials)}" failures="{failures}" errors="{errors}" skipped="0" '
        f'time="{seconds:.3f}"'
    )


def _case(trial: Trial) -> str:
    title = f"{trial.title} [{trial.repeat}]"
    head = (
        f"<testcase classname={_attribute(trial.model)} name={_attribute(title)} "
        f'time="{trial.seconds:.3f}"'
    )
    if trial.error is not None:
        return f"{head}>{_result('error', trial.error, '')}</testcase>\n"
    if trial.passed:
        return f"{head}/>\n"
    calls = "\n".join(clip(call, _LONGEST) for call in trial.calls) or "no call"
    problems = (problem[:_LONGEST] for problem in trial.problems[:_MOST])
    text = "\n".join([*problems, "", calls])
    return f"{head}>{_result('failure', trial.problem, text)}</testcase>\n"


def _result(kind: str, message: str, text: str) -> str:
    return f"<{kind} message={_attribute(message)}>{escape(_plain(text))}</{kind}>"


def _attribute(text: str) -> str:
    return quoteattr(_plain(text[:_LONGEST]))


def _plain(text: str) -> str:
    """Return *text*; characters that XML 1.0 does not allow are written as escapes."""
    return visible(text)
