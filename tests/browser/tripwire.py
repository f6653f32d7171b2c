"""What a page runs before anything else, to remember what fired in it: `window.fired`."""

from playwright.sync_api import Page

from browser.lab import NotebookPage

TRIPWIRE = """
    window.fired = [];
    window.tripwire = (...args) => window.fired.push(args.join() || "fired");
    for (const ask of ["alert", "confirm", "prompt"]) window[ask] = window.tripwire;
"""


def show_safely(lab: NotebookPage, index: int, least: int, *, poke: str, dangers: str) -> None:
    """Run a cell of hostile text, poke what it shows, and see that nothing fires.

    Args:
        lab: A page with the tripwire.
        index: The cell.
        least: How many elements it shows at least.
        poke: Does in the page what a reader's mouse and keyboard would.
        dangers: Lists in the page what could do something.
    """
    page = lab.tab.page
    lab.show(index)
    lab.run(index)
    assert not (errors := lab.errors()), errors
    lab.show(index)
    lab.wait_until_drawn(index, least)
    _settle(page)
    page.evaluate(poke)
    assert not (dangers_met := page.evaluate(dangers)), dangers_met
    _settle(page)
    assert not (fired := page.evaluate("window.fired")), f"cell {index}: {fired}"
    assert not (requests := lab.tab.foreign_requests), f"cell {index}: {requests}"


def _settle(page: Page) -> None:
    """Let the page run what it was given."""
    page.evaluate("() => new Promise(r => requestAnimationFrame(() => setTimeout(r, 300)))")
