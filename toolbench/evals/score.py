"""The score of an evaluation: a number, and a line for a spreadsheet."""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from hashlib import sha256

from toolbench.display.escape import on_one_line
from toolbench.evals.case import Case
from toolbench.evals.intervals import Rate

# A cell that begins with one of these is a formula in Excel, LibreOffice and Google Sheets
_FORMULA = ("=", "+", "-", "@")
# Hexadecimal digits of a code: enough to tell the cases of one class apart
_DIGITS = 6


@dataclass(frozen=True)
class Score:
    r"""The score of an evaluation: how many of the planned answers are as expected.

    Examples:
        >>> from toolbench.evals import Case, evaluate
        >>> from toolbench.llm import ScriptedModel
        >>> report = evaluate(ScriptedModel(["Hi!"]), [], [Case("Hello")])
        >>> score = report.score("Ada")
        >>> score.rate.hits, score.rate.total, score.line.split("\t")[0]
        (1, 1, 'Ada')
    """

    rate: Rate
    """The share of right answers: `rate.hits` of the planned `rate.total`."""
    code: str
    """Six characters that are equal for all participants who used the same cases."""
    line: str
    """A row for a spreadsheet: name, right and planned answers, models, code, separated by tabs."""

    def __repr__(self) -> str:
        return f"{self.rate}\n{self.line}"


def score_of(rate: Rate, *, name: str, models: Iterable[str], cases: Iterable[Case]) -> Score:
    """Return the score of the participant *name*, whose *models* have answered *cases*."""
    code = _code(cases)
    facts = [name, str(rate.hits), str(rate.total), ", ".join(models), code]
    return Score(rate, code, "\t".join(_cell(fact) for fact in facts))


def _code(cases: Iterable[Case]) -> str:
    """Return the code of *cases*, regardless of their order and names."""
    texts = []
    for case in cases:
        data = case.to_dict()
        data.pop("name", None)
        texts.append(json.dumps(data, sort_keys=True))
    return sha256("\n".join(sorted(texts)).encode()).hexdigest()[:_DIGITS]


def _cell(text: str) -> str:
    """Return *text* for one cell of a spreadsheet, so that it is not read as a formula."""
    line = on_one_line(text)
    if line.startswith(_FORMULA):
        return f"'{line}"
    return line
