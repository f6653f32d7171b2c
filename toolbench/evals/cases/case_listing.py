"""A list of cases as text and as HTML: one line for each case, secrets hidden."""

from collections.abc import Sequence
from itertools import islice

from toolbench.display.caps import shorten
from toolbench.display.escape import Html
from toolbench.display.tables import listing_html
from toolbench.evals.cases.case import Case
from toolbench.redaction.detect import BY_NAMES
from toolbench.values import clip
from toolbench.wording import counted

# Cases
_LINES = 200
# Characters of arguments
_BRIEF = 300
_COLUMNS = ("case", "prompt", "expected", "compared as", "forbidden", "tags")


def expected_text(case: Case) -> str:
    """Return the calls that *case* expects, on one line."""
    calls = [f"{call.name}({_arguments(BY_NAMES.hide(call.arguments)[0])})" for call in case.calls]
    return ", ".join(calls) or "no call"


def _arguments(arguments: dict[str, object]) -> str:
    pairs = (f"{name}={clip(value, 80)}" for name, value in arguments.items())
    return shorten(", ".join(pairs), _BRIEF)


def cases_html(cases: Sequence[Case]) -> Html:
    """Return *cases* as a table, which needs no kernel; up to 200 cases."""
    if not cases:
        return Html("<div>There are no cases yet.</div>")
    rows = [_row(case) for case in islice(cases, _LINES)]
    return listing_html(_COLUMNS, rows, _rest(cases))


def cases_text(cases: Sequence[Case]) -> str:
    """Return *cases* as text: a line for each case, up to 200 cases."""
    lines = [f"{case.title}: {expected_text(case)}" for case in islice(cases, _LINES)]
    return "\n".join([*lines, *_rest(cases)])


def _row(case: Case) -> list[str]:
    rules = (f"{path}: {clip(rule, 80)}" for path, rule in case.match.items())
    lists = (", ".join(case.forbid), ", ".join(case.tags))
    name = case.title if case.name else ""
    return [name, case.masked_prompt, expected_text(case), ", ".join(rules), *lists]


def _rest(cases: Sequence[Case]) -> list[str]:
    count = len(cases) - _LINES
    return [f"{counted(count, 'more case')}."] if count > 0 else []
