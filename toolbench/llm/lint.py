"""Check tools against principles of tool design, to find the parts that may confuse a model.

`docs/lint.md` lists the rules, and what they found in 2,132 published tools.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, islice
from typing import Any, Literal, Self

from toolbench.core.executor import FunctionCall
from toolbench.core.functions import misnamed_parameters
from toolbench.core.tool import ToolDefinition
from toolbench.errors import did_you_mean
from toolbench.jsonschema.node import Node, SchemaView
from toolbench.jsonschema.types import Json
from toolbench.llm.formats import format_report
from toolbench.llm.tokens import TokenCount, tool_tokens
from toolbench.llm.wire import WIRES
from toolbench.redaction.detect import is_secret
from toolbench.values import clip
from toolbench.wording import listed, words_of

__all__ = ["RULES", "Finding", "Rule", "Severity", "cost_of", "lint_tool", "lint_tools"]

# --- the rules ----------------------------------------------------------------------

Severity = Literal["error", "warning", "hint"]
"""`error`: calls fail. `warning`: models will make mistakes. `hint`: models may make mistakes."""

_ARTICLE = "OpenHands (12) Function call"
_ANTHROPIC = "Anthropic, Writing effective tools for agents"
_MCP = "MCP specification, ToolAnnotations"


@dataclass(frozen=True)
class Rule:
    """A principle of tool design that can be checked.

    Examples:
        >>> from toolbench.llm.lint import RULES
        >>> RULES["argument-enum"].severity, RULES["argument-enum"].fix
        ('warning', 'List the values as an enum.')
    """

    severity: Severity
    fix: str
    """What the author of the tool should do."""
    source: str
    effect: str
    """What the broken rule means for a user who decides whether to use the tool."""


@dataclass(frozen=True)
class Finding:
    """One place where a tool breaks a rule.

    Examples:
        >>> from toolbench import tool
        >>> from toolbench.llm.lint import Severity, lint_tool
        >>> def most_severe(findings) -> Severity:
        ...     return min((f.severity for f in findings), key=["error", "warning", "hint"].index)
        >>> @tool
        ... def weather(city: str) -> str:
        ...     "The weather in a city: rain, sun and temperature, as one sentence."
        ...     return "sunny"
        >>> most_severe(lint_tool(weather))
        'warning'
    """

    tool: str
    """The name of the tool; if the finding is about a set of tools, the number of tools."""
    rule: str
    severity: Severity
    """See `Severity`."""
    where: str
    """`name`, `description`, `annotations`, an argument's path, or `arguments` for all."""
    message: str
    fix: str
    """See `Rule.fix`."""
    source: str
    effect: str = ""
    """See `Rule.effect`."""

    @property
    def place(self) -> str:
        """The part of the tool that the finding is about; empty if `message` already names it."""
        if self.where in self.message:
            return ""
        return self.where

    def __str__(self) -> str:
        subject = ".".join(filter(None, (self.tool, self.place)))
        return f"{subject}: {self.message} {self.fix} [{self.rule}]"


