import struct
import subprocess
import sys
import zlib
from base64 import b64decode
from collections import UserDict, namedtuple
from dataclasses import dataclass
from io import BytesIO
from types import ModuleType

import pandas
import PIL.Image
import pytest
from patience import PATIENCE
from pydantic import BaseModel, Field, computed_field

from toolbench import ImageContent, Observation, TextContent, tool
from toolbench.core.coercion import contents_of, observation_of


def png(width=1, height=1):
    """A real PNG, black."""

    def chunk(kind, data):
        body = kind + data
        return struct.pack(">I", len(data)) + body + struct.pack(">I", zlib.crc32(body))

    header = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    rows = zlib.compress(b"".join(b"\0" * (width + 1) for _ in range(height)))
    parts = chunk(b"IHDR", header) + chunk(b"IDAT", rows) + chunk(b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + parts


def bytes_of(block):
    """The image itself, out of its data URL."""
    return b64decode(block.image_urls[0].removeprefix("data:image/png;base64,"))


class TallyObservation(Observation):
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
            pytest.param((n for n in range(2)), "[\n  0,\n  1\n]", id="a generator"),
            (OSError("x"), '"x"'),
        ],
        ids=repr,
    )
    def test_a_result_is_text(self, result, text):
        """A str is itself, all else JSON; nothing is ever an empty answer by accident."""
        assert text_of(result) == text

    def test_the_object_stays_at_hand(self):
        """The Python object is in `result`, in this process only."""
        observation = observation_of(value := {"a": 1}, None, "t")
        assert observation.result is value
        assert "result" not in observation.to_dict()

    def test_an_observation_is_itself(self):
        """Nothing is made of what is an observation already."""
        observation = TallyObservation(count=1)
        assert observation_of(observation, None, "t") is observation

    def test_a_dict_that_is_written_as_one_becomes_one(self):
        """Content and is_error make an observation; any other dict is data."""
        blocks = [{"type": "text", "text": "bad"}]
        observation = observation_of({"content": blocks, "is_error": True}, None, "t")
        assert (observation.text, observation.is_error) == ("bad", True)
        assert observation_of({"content": "just text"}, None, "t").text.startswith("{")


class TestTables:
    def test_are_read_as_csv(self):
        """Names and values, no quoting of the whole; row numbers say nothing and are left out."""
        frame = pandas.DataFrame({"file": ["a", "b,c"], "words": [4, 8]})
        assert text_of(frame) == 'file,words\na,4\n"b,c",8'
        assert text_of(frame["words"]) == "words\n4\n8"
        assert text_of(frame.set_index("file")["words"]) == 'file,words\na,4\n"b,c",8'
        assert "Empty DataFrame" in text_of(pandas.DataFrame())

    def test_have_the_numbers_without_the_names_of_numpys_classes(self):
        """However large or small they are."""
        frame = pandas.DataFrame({"n": [1e20, 0.1 + 0.2, 1.5e-7, float("inf"), 2]})
        assert text_of(frame).split() == ["n", "1e+20", "0.3", "1.5e-07", "inf", "2.0"]

    def test_that_are_long_say_how_long(self):
        """A model reads the start and is told of the rest."""
        lines = text_of(pandas.DataFrame({"n": range(2_000)})).splitlines()
        assert lines[:2] == ["n", "0"]
        assert lines[-1].startswith("[The first 500 of 2,000 rows.")
        assert len(lines) == 502


