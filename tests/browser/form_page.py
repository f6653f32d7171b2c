"""The page object of a form: what a person sees of it, and what the kernel has."""

import json
from typing import Any

from patience import eventually
from playwright.sync_api import Locator, Page

from browser.lab import NotebookPage

FORM_AT, ASK_AT = 0, 1
ASK = "print(json.dumps([form.value, form.blocked]))"


class FormPage:
    """A form in a notebook, and what the kernel says of it."""

    def __init__(self, notebook: NotebookPage, *cells: str) -> None:
        notebook.share(*cells)
        notebook.run(FORM_AT)
        self.notebook = notebook
        self.page: Page = notebook.tab.page
        self.form: Locator = notebook.output(FORM_AT).locator(".tb-form").first
        self.keys = self.page.keyboard
        self.undo = "Control+Z"

    def field(self, label: str) -> Locator:
        return self.form.get_by_label(label, exact=True)

    def switch(self, name: str, option: str) -> None:
        """Choose *option* of a switch or of tabs."""
        self.form.get_by_role("radiogroup", name=name).get_by_label(option).click()

    def holds(self, value: Any, *, blocked: bool = False) -> None:
        """Wait until the kernel has this value: key strokes arrive one after the other."""
        answer: list[Any] = []

        def knows() -> bool:
            self.notebook.run(ASK_AT)
            answer[:] = json.loads(self.notebook.text(ASK_AT))
            return answer == [value, blocked]

        try:
            eventually(knows, what="what the kernel knows")
        except AssertionError:
            # Says what it knows instead
            assert answer == [value, blocked]
            raise

    def has_focus(self, name: str) -> None:
        """Wait until `focused` says *name*."""
        eventually(lambda: self.focused() == name, what=f"the cursor is at {name}")

    def focused(self) -> str:
        """The label of what has the cursor; before it that of its group, if it has one."""
        name: str = self.page.evaluate(
            """() => {
              const active = document.activeElement;
              const group = active.closest("[role=radiogroup]")?.getAttribute("aria-labelledby");
              const label = active.labels?.[0]?.textContent ?? active.textContent;
              return group ? `${document.getElementById(group).textContent}: ${label}` : label;
            }"""
        )
        return name