RULES: Mapping[str, Rule] = {
    # --- the name
    "name-duplicate": Rule(
        "error",
        "Give each tool its own name.",
        f"{_ARTICLE}, 1.3.1",
        "A model cannot say which of them it means.",
    ),
    "name-near": Rule(
        "warning",
        "Rename one so that a model cannot confuse them.",
        _ANTHROPIC,
        "A model may call the wrong one.",
    ),
    # --- the description
    "description-missing": Rule(
        "error",
        "Say what it does, what comes back, and its limits.",
        f"{_ARTICLE}, 1.3.1",
        "A model can only guess what the tool does, and when to call it.",
    ),
    "description-thin": Rule(
        "warning",
        "Say what the name does not: what comes back, when to use it, its limits.",
        f"{_ARTICLE}, 3.2.1",
        "A model may call it at the wrong time.",
    ),
    "description-result": Rule(
        "hint",
        "Name the fields or the format of the answer.",
        f"{_ARTICLE}, 1.3.1",
        "A model does not know what comes back, and may call it for nothing.",
    ),
    "description-limits": Rule(
        "hint",
        "Say how much it returns at most, or take a limit.",
        f"{_ARTICLE}, 1.4",
        "An answer may be very long, and a model pays for all of it.",
    ),
    "description-duplicate": Rule(
        "warning",
        "Say in each how it differs from the other.",
        _ANTHROPIC,
        "A model may call the wrong one.",
    ),
    "tools-ambiguous": Rule(
        "warning",
        "Merge them, or say in each when to use the other.",
        _ANTHROPIC,
        "A model may call the wrong one.",
    ),
    # --- the arguments
    "argument-undescribed": Rule(
        "warning",
        "Say the meaning, the unit and the form.",
        f"{_ARTICLE}, 1.3.1",
        "A model can only guess what to send: read the arguments before a call runs.",
    ),
    "argument-misnamed": Rule(
        "warning",
        "Describe each parameter by its own name.",
        f"{_ARTICLE}, 3.2.1",
        "A model may send an argument that does not exist.",
    ),
    "argument-enum": Rule(
        "warning",
        "List the values as an enum.",
        f"{_ARTICLE}, 1.5 (1.2)",
        "A model may send a value that the tool refuses.",
    ),
    "argument-default": Rule(
        "hint",
        "Give it a default, or say what happens without it.",
        f"{_ARTICLE}, 1.5 (1.3)",
        "A model may send a number where none is needed.",
    ),
    "argument-range": Rule(
        "hint",
        "Put the limits into the schema: minimum, maximum.",
        f"{_ARTICLE}, 3.2.1",
        "A model may send a number that the tool refuses.",
    ),
    "argument-unbounded": Rule(
        "hint",
        "Put the limit into the schema: maxLength, maxItems.",
        f"{_ARTICLE}, 3.2.1",
        "A model may send more than the tool takes.",
    ),
    "argument-format": Rule(
        "hint",
        "Put the form into the schema: format or pattern.",
        f"{_ARTICLE}, 3.2.1",
        "A model may send it in a form that the tool refuses.",
    ),
    "argument-list-text": Rule(
        "hint",
        "Take a list: {type: array}.",
        f"{_ARTICLE}, 1.5 (1)",
        "A model may send a list, which the tool refuses.",
    ),
    "argument-json-text": Rule(
        "warning",
        "Take the object or list itself, with its schema.",
        f"{_ARTICLE}, 1.5 (1)",
        "Nothing finds a model's mistakes in it before the tool is called.",
    ),
    "argument-free": Rule(
        "warning",
        "Name its properties, or say what the keys and values are.",
        f"{_ARTICLE}, 1.5 (1)",
        "A model can only guess what to send: read the arguments before a call runs.",
    ),
    "argument-secret": Rule(
        "warning",
        "Read it where the tool runs: with secret(...) from toolbench, or from the environment.",
        "toolbench, SECURITY.md",
        "Give the secret to the conversation, so that a model sends ${NAME}, or leave the tool out.",
    ),
    # --- the schema
    "default-invalid": Rule(
        "warning",
        "Give a default the schema accepts, or leave it out.",
        "JSON Schema 2020-12, 9.2",
        "A call that sends the default is refused.",
    ),
    "required-unknown": Rule(
        "error",
        "Declare it under properties, or do not require it.",
        "JSON Schema 2020-12, 6.5.3",
        "Leave the tool out: no call of it can work.",
    ),
    "provider-refuses": Rule(
        "warning",
        "Change it, or offer the tool through toolbench.llm.formats.",
        "the providers' API references",
        "toolbench changes it for these models; in another program it may fail.",
    ),
    # --- the hints and the cost
    "hint-destructive": Rule(
        "warning",
        "Set destructiveHint to true.",
        _MCP,
        "Its hints do not warn you: read the arguments before a call runs.",
    ),
    "hint-contradicts": Rule(
        "error",
        "Set readOnlyHint to false and destructiveHint to true.",
        _MCP,
        "Do not trust its hints: read the arguments before a call runs.",
    ),
    "tool-tokens": Rule(
        "warning",
        "Shorten it: every request pays for it.",
        f"{_ARTICLE}, 1.4",
        "Leave it out if you do not need it: every request pays for it.",
    ),
    "tools-many": Rule(
        "warning",
        "Offer fewer at a time, grouped by task.",
        f"{_ARTICLE}, 1.3.7",
        "Give a model only the tools that it needs.",
    ),
    "tools-tokens": Rule(
        "warning",
        "Offer fewer tools, or shorter ones.",
        f"{_ARTICLE}, 1.4",
        "Give a model only the tools that it needs.",
    ),
}
"""Every rule by its id."""


def finding(tool: str, rule: str, where: str, message: str) -> Finding:
    """Create the finding that *tool* breaks *rule* at *where*."""
    broken = RULES[rule]
    return Finding(
        tool,
        rule,
        broken.severity,
        where,
        message,
        broken.fix,
        broken.source,
        broken.effect,
    )


# --- lint -----------------------------------------------------------------------------


def lint_tool(tool: ToolDefinition[Any, Any]) -> list[Finding]:
    """Return a finding for each part of *tool* that may confuse a model.

    Examples:
        >>> from toolbench import tool
        >>> from toolbench.llm.lint import lint_tool
        >>> @tool
        ... def weather(city: str) -> str:
        ...     "TODO"
        ...     return "sunny"
        >>> for finding in lint_tool(weather):
        ...     print(finding.rule, "-", finding.fix)
        description-thin - Say what the name does not: what comes back, when to use it, its limits.
        argument-undescribed - Say the meaning, the unit and the form.
    """
    return list(_alone(Subject(tool)))


