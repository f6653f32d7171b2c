"""The button "Should I use it?" for a server, and a card with the answer."""

from functools import partial

from toolbench.display.escape import Html
from toolbench.display.page import notice
from toolbench.mcp.review import ServerReview, review_of
from toolbench.mcp.session import MCPServerSession
from toolbench.widgets.explorer.panes.pane import Lock
from toolbench.widgets.explorer.updates import Failure, ServerRequest
from toolbench.widgets.kit.parts import Parts, put, show_if


class ReviewView:
    """A button that reviews the tools of a server without calling them."""

    def __init__(self, parts: Parts, lock: Lock) -> None:
        """Show the button without an answer; callbacks run while *lock* is held."""
        self._lock = lock
        self._session: MCPServerSession | None = None
        self._server_request: ServerRequest[ServerReview] = ServerRequest(lock)
        self._ask = parts.button(
            "Should I use it?", tip="Its tools, tokens, risks, and what lint says"
        )
        self._answer = parts.html()
        self._ask.on_click(lambda _: self._review())
        self.widget = parts.column(self._ask, self._answer)

    def show(self, session: MCPServerSession) -> None:
        """Set the server to review. Remove the answer about another server."""
        if session is not self._session:
            self._session = session
            self._server_request.forget()
            put(self._answer, Html(""))
        show_if(self._ask, is_shown=session.is_connected)

    def _review(self) -> None:
        with self._lock:
            if self._session is not None:
                self._server_request.start(partial(review_of, self._session), self._show)

    def _show(self, review: ServerReview | Failure) -> None:
        if isinstance(review, Failure):
            put(self._answer, notice(review.text, "danger"))
        else:
            put(self._answer, review.to_html())

    def close(self) -> None:
        """Ignore the answer of a review that still runs."""
        self._server_request.forget()
