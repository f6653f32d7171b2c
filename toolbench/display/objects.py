"""The views of tools, calls and results without widgets: text, and HTML without a kernel."""

from collections.abc import Mapping, Sequence
from itertools import islice
from typing import Any

from toolbench.core.declarations import Effect
from toolbench.core.schema import Action, Observation
from toolbench.core.security import SecurityRisk
from toolbench.core.tool import ToolDefinition
from toolbench.core.tool_names import kind_of
from toolbench.display.caps import left_out
from toolbench.display.css import LINE, REMARK, TEXT_COLOR, TEXT_FONT
from toolbench.display.escape import NO_MATHS, Html, escape
from toolbench.display.images import icon_html
from toolbench.display.json_tree import arguments_text
from toolbench.display.markdown import markdown_html
from toolbench.display.observations import (
    LIMIT,
    observation_text,
    result_html,
    safely,
    visualized,
)
from toolbench.display.page import Tone, badge, key_values, notice, section, short
from toolbench.display.render import to_html, to_text
from toolbench.jsonschema.describe import about
from toolbench.redaction.redactor import Redactor
from toolbench.wording import counted

# Characters to show about one parameter
_ABOUT = 2_000
# Parameters
_MOST = 100
# A description of more characters than the first number is cut to the second until a click
_FOLDED, _BEGIN = 240, 140

_HEAD = "display:flex;flex-wrap:wrap;align-items:baseline;gap:0 8px;margin-bottom:2px"
_TAGS = "display:flex;flex:1 1 auto;flex-wrap:wrap;align-items:baseline;gap:0 8px"
_CARD = (
    f"{TEXT_FONT};{TEXT_COLOR};border:{LINE};border-radius:8px;padding:10px 14px;margin:0 0 10px"
)
_NAME = "font-size:12px;background:transparent;padding:0"
_COST = "Its name, description and arguments as JSON Schema: part of each request that offers it"
_RATED: dict[SecurityRisk, Tone] = {
    SecurityRisk.LOW: "success",
    SecurityRisk.MEDIUM: "warning",
    SecurityRisk.HIGH: "danger",
}
_EFFECTS: dict[Effect, Tone] = {
    "read-only": "success",
    "not destructive": "success",
    "destructive": "danger",
    "undeclared": "warning",
}
_MEANING = {
    "read-only": "It says that it changes nothing",
    "destructive": "It says that it can delete or overwrite data: it asks before it runs",
    "not destructive": "It says that it only adds, and deletes or overwrites nothing",
    "undeclared": "It does not say what it changes: MCP reads that as destructive, and it asks once",
    "idempotent": "It says that calling it again changes nothing more",
    "open world": "It says that it reaches things outside, as a web search does",
    "closed world": "It says that it reaches nothing outside its own data",
}


def tool_html(
    tool: ToolDefinition[Any, Any], risk: SecurityRisk | None = None, *, cost: str = ""
) -> Html:
    """Return the head of *tool* as HTML: its title, name, origin, hints and description.

    Args:
        tool: The tool.
        risk: The risk rating that a model gave its call of the tool; None if there is none.
        cost: The number of tokens of the tool's definition, as text. It is shown at the right edge.
    """
    icon = icon_html(getattr(tool, "icons", ()))
    title = f'<strong style="font-size:1.15em">{icon}{short(tool.title)}</strong>'
    name = " "
    if tool.title != tool.name:
        name = f' <code style="{_NAME}">{short(tool.name)}</code> '
    origin = "An MCP server"
    if tool.source == ToolDefinition.source:
        origin = "Python of this notebook"
    marks: str = badge(kind_of(tool), tip=f"{origin} runs it")
    for word, tone in _hints(tool):
        marks += badge(word, tone, tip=_MEANING[word])
    if risk is not None:
        marks += badge(f"rated {risk}", _RATED.get(risk, "neutral"))
    text: str = ""
    if tool.description.strip():
        text = _description_html(tool.description)
    tags = f"<span>{marks}</span>"
    # Tags and cost wrap together into a second line
    if cost:
        price = f'<span style="margin-left:auto">{badge(cost, tip=_COST)}</span>'
        tags = f'<span style="{_TAGS}">{tags}{price}</span>'
    return Html(f'<div {NO_MATHS}><div style="{_HEAD}">{title}{name}{tags}</div>{text}</div>')


