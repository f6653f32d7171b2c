"""How tools, calls and results look: to a person, to a model, and with no kernel at all."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from itertools import islice
from typing import Any

from rich.console import RenderableType

from toolbench.core.displayed import displays
from toolbench.core.schema import Action, Observation
from toolbench.core.security import SecurityRisk
from toolbench.core.tool import ToolDefinition
from toolbench.display.blocks import blocks_html, blocks_text
from toolbench.display.caps import left_out, shorten
from toolbench.display.css import LINE, REMARK, TEXT_COLOR, TEXT_FONT
from toolbench.display.escape import NO_MATHS, Html, escape
from toolbench.display.jsontree import json_html, json_text, parse_json
from toolbench.display.markdown import markdown_html
from toolbench.display.page import (
    Tone,
    badge,
    key_values,
    notice,
    section,
    short,
    side_by_side,
)
from toolbench.display.render import to_html, to_text
from toolbench.display.tables import Frame, table_html

PERSON = "What a person sees"
MODEL = "What the model reads"
LIMIT = 60_000
"""Characters shown of a result, twice, unless a caller says otherwise."""

_ABOUT = 2_000  # characters said of one parameter
_MOST = 100  # parameters
_WORD = 100  # characters of a choice, or of a key

_RATED: dict[SecurityRisk, Tone] = {
    SecurityRisk.LOW: "success",
    SecurityRisk.MEDIUM: "warning",
    SecurityRisk.HIGH: "danger",
}
_MEANING = {
    "read-only": "It says that it changes nothing",
    "destructive": "It says that it may delete or overwrite: it asks before it runs",
    "not destructive": "It says that it only adds, and deletes or overwrites nothing",
    "idempotent": "It says that calling it again changes nothing more",
    "open world": "It says that it reaches things outside, as a web search does",
    "closed world": "It says that it reaches nothing outside its own data",
}
_RULE = Html(f'<div style="border-top:{LINE};margin:2px 0 8px"></div>')


def tool_html(tool: ToolDefinition[Any, Any], risk: SecurityRisk | None = None) -> Html:
    """Return the head of a tool: title, name, where it is from, hints, description.

    Args:
        tool: The tool.
        risk: How the call in question was rated, if it was.
    """
    title = f'<strong style="font-size:1.15em">{short(tool.title)}</strong>'
    name = f" <code>{short(tool.name)}</code>" if tool.title != tool.name else ""
    hints = (badge(word, tone, tip=_MEANING[word]) for word, tone in _hints(tool))
    origin = "Python of this notebook" if tool.source == "native" else "An MCP server"
    marks = badge(tool.source, tip=f"{origin} runs it") + "".join(hints)
    if risk is not None:
        marks += badge(f"rated {risk}", _RATED.get(risk, "neutral"))
    about = markdown_html(tool.description) if tool.description.strip() else ""
    return Html(
        f'<div {NO_MATHS}><div style="margin-bottom:4px">{title}{name} {marks}</div>{about}</div>'
    )


def _hints(tool: ToolDefinition[Any, Any]) -> list[tuple[str, Tone]]:
    """The hints the tool gives of itself, in words; MCP's defaults say nothing."""
    said = tool.annotations.model_fields_set if tool.annotations else frozenset()
    hints = tool.hints
    words: list[tuple[str, Tone]] = []
    if hints.readOnlyHint:
        words.append(("read-only", "success"))
    elif hints.destructiveHint and "destructiveHint" in said:
        words.append(("destructive", "danger"))
    elif not hints.destructiveHint:
        words.append(("not destructive", "success"))
    if hints.idempotentHint:
        words.append(("idempotent", "neutral"))
    if "openWorldHint" in said:
        words.append(
            ("open world" if hints.openWorldHint else "closed world", "neutral")
        )
    return words


def tool_bundle(
    tool: ToolDefinition[Any, Any], arguments: Mapping[str, Any] | None = None
) -> dict[str, str]:
    """Return a tool as text and as HTML that needs no kernel.

    Args:
        tool: The tool.
        arguments: Those of a call that is prepared; without any, what the tool takes.
    """
    about = tool.description.strip().partition("\n")[0]
    lines = [_named(tool), *([about] if about else [])]
    if arguments:
        lines.append(f"arguments: {json_text(dict(arguments))}")
        rows = dict(arguments)
    else:
        rows = _parameters(tool)
        lines += _taken(rows)
    shown = key_values(rows) if arguments else _described(rows)
    html = tool_html(tool) + shown
    return {"text/plain": to_text("\n".join(lines)), "text/html": html}


