"""What axe-core finds wrong with a part of a page, for people who do not see or click as others do."""

from axe_playwright_python.base import AXE_SCRIPT
from playwright.sync_api import Page

THEMES = {"light": "JupyterLab Light", "dark": "JupyterLab Dark"}
_NO_SPLASH = "() => document.getElementById('jupyterlab-splash') === null"
_RUN = """
    async selector => {
      // Colours that are on their way are no fault; what turns for ever has no end
      const moving = document.getAnimations().filter(({effect}) => effect.getComputedTiming().endTime < Infinity);
      await Promise.allSettled(moving.map(({finished}) => finished));
      const options = {resultTypes: ["violations"], iframes: false};
      const found = await axe.run({include: [selector]}, options);
      const checked = document.querySelectorAll(`${selector} *`).length;
      const faults = found.violations.flatMap(rule => rule.nodes.map(
        node => `${rule.id}: ${node.target.join(" ")}: ${node.html.slice(0, 200)}: `
          + (node.failureSummary ?? "").replace(/\\s+/g, " ")
      ));
      return {checked, faults};
    }
"""


def violations(page: Page, selector: str) -> list[str]:
    """What breaks a rule of axe-core within *selector*; scroll it into view first.

    Raises:
        AssertionError: There was nothing within *selector* to check.
    """
    if not page.evaluate("() => 'axe' in window"):
        page.evaluate(AXE_SCRIPT)
    result = page.evaluate(_RUN, selector)
    assert result["checked"] > 0, f"{selector} is empty"
    faults: list[str] = result["faults"]
    return faults


def use_theme(page: Page, theme: str) -> None:
    """Have JupyterLab or Notebook 7 use its `light` or `dark` theme, and wait for it.

    JupyterLab covers the page meanwhile. Where the next theme comes before that cover is gone,
    JupyterLab takes it away twice, and the second time is an uncaught error.
    """
    change = "theme => window.jupyterapp.commands.execute('apputils:change-theme', {theme})"
    page.evaluate(change, THEMES[theme])
    light = "light => document.body.dataset.jpThemeLight === light"
    page.wait_for_function(light, arg=str(theme == "light").lower())
    page.wait_for_function(_NO_SPLASH)
