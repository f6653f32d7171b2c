import struct
import sys
import zlib
from collections import namedtuple
from dataclasses import dataclass
from types import ModuleType

import pytest
from pydantic import BaseModel, Field, computed_field

from toolbench import ImageContent, Observation, TextContent, tool
from toolbench.core.contents import contents_of
from toolbench.core.results import observation_of


def png(width=1, height=1):
    """A real PNG, black."""

    def chunk(kind, data):
        body = kind + data
        return struct.pack(">I", len(data)) + body + struct.pack(">I", zlib.crc32(body))

    header = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    rows = zlib.compress(b"".join(b"\0" * (width + 1) for _ in range(height)))
    parts = chunk(b"IHDR", header) + chunk(b"IDAT", rows) + chunk(b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + parts


class Found(Observation):
    count: int
    names: list[str] = Field([])


class Reading(BaseModel):
    count: int
    names: list[str] = []

    @computed_field
    def double(self) -> int:
        return self.count * 2


@dataclass
class Counted:
    count: int


Pair = namedtuple("Pair", "a b")


def text_of(result):
    [block] = contents_of(result)
    return block.text


class TestWithoutAType:
    @pytest.mark.parametrize(
        ("result", "text"),
        [
            ("plain", "plain"),
            ("", ""),
            (None, "Done. Nothing was returned."),
            (5, "5"),
            (True, "true"),
            ({"a": [1, None]}, '{\n  "a": [\n    1,\n    null\n  ]\n}'),
            (Counted(3), '{\n  "count": 3\n}'),
            (Reading(count=1), '{\n  "count": 1,\n  "names": [],\n  "double": 2\n}'),
            ([], "[]"),
            (Pair(1, "b"), '[\n  1,\n  "b"\n]'),
            (b"\0\1\2", "3 bytes of binary data"),
            ((n for n in range(2)), "[\n  0,\n  1\n]"),
            (OSError("x"), '"x"'),
        ],
        ids=repr,
    )
    def test_a_result_is_text(self, result, text):
        """A str is itself, all else JSON; nothing is ever an empty answer by accident."""
        assert text_of(result) == text

    def test_the_object_stays_at_hand(self):
        """The Python object is in `result`, in this process only."""
        seen = observation_of(given := {"a": 1}, None, "t")
        assert seen.result is given
        assert "result" not in seen.to_dict()

    def test_an_observation_is_itself(self):
        """Nothing is made of what is an observation already."""
        seen = Found(count=1)
        assert observation_of(seen, None, "t") is seen

    def test_a_dict_that_is_written_as_one_becomes_one(self):
        """Content and is_error make an observation; any other dict is data."""
        blocks = [{"type": "text", "text": "bad"}]
        seen = observation_of({"content": blocks, "is_error": True}, None, "t")
        assert (seen.text, seen.is_error) == ("bad", True)
        assert observation_of({"content": "just text"}, None, "t").text.startswith("{")


class TestWithAType:
    @pytest.mark.parametrize(
        "result", [{"count": 2}, Reading(count=2), Counted(2), Found(count=2)], ids=repr
    )
    def test_fields_are_filled(self, result):
        """A dict, model or dataclass fills the fields; what a model computes is left out."""
        assert observation_of(result, Found, "t") == Found(count=2)

    @pytest.mark.parametrize(
        "result", ["text", 5, png(), [TextContent(text="a")]], ids=type
    )
    def test_anything_else_is_its_content(self, result):
        """A text or an image is what the observation says."""
        assert observation_of(result, Observation, "t").content == contents_of(result)

    def test_what_does_not_fit_is_an_error_with_a_place(self):
        """The tool, what it returned, what was wanted, and where it went wrong."""
        with pytest.raises(
            TypeError, match=r"^t returned a dict that makes no Found: count: "
        ):
            observation_of({"count": "many"}, Found, "t")
        with pytest.raises(
            TypeError, match=r"^t returned a str that makes no Found: count: "
        ):
            observation_of("many", Found, "t")

    def test_a_plain_observation_says_what_failed(self):
        """A failure needs none of the fields of a success."""
        failed = Observation.from_text("no such file", is_error=True)
        assert observation_of(failed, Found, "t") is failed


class TestImages:
    @pytest.mark.parametrize(
        ("data", "kind"),
        [
            (png(), "png"),
            (b"\xff\xd8\xff\xe0rest", "jpeg"),
            (b"GIF89a....", "gif"),
            (b"RIFF\x10\0\0\0WEBPVP8 ", "webp"),
            (b"BM\x46\0\0\0\0\0\0\0rest", "bmp"),
        ],
        ids=lambda value: value if isinstance(value, str) else "",
    )
    def test_are_known_by_their_first_bytes(self, data, kind):
        """Bytes that are an image become one, as a data URL."""
        for given in (data, bytearray(data), memoryview(data)):
            [block] = contents_of(given)
            assert block.image_urls[0].startswith(f"data:image/{kind};base64,")

    @pytest.mark.parametrize(
        "data", [b"BMW is a car", b"RIFF\x10\0\0\0WAVEfmt ", b"GIF8"]
    )
    def test_are_not_guessed(self, data):
        """A sound and a text are no images."""
        assert "bytes of binary data" in text_of(data)

    def test_of_libraries_that_are_not_installed_here(self):
        """A PIL image or matplotlib figure is known by its class, and draws itself."""
        for module, name, method in (
            ("PIL.Image", "Image", "save"),
            ("matplotlib.figure", "Figure", "savefig"),
        ):

            def draw(self, file, **options):
                assert options["format"].lower() == "png"
                file.write(png())

            image = type(name, (), {method: draw, "__module__": module})
            subclass = type("Sub", (image,), {"__module__": "elsewhere"})
            [block] = contents_of(subclass())
            assert isinstance(block, ImageContent)

    def test_pil_and_matplotlib_are_not_imported(self):
        """Knowing their classes does not need them."""
        contents_of(object())
        assert not {"PIL", "matplotlib"} & set(sys.modules)


class TestContents:
    def test_in_a_list_are_kept_and_the_rest_converted(self):
        """A list with any content in it is content, in order."""
        blocks = contents_of([TextContent(text="a"), "b", png(), {"c": 1}])
        kinds = [type(block).__name__ for block in blocks]
        assert kinds == ["TextContent", "TextContent", "ImageContent", "TextContent"]

    def test_in_a_list_of_none_are_data(self):
        """A list of strings is a list, not a text."""
        assert text_of(["a", "b"]) == '[\n  "a",\n  "b"\n]'

    def test_of_a_function_reach_the_model(self):
        """A decorated function may return any of it."""

        @tool
        def draw(size: int):
            return [f"{size} pixels", png(size)]

        text, image = draw({"size": 2}).to_llm_content
        assert text.text == "2 pixels"
        assert image.image_urls[0].startswith("data:image/png")


def test_odd_values_are_no_crash():
    """What JSON cannot say is shown as Python does."""
    endless = []
    endless.append(endless)
    assert "module" in text_of(ModuleType("m"))
    assert text_of(endless) == "[[...]]"
    assert text_of({"raw": b"\xff"}) == "{'raw': b'\\xff'}"
