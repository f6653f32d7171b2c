"""A comparison of what a tool's changed code returns with what its earlier code returned."""

from hashlib import sha256
from itertools import islice
from typing import Any

from toolbench.core.content import TextContent
from toolbench.core.schema import Observation
from toolbench.display.css import REMARK
from toolbench.display.differences import differences, differences_html
from toolbench.display.escape import Html, escape
from toolbench.display.images import read_image
from toolbench.display.json_tree import parse_json
from toolbench.display.object_table import object_table
from toolbench.display.observations import json_of, person_content, result_html, without_secrets
from toolbench.display.page import Card, cards_html, fold
from toolbench.display.tables import MaskedTable, index_name, returned_frame
from toolbench.redaction.redactor import Redactor
from toolbench.runs.run import Run
from toolbench.values import plain
from toolbench.wording import counted

# Rows of a table that are compared, its columns, and differences that are counted
_ROWS, _COLUMNS, _MOST = 2_000, 100, 5_000
_EARLIER = "The result of the earlier code"


def comparison_html(earlier: Run, run: Run) -> Html:
    """Return the differences between two runs' results, and below them the *earlier* result.

    Secrets are hidden.
    """
    redactor = earlier.secrets.redactor.joined(run.secrets.redactor)
    before, is_part = _compared(earlier, redactor)
    after, is_part_too = _compared(run, redactor)
    about = []
    if is_part or is_part_too:
        about.append(f"of the first {_ROWS:,} rows and {_COLUMNS} columns")
        before, after = _beginning(before), _beginning(after)
    found = list(islice(differences(before, after), _MOST))
    if found:
        count = counted(len(found), "difference")
        if len(found) == _MOST:
            count = f"at least {count}"
        remark = ", ".join([count, *about])
        card = Card("What differs from the earlier code", differences_html(found), remark)
        shown = result_html(without_secrets(earlier.outcome, redactor))
        folded = redactor.html(fold(_EARLIER, shown))
        return Html(f'{cards_html([card])}<div class="toolbench-earlier">{folded}</div>')
    words = ", ".join(["The same result as the earlier code gave", *about])
    return Html(f'<div role="status" style="{REMARK}">{escape(words)}.</div>')


def _compared(run: Run, redactor: Redactor) -> tuple[Any, bool]:
    """Return the result of *run* as JSON, and whether only its first part can be compared.

    A table becomes a list of rows. Text that is JSON becomes its value, and other text stays a
    string.
    """
    frame = returned_frame(run.outcome)
    if frame is not None:
        table = MaskedTable(frame, redactor.value, width=_COLUMNS + 1)
        names = [index_name(table), *map(str, table.columns)]
        rows = []
        for row in islice(table.itertuples(), _ROWS):
            rows.append(plain(dict(zip(names, row, strict=False))))
            # Labels without a name only count the rows
            rows[-1].pop("", None)
        return rows, frame.shape[0] > _ROWS or frame.shape[1] > _COLUMNS
    shown = without_secrets(run.outcome, redactor)
    value = value_of(shown)
    if not isinstance(value, str):
        return value, False
    # A list of objects is read even if other JSON of its length is not
    listed = object_table(json_of(shown))
    if listed is None:
        return value, False
    return listed.objects, True


def _beginning(value: Any) -> Any:
    # The other result may be so large that only the objects of its list were read
    listed = object_table(value)
    if listed is not None:
        return listed.objects[:_ROWS]
    if isinstance(value, list):
        return value[:_ROWS]
    return value


def value_of(observation: Observation) -> Any:
    """Return the content of *observation* as JSON data, to compare it with other content.

    JSON text is parsed, and other text stays a string. For an image, the data is a string with the
    kind of the image, its size and a checksum.
    """
    value: Any
    values = []
    for block in person_content(observation):
        if isinstance(block, TextContent):
            value = parse_json(block.text)
            if value is None:
                value = block.text
            values.append(value)
        else:
            values += map(_image_words, block.image_urls)
    if len(values) == 1:
        return values[0]
    return values


def _image_words(url: str) -> str:
    """Return the kind, the size and a checksum of an image, to tell two images apart."""
    label, digest = read_image(url).label, sha256(url.encode(errors="replace")).hexdigest()
    return f"{label} ({digest[:8]})"
