"""The policy: which calls need the user's consent, by tool, risk rating and declared effect."""

from collections.abc import Mapping
from contextlib import suppress
from enum import Enum
from typing import Any, Literal, NamedTuple

from toolbench.core.registry import find_tool
from toolbench.core.security import SecurityRisk
from toolbench.core.tool import ToolDefinition
from toolbench.core.tool_names import ToolAddress
from toolbench.errors import ToolbenchError, ended
from toolbench.runs.consent_question import question_of
from toolbench.runs.dialogue import answer_here, preset_here
from toolbench.runs.questions import Answer, Question, is_no
from toolbench.runs.run import Run

Verdict = Literal["allow", "ask", "deny"]
AnyTool = ToolDefinition[Any, Any] | str
# Sources whose callers read why a call was refused
_AGENT_SOURCES = ("model", "agent")
# Sources where the user who declined reads the result
_OWN_SOURCES = ("button", "magic")
_WHY = "Why not? The model gets your reason; leave it empty to give none."
_REASON = {
    "type": "object",
    "properties": {"reason": {"type": "string", "description": "the reason"}},
}
_NO_PRESET = "no preset answer gives this consent"
_UNDECLARED = "does not declare what it changes (undeclared)"
_CHANGED = f"{_UNDECLARED}, and it or its server has changed since you approved it"
_DECLARED = frozenset({"title", "description", "inputSchema", "outputSchema", "annotations"})
"""The fields of `tools/list` that a user's approval is based on."""


class Reason(Enum):
    """The kinds of reasons for a ruling of the policy."""

    NAMED = "a rule names the tool"
    RATED = "the rating of the call"
    DESTRUCTIVE = "the tool declares that it destroys"
    UNDECLARED = "the tool does not declare what it changes"
    CHANGED = "it does not, and it has changed since the user approved it"
    CALL = "the tool asks before such a call"
    HARMLESS = "nothing needs a confirmation"
    SERVED = "the server for agents asks, whatever the tool"
    DEVELOPED = "the user develops the server and makes the call"


# The stricter verdict has the higher place
_STRICTNESS: tuple[Verdict, ...] = ("allow", "ask", "deny")


class Ruling(NamedTuple):
    """The policy's verdict on a call, and its reason."""

    verdict: Verdict
    reason: Reason
    words: str
    """The reason in words."""

    @property
    def is_asked_once(self) -> bool:
        """Whether one approval holds for the session; if nobody can be asked, the call may run."""
        return self.reason in (Reason.UNDECLARED, Reason.CHANGED)


class Consent(NamedTuple):
    """The outcome of asking whether a call may run."""

    answer: Answer
    may_run: bool
    """Whether the call may run, because it was approved or nobody can be asked."""
    who: str
    """Who did not approve, as part of a sentence, such as `a preset answer declined`."""
    is_by_person: bool
    """Whether the user answered this question themselves, not by a preset answer."""


class Refusal(NamedTuple):
    """The reason why a run may not start.

    Attributes:
        text: A sentence for the model and for the record.
        for_person: A sentence for the user who declined. If it is empty, the user sees *text*.
    """

    text: str
    for_person: str = ""


