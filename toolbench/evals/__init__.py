"""Evals test whether models use tools correctly; sweeps call a tool with many arguments."""

from typing import TYPE_CHECKING

from toolbench.lazy import public_names

if TYPE_CHECKING:
    from toolbench.evals.budget import Estimate as Estimate
    from toolbench.evals.case import Case as Case
    from toolbench.evals.cases import Cases as Cases
    from toolbench.evals.compare import Comparison as Comparison
    from toolbench.evals.evaluation import evaluate as evaluate
    from toolbench.evals.intervals import Rate as Rate
    from toolbench.evals.match import ExpectedCall as ExpectedCall
    from toolbench.evals.report import EvalReport as EvalReport
    from toolbench.evals.score import Score as Score
    from toolbench.evals.sweep_report import SweepReport as SweepReport
    from toolbench.evals.sweeps import sweep as sweep
    from toolbench.evals.trial import Trial as Trial

__getattr__, __dir__, __all__ = public_names(__name__)
