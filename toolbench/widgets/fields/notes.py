"""The words around a field: its name, its help, what it accepts, what is wrong with it."""

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from toolbench.core.validation import clip
from toolbench.display.escape import Html, escape, visible
from toolbench.errors import ended
from toolbench.widgets.fields.spoken import spoken

if TYPE_CHECKING:  # a slot asks for its notes
    from toolbench.widgets.fields.slot import Slot

_LABEL = 120
_HELP = 260
_LIMITS = (
    ("minimum", "at least {}"),
    ("exclusiveMinimum", "more than {}"),
    ("maximum", "at most {}"),
    ("exclusiveMaximum", "less than {}"),
    ("multipleOf", "a multiple of {}"),
    ("minLength", "at least {} character"),
    ("maxLength", "at most {} character"),
    ("minItems", "at least {} item"),
    ("maxItems", "at most {} item"),
    ("pattern", "matches {}"),
)
_COUNTED = ("character", "item")  # of which there is one, or many
_PAIRS = (("minLength", "maxLength"), ("minItems", "maxItems"))
_FLAGS = (("uniqueItems", "no item twice"), ("deprecated", "deprecated"))


def line(text: Any) -> str:
    """Return *text* as one line in which nothing is hidden: what a box or a list may show."""
    shown = " ".join(visible(str(text)).split())
    return f"{shown[:_LABEL]}…" if len(shown) > _LABEL else shown or '""'


def label(text: Any) -> str:
    """Return *text* as the label of a widget, which the front end would typeset as maths."""
    shown = line(text).replace("\\", "\u2216")  # a backslash that starts nothing
    return shown.replace("$", "\\$") if shown.count("$") > 1 else shown


def attention(count: int) -> str:
    """Say how many fields are wrong, without the full stop."""
    return f"{'One field needs' if count == 1 else f'{count} fields need'} attention"


def ghost(value: Any) -> str:
    """Return *value* as it stands in an empty box."""
    return line(value if isinstance(value, str) else clip(value, _LABEL))


def option(value: Any, name: Any = None) -> str:
    """Return *value* as an option of a list: text as it is, the rest as JSON."""
    if isinstance(name, str) and name:
        return line(name)
    if isinstance(value, str) and value.strip() and not _looks_like_json(value):
        return line(value)
    return line(clip(value, _LABEL))


def _looks_like_json(text: str) -> bool:
    try:
        json.loads(text)
    except ValueError:
        return False
    return True


def heading(slot: "Slot") -> Html:
    """Return the name of *slot* for an editor whose widget does not carry it."""
    name = f'<span class="tb-name">{escape(slot.label)}</span>'
    if slot.editor.static:
        return Html(f"{name} <code>{escape(slot.editor.static)}</code>")
    return Html(f'{name}<span class="tb-star">*</span>' if slot.starred else name)


def remarks(slot: "Slot") -> Html:
    """Return help and errors of *slot*, to be seen and to be heard."""
    lines: list[str] = [spoken(slot, [slot.help, *facts(slot)])]
    lines += [f'<div class="tb-help">{text}</div>' for text in _help(slot) if text]
    lines += [
        f'<div class="tb-error">{escape(_sentence(said))}</div>' for said in slot.errors
    ]
    return Html("".join(lines))


def _help(slot: "Slot") -> list[str]:
    said = [_shortened(slot.help), escape(_sentence(", ".join(facts(slot))))]
    if all(said) and len(slot.help) <= _HELP:
        said = [f"{ended(said[0])} {said[1]}"]
    if slot.node.notice:
        said.append(f"This field {escape(slot.node.notice)}: type JSON.")
    return said


def _sentence(text: str) -> str:
    return ended(f"{text[:1].upper()}{text[1:].rstrip('.')}") if text else ""


def _shortened(text: str) -> str:
    text = text.strip()
    if len(text) <= _HELP + 40:
        return escape(text)
    cut = text.rfind(" ", 0, _HELP)
    cut = cut if cut > 0 else _HELP
    return (
        f"<details><summary>{escape(text[:cut])}…</summary>"
        f"{escape(text[cut:].strip())}</details>"
    )


def facts(slot: "Slot") -> list[str]:
    """List what the schema says about the value, in words."""
    schema = slot.node.schema
    said = ["null is sent"] if slot.is_null and not slot.gated else []
    said += [slot.editor.hint] if slot.editor.hint else []
    for words, limit in _limits(schema):
        if isinstance(limit, int | float | str) and not isinstance(limit, bool):
            plural = "s" if words.endswith(_COUNTED) and limit != 1 else ""
            said.append(words.format(limit) + plural)
    said += [words for key, words in _FLAGS if schema.get(key) is True]
    return said


def _limits(schema: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    """Give each limit with its words; of a pair that leaves one number, that number."""
    exact = {
        least: most
        for least, most in _PAIRS
        if least in schema and schema[least] == schema.get(most)
    }
    for key, words in _LIMITS:
        if key not in exact.values():
            said = words.removeprefix("at least ") if key in exact else words
            yield said, schema.get(key)
