"""The display of a Rich renderable in a notebook: safe HTML for every theme, and plain text."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from io import StringIO
from itertools import chain
from typing import Any

from rich.cells import cell_len
from rich.console import Console, Group, RenderableType
from rich.errors import MarkupError
from rich.panel import Panel
from rich.protocol import rich_cast
from rich.segment import Segment
from rich.style import Style, StyleType
from rich.table import Column, Table
from rich.text import Text

from toolbench.display.ansi import MUTED, style_css
from toolbench.display.caps import cap, cap_text, characters, is_notice, left_out
from toolbench.display.css import CELL, CODE_FONT, LINE, PRE, REMARK, TABLE, TEXT_COLOR
from toolbench.display.escape import NO_MATHS, Html, escape, link, visible

LIMIT = 100_000
"""The default number of characters to show of one renderable."""


class Measures:
    """The width of displayed output.

    Attributes:
        width: Characters per line of tables and panels, if no other width is given.
    """

    def __init__(self) -> None:
        """Set the width that fits a notebook next to its file browser."""
        self.width = 100


measures = Measures()
"""The room for output in this process, which `%config Toolbench.width` sets."""

# A multiple of the limit; text with too much colour markup is left out
_MARKUP = 1.9
_CHUNK = 1_000


def bundle(
    renderable: RenderableType, *, width: int | None = None, limit: int = LIMIT
) -> dict[str, str]:
    """Return *renderable* as plain text and as HTML, in a mime bundle for the output of a cell.

    The same input always gives the same bytes. A `str` is plain text, not Rich markup.

    Args:
        renderable: Anything that Rich can print.
        width: The number of characters per line of the text, and of panels in the HTML. By default,
            the width that `%config Toolbench.width` has set.
        limit: The maximum number of characters to show. The middle of a longer text is left out.
    """
    return {
        "text/plain": to_text(renderable, width=width, limit=limit),
        "text/html": to_html(renderable, width=width, limit=limit),
    }


def to_text(renderable: RenderableType, *, width: int | None = None, limit: int = LIMIT) -> str:
    """Return *renderable* as text of *width* columns, without escape codes or trailing blanks."""
    width = width or measures.width
    renderable = _capped(renderable, limit)
    if isinstance(renderable, Text):
        return _stripped("\n".join(_wrapped(renderable, width)))
    segments = _render(renderable, width)
    text = visible("".join(s.text for s in segments if not s.control))
    return str(cap(_stripped(text), limit))


def to_html(renderable: RenderableType, *, width: int | None = None, limit: int = LIMIT) -> Html:
    """Return *renderable* as HTML, escaped and readable on light and dark pages.

    Tables become HTML tables and panels become boxes, even inside other renderables. Everything
    else becomes one `<pre>` element. The browser wraps the lines of text. Trees and layouts are
    *width* characters wide, and scroll if the page is narrower. The HTML has at most about 1.9
    times *limit* characters.
    """
    renderable = _capped(rich_cast(renderable), limit)
    html = _Blocks(width or measures.width, int(limit * _MARKUP)).html(renderable)
    if isinstance(renderable, Table | Panel | Group):
        style = f"overflow:auto;{CODE_FONT};{TEXT_COLOR};line-height:1.4"
        html = f'<div {NO_MATHS} style="{style}">{html}</div>'
    return Html(html)


def _pre(renderable: RenderableType, width: int, room: int) -> Html:
    """Return *renderable* as one `<pre>` with at most *room* characters inside."""
    if isinstance(renderable, Text):
        segments, space = _flow(renderable), "pre-wrap;overflow-wrap:anywhere"
    else:
        segments, space = _render(renderable, width), "pre"
    body, is_part = _fitting(_pieces(segments), room)
    attributes = f'style="{PRE};white-space:{space}"'
    if is_part:
        # A mark for the page, which then says that it can save only a part
        attributes = f"data-toolbench-part {attributes}"
    return Html(f"<pre {attributes}>{''.join(body)}</pre>")


def inline_html(text: Text) -> Html:
    """Return *text* with its colours, for an element that preserves blanks and sets the font."""
    return Html("".join(_span(part, style) for part, style, _ in Segment.simplify(_flow(text))))


def _capped(renderable: RenderableType, limit: int) -> RenderableType:
    """Return *renderable* with its texts shortened before Rich computes the layout."""
    match renderable:
        case str() | Text():
            return _shortened(renderable, limit)
        case Group():
            parts = (_capped(part, limit) for part in renderable.renderables)
            return Group(*parts, fit=renderable.fit)
        case _:
            return renderable


def _shortened(text: str | Text, limit: int) -> Text:
    """Return *text*, shortened. The middle of a very long text is removed first, to save time."""
    # Half of the limit is shown of each end, in which two surrogates may become one character
    room = limit + 1
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
    """Return the segments of *renderable*. If its Rich markup is wrong, show the markup as text."""
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
    """Yield the lines of *text*, wrapped to *width*. Lines that fit are not passed to Rich."""
    console = _console(width)
    for line in text.plain.split("\n"):
        # Only other letters than those of ASCII can be wider than one column
        is_narrow = len(line) <= width and line.isascii()
        if (is_narrow or cell_len(line) <= width) and "\t" not in line:
            yield line
        else:
            for part in Text(line).wrap(console, width):
                yield part.plain


def _flow(text: Text, console: Console | None = None) -> Iterable[Segment]:
    # assemble() turns the text's base style into a span: render() only looks at spans
    return Text.assemble(text).render(console or _console(1))


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


def _pieces(segments: Iterable[Segment]) -> list[Segment]:
    return list(chain.from_iterable(map(_chunks, Segment.simplify(segments))))


def _chunks(segment: Segment) -> Iterator[Segment]:
    text, style, control = segment
    if not control:
        for start in range(0, len(text), _CHUNK):
            yield Segment(text[start : start + _CHUNK], style)


def _fitting(chunks: list[Segment], room: int) -> tuple[list[str], bool]:
    """Return *chunks* as HTML of at most *room* characters, and whether the text is incomplete.

    If there is too little room, chunks in the middle are left out. The text is also incomplete if a
    chunk is a notice of characters that were left out earlier.
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