def _description_html(description: str) -> Html:
    """Return *description*. If it is long, only its beginning is shown until a click."""
    whole, begin = markdown_html(description), " ".join(description.split())
    if len(begin) <= _FOLDED:
        return whole
    return Html(
        f'<details data-toolbench-about><summary style="cursor:pointer"><span>{short(begin, _BEGIN)}'
        f"</span></summary>{whole}</details>"
    )


def _hints(tool: ToolDefinition[Any, Any]) -> list[tuple[str, Tone]]:
    """Return the hints that *tool* declares, each as a word and its colour.

    If a server's tool does not declare its effect, the word is "undeclared".
    """
    hints = tool.hints
    words: list[tuple[str, Tone]] = []
    if hints.effect != "undeclared" or tool.source != ToolDefinition.source:
        words.append((hints.effect, _EFFECTS[hints.effect]))
    if hints.idempotentHint:
        words.append(("idempotent", "neutral"))
    if tool.annotations and "openWorldHint" in tool.annotations.model_fields_set:
        world = "closed world"
        if hints.openWorldHint:
            world = "open world"
        words.append((world, "neutral"))
    return words


def tool_bundle(
    tool: ToolDefinition[Any, Any], arguments: Mapping[str, Any] | None = None
) -> dict[str, str]:
    """Return the mime bundle of *tool*: text, and HTML that works without a kernel.

    Args:
        tool: The tool.
        arguments: The arguments of a prepared call. Without them, the parameters are shown.
    """
    summary = tool.description.strip().partition("\n")[0]
    lines = [_headline(tool)]
    if summary:
        lines.append(summary)
    if arguments:
        lines.append(f"arguments: {arguments_text(arguments)}")
        details = _arguments_html(tool, arguments)
    else:
        parameters = _parameters(tool)
        lines += _parameter_lines(parameters)
        details = _parameters_html(parameters)
    html = f'<div {NO_MATHS} style="{_CARD}">{tool_html(tool)}{details}</div>'
    bundle = {"text/plain": to_text("\n".join(lines)), "text/html": html}
    return Redactor(tool.secrecy.defaults).bundle(bundle)


def tool_text(tool: ToolDefinition[Any, Any]) -> str:
    """Return the help text of *tool*: its name, description and parameters."""
    parts = (
        _headline(tool),
        tool.description.strip(),
        "\n".join(_parameter_lines(_parameters(tool))),
    )
    return to_text("\n\n".join(filter(None, parts)))


def _headline(tool: ToolDefinition[Any, Any]) -> str:
    return _one_line(f"{tool.title} ({tool.name}, {kind_of(tool)})")


def _parameter_lines(parameters: Mapping[str, str]) -> list[str]:
    return [f"  {_one_line(f'{name}: {what}')}" for name, what in parameters.items()]


def _one_line(text: str) -> str:
    """Return *text* on one line, so that a name with line breaks cannot look like several names."""
    return " ".join(text.split())


def _parameters_html(rows: Mapping[str, str]) -> Html:
    """Return *rows*, the parameters with their descriptions, as HTML with one line for each."""
    lines = "".join(
        f"<div><b>{short(name)}</b>: {short(text, _ABOUT)}</div>"
        for name, text in islice(rows.items(), _MOST)
    )
    if len(rows) > _MOST:
        lines += f"<div>{left_out(len(rows) - _MOST, 'parameter')}</div>"
    return Html(f"<div {NO_MATHS}>{lines}</div>")