def lint_tools(tools: Iterable[ToolDefinition[Any, Any]]) -> list[Finding]:
    """Return the findings about each tool, and findings that compare tools, such as equal names.

    Examples:
        >>> from toolbench import tool
        >>> from toolbench.llm.lint import lint_tools
        >>> @tool
        ... def get_user(name: str) -> dict:
        ...     "Return a user as a dict."
        ...     return {}
        >>> find_user = get_user.model_copy(update={"name": "find_user"})
        >>> sorted({finding.rule for finding in lint_tools([get_user, find_user])})
        ['argument-undescribed', 'description-duplicate']
    """
    subjects = [Subject(tool) for tool in tools]
    found: list[Finding] = []
    for subject in subjects:
        found += _alone(subject)
    found = _folded(found)
    for rule in _RULES_OF_ALL:
        found += rule(subjects)
    return found


def cost_of(tools: Iterable[ToolDefinition[Any, Any]]) -> TokenCount:
    """Return how many tokens *tools* cost in each request that offers them.

    Tools that are not for models cost nothing, because no request offers them.

    Examples:
        >>> from toolbench.core.builtins import FinishTool, ThinkTool
        >>> from toolbench.llm.lint import cost_of
        >>> think, finish = ThinkTool.create(), FinishTool.create()
        >>> cost_of(think).tokens < cost_of([*think, *finish]).tokens
        True
    """
    tokens = sum(tool_tokens(tool).tokens for tool in tools if tool.is_for_models)
    return TokenCount(tokens, exact=False)


def _alone(subject: "Subject") -> Iterator[Finding]:
    for rule in _RULES_OF_ONE:
        yield from rule(subject)


# The number of tools from which on equal findings are merged
_MANY = 10


def _folded(findings: list[Finding]) -> list[Finding]:
    """Replace equal findings about the same argument of many tools by a single finding."""
    times = Counter((one.rule, one.where, one.message) for one in findings)
    reported: set[tuple[str, str, str]] = set()
    folded: list[Finding] = []
    for one in findings:
        key = one.rule, one.where, one.message
        if times[key] < _MANY or not one.rule.startswith("argument-"):
            folded.append(one)
        elif key not in reported:
            reported.add(key)
            message = f"{one.message} The same in {times[key] - 1} other tools."
            folded.append(replace(one, message=message))
    return folded


# --- what is checked ----------------------------------------------------------------

# Maximum levels of arguments inside arguments
_DEEPEST = 4
# Maximum arguments to check, as a few objects that refer to each other can have millions
_MOST = 10_000


@dataclass(frozen=True)
class Argument:
    """One argument, or one property inside an argument."""

    path: str
    name: str
    node: Node
    required: bool
    text: str
    """The description of the argument or of its alternatives; empty if there is none."""
    types: tuple[str, ...]
    """The types that the argument may have, other than `null`."""

    @classmethod
    def of(cls, node: Node, path: str, name: str, *, required: bool) -> Self:
        """Create an argument from *node*, the part of the schema at *path*."""
        types = tuple(kind for kind in node.types if kind != "null")
        return cls(path, name, node, required, node.explanation, types)

    def has(self, *keywords: str) -> bool:
        """Tell whether the argument's schema, or an alternative in it, uses one of *keywords*."""
        return self.node.says(*keywords)


class Subject:
    """A tool, with the facts that the rules check."""

    def __init__(self, tool: ToolDefinition[Any, Any]) -> None:
        """Collect the facts about *tool*."""
        self.tool = tool
        self.name = tool.name
        self.description = tool.description or ""
        self.words = words_of(self.name)
        """The words of the tool's name, in lower case."""
        self.schema: Json = tool.parameters()
        """The schema of the arguments, as a model gets it."""
        self.view = SchemaView(self.schema)
        """The same schema as a tree of nodes, so that each part is parsed only once."""
        self.arguments = list(islice(self._inside(self.view.whole, "", 0), _MOST))
        """The arguments to check, and the properties inside them."""
        self.outer = [argument for argument in self.arguments if argument.path == argument.name]
        """The arguments, without the properties inside them."""
        self.tokens = tool_tokens(tool, self.schema).tokens
        """An estimate of the tokens that the tool costs in each request."""

    def _inside(self, node: Node, path: str, depth: int) -> Iterator[Argument]:
        if depth > _DEEPEST:
            return
        # inside arguments, properties of alternatives are left out: a model chooses one of them
        required = node.required
        inside = chain(node.properties, node.conditional)
        if depth == 0:
            inside = chain(node.names)
        for name in inside:
            inner = name
            if path:
                inner = f"{path}.{name}"
            part = node.at(name)
            yield Argument.of(part, inner, name, required=name in required)
            yield from self._inside(part, inner, depth + 1)
        if node.items is not None:
            yield from self._inside(node.items, f"{path}[]", depth + 1)


