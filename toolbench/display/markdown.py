"""The display of untrusted Markdown: formatted, but harmless."""

from toolbench.display.caps import cap
from toolbench.display.css import TEXT_FONT
from toolbench.display.escape import NO_MATHS, Html

LIMIT = 20_000
"""The default number of characters of Markdown to show."""

# Times the limit
_LARGEST = 10


def markdown_html(text: str, *, limit: int = LIMIT) -> Html:
    """Return the Markdown *text* as one `<div>`, which loads nothing.

    Raw HTML and maths are shown as text. Links to http, https or mailto are kept. An image becomes
    a link with its description. Headings become bold paragraphs, so that they do not appear in the
    notebook's table of contents.

    Args:
        text: CommonMark with tables and ~~strikethrough~~.
        limit: The maximum number of characters to show. The middle of a longer text is left out.
    """
    from toolbench.display.markdown_renderer import (  # noqa: PLC0415 - heavy: 70 modules
        preformatted,
        rendered,
    )

    capped = cap(text, limit)
    body = "".join(map(rendered, (capped.head, capped.notice, capped.tail)))
    # A few characters can produce a million cells
    if len(body) > _LARGEST * limit:
        body = preformatted(str(capped))
    style = f"{TEXT_FONT};line-height:1.5;overflow-wrap:anywhere"
    return Html(f'<div {NO_MATHS} style="{style}">{body}</div>')
