"""A large result: what a notebook keeps of it, and how much of it is read to show it."""

import re
import sys
from base64 import b64decode, b64encode
from collections.abc import Callable
from io import BytesIO
from pathlib import Path
from random import Random
from typing import Any

import pytest
from pydantic_core import to_json

from test_display.test_bounded import peak
from toolbench import run_tool, tool
from toolbench.display.images import read_image
from toolbench.display.observations import BOTH
from toolbench.mcp.results import MCPObservation

sys.path.append(str(Path(__file__).parents[2] / "bench"))

from large_values import VALUES, nested

# Bytes of a result in a saved notebook
MOST = 1_000_000
ROWS = VALUES["100,000 dicts"]()


def picture(width: int = 2_000) -> bytes:
    image = pytest.importorskip("PIL.Image")
    written = BytesIO()
    image.effect_noise((width, 1_000), 30).save(written, "PNG")
    return written.getvalue()


def shown(observation: Any) -> dict[str, str]:
    bundle: dict[str, str] = observation._repr_mimebundle_()
    return bundle


def parsed(work: Callable[[], object]) -> int:
    """Return how many characters Python's `json` reads during *work*."""
    count = 0

    def note(frame: Any, event: str, _: object) -> None:
        nonlocal count
        if event == "call" and frame.f_code.co_name == "raw_decode":
            count += len(frame.f_locals["s"])

    sys.setprofile(note)
    try:
        work()
    finally:
        sys.setprofile(None)
    return count


@pytest.mark.slow
@pytest.mark.parametrize(
    "make", [*VALUES.values(), picture], ids=[*VALUES, "an image with a preview"]
)
def test_a_notebook_keeps_at_most_a_megabyte(make):
    """And its record in the history keeps no more."""
    value = make()

    @tool(read_only=True)
    def give() -> Any:
        """Give the value."""
        return value

    assert sum(map(len, shown(run_tool(give)).values())) < MOST


@pytest.mark.parametrize(("width", "most"), [(2_000, 5_000_000), (8_000, 50_000_000)])
def test_a_large_image_is_a_preview_that_says_so(width, most, monkeypatch):
    """The result in Python has all of it; the preview is made once, however often it is shown."""
    data, opened = picture(width), []
    assert most // 10 < len(data) < most
    image = pytest.importorskip("PIL.Image")
    open_image = image.open

    def count_and_open(*args, **options):
        opened.append(args)
        return open_image(*args, **options)

    monkeypatch.setattr(image, "open", count_and_open)

    @tool(read_only=True)
    def give() -> bytes:
        """Give the image."""
        return data

    observation = run_tool(give)
    html = shown(observation)["text/html"]
    assert shown(observation)["text/html"].count("data:image/webp") == 1
    assert len(opened) == 1
    assert "data:image/webp" in html
    assert "A preview: the result has the whole image" in html
    assert "data-toolbench-part" in html


def preview(image: Any, **how: Any) -> Any:
    """Return the preview in the HTML of *image*, written with the options *how*."""
    written = BytesIO()
    image.save(written, **how)
    html = read_image(f"data:image/png;base64,{b64encode(written.getvalue()).decode()}").html
    packed = re.search(r"data:image/webp;base64,([^\"]+)", html)
    return pytest.importorskip("PIL.Image").open(BytesIO(b64decode(packed[1])))


def test_a_preview_looks_like_the_image():
    """A photo is turned as its metadata says, and greys of 16 bits are greys."""
    image = pytest.importorskip("PIL.Image")
    exif = image.Exif()
    # Orientation: turned by 90 degrees
    exif[0x0112] = 6
    photo = image.effect_noise((2_000, 1_000), 80)
    assert preview(photo, format="JPEG", quality=95, exif=exif).size == (400, 800)
    # So wide that Pillow would average its pixels first, which it cannot do with such greys
    size = (3_300, 300)
    deep = image.frombytes("I;16", size, Random(1).randbytes(2 * size[0] * size[1]))
    grey = preview(deep, format="PNG").convert("L").resize((1, 1)).getpixel((0, 0))
    assert 100 < grey < 156


def test_nested_json_is_not_read_to_show_its_ends():
    """So much of it is text; only rows are read to the end, since a table counts them."""
    text = to_json(nested(), indent=2).decode()

    @tool(read_only=True)
    def give() -> str:
        """Give a long text that begins like JSON."""
        return text

    observation = run_tool(give)
    assert len(text) > 2_000_000
    assert parsed(lambda: shown(observation)) == 0
    assert "left out" in shown(observation)["text/html"]


def test_json_that_a_server_repeats_is_not_read_again():
    """It has the same words as the structured content, so there is nothing more to show."""
    text = to_json(ROWS[:40_000]).decode()
    answer = MCPObservation.from_text(
        text, blocks=[{"type": "text", "text": text}], structured={"result": ROWS[:40_000]}
    )
    # Once, for the table
    assert parsed(lambda: shown(answer)) == len(text)
    assert BOTH in shown(answer)["text/html"]


def test_rows_of_a_server_with_a_key_twice_are_text():
    """A table would hide one of the values, however long it is."""
    text = to_json(ROWS[:40_000]).decode().replace('"ok":', '"name":', 1)
    assert "data-toolbench-table" not in shown(MCPObservation.from_text(text))["text/html"]
    assert (
        "data-toolbench-table"
        in shown(MCPObservation.from_text(to_json(ROWS[:40_000]).decode()))["text/html"]
    )


def test_an_image_is_not_written_down_to_know_its_size():
    """The history keeps a sentence in place of a large one."""
    image = run_tool(_image)

    @tool(read_only=True)
    def give() -> Any:
        """Give the image."""
        return image

    run_tool(give)
    assert peak(lambda: run_tool(give)) < MOST


@tool(read_only=True)
def _image() -> bytes:
    """Give an image."""
    return VALUES["an image of 20 MB"]()