# --- the hints ----------------------------------------------------------------------

_DELETES = frozenset({"delete", "destroy", "drop", "erase", "purge", "truncate", "wipe", "del"})
_TAKES_AWAY = frozenset({"remove", "uninstall"})
_TAKING = re.compile(r"delet|remov|destroy|drop|eras|purg|truncat|wip", re.IGNORECASE)
_FOR_GOOD = re.compile(r"delet|destroy|permanent|irrevers|for good|undone", re.IGNORECASE)


def _hints(subject: Subject) -> Iterator[Finding]:
    """Check that a tool whose name says that it deletes data declares this in its hints."""
    action = _destroying_word(subject)
    if not action:
        return
    annotations = subject.tool.annotations
    if annotations is not None and annotations.readOnlyHint:
        message = f"The name says {action!r}, but the hints say read-only."
        yield finding(subject.name, "hint-contradicts", "annotations", message)
    elif annotations is None or "destructiveHint" not in annotations.model_fields_set:
        message = f"The name says {action!r}, but no hint says that it destroys data."
        yield finding(subject.name, "hint-destructive", "annotations", message)


def _destroying_word(subject: Subject) -> str:
    """Return the word in the tool's name that says that the tool destroys data, or "".

    A word such as "delete" is enough at the start of the name. Elsewhere, the description must
    begin with such a word too, because `get_delete_status` deletes nothing.
    """
    description = subject.description
    beginning = " ".join(description.split()[:5])
    for place, word in enumerate(subject.words):
        if word in _DELETES:
            # _TAKING contains only English words
            if place == 0 or not description.isascii() or _TAKING.search(beginning):
                return word
        elif word in _TAKES_AWAY and _FOR_GOOD.search(description):
            return word
    return ""


# --- the description ----------------------------------------------------------------

# A description with one of these words, and no word that says more, is only about its code
_OF_CODE = re.compile(
    r"(?:todo|fixme|tbd|placeholder|docstring|schema|interface|implement|implementation|wrapper|wrap|"
    r"helper|util|handler|handle|callback|abstract|module|object|method|function|program|code|command|tool|"
    r"run|execute|perform|call|invoke|do|start|operation|action|main|entry|point)(?:e?s)?|class|utility"
)
_LITTLE = re.compile(
    r"an?|the|this|that|it|is|be|will|can|my|new|and|or|of|for|to|in|on|with|by|from|inputs?|outputs?|"
    r"default|generic|simple|test|example|sample|describe|description|stuff|something"
)
_READS = re.compile(
    r"\W*(?:describ|fetch|find|gets?\b|lists?\b|look|quer|reads?\b|retriev|search|shows?\b)",
    re.IGNORECASE,
)
_SEARCHES = frozenset({"find", "query", "search"})
_RESULT = re.compile(
    r"\b(returns?|returned|returning|results?|outputs?|responses?|responds?|respond with|"
    r"yields?|gives?|provid\w+|includ\w+|contain\w+|consist\w+|list of|lists|array of|"
    r"json|xml|csv|markdown|html|text|details?|information about|metadata|fields?|"
    r"contents?|documentation|summary|average|numbers?|price|status of|date of|value of|\w*names?|as an? |image|base64|url|"
    r"schema|calculat\w+|comput\w+|determin\w+|checks?|such as|e\.g\.|with (?:its|their|the)|along with|shows?)\b|\(.*,.*\)|:\s",
    re.IGNORECASE | re.DOTALL,
)
# Characters above which a description may describe the result in other words
_LONG = 160
_LIMITED = re.compile(
    r"\b(limit\w*|max\w*|up to|at most|first|top|latest|recent|pag\w+|cursor|all|every|"
    r"entire|each|default\w*|most|matching|filter\w*|\d+)\b",
    re.IGNORECASE,
)
_LIMITS = re.compile(
    r"limit|page|cursor|max|top|count|size|offset|first|last|num|amount|^n$|^k$|take|"
    r"continuation|next|since|rows|results|head|tail|filter|query|id$|name$|path$|key$",
    re.IGNORECASE,
)


def _described(subject: Subject) -> Iterator[Finding]:
    """Check that a description has more than one word, and describes more than the tool's code."""
    text = subject.description.strip()
    if not text:
        message = "There is no description: the model has only the name."
        yield finding(subject.name, "description-missing", "description", message)
    # Some languages write no spaces between words
    elif text.isascii() and len(re.findall(r"\w+", text)) == 1:
        message = f"{text!r} is only one word."
        yield finding(subject.name, "description-thin", "description", message)
    elif text.isascii() and _is_about_code(text, subject):
        message = f"{clip(text)} describes its code, not its task."
        yield finding(subject.name, "description-thin", "description", message)