class Policy:
    """The rules for runs that a button or a magic starts; plain Python calls always run.

    A rule that you set for a tool (see `allow`, `ask`, `deny`) comes first. Without such a rule,
    the risk rating of the call and the hints of the tool each give a verdict, and the stricter
    verdict applies. So a rating never allows a call if the hints of the tool require consent.

    If a server's tool does not declare whether it destroys data, you are asked before its first
    call, because MCP's default is "destructive". Your approval lasts for the session. It ends
    earlier if the server changes the description of the tool, or if another server gets the same
    name. If nobody can answer, the call runs. It is refused instead if an outside agent (see
    `serve`) or an app made or caused it. A preset answer (see `answering`) never approves such a
    call. The call is refused if the next preset answer declines, or if no preset answer is left.

    The policy judges a tool as its server lists it now, even if the call is pending in a
    conversation or in `serve`. If the server changes the tool while you are asked, you are asked
    again. In this case, a sweep ends instead, and an evaluation skips the call. A call is refused
    without a question if the server no longer lists the tool, or if the server changed and needs
    `%mcp approve`. Calls of a replayed server change nothing, so you are asked only if a rule for
    the tool requires it.

    If a server was connected with `--dev`, it counts as your own work. The calls that you make
    yourself then need no consent, whatever the tools of the server declare. If a model or another
    program makes the call, the hints still decide.

    If you pass a name to `allow`, this does not allow a server's tool of that name. If you pass a
    name to `ask` or `deny`, this also applies to servers' tools of that name, unless the tool has
    its own rule. To name the tool of a connected server, pass its address, `server.tool`. If
    another server gets the same name later, `ask` and `deny` also apply to its tool, but `allow`
    does not.

    Attributes:
        by_tool: Verdicts by the source and the name of a tool; `allow`, `ask` and `deny` set them.
        by_risk: Verdicts by the rating of the call; by default, you are asked if it is HIGH.
        destructive: The verdict on a tool that declares itself destructive; by default, ask.
        undeclared: The verdict on a server's tool that does not say whether it destroys data; by
            default, ask until the user has agreed.

    Examples:
        >>> from toolbench import policy, tool
        >>> @tool(destructive=True)
        ... def drop_table(name: str) -> str:
        ...     "Drop a table of the database."
        ...     return f"{name} is gone"
        >>> print(*policy.verdict_on(drop_table), sep=": ")
        ask: drop_table can delete or overwrite data
        >>> policy.deny(drop_table)
        >>> print(*policy.verdict_on(drop_table), sep=": ")
        deny: the policy names drop_table
    """

    def __init__(self) -> None:
        """Create a policy with the default rules: ask before destructive or HIGH calls."""
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
        """Keep earlier approvals of *tools* valid, because the user has approved their changes."""
        for tool in tools:
            agreed = self._agreed.get(_key(tool))
            if agreed is not None and agreed["origin"] == tool.origin:
                self._agreed[_key(tool)] = declaration(tool)

    def _set(self, verdict: Verdict, tools: tuple[AnyTool, ...]) -> None:
        for tool in map(_meant, tools):
            self.by_tool[_key(tool)] = verdict
            if isinstance(tool, ToolDefinition):
                self._of_server[_key(tool)] = tool.origin

    def _entry(self, tool: ToolDefinition[Any, Any]) -> Verdict | None:
        own = self.by_tool.get(_key(tool))
        if own is not None and (own != "allow" or self._is_of_that_server(tool)):
            return own
        # The name of the tool may have become longer or shorter
        address = ToolAddress.of(tool)
        names = (tool.name, address.name, str(address), address.full_name)
        rules = [self.by_tool.get(_key(name)) for name in names]
        strict: tuple[Verdict, ...] = ("deny", "ask")
        return next((rule for rule in strict if rule in rules), None)

    def _is_of_that_server(self, tool: ToolDefinition[Any, Any]) -> bool:
        """Tell whether *tool* is from the same server as the tool passed to `allow`.

        Another server may have got the same name later. If a name was passed to `allow`, return
        True.
        """
        key = _key(tool)
        return key not in self._of_server or self._of_server[key] == tool.origin

    def verdict(self, run: Run) -> tuple[Verdict, str]:
        """Return the verdict on *run* (allow, ask or deny), and the reason for the verdict."""
        verdict, _, why = self.ruling(run)
        return verdict, why

    def ruling(self, run: Run) -> Ruling:
        """Return the verdict on *run* with its reason; see `verdict`."""
        tool, action = run.tool, run.action
        ruling = self.ruling_on(tool, run.risk)
        is_by_hints = ruling.reason in (Reason.DESTRUCTIVE, Reason.UNDECLARED, Reason.CHANGED)
        if ruling.verdict == "ask" and is_by_hints and tool.is_in_development and run.is_own:
            ruling = Ruling("allow", Reason.DEVELOPED, "you develop its server and make the call")
        if ruling.verdict != "allow":
            return ruling
        if run.asks_because:
            return Ruling("ask", Reason.SERVED, run.asks_because)
        is_named = ruling.reason is Reason.NAMED
        if is_named or tool.is_replayed or action is None:
            return ruling
        if why := tool.asks_because(action):
            return Ruling("ask", Reason.CALL, why)
        return ruling

    def verdict_on(
        self, tool: ToolDefinition[Any, Any], risk: SecurityRisk | None = None
    ) -> tuple[Verdict, str]:
        """Return the verdict on a call of *tool* with the rating *risk*, and the reason."""
        verdict, _, why = self.ruling_on(tool, risk)
        return verdict, why

    def ruling_on(self, tool: ToolDefinition[Any, Any], risk: SecurityRisk | None = None) -> Ruling:
        """Return the verdict on a call of *tool* with the rating *risk*, and its reason."""
        if (entry := self._entry(tool)) is not None:
            return Ruling(entry, Reason.NAMED, f"the policy names {tool.name}")
        if tool.is_replayed:
            words = "a recording answers, so that nothing changes"
            return Ruling("allow", Reason.HARMLESS, words)
        by_hints = self._by_hints(tool)
        if risk is None or risk not in self.by_risk:
            return by_hints
        by_rating = Ruling(self.by_risk[risk], Reason.RATED, f"the call is rated {risk}")
        return max(by_rating, by_hints, key=lambda ruling: _STRICTNESS.index(ruling.verdict))

    def _by_hints(self, tool: ToolDefinition[Any, Any]) -> Ruling:
        if tool.hints.effect == "destructive":
            words = f"{tool.name} can delete or overwrite data"
            return Ruling(self.destructive, Reason.DESTRUCTIVE, words)
        if not _is_undeclared(tool):
            return Ruling("allow", Reason.HARMLESS, "no confirmation needed")
        agreed = self._agreed.get(_key(tool))
        if agreed is None:
            return Ruling(self.undeclared, Reason.UNDECLARED, f"{tool.name} {_UNDECLARED}")
        if agreed == declaration(tool):
            return Ruling("allow", Reason.UNDECLARED, f"{tool.name} {_UNDECLARED}")
        return Ruling(self.undeclared, Reason.CHANGED, f"{tool.name} {_CHANGED}")

    def check(self, run: Run, *, confirm: bool = True) -> "Refusal | None":
        """Ask the user if needed; return None if *run* may start, else the refusal.

        The decision is written to `run.decision`.

        Args:
            run: The run that is about to begin.
            confirm: Whether to ask the user. If false, the user has already approved the run.
        """
        ruling = self.ruling(run)
        verdict, why = ruling.verdict, ruling.words
        if verdict == "deny":
            run.decision = f"denied: {why}"
            return Refusal(f"{run.tool.name} was not run: denied, because {why}.")
        if verdict == "allow":
            run.decision = f"allowed: {why}"
            return None
        if not confirm:
            run.decision = f"agreed to in advance: {why}"
            return None
        question = question_of(run, why, once=ruling.is_asked_once)
        consent = ask_consent(question, run, is_asked_once=ruling.is_asked_once)
        answer = consent.answer
        if answer:
            run.decision = f"agreed to: {why}"
            if ruling.is_asked_once and (answer.content or {}).get("remember", True):
                self._agreed[_key(run.tool)] = declaration(run.tool)
            return None
        if consent.may_run:
            run.decision = f"allowed: {consent.who}, and {why}"
            return None
        run.decision = f"declined: {consent.who}, and {why}"
        if consent.is_by_person:
            run.decision = f"declined: {why}"
        if answer.by_somebody and run.source in _AGENT_SOURCES and (words := _words(run, answer)):
            run.decision = f"declined: {words}"
            text = f"{run.tool.name} was not run: the user declined: {ended(words)}"
            return Refusal(text)
        text = f"{run.tool.name} was not run: {consent.who}, and consent was needed, because {why}."
        if consent.is_by_person and run.source in _OWN_SOURCES:
            return Refusal(text, f"You declined; {run.tool.name} was not run.")
        return Refusal(text)

    def question(self, run: Run) -> Question | None:
        """Return the question that `check` would ask before *run*; None if it would not ask."""
        ruling = self.ruling(run)
        if ruling.verdict != "ask":
            return None
        question = question_of(run, ruling.words, once=ruling.is_asked_once)
        if run.dialogue.preset_for(question) is not None:
            return None
        return question


