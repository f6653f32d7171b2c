"""Images are shown from their own data, never fetched, never run."""

from base64 import b64encode
from urllib.parse import quote

import pytest

from test_display.inert import problems
from toolbench.display import read_image

_SVG = "<svg xmlns='http://www.w3.org/2000/svg' onload='x()'><script>x()</script></svg>"


class TestInline:
    @pytest.mark.parametrize("kind", ["png", "jpeg", "gif", "webp", "bmp", "svg+xml"])
    def test_six_kinds_are_shown(self, kind):
        """Golden: an image element with the data and what is known about it."""
        image = read_image(f"data:image/{kind};base64,AAEC")
        assert image.html == (
            f'<img src="data:image/{kind};base64,AAEC" alt="image/{kind}, 3 bytes"'
            ' style="display:block;max-width:100%;height:auto">'
        )
        assert image.text == f"[image/{kind}, 3 bytes]"
        assert problems(image.html) == []

    @pytest.mark.parametrize(
        "url",
        [
            f"data:image/svg+xml,{_SVG}",
            f"data:image/svg+xml;utf8,{_SVG}",
            f"data:image/svg+xml;charset=utf-8,{quote(_SVG)}",
            f"data:image/svg+xml;base64,{b64encode(_SVG.encode()).decode()}",
            f"DATA:IMAGE/SVG+XML;BASE64,{b64encode(_SVG.encode()).decode()}",
        ],
    )
    def test_an_svg_is_an_image_like_the_others(self, url):
        """However it is written; its script is data inside an `<img>`, where none runs."""
        image = read_image(url)
        assert image.data == _SVG.encode()
        assert "<script" not in image.html
        assert problems(image.html) == []

    def test_sloppy_base64_is_read(self):
        """Line breaks and missing padding are common, and mean nothing."""
        assert read_image("data:image/png;base64,AA\nEC\nAw").data == b"\0\1\2\3"
        assert read_image("data:image/jpg;base64,AAEC").kind == "image/jpeg"


class TestNotInline:
    @pytest.mark.parametrize(
        ("url", "text"),
        [
            ("https://e.org/a.png", "[image, not fetched] https://e.org/a.png"),
            ("data:image/png;base64,!!!!", "[image/png, not valid base64]"),
            ("data:image/png;base64,\ud800", "[image/png, not valid base64]"),
            ("data:image/png;base64,", "[image/png, empty]"),
            ("data:text/html,x", '[image, no image at "data:text/html,x"]'),
            ("data:image/x-icon,x", '[image, no image at "data:image/x-icon,x"]'),
            ("javascript:x", '[image, no image at "javascript:x"]'),
            ("", '[image, no image at ""]'),
            ("\u202e", '[image, no image at "⟨U+202E⟩"]'),
        ],
    )
    def test_the_rest_is_said_in_words(self, url, text):
        """What cannot or must not be shown has a line that says why."""
        image = read_image(url)
        assert image.text == text
        assert "<img" not in image.html
        assert problems(image.html) == []

    def test_an_image_elsewhere_is_a_link(self):
        """The reader decides whether to ask that host."""
        assert 'href="https://e.org/a.png"' in read_image("https://e.org/a.png").html

    def test_a_huge_image_stays_out_of_the_notebook(self):
        """Above five megabytes only its size is shown."""
        image = read_image("data:image/png;base64," + "A" * 8_000_000)
        assert image.text == ("[image/png, 6.0 MB, more than 5.0 MB, not shown: the result has it]")
        assert len(image.html) < 500