def tool_text(tool: ToolDefinition[Any, Any]) -> str:
    """Return what there is to read about a tool: all it says of itself, and what it takes."""
    parts = (
        _named(tool),
        tool.description.strip(),
        "\n".join(_taken(_parameters(tool))),
    )
    return to_text("\n\n".join(filter(None, parts)))


def _named(tool: ToolDefinition[Any, Any]) -> str:
    return _one_line(f"{tool.title} ({tool.name}, {tool.source})")


def _taken(parameters: dict[str, Any]) -> list[str]:
    return [f"  {_one_line(f'{name}: {what}')}" for name, what in parameters.items()]


def _one_line(text: str) -> str:
    """Return *text* without line breaks: a name cannot pass itself off as another."""
    return " ".join(text.split())


def _described(rows: dict[str, Any]) -> Html:
    """Parameters and what is said of them, a line each."""
    lines = "".join(
        f"<div><b>{short(name)}</b>: {short(str(about), _ABOUT)}</div>"
        for name, about in islice(rows.items(), _MOST)
    )
    rest = len(rows) - _MOST
    more = f"<div>{left_out(rest, 'parameter')}</div>" if rest > 0 else ""
    return Html(f"<div {NO_MATHS}>{lines}{more}</div>")


def _parameters(tool: ToolDefinition[Any, Any]) -> dict[str, Any]:
    schema = tool.parameters()  # references are followed there
    parameters = schema.get("properties")
    required = schema.get("required") or ()
    if not isinstance(parameters, dict):
        return {}
    return {
        name + ("" if name in required else " (optional)"): _about(schema)
        for name, schema in parameters.items()
    }


def _about(schema: Any) -> str:
    if not isinstance(schema, dict):
        return "anything"
    kind, description = _kind(schema), str(schema.get("description", ""))
    return ". ".join(part for part in (kind, description) if part)


def _kind(schema: Any) -> str:
    """What a value may be, in words; of a list, what its items are; of an object, its keys."""
    if not isinstance(schema, dict):
        return ""
    if isinstance(choices := schema.get("enum"), list):
        return f"one of {_listed(choices)}"
    for union in ("anyOf", "oneOf"):
        if isinstance(branches := schema.get(union), list):
            kinds = dict.fromkeys(kind for b in branches if (kind := _kind(b)))
            return " or ".join(kinds)
    kind = schema.get("type", "")
    if kind == "array" and (items := _kind(schema.get("items"))):
        return f"array of {items}"
    if kind == "object" and isinstance(keys := schema.get("properties"), dict) and keys:
        return f"object of {_listed(keys)}"
    return " or ".join(map(str, kind)) if isinstance(kind, list) else str(kind)


def _listed(words: Iterable[Any]) -> str:
    return ", ".join(shorten(str(word), _WORD) for word in islice(words, 20))


def visualized(thing: Action | Observation) -> RenderableType:
    """Return what *thing* shows of itself; one that cannot show itself says why."""
    try:
        return thing.visualize
    except Exception as error:  # noqa: BLE001 - a tool's own code: its result is not lost
        return f"visualize failed with {type(error).__name__}: {error}\n{thing!r}"


def read_by_model(observation: Observation) -> Sequence[Any]:
    """Return the blocks a model reads; one that cannot say them says why."""
    try:
        blocks: Any = observation.to_llm_content
    except Exception as error:  # noqa: BLE001 - a tool's own code: its result is not lost
        failed = f"to_llm_content failed with {type(error).__name__}: {error}"
    else:
        if isinstance(blocks, list | tuple):
            return blocks
        failed = f"to_llm_content is no list of content: {type(blocks).__name__}"
    return Observation.from_text(failed, is_error=True).to_llm_content