def _is_about_code(text: str, subject: Subject) -> bool:
    """Tell whether *text* consists only of words about code and words of the tool's name."""
    named = {_stem(word) for word in subject.words}
    is_about_code = False
    for word in re.findall(r"\w+", text.lower()):
        if _stem(word) in named or _LITTLE.fullmatch(word):
            continue
        if not _OF_CODE.fullmatch(word):
            return False
        is_about_code = True
    return is_about_code


def _result(subject: Subject) -> Iterator[Finding]:
    """Check that a tool that reads data describes its result, in words or in a schema."""
    text = subject.description.strip()
    if len(text) > _LONG or "outputSchema" in subject.tool.to_mcp_tool(input_schema={}):
        return
    # _RESULT contains only English words
    if text.isascii() and _READS.match(text) and not _RESULT.search(text):
        message = "It does not say what it returns."
        yield finding(subject.name, "description-result", "description", message)


def _limits(subject: Subject) -> Iterator[Finding]:
    """Check that a search tool takes a limit, or that its description says how much it returns."""
    text = subject.description.strip()
    # _LIMITED contains only English words
    if not text or not text.isascii() or _LIMITED.search(text):
        return
    if _SEARCHES.isdisjoint(subject.words):
        return
    for argument in subject.outer:
        if _LIMITS.search(argument.name):
            return
    message = "It does not say how much it may return, and takes no limit."
    yield finding(subject.name, "description-limits", "description", message)


# --- the arguments ------------------------------------------------------------------

# Maximum arguments listed in one message
_MOST_NAMES = 6

_PLAIN = frozenset(
    {"url", "text", "message", "title", "content", "email", "body", "request", "params"}
)

_EXAMPLE = re.compile(
    r"e\.g|for example|for instance|such as|example|like |i\.e|\betc\b|\.\.\.|…",
    re.IGNORECASE,
)
_ASKS = (
    r"one of|either|must be|can be|options(?: are)?|choices(?: are)?|"
    r"(?:valid|allowed|possible|supported|accepted|available|permitted) "
    r"(?:values?|options?|types?)(?: are| is| include)?"
)
_NEXT = r"(?:\s*,\s*(?:or |and )?|\s*\|\s*|\s*/\s*|\s+or\s+|\s+and\s+)"
_QUOTED = r"[`'\"][\w ./-]{1,30}[`'\"](?:\s*\([^()]*\))?"
_VALUES_IN_BRACKETS = re.compile(
    rf"(?:{_ASKS})\s*:?\s*\(?(?P<values>(?:{_QUOTED}{_NEXT}?){{2,}})"
    rf"|(?:{_ASKS})\s*:\s*(?P<bare>[\w-]+(?:{_NEXT}[\w-]+){{1,}})(?=[.;)]|$)"
    rf"|[:(]\s*(?P<chosen>{_QUOTED}(?:\s*,\s*{_QUOTED})*,?\s+or\s+{_QUOTED})",
    re.IGNORECASE,
)
_VALUES_IN_A_SENTENCE = re.compile(
    r"\((?P<names>[A-Z]\w*(?:, [A-Z]\w*)*,? or [A-Z]\w*|\w+(?:\s*\|\s*\w+)+)\)"
)
_RANGE = re.compile(
    r"(?:between|from|range:?|\()\s*(-?\d+(?:\.\d+)?)\s*(?:-|\u2013|to|and|\.\.)\s*(-?\d[\d,]*(?:\.\d+)?)\b"
    r"|(?:\bmax(?:imum)?(?: (?:is|of|value))?:?|\bup to|\bat most)\s*(\d[\d,]*)\b",
    re.IGNORECASE,
)
_LENGTH = re.compile(
    r"(?:max(?:imum)?(?: length)?(?: of)?:?|up to|at most|no more than|limited to)\s*"
    r"(\d[\d,]*)\s*(?:char|chars|characters)\b",
    re.IGNORECASE,
)
_ITEMS = re.compile(
    r"(?:max(?:imum)?(?: of)?:?|up to|at most|no more than|limited to)\s*(\d[\d,]*)"
    r"(?: (?:items|ids|entries|values|elements|names|keys|urls|files|tags)\b|\)|\.|$)",
    re.IGNORECASE,
)
_FORM = re.compile(
    r"(?<![<-])\b(ISO[- ]?8601|RFC ?3339|YYYY-MM-DD|YYYY/MM/DD|DD/MM/YYYY|MM/DD/YYYY|HH:MM|UUID)\b"
)
_JOINED = re.compile(
    r"\b(comma|semicolon|newline|pipe|space)[- ](separated|delimited)\b", re.IGNORECASE
)
_JSON = re.compile(
    r"\bJSON[- ](?:encoded |formatted |serialized )?(?:string|text|array|object)\b|"
    r"\bas (?:a )?JSON\b|\bin JSON format\b|\bJSON-(?:encoded|stringified)\b",
    re.IGNORECASE,
)
# Characters at the start of a description, which say what the argument is
_EARLY = 90
_MAP = re.compile(r"\b(key|headers?|metadata|map|dict\w*|pairs|any)\b", re.IGNORECASE)
_KNOB = re.compile(
    r"limit|per_?page|page_?size|max_?results|time_?out|retries|delay|depth|temperature|"
    r"interval|threshold|quality|batch",
    re.IGNORECASE,
)
_UNSET = re.compile(
    r"default|optional|omit|if not|if unset|unless|when not|otherwise|leave|without|"
    r"if (?:true|false|set|provided|specified|given|enabled|present)|when (?:true|false|set)|"
    r"whether|only|true|set to",
    re.IGNORECASE,
)


