"""The Chromium that the tests share, and another one where it has died."""

from playwright.sync_api import Browser, Playwright

FLAGS = [
    # Nothing but this machine can be reached, with or without a network.
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
    "--no-proxy-server",
    "--disable-gpu",
]


class Chromium:
    """The machine's Chromium; where it has died, the next test gets a new one."""

    def __init__(self, playwright: Playwright, program: str) -> None:
        self._playwright = playwright
        self._program = program
        self._browser: Browser | None = None

    def browser(self) -> Browser:
        """Return the one that runs, started if there is none."""
        if self._browser is None or not self._browser.is_connected():
            self._browser = self._playwright.chromium.launch(
                executable_path=self._program,
                args=FLAGS,
                # Root may not use it
                chromium_sandbox=False,
            )
        return self._browser

    def another(self) -> "Chromium":
        """Return one that is not started yet, for a test that ends it."""
        return Chromium(self._playwright, self._program)

    def close(self) -> None:
        """End it."""
        if self._browser is not None:
            self._browser.close()