def ask_consent(question: Question, run: Run | None, *, is_asked_once: bool) -> Consent:
    """Ask the user for consent to a run, or to calls that have no run yet (*run* is None).

    If *is_asked_once* is true, one approval holds for the session, and two rules differ. A preset
    answer (see `answering`) can refuse but not approve, because it was given without knowing this
    question. If nobody can be asked, the call may run, unless an outside agent or an app caused it.
    """
    if run is None:
        preset = preset_here(question)
    else:
        preset = run.dialogue.preset_for(question)
    if preset is not None and is_asked_once:
        answer = preset.taken_if(is_no, question)
        if answer is None:
            absent = Answer("decline", by_somebody=False)
            return Consent(absent, may_run=True, who=_NO_PRESET, is_by_person=False)
        answer = question.meaning_of(answer)
    elif run is not None:
        answer = run.dialogue.put(question)
    else:
        answer = answer_here(question)

    who = answer.absence
    if answer.by_somebody and preset is None:
        who = "the user declined"
    elif answer.by_somebody:
        who = "a preset answer declined"
    # Whoever preset answers is not absent, even if no answer is left
    is_absent = preset is None and not answer.by_somebody
    may_be_alone = is_asked_once and (run is None or not run.is_from_outside)
    return Consent(
        answer,
        may_run=bool(answer) or (is_absent and may_be_alone),
        who=who,
        is_by_person=preset is None and answer.by_somebody,
    )