def _undescribed(subject: Subject) -> Iterator[Finding]:
    """Check that every argument has a description, unless its name or its schema explains it."""
    bare: list[str] = []
    for argument in subject.arguments:
        if not argument.text.strip() and not _is_clear(argument, subject):
            bare.append(argument.path)
    if bare:
        message = f"{len(bare)} arguments have no description: {listed(bare, _MOST_NAMES)}."
        if len(bare) == 1:
            message = f"The argument {bare[0]} has no description."
        yield finding(subject.name, "argument-undescribed", _where(bare), message)


def _misnamed(subject: Subject) -> Iterator[Finding]:
    """Check that the function has every argument that its docstring describes."""
    executor = subject.tool.executor
    if not isinstance(executor, FunctionCall):
        return
    for name in misnamed_parameters(executor):
        near = did_you_mean(name, (argument.name for argument in subject.outer))
        message = f"{name!r} is described but is not a parameter.{near}"
        yield finding(subject.name, "argument-misnamed", "arguments", message)


def _where(paths: list[str]) -> str:
    """Return the place of a finding about the arguments at *paths*."""
    if len(paths) == 1:
        return paths[0]
    return "arguments"


def _is_clear(argument: Argument, subject: Subject) -> bool:
    """Tell whether *argument* needs no description.

    Its name, its schema or the description of the tool may already explain it.
    """
    if argument.name in _PLAIN or argument.name in subject.words:
        return True
    if argument.has("const", "properties"):
        return True
    if argument.name not in subject.description:
        return False
    name = re.escape(argument.name)
    pattern = (
        rf"(?:^|\n)\s*[-*•]?\s*[`'\"*]*{name}[`'\"*]*\s*(?:\([^)]*\))?\s*[:\u2013\u2014-]|`{name}`"
    )
    return re.search(pattern, subject.description) is not None


def _enumeration(subject: Subject) -> Iterator[Finding]:
    """Check that values listed in an argument's description are also listed in its schema."""
    for argument in _texts(subject):
        if argument.has("enum", "const", "pattern") or _JSON.search(argument.text):
            continue
        values = _listed_values(argument.text)
        others = {other.name for other in subject.arguments}
        if values and not others & set(re.findall(r"[\w-]+", values)):
            message = f"Its description lists the values {values}, but its schema takes any string."
            yield finding(subject.name, "argument-enum", argument.path, message)


def _listed_values(text: str) -> str | None:
    match = _VALUES_IN_BRACKETS.search(text) or _VALUES_IN_A_SENTENCE.search(text)
    if match is None or _FORM.search(match[0]) or "RFC" in match[0]:
        return None
    around = text[max(0, match.start() - 30) : match.end() + 12]
    values = next(value for value in match.groupdict().values() if value)
    if _EXAMPLE.search(around):
        return None
    return clip(values.strip(" ,|/"), 60)


def _form(subject: Subject) -> Iterator[Finding]:
    """Check that a format named in an argument's description is also in its schema."""
    for argument in _texts(subject):
        match = _FORM.search(argument.text)
        if not match or argument.has("format", "pattern", "enum", "const"):
            continue
        # Several formats are allowed
        if len(set(_FORM.findall(argument.text))) > 1:
            continue
        near = argument.text[max(0, match.start() - 20) : match.end() + 20]
        if not re.search(r"\bor\b|\bfor \w+s,", near, re.IGNORECASE):
            message = f"Its description asks for {match[1]}, but its schema takes any string."
            yield finding(subject.name, "argument-format", argument.path, message)


def _joined(subject: Subject) -> Iterator[Finding]:
    """Check that a list is sent as a list, not as text with separators."""
    for argument in _texts(subject):
        match = _JOINED.search(argument.text)
        if match and not argument.has("pattern"):
            message = f"It is a {match[0].lower()} list in a string."
            yield finding(subject.name, "argument-list-text", argument.path, message)


