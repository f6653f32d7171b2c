"""Show a Rich renderable in a notebook: safe HTML for every theme, and plain text."""

from collections.abc import Iterable, Iterator
from io import StringIO
from itertools import chain

from rich.cells import cell_len
from rich.console import Console, Group, RenderableType
from rich.errors import MarkupError
from rich.segment import Segment
from rich.style import Style
from rich.text import Text

from toolbench.display.ansi import MUTED, style_css
from toolbench.display.caps import cap, cap_text, characters, is_notice, left_out
from toolbench.display.css import PRE
from toolbench.display.escape import Html, escape, link, visible

LIMIT = 100_000
"""The number of characters to show of one renderable, by default."""


class Measures:
    """How much room there is for what is shown.

    Attributes:
        width: Characters per line of tables and panels, where no other width is given.
    """

    def __init__(self) -> None:
        """Set the width that fits a notebook beside its list of files."""
        self.width = 100


measures = Measures()
"""The room of this process; `%config Toolbench.width` sets it."""

# Times the limit; text with too much colour markup is left out
_MARKUP = 1.9
_CHUNK = 1_000


def bundle(
    renderable: RenderableType, *, width: int | None = None, limit: int = LIMIT
) -> dict[str, str]:
    """Return *renderable* as a mime bundle, for the output of a cell.

    Equal input gives equal bytes. A `str` is text, not Rich markup.

    Args:
        renderable: Anything Rich can print.
        width: Characters per line, in the text and in HTML tables and panels; by default, that of `measures`.
        limit: The most characters to show; the middle of a longer text is left out.
    """
    return {
        "text/plain": to_text(renderable, width=width, limit=limit),
        "text/html": to_html(renderable, width=width, limit=limit),
    }


def to_text(renderable: RenderableType, *, width: int | None = None, limit: int = LIMIT) -> str:
    """Return *renderable* as text of *width* columns: no escape codes, no trailing blanks."""
    width = width or measures.width
    renderable = _capped(renderable, limit)
    if isinstance(renderable, Text):
        return _stripped("\n".join(_wrapped(renderable, width)))
    segments = _render(renderable, width)
    text = visible("".join(s.text for s in segments if not s.control))
    return str(cap(_stripped(text), limit))


def to_html(renderable: RenderableType, *, width: int | None = None, limit: int = LIMIT) -> Html:
    """Return *renderable* as one `<pre>`, escaped and readable on light and dark pages.

    Text is wrapped by the page; tables and panels are *width* columns wide and scroll. The result
    has at most 1.9 times *limit* characters and a little for the frame.
    """
    renderable = _capped(renderable, limit)
    if isinstance(renderable, Text):
        segments, space = _flow(renderable), "pre-wrap;overflow-wrap:anywhere"
    else:
        segments, space = _render(renderable, width or measures.width), "pre"
    chunks = list(chain.from_iterable(map(_chunks, Segment.simplify(segments))))
    body, is_part = _fitting(chunks, int(limit * _MARKUP))
    attributes = f'style="{PRE};white-space:{space}"'
    if is_part:
        # For a page, which says that it can save only a part
        attributes = f"data-toolbench-part {attributes}"
    return Html(f"<pre {attributes}>{''.join(body)}</pre>")


def _capped(renderable: RenderableType, limit: int) -> RenderableType:
    """Return *renderable* with its texts shortened, before Rich computes the layout."""
    match renderable:
        case str() | Text():
            return _shortened(renderable, limit)
        case Group():
            parts = (_capped(part, limit) for part in renderable.renderables)
            return Group(*parts, fit=renderable.fit)
        case _:
            return renderable


def _shortened(text: str | Text, limit: int) -> Text:
    """Return *text*, shortened; the middle of a very long text is removed before the rest is read."""
    room = max(2 * limit, 1)
    omitted = max(0, len(text) - 2 * room)
    if not omitted:
        return cap_text(_spelled(text), limit)
    ends = _spelled(text[:room]), _spelled(text[-room:])
    return cap_text(Text().join(ends), limit, omitted)


def _spelled(text: str | Text) -> Text:
    if isinstance(text, str):
        return Text(visible(text))
    if visible(text.plain) == text.plain:
        return text
    return Text.assemble(*((visible(s.text), s.style or "") for s in _flow(text)))


def _render(renderable: RenderableType, width: int) -> list[Segment]:
    """Return the segments of *renderable*; if its Rich markup is wrong, the markup is shown as text."""
    problem = ""
    for markup in (True, False):
        try:
            return list(_console(width, markup=markup).render(renderable))
        except MarkupError as error:
            problem = visible(str(error))
    return list(_console(width).render(Text(f"This cannot be laid out: {problem}.")))


def _stripped(text: str) -> str:
    return "\n".join(line.rstrip() for line in text.split("\n")).rstrip("\n")


def _wrapped(text: Text, width: int) -> Iterator[str]:
    """Yield the lines of *text*, wrapped to *width*; if most are short, ten times faster than Rich."""
    console = _console(width)
    for line in text.plain.split("\n"):
        if cell_len(line) <= width and "\t" not in line:
            yield line
        else:
            for part in Text(line).wrap(console, width):
                yield part.plain


def _flow(text: Text) -> Iterable[Segment]:
    # assemble() turns the text's base style into a span: render() only looks at spans
    return Text.assemble(text).render(_console(1))


def _console(width: int, *, markup: bool = True) -> Console:
    """Return a Rich console that does not depend on the terminal or the environment."""
    return Console(
        width=width,
        height=50,
        file=StringIO(),
        force_terminal=False,
        force_jupyter=False,
        legacy_windows=False,
        color_system="truecolor",
        markup=markup,
        highlight=False,
    )


# --- segments -> HTML ---------------------------------------------------------------


def _chunks(segment: Segment) -> Iterator[Segment]:
    text, style, control = segment
    if not control:
        for start in range(0, len(text), _CHUNK):
            yield Segment(text[start : start + _CHUNK], style)


def _fitting(chunks: list[Segment], room: int) -> tuple[list[str], bool]:
    """Return *chunks* as HTML of at most *room* characters, and whether they are only a part.

    Chunks in the middle are left out here; a chunk may say that characters were left out before.
    """
    head = list(_until_full(chunks, room // 2))
    rest = chunks[len(head) :]
    room -= sum(map(len, head))
    tail = list(_until_full(reversed(rest), room))[::-1]
    omitted = sum(map(characters, rest[: len(rest) - len(tail)]))
    if not omitted:
        return head + tail, any(map(is_notice, chunks))
    notice = left_out(omitted, "character")
    return [*head, f'\n<span style="color:{MUTED}">{notice}</span>\n', *tail], True


def _until_full(chunks: Iterable[Segment], room: int) -> Iterator[str]:
    for text, style, _ in chunks:
        markup = _span(text, style)
        room -= len(markup)
        if room < 0:
            return
        yield markup


def _span(text: str, style: Style | None) -> str:
    content = escape(text)
    if not style:
        return content
    if style.link:
        content = link(style.link, content)
    css = style_css(style)
    if css:
        return f'<span style="{css}">{content}</span>'
    return content
