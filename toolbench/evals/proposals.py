"""Propose cases from schemas: valid calls of a tool, each with a prompt that lists the values.

No model is needed. The user then rewrites the prompts in natural words.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice
from random import Random
from typing import Any

from toolbench.core.tool import ToolDefinition
from toolbench.evals.case import PROPOSAL, Case
from toolbench.jsonschema.node import Node
from toolbench.jsonschema.words import FORMAT_EXAMPLES
from toolbench.mcp.snapshots.samples import least_of, numbers_near, texts_near
from toolbench.redaction.detect import hide
from toolbench.values import clip, plain
from toolbench.wording import words_of

_TEXTS = ("alpha", "the second example", "München")
_NUMBERS = (3, 7, 42)
# Values of one argument
_CHOICES = 3
_DEEPEST = 6
_TRIES = 8


def propose(
    tools: Sequence[ToolDefinition[Any, Any]],
    on_absence: Callable[[str], object],
    *,
    each: int,
    seed: int,
) -> Iterator[Case]:
    """Yield at most *each* cases for every tool, and then one case that expects no call.

    Each case of a tool expects a different call.

    If no case can be proposed for a tool, *on_absence* is called with a sentence that says so.
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
                prompt_of(tool.name, arguments, tool.description),
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
    """Return valid arguments of *tool* and ""; or None and the reason why there are none.

    If *number* is odd, all arguments have a value; otherwise only the required arguments do.
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
            return _list(node, random, depth, whole=whole)
        case "integer" | "number":
            return _one_of(node, random, (*_NUMBERS, *numbers_near(node)))
        case "boolean":
            return random.random() < 0.5
        case "null":
            return None
    texts = FORMAT_EXAMPLES.get(node.format, _TEXTS)
    return _one_of(node, random, (*texts, *texts_near(node)))


def _object(node: Node, random: Random, depth: int, *, whole: bool) -> dict[str, Any]:
    value = {}
    for name, part in node.properties.items():
        if name in node.required or (whole and depth < _DEEPEST):
            value[name] = _value(part, random, depth + 1, whole=whole)
    return value


def _list(node: Node, random: Random, depth: int, *, whole: bool) -> list[Any]:
    count = least_of(node, "minItems")
    if depth < _DEEPEST:
        count = max(count, 2)
    count = min(count, int(node.limit("maxItems") or count))
    if node.items is None:
        return list(_TEXTS[:count])
    return [_value(node.items, random, depth + 1, whole=whole) for _ in range(count)]


def _one_of(node: Node, random: Random, values: Sequence[Any]) -> Any:
    """Choose one of the first *values* that fit *node*; if none fits, return the first value."""
    fitting = list(islice(filter(node.fits, values), _CHOICES))
    return random.choice(fitting or values[:1])


def prompt_of(name: str, arguments: Mapping[str, Any], description: str = "") -> str:
    """Return a plain request to call the tool *name*, from its description and the values."""
    first = " ".join(description.split()).split(". ")[0].rstrip(".")
    task = first or " ".join(words_of(name)).capitalize()
    details = ", ".join(
        f"{' '.join(words_of(name)) or name} {clip(value, 200)}"
        for name, value in arguments.items()
    )
    if details:
        task = f"{task}: {details}"
    return f"{task}."
