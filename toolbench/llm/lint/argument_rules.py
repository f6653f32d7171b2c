"""Rules for each argument: it has a description, and its schema agrees with the description."""

import re
from collections.abc import Iterator

from toolbench.core.executor import FunctionCall
from toolbench.core.functions import misnamed_parameters
from toolbench.errors import did_you_mean
from toolbench.jsonschema.node import Node
from toolbench.llm.lint.finding import Finding, finding
from toolbench.llm.lint.subject import Argument, Subject
from toolbench.redaction.detect import is_secret
from toolbench.values import clip

_MOST_ARGUMENTS = 12
_MAX_NAMES = 6

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
# Characters at the start of a text, which say what the argument is
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


def undescribed(subject: Subject) -> Iterator[Finding]:
    """Check that every argument has a description, unless its name or its schema explains it."""
    bare = [
        argument.path
        for argument in subject.arguments
        if not argument.text.strip() and not _is_clear(argument, subject)
    ]
    if bare:
        names = ", ".join(bare[:_MAX_NAMES]) + (", …" if len(bare) > _MAX_NAMES else "")
        where = bare[0] if len(bare) == 1 else "arguments"
        message = f"{len(bare)} arguments have no description: {names}."
        if len(bare) == 1:
            message = f"The argument {names} has no description."
        yield finding(subject.name, "argument-undescribed", where, message)


def misnamed(subject: Subject) -> Iterator[Finding]:
    """Check that the function has every argument that its docstring describes."""
    executor = subject.tool.executor
    if not isinstance(executor, FunctionCall):
        return
    for name in misnamed_parameters(executor):
        near = did_you_mean(name, (argument.name for argument in subject.outer))
        message = f"{name!r} is described but is not a parameter.{near}"
        yield finding(subject.name, "argument-misnamed", "arguments", message)


def _is_clear(argument: Argument, subject: Subject) -> bool:
    """Return whether *argument* needs no description of its own.

    Its name, its schema or the description of the tool explains it.
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


def many(subject: Subject) -> Iterator[Finding]:
    """Check that a tool has at most a dozen arguments."""
    count = len(subject.outer)
    if count > _MOST_ARGUMENTS:
        message = f"It takes {count} arguments; models lose count above {_MOST_ARGUMENTS}."
        yield finding(subject.name, "arguments-many", "arguments", message)


def enumeration(subject: Subject) -> Iterator[Finding]:
    """Check that values listed in an argument's description are also listed in its schema."""
    for argument in _texts(subject):
        if argument.has("enum", "const", "pattern") or _JSON.search(argument.text):
            continue
        values = _listed_values(argument.text)
        others = {other.name for other in subject.arguments}
        if values and not others & set(re.findall(r"[\w-]+", values)):
            message = f"Its text lists its values, {values}; its schema takes any string."
            yield finding(subject.name, "argument-enum", argument.path, message)


def _listed_values(text: str) -> str | None:
    match = _VALUES_IN_BRACKETS.search(text) or _VALUES_IN_A_SENTENCE.search(text)
    if match is None or _FORM.search(match[0]) or "RFC" in match[0]:
        return None
    around = text[max(0, match.start() - 30) : match.end() + 12]
    values = next(value for value in match.groupdict().values() if value)
    return None if _EXAMPLE.search(around) else clip(values.strip(" ,|/"), 60)


def form(subject: Subject) -> Iterator[Finding]:
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
            message = f"Its text asks for {match[1]}, its schema takes any string."
            yield finding(subject.name, "argument-format", argument.path, message)


def joined(subject: Subject) -> Iterator[Finding]:
    """Check that a list is sent as a list, not as text with separators."""
    for argument in _texts(subject):
        match = _JOINED.search(argument.text)
        if match and not argument.has("pattern"):
            message = f"It is a {match[0].lower()} list in a string."
            yield finding(subject.name, "argument-list-text", argument.path, message)


def json_text(subject: Subject) -> Iterator[Finding]:
    """Check that an object is sent as an object, not as JSON text."""
    for argument in _texts(subject):
        match = _JSON.search(argument.text[:_EARLY])
        if match is None or "format" in argument.name.lower():
            continue
        if not re.search(r"\b(will|or|e\.g)\b", argument.text[: match.end()]):
            message = f"It carries JSON in a string ({match[0]!r}), unchecked."
            yield finding(subject.name, "argument-json-text", argument.path, message)


def bounds(subject: Subject) -> Iterator[Finding]:
    """Check that limits named in an argument's description are also in its schema."""
    for argument in subject.arguments:
        if "array" in argument.types and not argument.has("maxItems"):
            match = _ITEMS.search(argument.text)
            if match:
                message = f"Its text allows {match[1]} items, its schema any number."
                yield finding(subject.name, "argument-unbounded", argument.path, message)
        if "string" in argument.types and not argument.has("maxLength", "enum", "pattern"):
            match = _LENGTH.search(argument.text)
            if match:
                message = f"Its text allows {match[1]} characters, its schema any number."
                yield finding(subject.name, "argument-unbounded", argument.path, message)
        if {"integer", "number"} & set(argument.types) and not argument.has(*_LIMITS):
            match = _RANGE.search(argument.text)
            if match:
                message = f"Its text says {match[0].strip(' (')!r}, its schema does not."
                yield finding(subject.name, "argument-range", argument.path, message)


_LIMITS = (
    "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "enum", "const", "multipleOf"
)  # fmt: skip


def default(subject: Subject) -> Iterator[Finding]:
    """Check that an optional number's description says what happens if the number is left out."""
    bare = [
        argument.path
        for argument in subject.outer
        if {"integer", "number"} & set(argument.types)
        and _KNOB.search(argument.name)
        and not argument.required
        and not argument.has("default")
        and argument.text
        and not _UNSET.search(argument.text)
    ]
    if bare:
        where = bare[0] if len(bare) == 1 else "arguments"
        message = f"The text does not say what happens without {', '.join(bare)}."
        yield finding(subject.name, "argument-default", where, message)


def free(subject: Subject) -> Iterator[Finding]:
    """Check that an object's schema names its properties, or that its description says what they are."""
    for argument in subject.arguments:
        if _is_free(argument.node) and len(argument.text) < 80:
            if _MAP.search(argument.text):
                continue
            message = "It takes any object, and its text hardly says which."
            yield finding(subject.name, "argument-free", argument.path, message)


def _is_free(node: Node) -> bool:
    if node.types != ("object",) or node.names or node.patterns:
        return False
    if node.branches or node.says("propertyNames"):
        return False
    other = node.additional
    return not node.is_closed and (other is None or other.is_blank)


def secret(subject: Subject) -> Iterator[Finding]:
    """Check that no call needs a secret, because a model would have to know the secret."""
    needed = {""}
    for argument in subject.arguments:
        outside = argument.path.removesuffix(argument.name).rstrip(".")
        if not argument.required or outside not in needed:
            continue
        needed.add(argument.path)
        if is_secret(argument.name, argument.node):
            message = f"A model would have to send {argument.path}, a secret."
            yield finding(subject.name, "argument-secret", argument.path, message)


def _texts(subject: Subject) -> Iterator[Argument]:
    return (a for a in subject.arguments if a.types == ("string",) and a.text)
