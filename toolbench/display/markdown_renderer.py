"""HTML from Markdown by markdown-it, with our own rendering of links, images and code."""

from collections.abc import Iterable, Sequence

from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token
from markdown_it.utils import EnvType, OptionsDict

from toolbench.display.css import CELL, CODE_FONT, LINE, PRE
from toolbench.display.escape import Html, escape, link, safe_address, visible

_BLOCK = "margin:0 0 .6em 0"
_CODE = f"white-space:pre-wrap;{_BLOCK};padding:.5em .7em;border:{LINE};border-radius:4px"
_STYLES = {
    "paragraph_open": _BLOCK,
    "heading_open": f"{_BLOCK};font-weight:600",
    "bullet_list_open": f"{_BLOCK};padding-left:1.6em",
    "ordered_list_open": f"{_BLOCK};padding-left:1.6em",
    "blockquote_open": f"{_BLOCK};padding-left:.8em;border-left:3px solid currentColor",
    "table_open": f"{_BLOCK};table-layout:auto;border-collapse:collapse",
    "th_open": f"{CELL};border-bottom:{LINE}",
    "td_open": CELL,
    "code_inline": f"{CODE_FONT};background:transparent;padding:0",
    "hr": f"border:0;border-top:{LINE}",
}


def rendered(text: str) -> str:
    """Return the Markdown *text* as HTML. Raw HTML in *text* is shown as text."""
    tokens = _PARSER.parse(text)
    _restyle(tokens)
    # the parser decodes &#x202e;, so hidden characters are replaced in the result
    return visible(_PARSER.renderer.render(tokens, _PARSER.options, {}))


def preformatted(text: str) -> str:
    """Return the HTML of *text* as a block of code."""
    return f'<pre style="{PRE};{_CODE}">{escape(text)}</pre>\n'


def _restyle(tokens: Iterable[Token]) -> None:
    links = 0
    for token in tokens:
        if token.type in ("heading_open", "heading_close"):
            token.tag = "p"
        elif token.type in ("link_open", "link_close"):
            links += token.nesting
        elif token.type == "image" and links:
            # HTML allows no link in a link
            token.attrSet("src", "")
        if style := _STYLES.get(token.type):
            # The alignment of a table's column
            own = token.attrGet("style")
            if own:
                style += f";{own}"
            token.attrSet("style", style)
        _restyle(token.children or ())


class _Parser(MarkdownIt):
    """A CommonMark parser that accepts only safe links."""

    def validateLink(self, url: str) -> bool:  # noqa: N802 - markdown-it's name
        return safe_address(url) is not None


class _Renderer(RendererHTML):
    """A renderer with our own HTML for links, images and code. markdown-it does the rest."""

    def link_open(
        self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: EnvType
    ) -> str:
        opened = link(str(tokens[idx].attrGet("href")), Html(""))
        return opened.removesuffix("</a>")

    def image(self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: EnvType) -> str:
        token = tokens[idx]
        label = self.renderInlineAsText(token.children or [], options, env)
        if label:
            label = f": {label}"
        return link(str(token.attrGet("src")), escape(f"[image{label}]"))

    def fence(self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: EnvType) -> str:
        return preformatted(tokens[idx].content.rstrip("\n"))

    code_block = fence


_PARSER = _Parser("commonmark", {"html": False, "xhtmlOut": False}, renderer_cls=_Renderer).enable(
    ["table", "strikethrough"]
)