class TestWithAType:
    @pytest.mark.parametrize(
        "result",
        [{"count": 2}, Reading(count=2), Counted(2), TallyObservation(count=2)],
        ids=repr,
    )
    def test_fields_are_filled(self, result):
        """A dict, model or dataclass fills the fields; what a model computes is left out."""
        assert observation_of(result, TallyObservation, "t") == TallyObservation(count=2)

    @pytest.mark.parametrize("result", ["text", 5, png(), [TextContent(text="a")]], ids=type)
    def test_anything_else_is_its_content(self, result):
        """A text or an image is what the observation says."""
        assert observation_of(result, Observation, "t").content == contents_of(result)

    def test_what_does_not_fit_is_an_error_with_a_place(self):
        """The tool, what it returned, what was wanted, and where it went wrong."""
        with pytest.raises(
            TypeError,
            match=r"^t returned a dict that does not fit TallyObservation: count: ",
        ):
            observation_of({"count": "many"}, TallyObservation, "t")
        with pytest.raises(
            TypeError,
            match=r"^t returned a str that does not fit TallyObservation: count: ",
        ):
            observation_of("many", TallyObservation, "t")
        with pytest.raises(
            TypeError,
            match=r"^t returned a Counted that does not fit Observation: count: is an unknown",
        ):
            observation_of(Counted(2), Observation, "t")

    def test_fields_of_a_model_go_by_their_names_in_python(self):
        """Whichever of both writes them otherwise in JSON; what a model leaves out is left out."""

        class Answer(BaseModel):
            total: int = Field(alias="totalCount")
            log: str = Field("", exclude=True)

        class InPython(Observation):
            total: int

        class InJson(Observation):
            total: int = Field(alias="totalCount")

        for kind in (InPython, InJson):
            assert observation_of(Answer(totalCount=2), kind, "t").total == 2

    def test_a_block_is_its_content(self):
        """It has fields too, but none of an observation."""
        block = TextContent(text="a")
        assert observation_of(block, Observation, "t").content == [block]

    def test_a_plain_observation_says_what_failed(self):
        """A failure needs none of the fields of a success."""
        failed = Observation.from_text("no such file", is_error=True)
        assert observation_of(failed, TallyObservation, "t") is failed


class TestKinds:
    @pytest.mark.parametrize("declared", [None, TallyObservation, Observation])
    def test_a_dict_that_names_an_observation_becomes_one(self, declared):
        """What `to_dict` wrote of an observation is that observation again, whatever is declared."""
        observation = TallyObservation(count=1, names=["a"])
        assert observation_of(observation.to_dict(), declared, "t") == observation
        failed = Observation.from_text("disk full", is_error=True)
        assert observation_of(failed.to_dict(), declared, "t") == failed

    @pytest.mark.parametrize("kind", ["Deployment", "FinishAction", "", 3, None])
    def test_another_kind_is_data(self, kind):
        """A dict of the tool's own may have a key of that name."""
        data = {"kind": kind, "replicas": 2}
        assert observation_of(data, None, "t").result == data

    def test_one_that_does_not_fit_is_data_or_an_error(self):
        """Without a type it stays a dict like any other; with one, it is said what is wrong."""
        data = {"kind": "TallyObservation", "odd": 1}
        assert observation_of(data, None, "t").result == data
        with pytest.raises(TypeError, match="does not fit TallyObservation: count: is required"):
            observation_of(data, Observation, "t")

    def test_a_field_of_that_name_is_the_types_own(self):
        """A type that has a `kind` of its own is given it."""

        class Sorted(Observation):
            kind: str

        assert observation_of({"kind": "TallyObservation"}, Sorted, "t").kind == "TallyObservation"

    def test_of_a_mapping_that_cannot_be_read_is_none(self):
        """Such as a file that is closed: the result says what the mapping says of itself."""

        class Closed(UserDict):
            def __getitem__(self, name):
                raise ValueError

            get = __getitem__

            def __repr__(self):
                return "<closed>"

        assert "<closed>" in observation_of(Closed(a=1), None, "t").text


