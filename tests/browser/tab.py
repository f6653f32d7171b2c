"""A browser tab that remembers what went wrong in it and what it asked of the world."""

from pathlib import Path
from urllib.parse import urlsplit

from playwright.sync_api import BrowserContext, ConsoleMessage, ViewportSize, WebError

WINDOW: ViewportSize = {"width": 1280, "height": 960}
LOCAL_SCHEMES = {"data", "blob", "about", "file"}
# anywidget gives a model two seconds of wall time, and a model that was closed before it was ready
# never is. On a busy machine both happen; what the module does is what tests look at.
CLOCK_OF_ANYWIDGET = "[anywidget] Failed to initialize model."


class Tab:
    """One page in a context of its own.

    Attributes:
        page: Playwright's page.
        console_errors: What the page or an uncaught error wrote to its console.
        foreign_requests: The addresses it asked for beyond this machine.
        tests: How many tests have used it.
        shared: The file of the notebook whose kernel tests share, while it is open.
    """

    def __init__(self, context: BrowserContext) -> None:
        self.console_errors: list[str] = []
        self.foreign_requests: list[str] = []
        self.tests = 0
        self.shared: Path | None = None
        context.on("console", self._on_console)
        context.on("weberror", self._on_error)
        context.on("request", lambda request: self._on_address(request.url))
        self.page = context.new_page()
        self.page.on("websocket", lambda socket: self._on_address(socket.url))

    @property
    def is_alive(self) -> bool:
        """Whether its Chromium still runs."""
        browser = self.page.context.browser
        return browser is not None and browser.is_connected() and not self.page.is_closed()

    def forget(self) -> None:
        """Begin anew: what went wrong so far was of an earlier test."""
        self.console_errors.clear()
        self.foreign_requests.clear()

    def _on_console(self, message: ConsoleMessage) -> None:
        if message.type == "error":
            place = message.location.get("url", "")
            self.console_errors.append(f"{message.text} ({place})")

    def _on_error(self, error: WebError) -> None:
        # Where it comes from
        stack = getattr(error.error, "stack", None)
        if CLOCK_OF_ANYWIDGET in str(stack or error.error):
            return
        self.console_errors.append(f"uncaught: {stack or error.error}")

    def _on_address(self, url: str) -> None:
        parts = urlsplit(url)
        if parts.scheme not in LOCAL_SCHEMES and parts.hostname != "127.0.0.1":
            self.foreign_requests.append(url)
