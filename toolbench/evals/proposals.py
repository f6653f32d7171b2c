"""Propose cases from schemas: valid calls of a tool, each with a prompt that lists the values.

No model is needed. A person then writes the prompts in natural words.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from math import ceil, floor
from random import Random
from typing import Any

from toolbench.core.tool import ToolDefinition
from toolbench.evals.case import PROPOSAL, Case
from toolbench.jsonschema.node import Node
from toolbench.jsonschema.words import FORMAT_EXAMPLES
from toolbench.redaction.detect import hide
from toolbench.values import clip, plain
from toolbench.wording import words_of

_TEXTS = ("alpha", "the second example", "München")
_NUMBERS = (3, 7, 42)
_DEEPEST = 6
_TRIES = 8


def propose(
    tools: Sequence[ToolDefinition[Any, Any]],
    on_absence: Callable[[str], object],
    *,
    each: int,
    seed: int,
) -> Iterator[Case]:
    """Yield at most *each* cases for every tool, and then one case without a call.

    Each case of a tool expects another call. In the last case no tool should be called.

    *on_absence* gets a sentence for each tool for which no call could be made.
    """
    for tool in tools:
        texts: set[str] = set()
        why = ""
        for number in range(each * _TRIES):
            arguments, reason = _arguments(tool, number, seed)
            text = clip(arguments, 10_000)
            if arguments is None:
                why = why or reason
            if arguments is None or text in texts:
                continue
            texts.add(text)
            yield Case(
                _prompt(tool, arguments),
                {"name": tool.name, "arguments": arguments},
                name=f"{tool.name} {len(texts)}",
                tags=(PROPOSAL,),
            )
            if len(texts) == each:
                break
        if each > 0 and not texts:
            on_absence(f"No case was proposed for {tool.name}, write one yourself: {why}.")
    if tools:
        yield Case("Thank you, that is all for now.", None, name="no call", tags=(PROPOSAL,))


def _arguments(
    tool: ToolDefinition[Any, Any], number: int, seed: int
) -> tuple[dict[str, Any] | None, str]:
    """Return valid arguments of *tool*, and ""; or None, and a text that says why there are none.

    If *number* is odd, all arguments have a value, else only the required arguments.
    """
    random = Random(f"{seed} {tool.name} {number}")  # noqa: S311 - no secret
    value = plain(_value(tool.input_node, random, 0, whole=number % 2 == 1))
    if not isinstance(value, dict):
        return None, "its arguments are not an object"
    if hide(value, tool.input_schema) != value:
        return None, "it takes a secret"
    if problems := tool.problems(value):
        return (
            None,
            f"no value could be made up that fits; {clip(str(problems[0]), 200)}",
        )
    return value, ""


def _value(node: Node, random: Random, depth: int, *, whole: bool) -> Any:
    known = [value for value in (*node.examples, *node.values) if value is not None]
    if known:
        return random.choice(known)
    if node.alternatives and len(node.alternatives) > 1:
        return _value(random.choice(node.alternatives), random, depth + 1, whole=whole)
    match node.type:
        case "object":
            return _object(node, random, depth, whole=whole)
        case "array":
            count = max(int(node.limit("minItems") or 0), 2 if depth < _DEEPEST else 0)
            count = min(count, int(node.limit("maxItems") or count))
            if node.items is None:
                return list(_TEXTS[:count])
            return [_value(node.items, random, depth + 1, whole=whole) for _ in range(count)]
        case "integer" | "number":
            return _number(node, random)
        case "boolean":
            return random.random() < 0.5
        case "null":
            return None
    return _text(node, random)


def _object(node: Node, random: Random, depth: int, *, whole: bool) -> dict[str, Any]:
    names = [
        name for name in node.properties if name in node.required or (whole and depth < _DEEPEST)
    ]
    return {name: _value(node.properties[name], random, depth + 1, whole=whole) for name in names}


def _number(node: Node, random: Random) -> float:
    low = node.limit("minimum")
    high = node.limit("maximum")
    above, below = node.limit("exclusiveMinimum"), node.limit("exclusiveMaximum")
    step = node.limit("multipleOf") or 1
    if above is not None:
        low = above + step if low is None else max(low, above + step)
    if below is not None:
        high = below - step if high is None else min(high, below - step)
    if low is None and high is None:
        return ceil(random.choice(_NUMBERS) / step) * step
    if low is None:
        low = (high or 0) - 10 * step
    if high is None:
        high = low + 10 * step
    first, last = ceil(low / step), floor(high / step)
    if first > last:
        return (low + high) / 2
    return random.randint(first, min(last, first + 50)) * step


def _text(node: Node, random: Random) -> str:
    text = random.choice(FORMAT_EXAMPLES.get(node.format, _TEXTS))
    longest = node.limit("maxLength")
    shortest = int(node.limit("minLength") or 0)
    text = text.ljust(shortest, "x")
    if longest is None:
        return text
    return text[: int(longest)]


def _prompt(tool: ToolDefinition[Any, Any], arguments: Mapping[str, Any]) -> str:
    """Return a plain request for the call: the first sentence of the description, and each value."""
    first = " ".join(tool.description.split()).split(". ")[0].rstrip(".")
    task = first or " ".join(words_of(tool.name)).capitalize()
    details = ", ".join(
        f"{' '.join(words_of(name)) or name} {clip(value, 200)}"
        for name, value in arguments.items()
    )
    if details:
        task = f"{task}: {details}"
    return f"{task}."
