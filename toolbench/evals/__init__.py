"""Evals test whether models use a tool correctly; sweeps call a tool with many arguments."""

from typing import TYPE_CHECKING

from toolbench.lazy import public_names

if TYPE_CHECKING:
    from toolbench.evals.cases.call_match import ExpectedCall as ExpectedCall
    from toolbench.evals.cases.case import Case as Case
    from toolbench.evals.cases.cases import Cases as Cases
    from toolbench.evals.reports.eval_report import EvalReport as EvalReport
    from toolbench.evals.reports.intervals import Rate as Rate
    from toolbench.evals.reports.report_changes import Comparison as Comparison
    from toolbench.evals.sweeps.sweep import sweep as sweep
    from toolbench.evals.sweeps.sweep_report import SweepReport as SweepReport
    from toolbench.evals.trials.estimate import Estimate as Estimate
    from toolbench.evals.trials.evaluation import evaluate as evaluate
    from toolbench.evals.trials.trial import Trial as Trial

__getattr__, __dir__, __all__ = public_names(__name__)
