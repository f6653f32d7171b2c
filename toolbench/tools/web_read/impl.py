"""The executor that reads web pages: fetch a page, turn it into text, return a part."""

import re
from concurrent.futures import CancelledError, Future
from html import unescape
from threading import Lock
from typing import Any, NamedTuple

from html_to_markdown import ConversionOptions, PreprocessingOptions, convert

from toolbench.core.background_loop import portal
from toolbench.core.coercion import contents_of
from toolbench.core.content import Content
from toolbench.core.executor import ToolExecutor
from toolbench.tools.failure_sentence import RunError
from toolbench.tools.web_read.addresses import Resolver, resolve
from toolbench.tools.web_read.charset import decode
from toolbench.tools.web_read.definition import (
    PAGE_SIZE,
    WebReadAction,
    WebReadObservation,
)
from toolbench.tools.web_read.fetch import MAX_BYTES, Fetched, fetch, status_line

_HTML = ("text/html", "application/xhtml+xml")
_TEXT = ("json", "xml", "javascript", "ecmascript", "yaml", "toml", "x-sh", "sql")
_IMAGES = ("image/png", "image/jpeg", "image/gif", "image/webp")
# Characters of a server's error page
_ERROR_SHOWN = 1_000
_SILENT = ["svg", "math", "canvas", "iframe", "object", "embed", "audio", "video"]
_TITLE = re.compile(r"<title[^>]*>([^<]*)", re.IGNORECASE)
# Characters at the start of a page that are searched for its title
_HEAD = 100_000
_SCRIPTED = re.compile(
    r"!?\[([^\[\]]*)\]\(<?\s*(?:javascript|vbscript|data):[^()\s]*(?:\([^()]*\)[^()\s]*)*\)",
    re.IGNORECASE,
)


class Page(NamedTuple):
    """The title and the text of a page."""

    title: str | None
    text: str


class WebReadExecutor(ToolExecutor[WebReadAction, WebReadObservation]):
    """The executor that reads web pages.

    It keeps the last page in memory. Therefore, a model that reads a long page in several parts
    gets all parts from the same download.
    """

    def __init__(
        self,
        *,
        timeout: float = 30.0,
        allow_private: bool = False,
        resolver: Resolver = resolve,
    ) -> None:
        """Make an executor with limits for all pages.

        Args:
            timeout: The time limit for a page with all its redirects, in seconds.
            allow_private: Whether pages on this machine and in private networks may be read too.
                This has a risk: a web page may persuade a model to read private pages.
            resolver: A function that returns the network addresses of a host and port.
        """
        self._timeout = timeout
        self._private = allow_private
        self._resolver = resolver
        self._lock = Lock()
        self._under_way: set[Future[Fetched]] = set()
        self._last: tuple[str, Fetched, Page] | None = None

    def __call__(self, action: WebReadAction, conversation: Any = None) -> WebReadObservation:
        """Read the page of *action*, or its part from `start` on."""
        try:
            return self._read(action)
        except RunError as failure:
            return WebReadObservation.from_text(str(failure), is_error=True, url=action.url)

    def _read(self, action: WebReadAction) -> WebReadObservation:
        last = self._last
        if action.start and last is not None and last[0] == action.url:
            fetched, page = last[1:]
        else:
            fetched = self._fetched(action.url)
            if fetched.content_type in _IMAGES and fetched.status < 400:
                return _observation(fetched, _image(fetched))
            page = _page(fetched)
            self._last = action.url, fetched, page
        if fetched.status >= 400:
            msg = f"The server answered {status_line(fetched.status)}. Check the address."
            text = f"{msg}\n\n{page.text[:_ERROR_SHOWN]}".strip()
            return _observation(fetched, contents_of(text), page.title, is_error=True)
        return _part(fetched, page, action.start)

    def _fetched(self, url: str) -> Fetched:
        async def work() -> Fetched:
            return await fetch(url, resolver=self._resolver, private=self._private)

        future = portal.start(work)
        with self._lock:
            self._under_way.add(future)
        try:
            return future.result(self._timeout)
        except CancelledError as error:
            msg = f"Reading {url!r} was interrupted."
            raise RunError(msg) from error
        except TimeoutError as error:
            msg = f"{url!r} took longer than {self._timeout:g} s. Try another page."
            raise RunError(msg) from error
        finally:
            # It has ended already, unless the caller gave up
            future.cancel()
            with self._lock:
                self._under_way.discard(future)

    def interrupt(self) -> None:
        """Stop reading all pages that are being read now."""
        with self._lock:
            for future in self._under_way:
                future.cancel()


def _page(fetched: Fetched) -> Page:
    kind = fetched.content_type
    if kind in _HTML or (not kind and fetched.body.lstrip()[:1] == b"<"):
        return read_page(decode(fetched.body, fetched.charset), fetched.url)
    if _is_text(fetched):
        return Page(None, decode(fetched.body, fetched.charset))
    if fetched.status >= 400:
        return Page(None, "")
    msg = (
        f"{fetched.url} is {kind or 'binary data'}, which is not text. "
        "Download it with a terminal, or read another page."
    )
    raise RunError(msg)


def _is_text(fetched: Fetched) -> bool:
    kind = fetched.content_type
    if kind and not kind.startswith("text/") and not any(w in kind for w in _TEXT):
        return False
    return bool(fetched.charset) or b"\0" not in fetched.body[:1024]


def _image(fetched: Fetched) -> list[Content]:
    if fetched.is_cut:
        msg = f"The image is larger than {MAX_BYTES:,} bytes. Download it with a terminal."
        raise RunError(msg)
    return contents_of(fetched.body)


def _part(fetched: Fetched, page: Page, start: int) -> WebReadObservation:
    text, whole = page.text[start : start + PAGE_SIZE], len(page.text)
    if start and start >= whole:
        msg = f"The page has {whole:,} characters, so none from {start:,} on."
        raise RunError(msg)
    end = start + len(text)
    head = f"{page.title or fetched.url}\n{fetched.url}\n\n" if not start else ""
    if end < whole:
        text += f"\n\n[Characters {start:,} to {end:,} of {whole:,}. Next: start={end}.]"
    elif fetched.is_cut:
        text += f"\n\n[Only the first {MAX_BYTES:,} bytes were read.]"
    elif not whole:
        text = "[The page has no text. If scripts make it, use a browser.]"
    return _observation(
        fetched,
        contents_of(head + text),
        page.title,
        next_start=end if end < whole else None,
    )


def _observation(
    fetched: Fetched, content: list[Content], title: str | None = None, **fields: Any
) -> WebReadObservation:
    return WebReadObservation(
        content=content,
        url=fetched.url,
        status=fetched.status,
        content_type=fetched.content_type or None,
        title=title,
        **fields,
    )


def read_page(html: str, url: str) -> Page:
    """Return *html* from *url* as Markdown with absolute links.

    Menus are left out, unless the page has no other text.
    """
    # Half a surrogate pair is not a character
    html = html.encode("utf-8", "replace").decode()
    text = _markdown(html, url, menus=False) or _markdown(html, url, menus=True)
    title = _TITLE.search(html, 0, _HEAD)
    return Page((title and " ".join(unescape(title[1]).split())) or None, text)


def _markdown(html: str, url: str, *, menus: bool) -> str:
    options = ConversionOptions(
        base_url=url,
        bullets="-",
        compact_tables=True,
        exclude_selectors=_SILENT,
        extract_metadata=False,
        preprocessing=PreprocessingOptions(remove_navigation=not menus, remove_forms=False),
    )
    return _SCRIPTED.sub(r"\1", convert(html, options).content or "").strip()
