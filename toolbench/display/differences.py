"""The differences of two values: by key and index in JSON, by word or line in text."""

import re
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from itertools import islice
from typing import Any, NamedTuple

from toolbench.display.caps import left_out
from toolbench.display.css import CODE_FONT, LINE, REMARK, TEXT_COLOR
from toolbench.display.escape import NO_MATHS, Html, escape, visible
from toolbench.display.render import to_html
from toolbench.display.text_diff import changes, diff
from toolbench.errors import Path, Problem
from toolbench.values import clip, json_text

NOTHING: Any = object()
"""The value of a part on a side that does not have the part."""
_WORD = re.compile(r"\w+|\s+|[^\w\s]")
# The most words of old and new text that are compared; more would take too long
_MOST_WORDS = 2_000
# Characters shown of a value, and of the text before a difference far inside a value
_LONGEST, _BEFORE = 500, 60


class Difference(NamedTuple):
    """A part in which two values differ: its path, and its old and new value.

    If the part was added, the old value is `NOTHING`. If it was removed, the new value is
    `NOTHING`.
    """

    path: Path
    before: Any
    after: Any


def differences(before: Any, after: Any, path: Path = ()) -> Iterator[Difference]:
    """Yield the differences of two JSON values. 1 and 1.0 count as equal.

    The items of two lists are matched by content, not by index, so an item inserted at the front is
    one difference. Objects in a list are matched by the value of their first key, which is often an
    id or a name. If two objects in a list have the same value for this key, whole objects are
    compared instead.

    Args:
        before: The old value.
        after: The new value.
        path: The keys and indexes of the place where both values were found. The path of each
            difference begins with them.
    """
    if isinstance(before, dict) and isinstance(after, dict):
        for key in dict.fromkeys([*before, *after]):
            inner = before.get(key, NOTHING), after.get(key, NOTHING)
            yield from differences(*inner, (*path, key))
    elif isinstance(before, list) and isinstance(after, list):
        yield from _of_lists(before, after, path)
    elif not _is_same(before, after):
        yield Difference(path, before, after)


def _is_same(before: Any, after: Any) -> bool:
    if isinstance(before, bool) or isinstance(after, bool):
        return before is after
    # nan equals nan
    return bool(before == after or (before != before and after != after))


def _of_lists(before: list[Any], after: list[Any], path: Path) -> Iterator[Difference]:
    old, new = _labels(before), _labels(after)
    if not old or not new:
        old, new = [*map(json_text, before)], [*map(json_text, after)]
    # Items with the same label may differ
    for _, i, i_end, j, j_end in changes(old, new, len(old)):
        common = min(i_end - i, j_end - j)
        for step in range(common):
            yield from differences(before[i + step], after[j + step], (*path, j + step))
        for index in range(i + common, i_end):
            yield Difference((*path, index), before[index], NOTHING)
        for index in range(j + common, j_end):
            yield Difference((*path, index), NOTHING, after[index])


def _labels(items: list[Any]) -> list[str]:
    """Return the first key and value of each object in *items*, to match objects of two lists.

    Return an empty list if two objects have the same first value, or if an item is not an object.
    """
    labels = []
    for item in items:
        if not isinstance(item, dict) or not item:
            return []
        name = next(iter(item))
        labels.append(f"{name}: {json_text(item[name])}")
    if len(set(labels)) < len(labels):
        return []
    return labels


def differences_html(found: Sequence[Difference], *, most: int = 50) -> Html:
    """Return the differences *found* as HTML for a narrow column, one below the other.

    At most *most* differences are shown, and a last line says how many are left out.
    """
    rows = "".join(map(_row, islice(found, most)))
    if len(found) > most:
        rows += f'<div style="{REMARK}">{left_out(len(found) - most, "difference")}</div>'
    flow = "white-space:pre-wrap;overflow-wrap:anywhere;line-height:1.45"
    style = f"{CODE_FONT};{TEXT_COLOR};{flow}"
    # `NO_MATHS` is a class too
    return Html(
        f'<div class="toolbench-differences"><div {NO_MATHS} style="{style}">{rows}</div></div>'
    )


def _row(found: Difference) -> str:
    before, after = found.before, found.after
    where = Problem(found.path, "").where
    head = ""
    if where:
        head = f'<div style="{REMARK}">{escape(visible(where))}</div>'
    if _is_long(before) and _is_long(after):
        return f"{head}{to_html(diff(before, after))}"
    if before is NOTHING:
        body = f"new: <ins>{escape(visible(clip(after, _LONGEST)))}</ins>"
    elif after is NOTHING:
        body = f"gone: <del>{escape(visible(clip(before, _LONGEST)))}</del>"
    else:
        body = " → ".join(marked(*excerpts(json_text(before), json_text(after))))
    return f'{head}<div style="border-bottom:{LINE};margin:0 0 4px">{body}</div>'


def _is_long(value: Any) -> bool:
    return isinstance(value, str) and "\n" in value


def excerpts(old: str, new: str, before: int = _BEFORE) -> list[str]:
    """Return an excerpt of each string around the first difference.

    *before* is the number of characters ahead of the difference.
    """
    pairs = enumerate(zip(old, new, strict=False))
    common = next((n for n, (one, other) in pairs if one != other), min(len(old), len(new)))
    begin = max(0, common - before)
    excerpts = []
    for text in (old, new):
        part = text[begin : begin + _LONGEST]
        if begin:
            part = f"…{part}"
        if len(text) > begin + _LONGEST:
            part = f"{part}…"
        excerpts.append(part)
    return excerpts


def marked(old: str, new: str) -> tuple[Html, Html]:
    """Return two strings as HTML, with marks on the words that only one of them contains.

    Strings with more than 2,000 words in total are not marked.
    """
    words, others = _WORD.findall(old), _WORD.findall(new)
    if len(words) + len(others) > _MOST_WORDS:
        return escape(visible(old)), escape(visible(new))
    left, right = [], []
    matcher = SequenceMatcher(None, words, others, autojunk=False)
    for tag, i, j, k, m in matcher.get_opcodes():
        gone, come = "".join(words[i:j]), "".join(others[k:m])
        left.append(_in_tag(gone, "del", is_marked=tag != "equal"))
        right.append(_in_tag(come, "ins", is_marked=tag != "equal"))
    return Html("".join(left)), Html("".join(right))


def _in_tag(text: str, tag: str, *, is_marked: bool) -> str:
    html = escape(visible(text))
    if is_marked and text:
        return f"<{tag}>{html}</{tag}>"
    return html