def _words(run: Run, answer: Answer) -> str:
    """Return the user's reason for refusing *run*; ask for a reason if *answer* has none."""
    content = answer.content or {}
    if "reason" in content:
        return str(content["reason"] or "").strip()
    question = Question.about(_WHY, _REASON, "")
    preset = run.dialogue.preset_for(question)
    if preset is None:
        reason = run.dialogue.put(question)
    else:
        # A preset answer that is not a reason is meant for the next question
        reason = preset.taken_if(_is_reason, question) or Answer("decline")
    return str(reason.get("reason") or "").strip()


def _is_reason(value: Any) -> bool:
    """Tell whether the preset answer *value* contains a reason for refusing a call."""
    return isinstance(value, str) or (isinstance(value, Mapping) and "reason" in value)


def _meant(tool: AnyTool) -> AnyTool:
    """If *tool* is an address, `server.tool`, return that tool; else return *tool* itself."""
    if isinstance(tool, str) and "." in tool:
        with suppress(ToolbenchError):
            found = find_tool(tool)
            if found.source != ToolDefinition.source and str(ToolAddress.of(found)) == tool:
                return found
    return tool


def _key(tool: AnyTool) -> tuple[str, str]:
    if isinstance(tool, ToolDefinition):
        return tool.source, ToolAddress.of(tool).name
    return ToolDefinition.source, tool


def declaration(tool: ToolDefinition[Any, Any]) -> dict[str, Any]:
    """Return the facts behind an approval of *tool*: its server and its declared fields."""
    exported = tool.to_mcp_tool()
    declared = {name: exported[name] for name in _DECLARED & exported.keys()}
    return {**declared, "origin": tool.origin}


def has_changed(tool: ToolDefinition[Any, Any]) -> bool:
    """Tell whether the server has changed the facts that an approval of *tool* is based on."""
    newest = tool.as_listed()
    return newest is not tool and declaration(newest) != declaration(tool)


def _is_undeclared(tool: ToolDefinition[Any, Any]) -> bool:
    return tool.source != ToolDefinition.source and tool.hints.effect == "undeclared"


policy = Policy()
"""The policy of this session."""
