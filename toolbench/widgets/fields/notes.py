"""The texts around a field: its name, its help, its limits and its errors.

Screen readers must read the help and the errors of an input. Our JavaScript module
(`frontend/src/described.ts`) makes these texts the description of the input. Without the module, an
input has only its label. So CSS adds the texts to the label: screen readers read the part after the
slash of `content`, which is not visible. The module takes this CSS out of its page (`frontend/src/sheets.ts`).
"""

import json
import re
from collections.abc import Iterable
from typing import Any

from toolbench.display.escape import Html, escape, visible
from toolbench.errors import Problem, ended
from toolbench.jsonschema.words import limits
from toolbench.values import clip
from toolbench.widgets.fields.position import Position
from toolbench.wording import counted

_LONGEST = 400
# What Markdown calls inline code
_CODE = re.compile(r"`([^`\n]+)`")
# For a CSS string inside a <style>
_UNSAFE = re.compile(r"[^\w .,:;!?()-]")


def screen_reader_css(position: Position, remarks: list[str], errors: list[str]) -> Html:
    """Return CSS that adds *errors* and *remarks* to the name that a screen reader reads."""
    sentences = [" required"] if position.starred else []
    sentences += [f"Invalid: {error}" for error in errors]
    sentences += [remark for remark in remarks if remark.strip()]
    if not sentences:
        return Html("")
    text = " ".join(map(ended, sentences))
    star = " *" if position.starred else ""
    return Html(
        f"<style data-toolbench-heard>.{position.mark}>.widget-label::after,"
        f".{position.mark}>.widget-label-basic>span::after"
        f'{{content:"{star}";content:"{star}" / "{_quoted(text)}"}}</style>'
    )


def _quoted(text: str) -> str:
    """Return *text* for a CSS string: on one line and escaped. A long text is cut."""
    text_line = " " + " ".join(visible(text).split())
    cut = f"{text_line[:_LONGEST]}…" if len(text_line) > _LONGEST else text_line
    return _UNSAFE.sub(lambda match: f"\\{ord(match[0]):x} ", cut)


_LABEL = 120
_HELP = 260


def line(text: Any) -> str:
    """Return *text* on one line without invisible characters. A long text is cut."""
    text_line = " ".join(visible(str(text)).split())
    return f"{text_line[:_LABEL]}…" if len(text_line) > _LABEL else text_line or '""'


def label(text: Any) -> str:
    """Return *text* as the label of a widget. The front end does not typeset it as mathematics."""
    # Looks like a backslash
    text_line = line(text).replace("\\", "\u2216")
    return text_line.replace("$", "\\$") if text_line.count("$") > 1 else text_line


def item_label(label: str, place: int) -> str:
    """Return the label of the item number *place*, counted from 0, of the list with the label *label*."""
    return f"{label}, {Problem((place,), '').place}"


def to_fix(count: int) -> str:
    """Return "Fix 3 fields" if *count* is 3; "Fix the arguments" if it is 0."""
    return f"Fix {counted(count, 'field') if count else 'the arguments'}"


def ghost(value: Any) -> str:
    """Return *value* as the placeholder of an empty text box."""
    return line(value if isinstance(value, str) else clip(value, _LABEL))


def option(value: Any, name: Any = None) -> str:
    """Return the label of *value* in a list: *name* if there is one, else *value* as text or JSON.

    A text that looks like JSON is also written as JSON, so that its label has quotes.
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


def heading(position: Position, static: str = "") -> Html:
    """Return the name of *position*. It is used if the widget of the editor does not show the name.

    *static* is the value in words, if only one value is possible.
    """
    name = f'<span class="tb-name">{escape(position.label)}</span>'
    if static:
        return Html(f"{name} <code>{escape(static)}</code>")
    return Html(f'{name}<span class="tb-star">*</span>' if position.starred else name)


def remarks(position: Position, hints: Iterable[str] = (), errors: Iterable[str] = ()) -> Html:
    """Return the help and the *errors* of *position*, as visible text and for screen readers.

    The help has the *hints*, and then the limits from the schema, without those that an error says.
    """
    errors = list(errors)
    facts = [fact for fact in _facts(position) if not _is_in(fact, errors)]
    facts = [*hints, *facts]
    help_ = [text for text in _help(position, facts) if text]
    lines = [f'<div class="tb-help">{text}</div>' for text in help_]
    lines += [f'<div class="tb-error">{escape(_sentence(e))}</div>' for e in errors]
    style = screen_reader_css(position, [position.help, *facts], errors)
    if not lines:
        return style
    note = f'<div data-describes="{position.mark}">{"".join(lines)}</div>'
    return Html(f"{style}{note}")


def _help(position: Position, facts: list[str]) -> list[str]:
    texts = [_shortened(position.help), escape(_sentence(", ".join(facts)))]
    if all(texts) and len(position.help) <= _HELP:
        texts = [f"{ended(texts[0])} {texts[1]}"]
    if position.notice:
        texts.append(f"This field {escape(position.notice)}: type JSON.")
    return texts


def _sentence(text: str) -> str:
    return ended(f"{text[:1].upper()}{text[1:].rstrip('.')}") if text else ""


def _shortened(text: str) -> str:
    text = text.strip()
    if len(text) <= _HELP + 40:
        return _with_code(text)
    cut = text.rfind(" ", 0, _HELP)
    cut = cut if cut > 0 else _HELP
    return (
        f"<details><summary>{_with_code(text[:cut])}…</summary>"
        f"{_with_code(text[cut:].strip())}</details>"
    )


def _with_code(text: str) -> Html:
    """Return *text* as HTML. The parts of *text* between backticks become code."""
    return Html(_CODE.sub(r"<code>\1</code>", escape(text)))


def _is_in(fact: str, errors: list[str]) -> bool:
    """Return whether one of *errors* says *fact* already, such as "at least 1"."""
    whole = re.compile(rf"{re.escape(fact)}(?!\w|\.\d)")
    return any(map(whole.search, errors))


def _facts(position: Position) -> list[str]:
    """Return the limits of the value in words, and the word "deprecated" if the schema says so."""
    node = position.node
    return [*limits(node.schema), *(["deprecated"] if node.is_deprecated else [])]
