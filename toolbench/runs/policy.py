"""Which calls need a person's consent: by tool, by risk, and by what the tool says of itself."""

from dataclasses import dataclass, field
from typing import Literal

from toolbench.core.security import SecurityRisk
from toolbench.runs.run import Run

Verdict = Literal["allow", "ask", "deny"]


@dataclass
class Policy:
    """Decides before a run from a button or a magic. Plain Python calls are never stopped.

    The tool's own entry counts first, then the risk the action was rated with, then whether
    the tool declares itself destructive. MCP's *default* for that hint is no declaration.
    """

    by_tool: dict[str, Verdict] = field(default_factory=dict)
    by_risk: dict[SecurityRisk, Verdict] = field(
        default_factory=lambda: {SecurityRisk.HIGH: "ask"}
    )
    destructive: Verdict = "ask"

    def verdict(self, run: Run) -> tuple[Verdict, str]:
        """Return what holds for *run*, and why."""
        tool = run.tool
        if tool.name in self.by_tool:
            return self.by_tool[tool.name], f"the policy names {tool.name}"
        risk = str(run.arguments.get("security_risk", "")).upper()
        if risk in SecurityRisk.__members__ and risk in self.by_risk:
            return self.by_risk[SecurityRisk(risk)], f"the call is rated {risk}"
        hints = tool.annotations
        if (
            hints is not None
            and "destructiveHint" in hints.model_fields_set
            and hints.destructiveHint
            and not hints.readOnlyHint
        ):
            return self.destructive, f"{tool.name} may delete or overwrite"
        return "allow", "nothing speaks against it"

    def check(self, run: Run) -> str | None:
        """Ask if need be; return None to go on, or the sentence that says why not.

        What was decided is kept in `run.decision`.
        """
        verdict, why = self.verdict(run)
        if verdict == "ask":
            accepted = bool(run.ask(f"Run {run.tool.title}? Asked because {why}."))
            run.decision = f"{'accepted' if accepted else 'declined'}: {why}"
            if accepted:
                return None
            return f"{run.tool.name} was not run: nobody agreed, and {why}."
        run.decision = f"{verdict}: {why}"
        return (
            f"{run.tool.name} was not run: denied, because {why}."
            if verdict == "deny"
            else None
        )


policy = Policy()
"""The policy of this session; change its fields."""
