"""Show the changes between two snapshots as HTML, without a script or a kernel."""

import json
from collections.abc import Iterator, Sequence
from typing import Any

from toolbench.display.caps import cap
from toolbench.display.differences import marked
from toolbench.display.escape import Html, escape, visible
from toolbench.display.page import Tone, badge, whole_page
from toolbench.mcp.snapshots.diff import SEVERITIES, Change, by_severity
from toolbench.mcp.snapshots.schema_diff import Severity
from toolbench.wording import counted

_PART = '<div class="toolbench-changes '
# The most characters that are shown of an old or new value
_LONGEST = 5_000
_TONES: dict[Severity, Tone] = {
    "breaking": "danger",
    "routing": "warning",
    "additive": "success",
    "cosmetic": "neutral",
}
_MEANINGS: dict[Severity, str] = {
    "breaking": "a call that was valid may be refused, an output may be missing or of a new kind",
    "routing": "a model may choose another tool or other values",
    "additive": "something new that old calls do not notice",
    "cosmetic": "no caller notices",
}
_STYLE = """
.toolbench-changes { font-family: var(--jp-content-font-family, system-ui, sans-serif) }
.toolbench-changes h1 { font-size: 22px; overflow-wrap: anywhere }
.toolbench-changes h2 { font-size: 15px; font-weight: 600; margin: 18px 0 6px }
.toolbench-changes p { margin: 0 0 4px; overflow-wrap: anywhere }
.toolbench-changes table { border-collapse: collapse; width: 100%; table-layout: fixed; margin: 4px 0 18px; font-size: 13px }
.toolbench-changes th { text-align: left; font-weight: 600; padding: 4px 8px; overflow-wrap: anywhere }
.toolbench-changes td { vertical-align: top; text-align: left; border: 1px solid #8886; padding: 6px 8px }
.toolbench-changes pre { margin: 0; padding: 0; background: none; color: inherit; white-space: pre-wrap;
       word-break: normal; overflow-wrap: anywhere; font: 13px/1.45 monospace }
.toolbench-changes del { background: #e5534b44; color: inherit; text-decoration: line-through }
.toolbench-changes ins { background: #2da44e44; color: inherit; text-decoration: none }
.toolbench-changes code { font: 13px monospace; background: none; color: inherit; overflow-wrap: anywhere }
"""


def changes_html(
    changes: Sequence[Change],
    *,
    before: str = "before",
    after: str = "now",
    most: int | None = None,
) -> Html:
    """Return HTML that lists *changes*, most severe first, for use within a page.

    Args:
        changes: The changes.
        before: The title of the old values.
        after: The title of the new values.
        most: The maximum number of changes to show; None shows all.
    """
    return _part(_body(changes, before, after, most))


def _part(body: str) -> Html:
    return Html(f'{_PART}tex2jax_ignore mathjax_ignore"><style>{_STYLE}</style>{body}</div>')


def _body(changes: Sequence[Change], before: str, after: str, most: int | None = None) -> str:
    first = by_severity(changes)[:most]
    body = "".join(_sections(first, changes, before, after))
    rest = len(changes) - len(first)
    if rest:
        more = f"<p>{counted(rest, 'more change')} not shown here.</p>"
    else:
        more = ""
    return f"<p>{counted(len(changes), 'change')}.</p>{body}{more}"


def changes_page(changes: Sequence[Change], *, before: str = "before", after: str = "now") -> Html:
    """Return a complete page that shows *changes*, with old and new values side by side.

    Args:
        changes: The changes.
        before: The title of the old values.
        after: The title of the new values.
    """
    title = _text(f"{before} → {after}")
    main = f"<main><h1>{title}</h1>{_body(changes, before, after)}</main>"
    return Html(whole_page(title, _part(main), width="70rem"))


def _sections(
    first: Sequence[Change], changes: Sequence[Change], before: str, after: str
) -> Iterator[str]:
    """Yield a section for each severity, with a heading and the changes of this severity.

    Only the changes in *first* are shown, but the heading counts all *changes* of the severity.
    """
    for severity in SEVERITIES:
        count = sum(change.severity == severity for change in changes)
        if count:
            mark = badge(severity, _TONES[severity])
            yield f"<h2>{mark} {count:,}: {_MEANINGS[severity]}</h2>"
        for change in first:
            if change.severity == severity:
                yield _change(change, before, after)


def _change(change: Change, before: str, after: str) -> str:
    old, new = _sides(_written(change.before), _written(change.after))
    return (
        f"<p>{_text(change.text)}<br><code>{_text(change.where)}</code></p>"
        f"<table><thead><tr><th scope=col>{_text(before)}</th>"
        f"<th scope=col>{_text(after)}</th></tr></thead>"
        f"<tbody><tr><td>{old}</td><td>{new}</td></tr></tbody></table>"
    )


def _sides(old: str | None, new: str | None) -> tuple[str, str]:
    """Return *old* and *new* as HTML in which the words that differ are marked."""
    if old is None or new is None:
        sides = (old, "del"), (new, "ins")
        one, other = (_alone(text, tag) for text, tag in sides)
        return one, other
    left, right = marked(old, new)
    return f"<pre>{left}</pre>", f"<pre>{right}</pre>"


def _alone(text: str | None, tag: str) -> str:
    if text is None:
        return "<em>nothing</em>"
    return f"<pre><{tag}>{_text(text)}</{tag}></pre>"


def _written(value: Any) -> str | None:
    if value is None or isinstance(value, str):
        if value is None:
            return value
        return str(cap(value, _LONGEST))
    text = json.dumps(value, indent=1, ensure_ascii=False, sort_keys=True, default=str)
    return str(cap(text, _LONGEST))


def _text(text: str) -> Html:
    return escape(visible(text))