def _parameters(tool: ToolDefinition[Any, Any]) -> dict[str, str]:
    whole = tool.input_node
    words = {}
    for name in whole.names:
        label = name
        if name not in whole.required:
            label += " (optional)"
        words[label] = about(whole.at(name))
    return words


def call_html(
    tool: ToolDefinition[Any, Any] | str,
    arguments: Mapping[str, Any],
    observation: Observation,
    *,
    remark: str = "",
    answers: Sequence[tuple[str, str]] = (),
    limit: int = LIMIT,
) -> Html:
    """Return the view of a call that has ended: its tool, arguments and result.

    Args:
        tool: The tool, or its name if the tool is not known.
        arguments: The arguments of the call.
        observation: The result of the call.
        remark: Text to show beside the name of the tool, such as the time of the call.
        answers: The questions that the tool asked the user, each with its answer, in order.
        limit: The number of characters of the result to show in each card.
    """
    name = tool if isinstance(tool, str) else tool.title
    head = f'<strong>{short(name)}</strong> <span style="{REMARK}">{escape(remark)}</span>'
    table = _arguments_html(tool, arguments)
    return Html(
        f'<div {NO_MATHS} style="{TEXT_FONT};{TEXT_COLOR}"><div>{head}</div>'
        f'<div style="margin:4px 0 8px">{table}</div>{_answers_html(answers)}'
        f"{result_html(observation, limit=limit)}</div>"
    )


def _answers_html(answers: Sequence[tuple[str, str]]) -> Html:
    """Return each question with its answer; empty if nothing was asked."""
    if not answers:
        return Html("")
    rows = "".join(
        f'<div style="white-space:pre-wrap;overflow-wrap:anywhere">{short(question, _ABOUT)}'
        f' <span style="{REMARK}">→</span> <b>{short(answer, _ABOUT)}</b></div>'
        for question, answer in answers[:_MOST]
    )
    if (rest := len(answers) - _MOST) > 0:
        rows += f"<div>{left_out(rest, 'question')}</div>"
    return section(f"Asked during the run: {counted(len(answers), 'question')}", Html(rows))


def _arguments_html(tool: ToolDefinition[Any, Any] | str, arguments: Mapping[str, Any]) -> Html:
    """Return the parameters in order, each with its argument, or its default if none was sent."""
    ordered: dict[str, Any] = {}
    unsent = set()
    if not isinstance(tool, str):
        defaults = _defaults(tool)
        for name in tool.input_node.names:
            if name in arguments:
                ordered[name] = arguments[name]
            elif name in defaults:
                ordered[name] = defaults[name]
                unsent.add(name)
    # Then the arguments that the tool does not declare
    ordered = {**ordered, **arguments}
    if not ordered:
        return notice("No arguments.", "neutral")
    return key_values(ordered, defaults=unsent)


def _defaults(tool: ToolDefinition[Any, Any]) -> dict[str, Any]:
    """Return the defaults of the parameters of *tool*, with secrets hidden.

    Defaults of null are left out.
    """
    defaults = {}
    for name in tool.input_node.names:
        default = tool.input_node.at(name).default
        if default is not None:
            defaults[name] = default
    hidden: dict[str, Any] = Redactor(tool.secrecy.defaults).value(defaults)
    return hidden


def call_text(
    arguments: Mapping[str, Any],
    observation: Observation,
    *,
    answers: Sequence[tuple[str, str]] = (),
    limit: int = LIMIT,
) -> str:
    """Return the arguments, the questions with their *answers*, and the result, as text."""
    lines = [f"arguments: {arguments_text(arguments)}"]
    lines += [to_text(f"asked: {_one_line(q)} -> {_one_line(a)}") for q, a in answers]
    return "\n".join([*lines, observation_text(observation, limit=limit)])


def action_bundle(action: Action) -> dict[str, str]:
    """Return the mime bundle of *action*: text, and HTML that works without a kernel."""
    renderable = visualized(action)
    return {
        "text/plain": safely(to_text, renderable),
        "text/html": safely(to_html, renderable),
    }
