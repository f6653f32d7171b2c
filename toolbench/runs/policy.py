"""The policy: which calls need a person's consent, by tool, by risk and by declared effect."""

from dataclasses import replace
from typing import Any, Literal, NamedTuple

from toolbench.core.definition.tool_address import ToolAddress
from toolbench.core.security import SecurityRisk
from toolbench.core.tool import ToolDefinition
from toolbench.errors import ended
from toolbench.runs.consent_question import question_of
from toolbench.runs.questions import Answer, Question, presets
from toolbench.runs.run import Run

Verdict = Literal["allow", "ask", "deny"]
AnyTool = ToolDefinition[Any, Any] | str
# They read why a call was refused
_AGENT_SOURCES = ("model", "agent")
# The person who declined reads the result
_OWN_SOURCES = ("button", "magic")
# Without an answer, their calls do not run
_NEVER_ALONE = ("agent", "app")
_WHY = "Why not? The model gets your reason; leave it empty to give none."
_REASON = {
    "type": "object",
    "properties": {"reason": {"type": "string", "description": "the reason"}},
}
_NO_PRESET = "no preset answer gives this consent"
_UNDECLARED = "does not declare what it changes (undeclared)"
_CHANGED = f"{_UNDECLARED}, and it or its server has changed since your last yes"
_DECLARED = frozenset({"title", "description", "inputSchema", "outputSchema", "annotations"})
"""The fields of `tools/list` on which a person's yes is based."""


class Refusal(NamedTuple):
    """The result of a check that does not let a run start, with the reason.

    Attributes:
        text: A sentence for the model and for the record.
        for_person: A sentence for the person who declined; empty if *text* is for the person too.
    """

    text: str
    for_person: str = ""


