"""The texts around a field: its name, its help, its limits and its errors.

Screen readers must read the help and the errors of an input. Our JavaScript module
(`frontend/src/described.ts`) makes these texts the description of the input. On a page without the
module, CSS adds the texts to the label of the input. The texts follow a slash in the CSS property
`content`, so screen readers read them, but they are not visible. The module removes this CSS
(`frontend/src/sheets.ts`).
"""

import json
import re
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from toolbench.display.escape import Html, escape, visible, with_code
from toolbench.errors import Problem, ended
from toolbench.jsonschema.words import limits
from toolbench.values import clip
from toolbench.wording import counted

# A slot shows its texts
if TYPE_CHECKING:
    from toolbench.widgets.fields.slot import Slot

_LONGEST = 400
# For a CSS string inside a <style>
_UNSAFE = re.compile(r"[^\w .,:;!?()-]")
_LABEL = 120
_HELP = 260


def screen_reader_css(slot: "Slot", remarks: Iterable[str], errors: Iterable[str]) -> Html:
    """Return CSS that makes screen readers read *errors* and *remarks* after the field's label."""
    sentences = []
    star = ""
    if slot.starred:
        sentences.append(" required")
        star = " *"
    sentences += [f"Invalid: {error}" for error in errors]
    sentences += [remark for remark in remarks if remark.strip()]
    if not sentences:
        return Html("")
    text = _quoted(" ".join(map(ended, sentences)))
    return Html(
        f"<style data-toolbench-heard>.{slot.mark}>.widget-label::after,"
        f".{slot.mark}>.widget-label-basic>span::after"
        f'{{content:"{star}";content:"{star}" / "{text}"}}</style>'
    )


def _quoted(text: str) -> str:
    """Return *text* for a CSS string: escaped, on one line, and cut off if it is long."""
    text_line = _cut(" " + _one_line(text), _LONGEST)
    return _UNSAFE.sub(lambda match: f"\\{ord(match[0]):x} ", text_line)


def _one_line(text: str) -> str:
    return " ".join(visible(text).split())


def _cut(text: str, length: int) -> str:
    if len(text) <= length:
        return text
    return f"{text[:length]}…"


def line(text: Any) -> str:
    """Return *text* on one line, without invisible characters, and cut off if it is long."""
    return _cut(_one_line(str(text)), _LABEL) or '""'


def label(text: Any) -> str:
    """Return *text* as a label in which the front end does not typeset parts as mathematics."""
    # Looks like a backslash
    text_line = line(text).replace("\\", "\u2216")
    if text_line.count("$") > 1:
        return text_line.replace("$", "\\$")
    return text_line


def item_label(label: str, place: int) -> str:
    """Return the label of the item at index *place* of the list with the label *label*."""
    return f"{label}, {Problem((place,), '').place}"


def to_fix(count: int) -> str:
    """Return "Fix 3 fields" if *count* is 3; "Fix the arguments" if it is 0."""
    if not count:
        return "Fix the arguments"
    return f"Fix {counted(count, 'field')}"


def ghost(value: Any) -> str:
    """Return *value* as the placeholder of an empty text box."""
    if not isinstance(value, str):
        value = clip(value, _LABEL)
    return line(value)


def option(value: Any, name: Any = None) -> str:
    """Return the label of *value* in a list of choices: its *name*, or else the value itself.

    If a string looks like other JSON data, as `"1"` looks like a number, it is shown with quotes.
    """
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


def heading(slot: "Slot", static: str = "") -> Html:
    """Return the name of the field *slot*, for an editor that does not show the name itself.

    *static* is the value as text if the field has only one possible value; otherwise it is empty.
    """
    name = f'<span class="tb-name">{escape(slot.label)}</span>'
    if static:
        return Html(f"{name} <code>{escape(static)}</code>")
    if slot.starred:
        return Html(f'{name}<span class="tb-star">*</span>')
    return Html(name)


def remarks(slot: "Slot", hints: Iterable[str], errors: Iterable[str]) -> Html:
    """Return the help and the *errors* of the field *slot*.

    The help includes the *hints*, and limits from the schema, such as "at least 1". If an error
    already mentions a limit, the help does not repeat the limit. The text is also written for
    screen readers.
    """
    errors = list(errors)
    facts = [*hints]
    for limit in limits(slot.node.schema):
        if not _is_in(limit, errors):
            facts.append(limit)
    if slot.node.is_deprecated and not _is_in("deprecated", errors):
        facts.append("deprecated")
    lines = [f'<div class="tb-help">{text}</div>' for text in _help(slot, facts)]
    lines += [f'<div class="tb-error">{escape(_sentence(error))}</div>' for error in errors]
    style = screen_reader_css(slot, [slot.help, *facts], errors)
    slider = ""
    if slot.editor.slider:
        slider = f' data-slider="{slot.editor.slider}"'
    if not lines and not slider:
        return style
    return Html(f'{style}<div data-describes="{slot.mark}"{slider}>{"".join(lines)}</div>')


def _help(slot: "Slot", facts: list[str]) -> Iterable[str]:
    texts = [_shortened(slot.help), escape(_sentence(", ".join(facts)))]
    if all(texts) and len(slot.help) <= _HELP:
        texts = [f"{ended(texts[0])} {texts[1]}"]
    if slot.notice:
        texts.append(f"This field {escape(slot.notice)}: type JSON.")
    return filter(None, texts)


def _sentence(text: str) -> str:
    if not text:
        return ""
    return ended(f"{text[:1].upper()}{text[1:].rstrip('.')}")


def _shortened(text: str) -> str:
    text = text.strip()
    if len(text) <= _HELP + 40:
        return with_code(text)
    cut = text.rfind(" ", 0, _HELP)
    if cut <= 0:
        cut = _HELP
    return (
        f"<details><summary>{with_code(text[:cut])}…</summary>"
        f"{with_code(text[cut:].strip())}</details>"
    )


def _is_in(fact: str, errors: list[str]) -> bool:
    """Return whether one of *errors* already says *fact*, such as "at least 1"."""
    whole = re.compile(rf"{re.escape(fact)}(?!\w|\.\d)")
    return any(map(whole.search, errors))
