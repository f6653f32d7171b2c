"""Cut long results for a model, and tell the model what was cut.

A list is cut between items, a table between rows, and other text at a nearby end of a line. Only the
model gets the cut result. Users, records and Python code get all of it.
"""

from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from json import JSONDecoder
from typing import Any

from pydantic_core import from_json

from toolbench.core.content import Content, TextContent
from toolbench.wording import counted, estimate_tokens

LEAST = 100
"""The lowest limit in tokens for a result; the sentence about the cut alone needs 40 tokens."""
# Characters that a cut may move to the end of a line
_NEAR = 200
# Stand between the parts of a list or an object
_BETWEEN = " \t\r\n,:"
_read = JSONDecoder().raw_decode


def cut_note(shown: int, whole: int, noun: str) -> str:
    """Return the sentence that tells a model that it sees only *shown* of *whole* items.

    Example:
        ```python
        cut_note(500, 2_000, "row")
        # "[The first 500 of 2,000 rows. Call again with arguments that return less, or another
        # part, to read the rest.]"
        ```
    """
    return (
        f"[The first {shown:,} of {counted(whole, noun)}. Call again with arguments that return "
        "less, or another part, to read the rest.]"
    )


def most_that_fits(whole: int, fits: Callable[[int], bool]) -> int:
    """Return the largest number up to *whole* for which *fits* is true; 0 if there is none.

    If *fits* is true for a number, it must be true for all smaller numbers. *fits* is never called
    with a number above twice the result.
    """
    high = 1
    while high < whole and fits(high):
        high *= 2
    numbers = range(1, min(high, whole) + 1)
    return bisect_left(numbers, 1, key=lambda number: int(not fits(number)))


def tokens_of(blocks: Sequence[Any]) -> int:
    """Estimate how many tokens the text in *blocks* costs a model; images are not counted."""
    return sum(estimate_tokens(block.text) for block in blocks if isinstance(block, TextContent))


def cut_content(blocks: Sequence[Content], most: int) -> Sequence[Content]:
    """Cut *blocks*, the content of a result, to about *most* tokens for a model.

    If everything fits, *blocks* itself is returned. Images stay. The first text that does not fit
    is cut, and all text after it is left out.
    """
    if tokens_of(blocks) <= most:
        return blocks
    kept: list[Content] = []
    left, is_cut = most, False
    for block in blocks:
        if not isinstance(block, TextContent):
            kept.append(block)
        elif not is_cut:
            size = estimate_tokens(block.text)
            is_cut = size > left
            if is_cut:
                block = TextContent(text=_cut_text(block.text, left))
            left -= size
            kept.append(block)
    texts = _count(blocks)
    if texts > _count(kept):
        kept.append(TextContent(text=cut_note(_count(kept), texts, "text")))
    return kept


def _count(blocks: Sequence[Content]) -> int:
    return sum(isinstance(block, TextContent) for block in blocks)


def _cut_text(text: str, most: int) -> str:
    """Cut *text* to *most* tokens; if it contains exactly one JSON list, cut between its items."""
    items = _cut_items(text, most)
    if items:
        return items
    whole = len(text)

    def written(shown: int) -> str:
        return f"{text[:shown]}\n{cut_note(shown, whole, 'character')}"

    shown = most_that_fits(whole, lambda count: estimate_tokens(written(count)) <= most)
    line_end = text.rfind("\n", max(0, shown - _NEAR), shown)
    if line_end > 0:
        shown = line_end
    return written(shown)


def _cut_items(text: str, most: int) -> str:
    """Cut *text* between the items of its JSON list.

    Return "" if *text* does not contain exactly one list, or if no item fits. The items that stay
    are not reformatted: `1.10` does not become `1.1`.
    """
    text = text.strip()
    if not text.startswith(("[", "{")):
        return ""
    try:
        from_json(text)
        ends = _ends_of_items(text)
    except (ValueError, RecursionError):
        return ""

    def written(shown: int) -> str:
        note = cut_note(shown, len(ends), "item")
        return f"{text[: ends[shown - 1]]}{text[ends[-1] :]}\n{note}"

    shown = most_that_fits(len(ends), lambda count: estimate_tokens(written(count)) <= most)
    if not shown:
        return ""
    return written(shown)


def _ends_of_items(text: str) -> list[int]:
    """Return where each item of the JSON list *text* ends, or of the only list in *text*."""
    begins = [0]
    if text.startswith("{"):
        begins = [begin for value, begin, _ in _parts(text, 0) if isinstance(value, list)]
    if len(begins) != 1:
        return []
    return [end for _, _, end in _parts(text, begins[0])]


def _parts(text: str, begin: int) -> Iterator[tuple[Any, int, int]]:
    """Yield each value or key of the list or object at *begin*, with its start and end."""
    place = begin + 1
    while text[place] not in "]}":
        if text[place] in _BETWEEN:
            place += 1
            continue
        value, end = _read(text, place)
        yield value, place, end
        place = end