class Policy:
    """The rules for the start of a run from a button or a magic; plain Python calls always run.

    The rule for the tool itself (see `allow`, `ask`, `deny`) counts first, then the risk rating of
    the call, then the hints of the tool.

    If a server's tool does not say whether it destroys data, its first call asks a person: MCP's
    default is "destructive". A yes counts for the session. The yes counts no longer if the server
    changes the description of the tool, or if another server gets the same name. If no person can
    answer, such a call runs, unless it comes from an agent outside (see `serve`) or from an app. A
    preset answer (see `answering`) never gives this consent, but a preset no refuses the call.

    A name in `allow` does not allow a server's tool. A name in `ask` or `deny` counts for servers'
    tools too, unless they have their own rule. If you `allow` a server's tool, this does not count
    for another server with the same name; `ask` and `deny` do count.

    Attributes:
        by_tool: Verdicts by the source and the name of a tool; `allow`, `ask` and `deny` set them.
        by_risk: Verdicts by the rating of the call; by default, HIGH asks.
        destructive: The verdict on a tool that declares itself destructive; by default, ask.
        undeclared: The verdict on a server's tool that does not say whether it destroys data; by
            default, ask until the person has agreed.
    """

    def __init__(self) -> None:
        """Make a policy with the default rules: ask before calls that are destructive or rated HIGH."""
        self.reset()

    def reset(self) -> None:
        """Restore the default rules."""
        self.by_tool: dict[tuple[str, str], Verdict] = {}
        self._of_server: dict[tuple[str, str], Any] = {}
        self.by_risk: dict[SecurityRisk, Verdict] = {SecurityRisk.HIGH: "ask"}
        self.destructive: Verdict = "ask"
        self.undeclared: Verdict = "ask"
        self._agreed: dict[tuple[str, str], dict[str, Any]] = {}

    def allow(self, *tools: AnyTool) -> None:
        """Run *tools* without asking, even if they destroy data."""
        self._set("allow", tools)

    def ask(self, *tools: AnyTool) -> None:
        """Ask before each run of *tools*."""
        self._set("ask", tools)

    def deny(self, *tools: AnyTool) -> None:
        """Never run *tools* from a button or a magic, not even with `--yes`."""
        self._set("deny", tools)

    def renew(self, *tools: ToolDefinition[Any, Any]) -> None:
        """Let each earlier yes to one of *tools* count on: a person has approved its changes."""
        for tool in tools:
            agreed = self._agreed.get(_key(tool))
            if agreed is not None and agreed["origin"] == tool.origin:
                self._agreed[_key(tool)] = declaration(tool)

    def _set(self, verdict: Verdict, tools: tuple[AnyTool, ...]) -> None:
        for tool in tools:
            self.by_tool[_key(tool)] = verdict
            if isinstance(tool, ToolDefinition):
                self._of_server[_key(tool)] = tool.origin

    def _entry(self, tool: ToolDefinition[Any, Any]) -> Verdict | None:
        own = self.by_tool.get(_key(tool))
        if own is not None and (own != "allow" or self._is_of_that_server(tool)):
            return own
        # The name may be longer, or shorter, than it was
        address = ToolAddress.of(tool)
        names = (tool.name, address.name, address.full_name)
        rules = [self.by_tool.get(_key(name)) for name in names]
        strict: tuple[Verdict, ...] = ("deny", "ask")
        return next((rule for rule in strict if rule in rules), None)

    def _is_of_that_server(self, tool: ToolDefinition[Any, Any]) -> bool:
        """Tell whether *tool* is from the same server as the tool that `allow` got.

        Another server may have got the name of this server later. Return True also if `allow` got a
        name instead of a tool.
        """
        key = _key(tool)
        return key not in self._of_server or self._of_server[key] == tool.origin

    def verdict(self, run: Run) -> tuple[Verdict, str]:
        """Return the verdict on *run* (allow, ask or deny), and the reason for the verdict."""
        verdict, why = self.verdict_on(run.tool, run.risk)
        if run.asks_because and verdict == "allow":
            return "ask", run.asks_because
        return verdict, why

    def verdict_on(
        self, tool: ToolDefinition[Any, Any], risk: SecurityRisk | None = None
    ) -> tuple[Verdict, str]:
        """Return the verdict on a call of *tool* that is rated *risk*, and the reason for the verdict."""
        if (entry := self._entry(tool)) is not None:
            return entry, f"the policy names {tool.name}"
        if tool.is_replayed:
            return "allow", "a recording answers, so that nothing changes"
        if risk is not None and risk in self.by_risk:
            return self.by_risk[risk], f"the call is rated {risk}"
        if tool.hints.effect == "destructive":
            return self.destructive, f"{tool.name} can delete or overwrite data"
        if _is_undeclared(tool):
            agreed = self._agreed.get(_key(tool))
            if agreed is not None and agreed == declaration(tool):
                return "allow", f"{tool.name} {_UNDECLARED}"
            why = _UNDECLARED if agreed is None else _CHANGED
            return self.undeclared, f"{tool.name} {why}"
        return "allow", "no confirmation needed"

    def check(self, run: Run, *, confirm: bool = True) -> "Refusal | None":
        """Ask the person if needed; return None if *run* may start, else the refusal.

        The decision is written to `run.decision`.

        Args:
            run: The run that is about to begin.
            confirm: Whether to ask; if false, the person has agreed already.
        """
        verdict, why = self.verdict(run)
        if verdict == "deny":
            run.decision = f"denied: {why}"
            return Refusal(f"{run.tool.name} was not run: denied, because {why}.")
        if verdict == "allow":
            run.decision = f"allowed: {why}"
            return None
        if not confirm:
            run.decision = f"agreed to in advance: {why}"
            return None
        once = is_asked_once(why)
        answer = self._answer(run, why, once=once)
        if answer:
            run.decision = f"agreed to: {why}"
            if once and (answer.content or {}).get("remember", True):
                self._agreed[_key(run.tool)] = declaration(run.tool)
            return None
        if once and not answer.by_somebody and run.source not in _NEVER_ALONE:
            run.decision = f"allowed: {answer.absence}, and {why}"
            return None
        run.decision = f"declined: {why}"
        reason = "the person declined" if answer.by_somebody else answer.absence
        if answer.by_somebody and run.source in _AGENT_SOURCES and (words := _words(run, answer)):
            run.decision = f"declined: {words}"
            text = f"{run.tool.name} was not run: the person declined: {ended(words)}"
            return Refusal(text)
        text = f"{run.tool.name} was not run: {reason}, and consent was needed, because {why}."
        is_reader = answer.by_somebody and run.source in _OWN_SOURCES
        return Refusal(text, f"You declined; {run.tool.name} was not run." * is_reader)

    def question(self, run: Run) -> Question | None:
        """Return the question that `check` would ask before *run*; None if `check` asks nothing."""
        verdict, why = self.verdict(run)
        if verdict != "ask" or presets.asker is not None:
            return None
        return question_of(run, why, once=is_asked_once(why))

    def _answer(self, run: Run, why: str, *, once: bool) -> Answer:
        """Ask the person for consent to *run*, and return the answer.

        If *once* is true, a preset answer (see `answering`) can refuse, but never gives consent.
        """
        question = question_of(run, why, once=once)
        if not once or presets.asker is None:
            return run.put(question)
        if presets.says_no and run.source not in _NEVER_ALONE:
            return replace(run.put(question), by_somebody=True)
        return Answer("decline", by_somebody=False, absence=_NO_PRESET)


def is_asked_once(why: str) -> bool:
    """Tell whether *why* is a reason for which a person is asked only once.

    For such a reason, the call may run if no person can answer.
    """
    return why.endswith((_UNDECLARED, _CHANGED))


def _words(run: Run, answer: Answer) -> str:
    """Return the person's reason to refuse *run*, for the model; ask for it if *answer* has none."""
    content = answer.content or {}
    if "reason" not in content:
        content = run.put(Question.about(_WHY, _REASON, "")).content or {}
    return str(content.get("reason") or "").strip()


def _key(tool: AnyTool) -> tuple[str, str]:
    if isinstance(tool, ToolDefinition):
        return tool.source, ToolAddress.of(tool).name
    return ToolDefinition.source, tool


def declaration(tool: ToolDefinition[Any, Any]) -> dict[str, Any]:
    """Return what a person's yes to *tool* is based on: what it says of itself, and its server."""
    exported = tool.to_mcp_tool()
    declared = {name: exported[name] for name in _DECLARED & exported.keys()}
    return {**declared, "origin": tool.origin}


def has_changed(tool: ToolDefinition[Any, Any]) -> bool:
    """Tell whether the server of *tool* has changed what a yes to it is based on."""
    newest = tool.as_listed()
    return newest is not tool and declaration(newest) != declaration(tool)


def _is_undeclared(tool: ToolDefinition[Any, Any]) -> bool:
    return tool.source != ToolDefinition.source and tool.hints.effect == "undeclared"


policy = Policy()
"""The policy of this session."""