def _json_text(subject: Subject) -> Iterator[Finding]:
    """Check that an object is sent as an object, not as JSON text."""
    for argument in _texts(subject):
        match = _JSON.search(argument.text[:_EARLY])
        if match is None or "format" in argument.name.lower():
            continue
        if not re.search(r"\b(will|or|e\.g)\b", argument.text[: match.end()]):
            message = f"It carries JSON in a string ({match[0]!r}), unchecked."
            yield finding(subject.name, "argument-json-text", argument.path, message)


_BOUNDS = (
    "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "enum", "const", "multipleOf"
)  # fmt: skip
_LIMITED_TYPES = (
    ("array", ("maxItems",), _ITEMS, "items"),
    ("string", ("maxLength", "enum", "pattern"), _LENGTH, "characters"),
)
"""For each type: its keywords for a limit, a pattern that finds a limit in text, and the unit."""


def _bounds(subject: Subject) -> Iterator[Finding]:
    """Check that limits named in an argument's description are also in its schema."""
    for argument in subject.arguments:
        for kind, keywords, pattern, unit in _LIMITED_TYPES:
            match = pattern.search(argument.text)
            if match and kind in argument.types and not argument.has(*keywords):
                message = f"Its description allows {match[1]} {unit}, its schema any number."
                yield finding(subject.name, "argument-unbounded", argument.path, message)
        match = _RANGE.search(argument.text)
        is_number = {"integer", "number"} & set(argument.types)
        if match and is_number and not argument.has(*_BOUNDS):
            message = f"Its description says {match[0].strip(' (')!r}, but its schema does not."
            yield finding(subject.name, "argument-range", argument.path, message)


def _default(subject: Subject) -> Iterator[Finding]:
    """Check that an optional number's description says what happens if the number is left out."""
    bare: list[str] = []
    for argument in subject.outer:
        if argument.required or argument.has("default") or not argument.text:
            continue
        is_number = {"integer", "number"} & set(argument.types)
        if is_number and _KNOB.search(argument.name) and not _UNSET.search(argument.text):
            bare.append(argument.path)
    if bare:
        message = f"The description does not say what happens without {', '.join(bare)}."
        yield finding(subject.name, "argument-default", _where(bare), message)


def _free(subject: Subject) -> Iterator[Finding]:
    """Check that an object's schema names its properties, or that its description says what they are."""
    for argument in subject.arguments:
        if _is_free(argument.node) and len(argument.text) < 80:
            if _MAP.search(argument.text):
                continue
            message = "It takes any object, and its description hardly says which."
            yield finding(subject.name, "argument-free", argument.path, message)


def _is_free(node: Node) -> bool:
    if node.types != ("object",) or node.names or node.patterns:
        return False
    if node.branches or node.says("propertyNames"):
        return False
    other = node.additional
    return not node.is_closed and (other is None or other.is_blank)


def _secret(subject: Subject) -> Iterator[Finding]:
    """Check that no argument is a secret, because the model would have to know the secret."""
    needed = {""}
    for argument in subject.arguments:
        outside = argument.path.removesuffix(argument.name).rstrip(".")
        if not argument.required or outside not in needed:
            continue
        needed.add(argument.path)
        if is_secret(argument.name, argument.node):
            message = f"A model would have to know a secret: {argument.path}."
            if isinstance(subject.tool.executor, FunctionCall) and not outside:
                variable = "_".join(words_of(argument.name)).upper()
                message += f' Write `{argument.name}: str = secret("{variable}")`.'
            yield finding(subject.name, "argument-secret", argument.path, message)


def _texts(subject: Subject) -> Iterator[Argument]:
    return (a for a in subject.arguments if a.types == ("string",) and a.text)


# --- the schema ---------------------------------------------------------------------

_MOST_TOKENS_OF_ONE = 2_500
# Maximum further places listed in one message
_MOST_PLACES = 5


def _defaults(subject: Subject) -> Iterator[Finding]:
    """Check that the default of each argument fits the argument's schema."""
    for argument in subject.arguments:
        node = argument.node
        if not node.has_default:
            continue
        for problem in node.problems(node.default)[:1]:
            message = f"Its default does not fit its schema: {problem.message}."
            yield finding(subject.name, "default-invalid", argument.path, message)


def _required(subject: Subject) -> Iterator[Finding]:
    """Check that each property that the schema requires is also allowed by the schema."""
    for place, node in subject.view.every():
        for name in node.required if node.is_closed else ():
            if name not in node.declared and node.of_other_key(name) is None:
                message = f"{name!r} is required but not allowed: every call fails."
                yield finding(subject.name, "required-unknown", place or "arguments", message)


