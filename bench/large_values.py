"""The large values of bench_large.py, also for its servers, for the page, and for the tests."""

import os
from io import BytesIO
from typing import Any


def nested(levels: int = 10) -> dict[str, Any]:
    """Return objects of three keys in one another."""
    if not levels:
        return {"k": levels}
    return {f"k{n}": nested(levels - 1) for n in range(3)}


def dicts() -> list[dict[str, Any]]:
    """Return the rows of a table."""
    return [
        {"id": n, "name": f"row {n}", "value": n * 1.5, "ok": n % 2 == 0} for n in range(100_000)
    ]


def frame() -> Any:
    """Return a frame of pandas."""
    import pandas as pd

    return pd.DataFrame({"a": range(1_000_000), "b": 0.5, "c": "x"})


def image() -> bytes:
    """Return a PNG of seven million pixels of noise, which no compression makes smaller."""
    from PIL import Image

    written, side = BytesIO(), 2_580
    pixels = Image.frombytes("RGB", (side, side), os.urandom(3 * side * side))
    pixels.save(written, "PNG", compress_level=0)
    return written.getvalue()


VALUES = {
    "100,000 dicts": dicts,
    "a frame of 1,000,000 rows": frame,
    "a text of 50 MB": lambda: "A line of text of some length here.\n" * 1_400_000,
    "an image of 20 MB": image,
    "nested JSON of 10 levels": nested,
}
