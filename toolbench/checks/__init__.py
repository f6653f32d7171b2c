"""Checks: calls of tools with expected results, kept in a file, for notebooks and CI."""

from typing import TYPE_CHECKING

from toolbench.lazy import public_names

if TYPE_CHECKING:
    from toolbench.checks.check import Check as Check
    from toolbench.checks.check import Expectation as Expectation
    from toolbench.checks.checks import Checks as Checks
    from toolbench.checks.probe_report import ProbeReport as ProbeReport
    from toolbench.checks.probe_report import ProbeResult as ProbeResult
    from toolbench.checks.probing import probe as probe
    from toolbench.checks.recorded import recorded_checks as recorded_checks
    from toolbench.checks.report import CheckReport as CheckReport
    from toolbench.checks.report import CheckResult as CheckResult
    from toolbench.checks.reruns import rerun as rerun

__getattr__, __dir__, __all__ = public_names(__name__)
