"""Show the icon of a server or a tool, if the URL contains the image: nothing is fetched."""

from collections.abc import Mapping
from typing import Any

from toolbench.display.escape import Html
from toolbench.display.html.images import read_image

_LARGEST = 100_000  # bytes: an icon is small, and is saved in each notebook
_SIDE = 20  # pixels


def icon_html(icons: Any) -> Html:
    """Return the first of *icons* that can be shown, as a small picture; else nothing.

    Args:
        icons: The icons that a server sent: a list of objects with `src`. Only images in `data:`
            addresses are shown. Source: MCP specification, icons.
    """
    for icon in icons if isinstance(icons, list | tuple) else ():
        source = icon.get("src") if isinstance(icon, Mapping) else None
        if not isinstance(source, str) or len(source) > 4 * _LARGEST:
            continue
        image = read_image(source)
        if not image.problem and len(image.data) <= _LARGEST:
            style = f"display:inline-block;width:{_SIDE}px;height:{_SIDE}px;object-fit:contain;margin-right:6px;vertical-align:-4px"
            return Html(f'<span aria-hidden="true" style="{style}">{image.html}</span>')
    return Html("")
