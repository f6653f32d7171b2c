"""Evals and sweeps: does a model use a tool right, and what does a tool do with all of these?"""

from typing import TYPE_CHECKING

from toolbench.lazy import lazily

if TYPE_CHECKING:
    from toolbench.evals.cases.call_match import ExpectedCall
    from toolbench.evals.cases.case import Case
    from toolbench.evals.cases.cases import Cases
    from toolbench.evals.reports.eval_report import EvalReport
    from toolbench.evals.reports.intervals import Rate
    from toolbench.evals.reports.report_changes import Comparison
    from toolbench.evals.sweeps.sweep import sweep
    from toolbench.evals.sweeps.sweep_report import SweepReport
    from toolbench.evals.trials.estimate import Estimate
    from toolbench.evals.trials.evaluation import evaluate
    from toolbench.evals.trials.trial import Trial

_HOMES = {
    "Case": "cases.case",
    "Cases": "cases.cases",
    "Comparison": "reports.report_changes",
    "Estimate": "trials.estimate",
    "EvalReport": "reports.eval_report",
    "ExpectedCall": "cases.call_match",
    "Rate": "reports.intervals",
    "SweepReport": "sweeps.sweep_report",
    "Trial": "trials.trial",
    "evaluate": "trials.evaluation",
    "sweep": "sweeps.sweep",
}

__all__ = [
    "Case",
    "Cases",
    "Comparison",
    "Estimate",
    "EvalReport",
    "ExpectedCall",
    "Rate",
    "SweepReport",
    "Trial",
    "evaluate",
    "sweep",
]

__getattr__, __dir__ = lazily(__name__, _HOMES)