def result_html(
    observation: Observation, action: Action | None = None, *, limit: int = LIMIT
) -> Html:
    """Return a result twice, side by side: for a person, and for the model.

    Args:
        observation: The result.
        action: The call, shown above what a person sees of the result.
        limit: Characters shown of each of the two; the rest is counted.
    """
    seen = _looks(observation, limit)
    if action is not None:
        call = _safely(to_html, visualized(action))
        seen = (
            section("The call", Html(call)) + _RULE + section("The result", Html(seen))
        )
    shown = partial(blocks_html, verbatim=True, limit=limit)
    read = Html(_safely(shown, read_by_model(observation), say=to_html))
    return side_by_side([(PERSON, Html(seen)), (MODEL, read)])


def call_html(
    tool: ToolDefinition[Any, Any] | str,
    arguments: Mapping[str, Any],
    observation: Observation,
    *,
    remark: str = "",
    limit: int = LIMIT,
) -> Html:
    """Return a call that is over as HTML that needs no kernel: tool, arguments, result."""
    name = tool if isinstance(tool, str) else tool.title
    head = (
        f'<strong>{short(name)}</strong> <span style="{REMARK}">{escape(remark)}</span>'
    )
    given = key_values(arguments) if arguments else notice("No arguments.", "neutral")
    return Html(
        f'<div {NO_MATHS} style="{TEXT_FONT};{TEXT_COLOR}"><div>{head}</div>'
        f'<div style="margin:4px 0 8px">{given}</div>'
        f"{result_html(observation, limit=limit)}</div>"
    )


def call_text(
    arguments: Mapping[str, Any], observation: Observation, *, limit: int = LIMIT
) -> str:
    """Return what `call_html` shows, as text."""
    given = json_text(dict(arguments))
    return f"arguments: {given}\n{observation_text(observation, limit=limit)}"


def _looks(observation: Observation, limit: int) -> str:
    """What a result shows of itself; tables and JSON as such where it does not say how."""
    if (
        type(observation).visualize is Observation.visualize
        and not observation.is_error
    ):
        returned = getattr(observation, "result", None)
        if isinstance(returned, Frame):
            return _safely(table_html, returned, say=to_html)
        if _images(observation):
            return blocks_html(observation.content, limit=limit)  # in their order
        value = parse_json(observation.text)
        if value is not None:
            return json_html(value, limit=limit)
    said = _safely(partial(to_html, limit=limit), visualized(observation))
    return said + _pictures(observation)


def _pictures(observation: Observation) -> str:
    """The images of a result: Rich cannot show them."""
    images = _images(observation)
    return blocks_html(images) if images else ""


def _images(observation: Observation) -> list[Any]:
    return [block for block in observation.content if block.type == "image"]


def _safely(
    render: Callable[[Any], str], shown: Any, say: Callable[[str], str] | None = None
) -> str:
    """Return *shown* by *render*; why that fails by *say*, or by *render* too."""
    try:
        return render(shown)
    except Exception as error:  # noqa: BLE001 - a tool's own object may do anything
        failed = f"This cannot be shown: {type(error).__name__}: {error}"
        return (say or render)(failed)


def observation_text(observation: Observation, *, limit: int = LIMIT) -> str:
    """Return a result as text: for a person, and for the model."""
    seen = _safely(partial(to_text, limit=limit), visualized(observation))
    shown = partial(blocks_text, verbatim=True, limit=limit)
    read = _safely(shown, read_by_model(observation), say=to_text)
    return f"{PERSON}:\n{seen}\n\n{MODEL}:\n{read}"


def observation_bundle(observation: Observation) -> dict[str, str]:
    """Return a result as text and as HTML that needs no kernel."""
    return {
        "text/plain": observation_text(observation),
        "text/html": result_html(observation),
    }


def action_bundle(action: Action) -> dict[str, str]:
    """Return a call as text and as HTML that needs no kernel."""
    shown = visualized(action)
    return {"text/plain": _safely(to_text, shown), "text/html": _safely(to_html, shown)}


_BUNDLES: dict[type, Callable[[Any], dict[str, str]]] = {
    ToolDefinition: tool_bundle,
    Action: action_bundle,
    Observation: observation_bundle,
}


def bundle_of(thing: Any) -> dict[str, str] | None:
    """Return a tool, a call or a result as text and HTML; None if it is none of them."""
    fits = (show for kind, show in _BUNDLES.items() if isinstance(thing, kind))
    show = next(fits, None)
    return None if show is None else show(thing)


displays.bundle_of = bundle_of
displays.text_of = tool_text
