"""What the site's build changes for a page: cells that need a computer, and errors that are meant."""

import gzip
import json
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "scripts"))

import lite_errors  # noqa: E402 - scripts, which are in no package
import page_notebooks  # noqa: E402
import smaller_page  # noqa: E402

NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))


def notebook(name):
    return json.loads((ROOT / "notebooks" / f"{name}.ipynb").read_text("utf-8"))


@pytest.mark.parametrize("name", page_notebooks.IN_PAGE)
def test_no_cell_of_a_page_starts_a_server(name):
    """What connects a server is there to be read, and nothing else is lost."""
    before = notebook(name)
    after = page_notebooks.in_page(before)
    code = [cell for cell in after["cells"] if cell["cell_type"] == "code"]
    assert not any("%mcp connect" in "".join(cell["source"]) for cell in code)
    texts = ["".join(cell["source"]) for cell in after["cells"]]
    assert texts[0] == page_notebooks.FIRST_CELL
    assert len(texts) == len(before["cells"]) + 1
    for cell, text in zip(before["cells"], texts[1:], strict=True):
        assert "".join(cell["source"]).replace(".jsonl", ".txt") in text


def test_tour_says_once_why_cells_are_to_be_read():
    """One sentence, before the first of them."""
    text = json.dumps(page_notebooks.in_page(notebook("00_tour")))
    assert text.count("This page can start no program") == 1


def test_saved_outputs_are_in_one_piece():
    """JupyterLite joins no lines: each of a list would be shown with a comma."""
    after = page_notebooks.in_page(notebook("06_a_model_at_the_bench"))
    texts: list[object] = []
    for cell in after["cells"]:
        for output in cell.get("outputs", ()):
            texts += [output.get("text", ""), *output.get("data", {}).values()]
    assert texts
    assert not [text for text in texts if isinstance(text, list)]


def test_layout_is_that_of_the_repository(tmp_path):
    """The tour reads README.md beside the folder of notebooks."""
    page_notebooks.write_notebooks(tmp_path / "files")
    names = {path.name for path in (tmp_path / "files").iterdir()}
    assert {"README.md", "start.ipynb", "notebooks"} <= names


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_page_of_a_notebook_says_where_it_runs(path):
    """Below its title stands a link to JupyterLite, or that it needs a computer; the index says the same."""
    linked = page_notebooks.with_link(path.stem, notebook(path.stem))
    title, note, *_ = linked["cells"][0]["source"].split("\n\n")
    assert title.startswith("# ")
    is_live = path.stem in page_notebooks.IN_PAGE
    assert (f"path=notebooks/{path.stem}.ipynb" in note) == is_live
    assert ("needs a computer" in note) != is_live
    index = (ROOT / "site" / "pages" / "notebooks" / "index.md").read_text("utf-8")
    [row] = [line for line in index.splitlines() if f"({path.name})" in line]
    assert row.endswith("| in this page |" if is_live else "| on a computer |")


def test_every_how_to_is_in_the_index():
    """The index names each page twice: where a reader looks for it, and in the contents."""
    index = (ROOT / "site" / "pages" / "docs" / "how-to" / "index.md").read_text()
    for path in (ROOT / "docs" / "how-to").glob("*.md"):
        assert f"({path.name})" in index
        assert f"<{path.stem}>" in index


def test_both_places_are_changed(tmp_path):
    """The request's word is noted, and heeded where waiting cells are dropped."""
    (tmp_path / "build").mkdir()
    file = tmp_path / "build" / "1.js"
    file.write_text(f"a({lite_errors.REQUEST});b({lite_errors.REPLY}drop()))")
    lite_errors.heed_meant_errors(tmp_path)
    text = file.read_text()
    assert "i.stopOnError=!1!==s.content?.stop_on_error," in text
    assert '"interrupt"!==e.metadata.cause&&i.stopOnError&&(drop())' in text


def test_another_jupyterlite_ends_the_build(tmp_path):
    """Where the places are not found nothing is guessed, and the message says what to look at."""
    (tmp_path / "build").mkdir()
    (tmp_path / "build" / "1.js").write_text("something else")
    with pytest.raises(SystemExit, match=r"0 files .* stop_on_error"):
        lite_errors.heed_meant_errors(tmp_path)


def test_trimmed_wheel_lists_what_it_holds(tmp_path, monkeypatch):
    """What no page reads is gone from the wheel and from its RECORD; all else is as it was."""
    monkeypatch.setattr(smaller_page, "UNREAD", {"a": r"a/unread/"})
    wheel = tmp_path / "a-1-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr("a/__init__.py", "x = 1\n")
        archive.writestr("a/unread/b.pyi", "y: int\n" * 100)
        archive.writestr("a-1.dist-info/RECORD", "a/__init__.py,,\na/unread/b.pyi,,\n")
    smaller_page.trim_wheels(tmp_path)
    with zipfile.ZipFile(wheel) as archive:
        assert archive.namelist() == ["a/__init__.py", "a-1.dist-info/RECORD"]
        assert archive.read("a/__init__.py") == b"x = 1\n"
        assert archive.read("a-1.dist-info/RECORD") == b"a/__init__.py,,\n"
    with pytest.raises(SystemExit, match="change UNREAD"):
        smaller_page.trim_wheels(tmp_path)


def test_wasm_is_packed_for_the_loader_that_is_known(tmp_path):
    """The loader asks for the packed file and unpacks it; another loader ends the build."""
    (tmp_path / smaller_page.WASM).write_bytes(b"wasm" * 100)
    loader = tmp_path / "pyodide.mjs"
    loader.write_text(f'_(e+"{smaller_page.WASM}");{smaller_page.STREAM}')
    smaller_page.pack_wasm(tmp_path)
    packed = tmp_path / smaller_page.PACKED
    assert gzip.decompress(packed.read_bytes()) == b"wasm" * 100
    assert f'"{packed.name}"' in loader.read_text()
    assert "DecompressionStream" in loader.read_text()
    with pytest.raises(SystemExit, match=r"pyodide\.mjs"):
        smaller_page.pack_wasm(tmp_path)
