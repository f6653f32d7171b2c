"""Icons of servers, tools, resources and prompts: small pictures whose data is here."""

from base64 import b64encode

import pytest

from toolbench.display.images import icon_html, icon_source

PIXEL = "data:image/gif;base64,R0lGODlhAQABAAAAACwAAAAAAQABAAA="
SVG = "data:image/svg+xml,%3Csvg%20xmlns='http://www.w3.org/2000/svg'/%3E"
LARGE = f"data:image/png;base64,{b64encode(b'x' * 100_001).decode()}"


@pytest.mark.parametrize("source", [PIXEL, SVG])
def test_data_of_an_image_is_shown(source):
    """As an image, in which nothing can run."""
    html = icon_html([{"src": source, "sizes": ["any"]}])
    assert html.count("<img ") == 1
    assert "svg xmlns" not in html
    assert f'src="{icon_source([{"src": source}])}"' in html


@pytest.mark.parametrize(
    "icons",
    [
        None,
        "data:",
        [],
        [3, None, {}, {"src": 5}],
        [{"src": "https://a.test/icon.png"}],
        [{"src": "javascript:alert(1)"}],
        [{"src": "data:text/html,<script>alert(1)</script>"}],
        [{"src": 'data:image/png" onerror="alert(1),x'}],
        [{"src": "data:image/png;base64,"}],
        [{"src": LARGE}],
    ],
    ids=range(10),
)
def test_anything_else_is_nothing(icons):
    """What would be fetched, is no image, or is large, leaves no trace in the page."""
    assert icon_html(icons) == ""
    assert icon_source(icons) == ""


def test_the_first_that_can_be_shown_is():
    """A server may offer one on the web first."""
    html = icon_html(({"src": "https://a.test/icon.png"}, {"src": PIXEL}))
    assert "image/gif" in html
    assert "a.test" not in html
