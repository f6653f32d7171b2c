"""A notebook in JupyterLite, operated as a person does; what its cells hold is asked of JupyterLite's model."""

from pathlib import Path

PICTURES = Path(__file__).parents[2] / "build" / "site-pictures"
TAG = "raises-exception"
_CELLS = """
    () => {
      const notebook = window.jupyterapp?.shell.currentWidget?.content;
      return Array.from(notebook?.model?.cells ?? []).map(cell => cell.toJSON())
        .filter(cell => cell.cell_type === "code");
    }
"""
_IS_READY = "() => window.jupyterapp?.shell.currentWidget?.context?.sessionContext?.session?.kernel"
_HAVE_ENDED = f"""
    (tag) => {{
      const cells = ({_CELLS})();
      const failed = (cell) => cell.outputs.some(output => output.output_type === "error");
      const meant = (cell) => (cell.metadata.tags ?? []).includes(tag);
      const stopped = cells.some(cell => failed(cell) && !meant(cell));
      return cells.length > 0 && (stopped || cells.every(cell => cell.execution_count));
    }}
"""
_RUN = """
    async ([index, code]) => {
      const { content, context } = window.jupyterapp.shell.currentWidget;
      const codes = () => Array.from(content.widgets).filter(cell => cell.model.type === "code");
      if (index === codes().length) {
        content.model.sharedModel.insertCell(content.widgets.length, { cell_type: "code", source: code });
      }
      const cell = codes()[index];
      content.activeCellIndex = content.widgets.indexOf(cell);
      cell.model.sharedModel.setSource(code);
      await window.jupyterapp.commands.execute("notebook:run-cell");
      return cell.model.outputs.toJSON().map(output => [output.text ?? output.evalue ?? ""].flat().join("")).join("");
    }
"""


class LiteNotebook:
    """The notebook *path* of the built site in a page."""

    def __init__(self, page, origin, path):
        self.page = page
        page.goto(f"{origin}/lite/notebooks/index.html?path={path}")
        page.wait_for_selector(".jp-Notebook .jp-Cell")

    def run_all(self):
        """Choose Run > Run All Cells; a page that has no kernel yet would run nothing."""
        self.page.wait_for_function(_IS_READY)
        self.page.get_by_role("menuitem", name="Run", exact=True).click()
        self.page.get_by_text("Run All Cells", exact=True).click()

    def run(self, index, code):
        """Put *code* into a code cell, run it, and return its text when it is done; the cell after the last is new."""
        return self.page.evaluate(_RUN, [index, code])

    def save(self):
        """Save the notebook in the browser."""
        self.page.evaluate("() => window.jupyterapp.commands.execute('docmanager:save')")

    def panel(self, title):
        """The newest panel of the tool called *title*."""
        panels = self.page.locator(".toolbench-panel")
        return panels.filter(has=self.page.get_by_text(title, exact=True)).last

    def wait_for_the_end(self):
        """Wait until every code cell has run, or one has failed that should not."""
        self.page.wait_for_function(_HAVE_ENDED, arg=TAG)

    def answer(self, text):
        """Type *text* into the box in which a cell asks."""
        box = self.page.locator(".jp-Stdin-input")
        box.fill(text)
        box.press("Enter")

    def unexpected_errors(self):
        """The errors of cells, but for those that the notebook says are meant."""
        return [
            (cell["source"], output["evalue"])
            for cell in self.page.evaluate(_CELLS)
            if TAG not in cell["metadata"].get("tags", [])
            for output in cell["outputs"]
            if output["output_type"] == "error"
        ]

    def picture(self, name):
        """Keep a screenshot beside the site."""
        PICTURES.mkdir(parents=True, exist_ok=True)
        self.page.screenshot(path=PICTURES / f"{name}.png")
