"""Show the icon that a server sent, if its URL contains the image: nothing is fetched."""

from collections.abc import Mapping
from typing import Any

from toolbench.display.escape import Html
from toolbench.display.html.images import Image, read_image

# Bytes: an icon is small, and is saved in each notebook
_LARGEST = 100_000
# Pixels
_SIDE = 20


def icon_html(icons: Any) -> Html:
    """Return the first of *icons* that can be shown, as a small picture; empty if none can.

    Args:
        icons: The icons of a server, tool, resource or prompt, as the server sent them: a list of
            objects with `src`. Only images in `data:` addresses are shown. Source: MCP
            specification, icons.
    """
    image = _image_in(icons)
    if image is None:
        return Html("")
    style = f"display:inline-block;width:{_SIDE}px;height:{_SIDE}px;object-fit:contain;margin-right:6px;vertical-align:-4px"
    return Html(f'<span aria-hidden="true" style="{style}">{image.html}</span>')


def icon_source(icons: Any) -> str:
    """Return the `data:` URL of the icon that `icon_html` shows; empty if it shows none."""
    image = _image_in(icons)
    return "" if image is None else image.source


def _image_in(icons: Any) -> Image | None:
    for icon in icons if isinstance(icons, list | tuple) else ():
        source = icon.get("src") if isinstance(icon, Mapping) else None
        if not isinstance(source, str) or len(source) > 4 * _LARGEST:
            continue
        image = read_image(source)
        if not image.problem and len(image.data) <= _LARGEST:
            return image
    return None