def _refused(subject: Subject) -> Iterator[Finding]:
    """Check that every provider accepts the tool unchanged."""
    refusals: dict[str, tuple[dict[str, None], dict[str, None]]] = {}
    makers: set[str] = set()
    for wire in WIRES.values():
        # Both formats of OpenAI accept the same tools
        if wire.maker in makers or not wire.is_for_models:
            continue
        makers.add(wire.maker)
        for change in format_report(subject.tool, wire.provider).changes:
            if change.refused:
                reason = change.message
                if change.kind == "renamed":
                    reason = "the name is too long, or has characters that are not allowed"
                providers, places = refusals.setdefault(reason, ({}, {}))
                providers[wire.maker] = None
                places[change.where] = None
    for reason, (providers, places) in refusals.items():
        first, *others = places
        more = ""
        if others:
            more = f" (also {listed(others, _MOST_PLACES)})"
        message = f"Not accepted unchanged by {', '.join(providers)}: {reason}{more}."
        yield finding(subject.name, "provider-refuses", first, message)


def _cost(subject: Subject) -> Iterator[Finding]:
    """Check that a tool costs few tokens."""
    if subject.tokens > _MOST_TOKENS_OF_ONE:
        message = f"It costs about {subject.tokens:,} tokens in every request."
        yield finding(subject.name, "tool-tokens", "arguments", message)


# --- tools that are offered together ------------------------------------------------

_MOST_TOOLS = 100
_MOST_TOKENS = 25_000
_SAME = {
    synonym: group[0]
    for group in (
        ("get", "fetch", "retrieve", "read", "show"),
        ("create", "add", "new", "make"),
        ("delete", "remove", "del"),
        ("update", "edit", "modify", "change"),
        ("search", "find", "query", "lookup"),
        ("run", "execute", "start"),
    )
    for synonym in group
}


def _crowd(subjects: Sequence[Subject]) -> Iterator[Finding]:
    """Check that there are at most 100 tools, and that together they cost at most 25,000 tokens."""
    count, name = len(subjects), f"{len(subjects)} tools"
    if count > _MOST_TOOLS:
        message = f"{count} tools at once; models mix them up above {_MOST_TOOLS}."
        yield finding(name, "tools-many", "tools", message)
    tokens = sum(subject.tokens for subject in subjects)
    if tokens > _MOST_TOKENS:
        message = f"Together they cost about {tokens:,} tokens in every request."
        yield finding(name, "tools-tokens", "tools", message)


def _names(subjects: Sequence[Subject]) -> Iterator[Finding]:
    """Check that no two tools have equal names, or names that differ only in case or separators."""
    first: dict[str, str] = {}
    names: set[str] = set()
    for subject in subjects:
        name = subject.name
        if name in names:
            message = f"Another tool has the name {name!r} too."
            yield finding(name, "name-duplicate", "name", message)
        names.add(name)
        other = first.setdefault("_".join(subject.words), name)
        if other != name:
            message = f"Its name differs from {other!r} only in spelling."
            yield finding(name, "name-near", "name", message)


def _pairs(subjects: Sequence[Subject]) -> Iterator[Finding]:
    """Check that no two tools have names with the same meaning."""
    groups: dict[tuple[str, ...], list[Subject]] = defaultdict(list)
    for subject in subjects:
        key = sorted(_SAME.get(word, word) for word in subject.words)
        groups[tuple(key)].append(subject)
    for group in groups.values():
        one = group[0]
        for other in group[1:]:
            if one.words != other.words:
                message = f"Its name means the same as {one.name!r}: a model may confuse the two."
                yield finding(other.name, "tools-ambiguous", "name", message)


def _descriptions(subjects: Sequence[Subject]) -> Iterator[Finding]:
    """Check that no two tools have descriptions with the same words."""
    first: dict[tuple[str, ...], Subject] = {}
    for subject in subjects:
        text = subject.description.lower()
        plain = re.sub(r"\b(?:a|an|the)\b", "", text)
        words = tuple(sorted(map(_stem, re.findall(r"\w+", plain))))
        if len(words) < 2 or "deprecated" in text:
            continue
        other = first.setdefault(words, subject)
        if other is not subject and other.name != subject.name:
            message = f"The description of {other.name!r} has the same words."
            yield finding(subject.name, "description-duplicate", "description", message)


def _stem(word: str) -> str:
    for ending in ("ing", "ies", "es", "ed", "s", "e", "y"):
        if word.endswith(ending) and len(word) > len(ending) + 2:
            return word[: -len(ending)]
    return word


_RULES_OF_ONE: tuple[Callable[[Subject], Iterator[Finding]], ...] = (
    _hints,
    _described,
    _result,
    _limits,
    _undescribed,
    _misnamed,
    _enumeration,
    _form,
    _joined,
    _json_text,
    _bounds,
    _default,
    _free,
    _secret,
    _required,
    _defaults,
    _refused,
    _cost,
)
_RULES_OF_ALL: tuple[Callable[[Sequence[Subject]], Iterator[Finding]], ...] = (
    _crowd,
    _names,
    _pairs,
    _descriptions,
)