class TestImages:
    @pytest.mark.parametrize(
        ("data", "kind"),
        [
            (png(), "png"),
            (b"\xff\xd8\xff\xe0rest", "jpeg"),
            (b"GIF89a....", "gif"),
            (b"RIFF\x10\0\0\0WEBPVP8 ", "webp"),
            (b"BM\x3a" + bytes(7) + b"\x36\0\0\0\x28\0\0\0", "bmp"),
        ],
        ids=lambda value: value if isinstance(value, str) else "",
    )
    def test_are_known_by_their_first_bytes(self, data, kind):
        """Bytes that are an image become one, as a data URL."""
        for binary in (data, bytearray(data), memoryview(data)):
            [block] = contents_of(binary)
            assert block.image_urls[0].startswith(f"data:image/{kind};base64,")

    def test_beside_other_bytes_are_images(self):
        """Whichever comes first: of a list of bytes each one is looked at."""
        for pair in ([png(), b"\xffraw"], [b"\xffraw", png()]):
            assert sorted(block.type for block in contents_of(pair)) == ["image", "text"]

    @pytest.mark.parametrize("data", [b"BMW is a car", b"RIFF\x10\0\0\0WAVEfmt ", b"GIF8"])
    def test_are_not_guessed(self, data):
        """A sound and a text are no images."""
        assert "bytes of binary data" in text_of(data)

    @pytest.mark.parametrize(
        "mode",
        [
            "1",
            "L",
            "LA",
            "P",
            "RGB",
            "RGBA",
            "I;16",
            "CMYK",
            "YCbCr",
            "HSV",
            "LAB",
            "I",
            "F",
            "PA",
            "RGBX",
            "RGBa",
        ],
    )
    def test_of_pillow_are_drawn_in_every_mode(self, mode):
        """A photo in CMYK, which PNG cannot hold, is an image like any other."""
        [block] = contents_of(PIL.Image.new(mode, (3, 2)))
        image = PIL.Image.open(BytesIO(bytes_of(block)))
        assert (image.format, image.size) == ("PNG", (3, 2))

    @pytest.mark.parametrize("kind", [bytes, bytearray, memoryview])
    def test_that_are_large_are_whole(self, kind):
        """They are written in pieces."""
        data = b"\x89PNG\r\n\x1a\n" + bytes(range(251)) * 1_000
        [block] = contents_of(kind(data))
        assert bytes_of(block) == data

    def test_of_pillow_keep_what_shines_through(self):
        """Another mode with transparency becomes one that has it too."""
        clear = PIL.Image.new("RGBa", (1, 1), (0, 0, 0, 0))
        [block] = contents_of(clear)
        assert PIL.Image.open(BytesIO(bytes_of(block))).getpixel((0, 0))[3] == 0

    @pytest.mark.parametrize(("mode", "size"), [("RGB", (0, 0)), ("La", (1, 1))])
    def test_that_cannot_be_drawn_say_so(self, mode, size):
        """A call is not lost for a picture with nothing in it."""
        text = text_of(PIL.Image.new(mode, size))
        assert text.startswith("An image that cannot be shown: ")

    def test_of_a_file_that_pillow_opened(self):
        """What `Image.open` returns is of a class of its own."""
        file = BytesIO()
        PIL.Image.new("CMYK", (2, 2)).save(file, "JPEG")
        [block] = contents_of(PIL.Image.open(file))
        assert isinstance(block, ImageContent)

    def test_of_a_tool_are_what_the_model_sees(self):
        """Figures and images, alone or in a list, with or without a type of observation."""
        # What takes each worker half a second is left to the one that draws
        from matplotlib.figure import Figure

        @tool
        def plot(n: int):
            figure = Figure()
            figure.subplots().plot(range(n))
            return figure

        @tool
        def both(n: int) -> Observation:
            return ["see", PIL.Image.new("RGB", (n, n)), plot({"n": n}).result]

        [figure] = plot({"n": 3}).to_llm_content
        assert PIL.Image.open(BytesIO(bytes_of(figure))).width > 100
        kinds = [type(block).__name__ for block in both({"n": 3}).to_llm_content]
        assert kinds == ["TextContent", "ImageContent", "ImageContent"]

    def test_are_known_by_their_name_and_their_library(self):
        """Neither a class that is only called so, nor another class of the library is one."""
        own = type("Image", (), {"__repr__": lambda self: "of mine"})()
        assert text_of(own) == '"of mine"'
        assert text_of(pandas.Timestamp("2026-11-27")).startswith('"2026-11-27')

    def test_need_no_library_to_be_known(self):
        """Neither pillow nor matplotlib is imported to tell that something is none of theirs."""
        code = (
            "import sys; from toolbench.core.coercion import contents_of; "
            "contents_of(object()); print({'PIL', 'matplotlib'} & set(sys.modules))"
        )
        run = [sys.executable, "-c", code]
        assert subprocess.check_output(run, text=True, timeout=PATIENCE).strip() == "set()"


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
