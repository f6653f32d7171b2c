"""A page with a kernel and the widget manager of a front end that cannot be started here."""

import sys
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Route

from browser.lab import Hands

HERE = Path(__file__).parent / "managers"
NODE_MODULES = HERE / "node_modules"
BUILT = NODE_MODULES / ".managers"
ADDRESS = "widget-managers/"
EXTENSIONS = Path(sys.prefix, "share", "jupyter")


class ManagerPage(Hands):
    """Cells are run by a kernel of the server, and their widgets are shown by the manager, in an empty page."""

    def open(self, manager: str) -> None:
        """Start a kernel and the manager called *manager*; the page has the address of the server."""
        if not (BUILT / "page.js").exists():
            pytest.skip("the widget managers are not there: run `make widget-managers`")
        page = self.tab.page
        # a document that the test gives is not of this machine to Chromium; its socket is
        page.context.grant_permissions(["local-network-access"])
        page.route(f"{self.server.address}{ADDRESS}**", self._answer)
        page.goto(f"{self.server.address}{ADDRESS}index.html")
        page.wait_for_function("window.managers")
        settings = {"url": self.server.address, "token": self.server.token}
        page.evaluate("([name, settings]) => managers.open(name, settings)", [manager, settings])

    def run(self, code: str) -> str:
        """Run a cell, and return its text when it is done."""
        text: str = self.tab.page.evaluate("code => managers.run(code)", code)
        return text

    def shut_down(self) -> None:
        """End the kernel."""
        self.tab.page.evaluate("window.managers?.close()")

    def _answer(self, route: Route) -> Any:
        """Give the page its files: its own, the managers, requirejs, and the extensions of this environment."""
        name = route.request.url.partition(ADDRESS)[2].partition("?")[0]
        places = (BUILT, HERE, NODE_MODULES / "requirejs", EXTENSIONS)
        files = (folder / name for folder in places)
        path = next((file for file in files if file.is_file()), None)
        return route.fulfill(path=path) if path else route.fulfill(status=404)
