"""The safe display of any tool result: Rich renderables and content blocks as mime bundles."""

from toolbench.display.ansi import from_ansi
from toolbench.display.blocks import blocks_html, blocks_text
from toolbench.display.caps import Capped, cap
from toolbench.display.escape import Html, escape, safe_address, visible
from toolbench.display.images import read_image
from toolbench.display.json_tree import json_html, json_text
from toolbench.display.markdown import markdown_html
from toolbench.display.page import (
    Card,
    badge,
    cards_html,
    key_values,
    notice,
    section,
)
from toolbench.display.render import bundle, to_html, to_text
from toolbench.display.tables import table_html, table_text
from toolbench.wording import estimate_tokens, human_size

__all__ = [
    "Capped",
    "Card",
    "Html",
    "badge",
    "blocks_html",
    "blocks_text",
    "bundle",
    "cap",
    "cards_html",
    "escape",
    "estimate_tokens",
    "from_ansi",
    "human_size",
    "json_html",
    "json_text",
    "key_values",
    "markdown_html",
    "notice",
    "read_image",
    "safe_address",
    "section",
    "table_html",
    "table_text",
    "to_html",
    "to_text",
    "visible",
]
