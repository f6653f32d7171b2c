"""Find a Chromium that is installed on this machine."""

import os
import shutil
from pathlib import Path

_NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
_APPLICATIONS = (
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
)
_DOWNLOADED = (".cache/ms-playwright", "Library/Caches/ms-playwright")


def find_chromium() -> str | None:
    """Return the path of an installed Chromium or Chrome; None if there is none."""
    for name in _NAMES:
        if program := shutil.which(name):
            return program
    return next((path for path in _APPLICATIONS if Path(path).exists()), None)


def playwright_has_one() -> bool:
    """Tell whether Playwright has downloaded its own Chromium."""
    folder = os.environ.get("PLAYWRIGHT_BROWSERS_PATH")
    places = [Path(folder)] if folder else [Path.home() / place for place in _DOWNLOADED]
    return any(list(place.glob("chromium-*")) for place in places)
