"""A Chromium that runs with its own profile, and the page that it shows."""

import asyncio
import os
from collections.abc import Sequence
from contextlib import suppress
from functools import partial
from typing import NamedTuple, Self

from anyio import CancelScope
from playwright.async_api import (
    Browser,
    BrowserContext,
    Dialog,
    Download,
    Error,
    Page,
    Playwright,
    ProxySettings,
    async_playwright,
)

from toolbench.tools.browser.chromium import find_chromium
from toolbench.tools.browser.public_proxy import start_proxy
from toolbench.tools.failure_sentence import RunError
from toolbench.tools.web_read.addresses import Resolver, resolve

_ARGUMENTS = ("--disable-dev-shm-usage", "--no-first-run", "--disable-sync")
# A proxy does not see other connections, such as those of WebRTC
_PROXIED = ("--force-webrtc-ip-handling-policy=disable_non_proxied_udp",)
# Hosts that were refused, in one call
_MOST_REFUSALS = 20
# Milliseconds to wait until an element is ready
_ACTION = 10_000
# Milliseconds to wait until a page begins to load
_NAVIGATION = 30_000
# Milliseconds to wait until a page has loaded the rest
_SETTLE = 5_000
# Of the screenshot, as JPEG
_QUALITY = 80


class State(NamedTuple):
    """The state of the browser's page at one moment."""

    url: str
    title: str
    snapshot: str
    screenshot: bytes | None
    notes: list[str]
    """Sentences about other events since the last state: alerts, downloads, new windows."""


class Session:
    """A running browser; use it only in the event loop that opened it."""

    def __init__(
        self,
        playwright: Playwright,
        browser: Browser,
        context: BrowserContext,
        proxy: asyncio.Server | None,
    ) -> None:
        """Wrap a browser that is already running; use `open` to start a browser."""
        self._proxy = proxy
        self._playwright = playwright
        self._browser = browser
        self._context = context
        self._loop = asyncio.get_running_loop()
        self._notes: list[str] = []
        self._refusals: dict[str, RunError] = {}
        context.set_default_timeout(_ACTION)
        context.set_default_navigation_timeout(_NAVIGATION)
        context.on("page", self._on_page)
        context.on("dialog", self._answer)

    @classmethod
    async def open(
        cls,
        executable: str | None,
        arguments: Sequence[str],
        size: tuple[int, int],
        *,
        private: bool,
        resolver: Resolver = resolve,
    ) -> Self:
        """Start a browser and return its session.

        Args:
            executable: The path of the Chromium to start. None means an installed Chromium.
            arguments: More arguments for Chromium's command line.
            size: The width and the height of the page, in pixels.
            private: Whether the browser may reach this machine and private networks.
            resolver: A function that returns the network addresses of a host and port.

        Raises:
            Error: If the browser does not start.
        """
        refusals = dict[str, RunError]()
        proxy, settings = None, None
        if not private:
            proxy = await start_proxy(partial(_keep, refusals), resolver=resolver)
            host, port = proxy.sockets[0].getsockname()
            settings = ProxySettings(server=f"http://{host}:{port}")
            arguments = [*_PROXIED, *arguments]
        playwright = await async_playwright().start()
        try:
            browser = await playwright.chromium.launch(
                executable_path=executable or find_chromium(),
                args=[*_ARGUMENTS, *arguments],
                # Chromium has no sandbox for root
                chromium_sandbox=not _is_root(),
                proxy=settings,
            )
            context = await browser.new_context(viewport={"width": size[0], "height": size[1]})
            session = cls(playwright, browser, context, proxy)
            session._refusals = refusals
            await context.new_page()
        except BaseException:
            # Also at a cancellation: leave no process
            with CancelScope(shield=True):
                await playwright.stop()
                if proxy is not None:
                    proxy.close()
            raise
        session._notes.clear()
        return session

    @property
    def is_alive(self) -> bool:
        """Whether the browser still runs, and the running event loop is the loop that opened it."""
        here = asyncio.get_running_loop() is self._loop
        return here and self._browser.is_connected()

    async def page(self) -> Page:
        """Return the page that is shown: the newest open page, or a new empty page."""
        pages = self._context.pages
        if pages:
            return pages[-1]
        return await self._context.new_page()

    def why(self, error: Error) -> str:
        """Return a message that says why an action on a page failed with *error*.

        If the cause is a refused connection to a host, the message says why the connection was
        refused. Otherwise, it is Playwright's own message.
        """
        sentence = said(error)
        for host, reason in self._refusals.items():
            if f"//{host}" in sentence or f"//[{host}]" in sentence:
                del self._refusals[host]
                return str(reason)
        return sentence

    async def state(self, *, screenshot: bool) -> State:
        """Wait until the page has loaded, and return its state."""
        page = await self.page()
        # A page that never stops loading is shown as it is
        with suppress(Error):
            await page.wait_for_load_state("load", timeout=_SETTLE)
        title, snapshot, picture = "", "", None
        try:
            title = await page.title()
            snapshot = await page.aria_snapshot(mode="ai")
            if screenshot:
                picture = await page.screenshot(type="jpeg", quality=_QUALITY, scale="css")
        except Error as error:
            self._notes.append(f"The page cannot be shown whole: {said(error)}")
        notes, self._notes = self._notes, []
        # A host that only cannot be reached may be one of Chromium's own
        notes += [str(why) for why in self._refusals.values() if why.__cause__ is None]
        self._refusals.clear()
        return State(page.url, title, snapshot, picture, notes)

    async def close(self) -> None:
        """End the browser and all its processes."""
        if asyncio.get_running_loop() is not self._loop:
            # The loop has ended, and the browser with it
            return
        # It may have crashed
        with suppress(Error):
            await self._browser.close()
        await self._playwright.stop()
        if self._proxy is not None:
            self._proxy.close()

    def _on_page(self, page: Page) -> None:
        self._notes.append("A new window was opened; it is the page shown now.")
        page.on("download", self._refuse)

    async def _answer(self, dialog: Dialog) -> None:
        yes = dialog.type in ("alert", "beforeunload")
        done = "confirmed" if yes else "declined"
        self._notes.append(f"The page's {dialog.type} was {done}: {dialog.message!r}")
        # The page may be gone
        with suppress(Error):
            await (dialog.accept() if yes else dialog.dismiss())

    async def _refuse(self, download: Download) -> None:
        name, url = download.suggested_filename, download.url
        self._notes.append(f"The download of {name!r} was stopped. It is at {url}")
        with suppress(Error):
            await download.cancel()


def _keep(refusals: dict[str, RunError], host: str, why: RunError) -> None:
    """Store the reason *why* a connection to *host* was refused, up to a limit of hosts."""
    if len(refusals) < _MOST_REFUSALS:
        refusals[host] = why


def _is_root() -> bool:
    return os.name == "posix" and os.geteuid() == 0


def said(error: Error) -> str:
    """Return Playwright's message for *error*, on one line.

    If a click failed because another element covers its target, add the line of Playwright's log
    that names the covering element.
    """
    text, _, log = error.message.partition("Call log:")
    reasons = [line.strip(" -") for line in log.splitlines() if "intercepts" in line]
    return " ".join([" ".join(text.split()), *reasons[:1]])
