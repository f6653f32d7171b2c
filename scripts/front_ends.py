"""Writes the table of front ends in docs/front-ends.md from the tests that prove it; `--check` only compares.

A test says what it proves: `@pytest.mark.front_end("Voila", "load", "type", "run")`.
"""
# ruff: noqa: T201 - a script talks to its terminal

import re
import sys
from collections import defaultdict
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "front-ends.md"
BEGIN = "<!-- front ends: made by `make docs` from the tests -->\n"
END = "<!-- end -->"
ACTIONS = ("load", "type", "run", "cancel", "reopen")
HEADS = ("loads", "type", "run", "cancel", "the saved file reads well")
PEOPLE = ("JupyterLab", "Notebook 7", "Voila", "nbclassic", "JupyterLite")
# They save nothing
NO_USE = {"Voila": {"reopen"}, "nbval": {"reopen"}}
# See docs/how-to/run-in-a-browser.md
KNOWN_NOT = {"JupyterLite": {"reopen"}}
# A page has no threads
PARTLY = {("JupyterLite", "cancel"): "async tools"}
NOBODY = ("nbconvert", "nbval", "papermill", "jupyter execute")
PACKAGES = {
    "Notebook 7": "notebook",
    "JupyterLite": "jupyterlite-core",
    "jupyter execute": "nbclient",
}
MANAGERS = {
    "VS Code's manager": (
        "VS Code's widget manager in Chromium, not VS Code itself",
        "@vscode/jupyter-ipywidgets8",
    ),
    "html-manager": (
        "ipywidgets' manager for other pages in Chromium, not Colab itself",
        "@jupyter-widgets/html-manager",
    ),
}
"""Parts of front ends that cannot be started here: what the table calls them, and their packages of npm."""
MANAGER_PINS = ROOT / "tests" / "browser" / "managers" / "build.mjs"
# What is installed for the site alone
SITE_PINS = ROOT / "site" / "constraints.txt"
UNPROVEN = ("skip", "xfail")


class Collected:
    """A pytest plugin: what the collected tests say they prove; one that is skipped proves nothing."""

    def __init__(self) -> None:
        """Nothing is proven yet."""
        self.proven: dict[str, set[str]] = defaultdict(set)

    def pytest_collection_finish(self, session: Any) -> None:
        """Read the marks of every test."""
        for item in session.items:
            if any(item.get_closest_marker(name) for name in UNPROVEN):
                continue
            for mark in item.iter_markers("front_end"):
                name, *actions = mark.args
                self.proven[name].update(actions)


def main(arguments: list[str]) -> int:
    """Write the table, or with `--check` say whether it is as it would be written."""
    before = PAGE.read_text(encoding="utf-8")
    head, _, rest = before.partition(BEGIN)
    _, _, tail = rest.partition(END)
    text = f"{head}{BEGIN}{table(proven())}{END}{tail}"
    if "--check" in arguments:
        if text == before:
            return 0
        print("The table of front ends is not what the tests say: run `make docs`.")
        return 1
    PAGE.write_text(text, encoding="utf-8")
    return 0


def proven() -> dict[str, set[str]]:
    """Return, for every front end, the actions that a test carries out in it."""
    plugin = Collected()
    files = (ROOT / "tests").rglob("test_*.py")
    paths = [str(path) for path in files if "mark.front_end(" in path.read_text("utf-8")]
    code = pytest.main(["-p", "no:terminal", "--collect-only", *paths], [plugin])
    if code != pytest.ExitCode.OK:
        sys.exit("The tests cannot be collected.")
    return plugin.proven


def table(proven: dict[str, set[str]]) -> str:
    """Return the table in Markdown; empty is what a front end has no use for."""
    lines = ["", f"| front end | {' | '.join(HEADS)} |", f"|---|{'---|' * len(HEADS)}"]
    for name in (*PEOPLE, *MANAGERS, *NOBODY):
        useless = NO_USE.get(name, set()) | ({"type", "cancel"} if name in NOBODY else set())
        cells = (
            PARTLY.get((name, a), "yes")
            if a in proven[name]
            else "no"
            if a in KNOWN_NOT.get(name, ())
            else " "
            if a in useless
            else "not tested"
            for a in ACTIONS
        )
        lines.append(f"| {labelled(name)} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n\n"


def labelled(name: str) -> str:
    """Return *name* with the version that is tested here."""
    if name in MANAGERS:
        label, package = MANAGERS[name]
        [release] = re.findall(rf'"{package}@([\d.]+)"', MANAGER_PINS.read_text("utf-8"))
        return f"{label} ({package} {release})"
    package = PACKAGES.get(name, name.lower())
    release = ".".join(installed(package).split(".")[:2])
    short_name = name.removesuffix(" 7")
    return (
        f"{short_name} {release}"
        if package == short_name.lower()
        else f"{short_name} ({package} {release})"
    )


def installed(package: str) -> str:
    """Return the version of *package* here, or in the environment that builds the site."""
    try:
        return version(package)
    except PackageNotFoundError:
        lines = SITE_PINS.read_text("utf-8").splitlines()
        pins = dict(line.split()[0].split("==") for line in lines)
        return pins[package]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
