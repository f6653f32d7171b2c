"""LinePattern HTML as a stranger would: what could run, load, or leave its place."""

import re
from html.parser import HTMLParser

import nh3

from toolbench.display.escape import safe_address

_VOID = {"img", "br", "hr"}
_ELEMENTS = _VOID | {
    "a",
    "blockquote",
    "code",
    "details",
    "div",
    "em",
    "li",
    "ol",
    "p",
    "pre",
    "s",
    "span",
    "strong",
    "summary",
    "table",
    "tbody",
    "td",
    "th",
    "thead",
    "time",
    "tr",
    "ul",
}
_ATTRIBUTES = {
    "alt",
    "class",
    "colspan",
    "datetime",
    "href",
    "open",
    "rel",
    "rowspan",
    "scope",
    "src",
    "start",
    "style",
    "target",
    "title",
}
_DANGEROUS = {
    "applet", "audio", "base", "body", "button", "embed", "font", "form", "frame",
    "frameset", "head", "html", "iframe", "input", "link", "map", "marquee", "math",
    "meta", "noscript", "object", "option", "param", "picture", "plaintext", "script",
    "select", "source", "style", "svg", "template", "textarea", "title", "track",
    "video", "xmp",
}  # fmt: skip
_CARD = {
    "data-toolbench-json",
    "data-toolbench-listing",
    "data-toolbench-sentence",
    "data-toolbench-card",
    "data-toolbench-bar",
    "data-toolbench-body",
    "data-toolbench-table",
    "data-toolbench-columns",
    "data-toolbench-part",
    "data-toolbench-whole",
    "data-toolbench-left-out",
    "data-toolbench-result",
    "data-toolbench-views",
    "data-toolbench-above",
    "data-toolbench-chip",
    "data-toolbench-missing",
    "data-toolbench-report",
    "data-toolbench-frame",
    "hidden",
}
# Of what scrolls
_LANDMARK = {"role": "group", "tabindex": "0"}
_CLASS = "tex2jax_ignore mathjax_ignore"
_IMAGE = re.compile(r"data:image/(png|jpeg|gif|webp|bmp|svg\+xml);base64,[\w+/]*=*", re.A)
_STYLE = re.compile(r"[\w\s.,:;%#()'+-]*", re.A)


class _Judge(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.problems: list[str] = []
        self.text: list[str] = []
        self._open: list[str] = []

    def handle_starttag(self, tag, attrs):
        if tag not in _ELEMENTS:
            self.problems.append(f"element {tag}")
        for name, value in attrs:
            self._judge(tag, name, value or "")
        if tag == "a" and ("rel", "noopener noreferrer") not in attrs:
            self.problems.append("a link that lets the page be reached")
        if tag == "a" and "a" in self._open:
            self.problems.append("a link in a link")
        if tag not in _VOID:
            self._open.append(tag)

    def _judge(self, tag, name, value):
        if name in ("aria-label", *_CARD):
            return
        if name in _LANDMARK:
            self.problems += [] if value == _LANDMARK[name] else [f"{name} {value!r}"]
        elif name not in _ATTRIBUTES:
            self.problems.append(f"attribute {name}={value!r}")
        elif name == "class" and value != _CLASS:
            self.problems.append(f"class {value!r}")
        elif name == "href" and safe_address(value) is None:
            self.problems.append(f"address {value!r}")
        elif name == "src" and not (tag == "img" and _IMAGE.fullmatch(value)):
            self.problems.append(f"source {value!r}")
        elif name == "style" and (not _STYLE.fullmatch(value) or "url" in value):
            self.problems.append(f"style {value!r}")

    def handle_endtag(self, tag):
        if not self._open or self._open.pop() != tag:
            self.problems.append(f"stray </{tag}>")

    def handle_data(self, data):
        self.text.append(data)

    def handle_comment(self, data):
        self.problems.append(f"comment {data!r}")

    handle_decl = handle_pi = unknown_decl = handle_comment

    def close(self):
        super().close()
        self.problems += [f"<{tag}> never closed" for tag in self._open]


def _judged(html: str) -> _Judge:
    judge = _Judge()
    judge.feed(html)
    judge.close()
    return judge


def problems(html: str) -> list[str]:
    """Everything in *html* that is not known to be harmless; empty when it is inert."""
    return _judged(html).problems


def problems_in_a_browser(html: str) -> list[str]:
    """The same, of *html* as html5ever reads it: the parser of a browser, not Python's."""
    parsed = nh3.clean(
        html,
        tags=_ELEMENTS | _DANGEROUS | nh3.ALLOWED_TAGS,
        clean_content_tags=set(),
        # All attributes
        generic_attribute_prefixes={""},
        url_schemes={
            *nh3.ALLOWED_URL_SCHEMES,
            "data",
            "javascript",
            "vbscript",
            "file",
        },
        strip_comments=False,
        link_rel=None,
    )
    return problems(parsed)


def text_of(html: str) -> str:
    """The text a person reads in *html*."""
    return "".join(_judged(html).text)
