"""The executor of the browser tool: do the steps, then show the page."""

from base64 import b64encode
from collections.abc import Sequence
from concurrent.futures import CancelledError, Future
from threading import Lock
from typing import Any

from playwright.async_api import Error

from toolbench.core.background_loop import portal
from toolbench.core.content import Content, ImageContent, TextContent
from toolbench.core.executor import ToolExecutor
from toolbench.tools.browser.browser_session import Session, State, said
from toolbench.tools.browser.definition import BrowserAction, BrowserObservation
from toolbench.tools.browser.page_script import Step, parse
from toolbench.tools.failure_sentence import RunError
from toolbench.tools.web_read.addresses import Resolver, resolve

# Characters of a snapshot
_MAX_SNAPSHOT = 30_000
# The most seconds to wait until a browser has closed
_CLOSING = 15.0


class BrowserExecutor(ToolExecutor[BrowserAction, BrowserObservation]):
    """The executor of the browser tool. It has its own browser, and runs one call at a time."""

    def __init__(
        self,
        *,
        screenshot: bool = True,
        executable: str | None = None,
        arguments: Sequence[str] = (),
        size: tuple[int, int] = (1280, 720),
        allow_private: bool = False,
        resolver: Resolver = resolve,
    ) -> None:
        """Make an executor whose browser starts with the first call.

        Args:
            screenshot: Whether each result includes a picture of the page.
            executable: The path of the Chromium to start; if left out, an installed Chromium.
            arguments: More arguments for the command line of Chromium.
            size: Width and height of the page, in pixels.
            allow_private: Whether the browser may also reach this machine and private networks,
                for example to test a page that you develop. This has a risk: a web page may
                persuade a model to act on private pages.
            resolver: A function that returns the network addresses of a host and port.
        """
        self._private = allow_private
        self._resolver = resolver
        self._screenshot = screenshot
        self._executable = executable
        self._arguments = tuple(arguments)
        self._size = size
        self._session: Session | None = None
        self._busy = Lock()
        self._future: Future[BrowserObservation] | None = None

    def __call__(self, action: BrowserAction, conversation: Any = None) -> BrowserObservation:
        """Carry out the steps of *action*, and return the state of the page after them."""
        try:
            steps = parse(action.code)
            with self._busy:
                if self._closed:
                    msg = "This browser is closed. Create the tool again."
                    raise RunError(msg)
                return self._waited(portal.start(self._perform, steps))
        except RunError as failure:
            return BrowserObservation.from_text(str(failure), is_error=True, error=str(failure))

    def _waited(self, future: Future[BrowserObservation]) -> BrowserObservation:
        self._future = future
        try:
            return future.result()
        except CancelledError as error:
            msg = "The browser was interrupted. noop() shows where it is."
            raise RunError(msg) from error
        finally:
            # It has ended already, unless this thread was interrupted
            future.cancel()
            self._future = None

    async def _perform(self, steps: list[Step]) -> BrowserObservation:
        session = await self._opened()
        done, error = 0, None
        for step in steps:
            try:
                await step.function(await session.page(), **step.arguments)
            except (Error, RunError) as failure:
                why = session.why(failure) if isinstance(failure, Error) else str(failure)
                error = f"{step.code} failed: {why}"
                break
            done += 1
        left = len(steps) - done - 1
        if error and left:
            error += f" ({left} more not carried out)"
        try:
            state = await session.state(screenshot=self._screenshot)
        except Error as failure:
            msg = f"The browser is gone: {said(failure)} The next call starts another."
            raise RunError(msg) from failure
        return BrowserObservation(
            content=_content(state, error),
            is_error=error is not None,
            url=state.url,
            title=state.title,
            steps_done=done,
            error=error,
        )

    async def _opened(self) -> Session:
        if self._session is not None and not self._session.is_alive:
            session, self._session = self._session, None
            await session.close()
        if self._session is None:
            try:
                self._session = await Session.open(
                    self._executable,
                    self._arguments,
                    self._size,
                    private=self._private,
                    resolver=self._resolver,
                )
            except Error as error:
                msg = f"No browser could be started: {said(error)}"
                raise RunError(msg) from error
        return self._session

    def interrupt(self) -> None:
        """Stop the current call; the page stays as it is."""
        if (future := self._future) is not None:
            future.cancel()

    def close(self) -> None:
        """End the browser."""
        self.interrupt()
        with self._busy:
            session, self._session = self._session, None
            if session is not None:
                portal.call(session.close, timeout=_CLOSING)


def _content(state: State, error: str | None) -> list[Content]:
    snapshot = state.snapshot
    if len(snapshot) > _MAX_SNAPSHOT:
        missing = len(snapshot) - _MAX_SNAPSHOT
        snapshot = f"{snapshot[:_MAX_SNAPSHOT]}\n[… {missing:,} more characters: scroll …]"
    lines = [*([error] if error else []), *state.notes]
    lines += [f"Page: {state.title}", f"URL: {state.url}", "", snapshot or "(empty)"]
    content: list[Content] = [TextContent(text="\n".join(lines))]
    if state.screenshot is not None:
        url = f"data:image/jpeg;base64,{b64encode(state.screenshot).decode()}"
        content.append(ImageContent(image_urls=[url]))
    return content
