"""The shipped notebooks, as their readers use them."""

import shutil
from pathlib import Path

import nbformat
import pytest
from playwright.sync_api import expect

from browser.lab import NotebookPage

ROOT = Path(__file__).parents[2]


@pytest.fixture
def tour(nbroot: Path) -> str:
    """The tour in the folder that is served, with the README it reads."""
    shutil.copytree(ROOT / "notebooks", nbroot / "notebooks", dirs_exist_ok=True)
    shutil.copy(ROOT / "README.md", nbroot)
    return "notebooks/00_tour.ipynb"


def cell_of(nbroot: Path, notebook: str, line: str) -> int:
    """The index of the first cell that has *line*."""
    cells = nbformat.read(nbroot / notebook, as_version=4).cells
    return next(i for i, cell in enumerate(cells) if line in cell.source)


class TestTour:
    @pytest.mark.long
    def test_from_form_to_what_the_model_reads(self, lab: NotebookPage, nbroot: Path, tour: str):
        """Open, run all, type, Run: the page shows what a person sees and what a model reads."""
        lab.tab.page.set_viewport_size({"width": 1280, "height": 1400})
        lab.open(tour)
        lab.run_all(may_fail=True)
        wrong = [error.partition(": ")[2] for error in lab.errors()]
        assert [error.partition(":")[0] for error in wrong] == ["ToolFailedError"]

        panel = lab.output(cell_of(nbroot, tour, "def split_bill("))
        lab.type_into("total", "84", within=panel)
        lab.click("Run", within=panel)
        lab.wait_for_text("A person and the model read the same", within=panel)
        lab.wait_for_text("Everybody pays 46.20 euros.", within=panel)
        lab.show(cell_of(nbroot, tour, "def split_bill("))
        lab.picture("tour-split-bill")

        server = lab.output(cell_of(nbroot, tour, "%tool convert_time"))
        lab.show(cell_of(nbroot, tour, "%tool convert_time"))
        lab.picture("tour-mcp")
        expect(server.get_by_role("button", name="Run", exact=True)).to_have_count(1)
        assert lab.tab.foreign_requests == []
        assert lab.tab.console_errors == []

    def test_cells_can_be_run_again(self, lab: NotebookPage, nbroot: Path, tour: str):
        """The first law: a cell that defines a tool is run twice, and its panel works."""
        lab.open(tour)
        define = cell_of(nbroot, tour, "def split_bill(")
        lab.run(cell_of(nbroot, tour, "%load_ext"))
        lab.run(define)
        lab.run(define)
        kinds = [output["output_type"] for output in lab.outputs(define)]
        # The first is hidden
        assert kinds == ["display_data", "execute_result"]
        lab.type_into("total", "10", within=lab.output(define))
        lab.click("Run", within=lab.output(define))
        lab.wait_for_text("Everybody pays 5.50 euros.", within=lab.output(define))
