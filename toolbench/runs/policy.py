"""Which calls need a person's consent: by tool, by risk, and by what the tool says of itself."""

from typing import Any, Literal

from toolbench.core.security import SecurityRisk
from toolbench.core.tool import ToolDefinition
from toolbench.core.validation import clip
from toolbench.runs.questions import Question
from toolbench.runs.run import Run

Verdict = Literal["allow", "ask", "deny"]
AnyTool = ToolDefinition[Any, Any] | str
_SHOWN = 300  # characters of each argument in the question


class Policy:
    """Decides before a run from a button or a magic. Plain Python calls are never stopped.

    The tool's own entry counts first, then the risk the call was rated with, then whether
    the tool declares itself destructive. MCP's *default* for that hint is no declaration.

    A name stands for the native tool. Allowing that allows no server's tool of the same name;
    asking before it or denying it holds for those too, unless they have an entry of their own.

    Attributes:
        by_tool: Verdicts by the source and the name of a tool; `allow`, `ask` and `deny` add some.
        by_risk: Verdicts by the rating of the call; at first, HIGH asks.
        destructive: The verdict on a tool that declares itself destructive; at first, ask.
    """

    def __init__(self) -> None:
        """Ask before what is destructive or rated HIGH."""
        self.reset()

    def reset(self) -> None:
        """Forget what was set, and be as at first."""
        self.by_tool: dict[tuple[str, str], Verdict] = {}
        self.by_risk: dict[SecurityRisk, Verdict] = {SecurityRisk.HIGH: "ask"}
        self.destructive: Verdict = "ask"

    def allow(self, *tools: AnyTool) -> None:
        """Run *tools* without asking, whatever they do."""
        self._set("allow", tools)

    def ask(self, *tools: AnyTool) -> None:
        """Ask before each run of *tools*."""
        self._set("ask", tools)

    def deny(self, *tools: AnyTool) -> None:
        """Never run *tools* from a button or a magic, `--yes` or not."""
        self._set("deny", tools)

    def _set(self, verdict: Verdict, tools: tuple[AnyTool, ...]) -> None:
        for tool in tools:
            self.by_tool[_key(tool)] = verdict

    def _entry(self, tool: ToolDefinition[Any, Any]) -> Verdict | None:
        if (own := self.by_tool.get(_key(tool))) is not None:
            return own
        named = self.by_tool.get(_key(tool.name))
        return None if named == "allow" else named

    def verdict(self, run: Run) -> tuple[Verdict, str]:
        """Return what holds for *run*, and why."""
        tool = run.tool
        if (entry := self._entry(tool)) is not None:
            return entry, f"the policy names {tool.name}"
        if run.risk is not None and run.risk in self.by_risk:
            return self.by_risk[run.risk], f"the call is rated {run.risk}"
        if _is_destructive(tool):
            return self.destructive, f"{tool.name} may delete or overwrite"
        return "allow", "nothing speaks against it"

    def check(self, run: Run, *, confirm: bool = True) -> str | None:
        """Ask if need be; return None to go on, or the sentence that says why not.

        What was decided is kept in `run.decision`.

        Args:
            run: The run that is about to begin.
            confirm: Ask; otherwise consent was given already.
        """
        verdict, why = self.verdict(run)
        if verdict == "deny":
            run.decision = f"denied: {why}"
            return f"{run.tool.name} was not run: denied, because {why}."
        if verdict == "allow":
            run.decision = f"allowed: {why}"
            return None
        if not confirm:
            run.decision = f"agreed to in advance: {why}"
            return None
        answer = run.put(Question.about(_question(run, why), None, ""))
        if answer:
            run.decision = f"agreed to: {why}"
            return None
        run.decision = f"declined: {why}"
        said = "the person said no" if answer.by_somebody else "nobody could be asked"
        return (
            f"{run.tool.name} was not run: {said}, and a yes was needed, because {why}."
        )


def _key(tool: AnyTool) -> tuple[str, str]:
    if isinstance(tool, ToolDefinition):
        return tool.source, tool.name
    return ToolDefinition.source, tool


def _question(run: Run, why: str) -> str:
    """The question, with the call it is about: a person agrees to that, not to a name."""
    given = run.confidence.arguments.items()
    call = [f"{name} = {clip(value, _SHOWN)}" for name, value in given]
    return "\n".join([f"Run {run.tool.title}? Asked because {why}.", *call])


def _is_destructive(tool: ToolDefinition[Any, Any]) -> bool:
    hints = tool.annotations
    return (
        hints is not None
        and "destructiveHint" in hints.model_fields_set
        and hints.destructiveHint
        and not hints.readOnlyHint
    )


policy = Policy()
"""The policy of this session."""