# --- tables -> HTML -----------------------------------------------------------------

# The most columns of one table
_MOST = 50
# Characters of the tags of a row
_ROW = 60
_SIDES = {"right": "right", "center": "center", "full": "justify"}


def _is_block(renderable: Any) -> bool:
    return isinstance(rich_cast(renderable), Table | Panel | Group)


class _Blocks:
    """Writes renderables as HTML, with Rich tables as HTML tables, until the room is used up."""

    def __init__(self, width: int, room: int) -> None:
        # Characters of HTML that may still be written
        self._width, self._room = width, room
        self._console = _console(width)

    def html(self, renderable: Any) -> str:
        match rich_cast(renderable):
            case Table() as table:
                return self._table(table)
            case Group() as group if any(map(_is_block, group.renderables)):
                parts = group.renderables
                return self._fitted(len(parts), lambda place: self.html(parts[place]), "part")
            case Panel() as panel:
                return self._panel(panel)
            case other:
                html = _pre(other, self._width, self._room)
                self._room -= len(html)
                return html

    def _fitted(
        self, count: int, write: Callable[[int], str], noun: str, around: str = "{}"
    ) -> str:
        """Join the HTML of *count* parts. If there is too little room, leave out the middle ones.

        *write* returns the HTML of the part with the given number. A notice counts the parts that
        are left out, in which *noun* is the word for one part. *around* is the HTML around it.
        """
        head: list[str] = []
        tail: list[str] = []
        begin, end, half = 0, count, self._room // 2
        while begin < end and self._room > half:
            head.append(write(begin))
            begin += 1
        while begin < end and self._room > 0:
            end -= 1
            tail.append(write(end))
        if begin < end:
            head.append(around.format(_rest(end - begin, noun)))
        return "".join([*head, *reversed(tail)])

    def _panel(self, panel: Panel) -> str:
        title = self._line(panel.title, panel.border_style)
        content = self._inner(panel.renderable)
        subtitle = self._line(panel.subtitle, panel.border_style)
        style = (
            f"border:{LINE};border-radius:6px;padding:6px 10px;margin:4px 0;white-space:pre-wrap"
        )
        return f'<div style="{style}">{title}{content}{subtitle}</div>'

    def _table(self, table: Table) -> str:
        columns, look = table.columns[:_MOST], self._console.get_style
        title = self._line(table.title, table.title_style or "table.title")
        head = ""
        if table.show_header and columns:
            style = look(table.header_style)
            cells = [
                self._cell(c.header, c, style + look(c.header_style), tag="th") for c in columns
            ]
            head = f'<thead style="border-bottom:{LINE}"><tr>{"".join(cells)}</tr></thead>'
        rows = list(zip(*(column.cells for column in columns), strict=True))
        notice = f'<tr><td colspan="{len(columns)}" style="{CELL}">{{}}</td></tr>'
        body = self._fitted(
            len(rows), lambda place: self._row(table, columns, rows[place], place), "row", notice
        )
        if table.show_footer:
            style = look(table.footer_style)
            cells = [self._cell(c.footer, c, style + look(c.footer_style)) for c in columns]
            body += f'<tr style="border-top:{LINE}">{"".join(cells)}</tr>'
        caption = self._line(table.caption, table.caption_style or "table.caption")
        left_of = ""
        if len(table.columns) > _MOST:
            left_of = _rest(len(table.columns) - _MOST, "column")
        return (
            f'{title}<table style="{TABLE}">{head}<tbody>{body}</tbody></table>{left_of}{caption}'
        )

    def _row(
        self, table: Table, columns: Sequence[Column], contents: Sequence[Any], place: int
    ) -> str:
        look, cells, line = self._console.get_style, "", ""
        own = look(table.get_row_style(self._console, place))
        for content, column in zip(contents, columns, strict=True):
            cells += self._cell(content, column, look(table.style) + look(column.style) + own)
        if table.show_lines or table.rows[place].end_section:
            line = f' style="border-bottom:{LINE}"'
        self._room -= _ROW
        return f"<tr{line}>{cells}</tr>"

    def _cell(self, content: Any, column: Column, style: Style, *, tag: str = "td") -> str:
        inner, css = self._inner(content), CELL
        if column.justify in _SIDES:
            css += f";text-align:{_SIDES[column.justify]}"
        if column.no_wrap:
            css += ";white-space:pre"
        elif "\n" in inner or "  " in inner:
            css += ";white-space:pre-wrap"
        if own := style_css(style):
            css += f";{own}"
        # An empty head confuses screen readers
        if not inner:
            tag = "td"
        html = f'<{tag} style="{css}">{inner}</{tag}>'
        self._room -= len(html) - len(inner)
        return html

    def _line(self, content: Any, style: StyleType) -> str:
        """Return *content*, a table's title or caption, as a line; empty if there is none."""
        if not content:
            return ""
        css = style_css(self._console.get_style(style))
        return f'<div style="{css}">{self._inner(content)}</div>'

    def _inner(self, content: Any) -> str:
        """Return *content* for use in an element: text with its Rich markup applied, or blocks."""
        content = rich_cast(content)
        if isinstance(content, str):
            try:
                content = self._console.render_str(content)
            except MarkupError:
                content = Text(content)
        if not isinstance(content, Text):
            return self.html(content)
        room = max(self._room, 0)
        parts, is_part = _fitting(_pieces(_flow(_shortened(content, room), self._console)), room)
        html = "".join(parts)
        self._room -= len(html)
        if is_part:
            html = f"<span data-toolbench-part>{html}</span>"
        return html


def _rest(count: int, noun: str) -> str:
    return f'<span data-toolbench-part style="{REMARK}">{left_out(count, noun)}</span>'
