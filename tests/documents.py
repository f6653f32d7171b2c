"""The documents, with the code and the commands in them."""

import shlex
from pathlib import Path

from markdown_it import MarkdownIt
from markdown_it.token import Token

ROOT = Path(__file__).parents[1]
REFERENCE = ROOT / "docs" / "reference"
DOCUMENTS = [
    ROOT / "README.md",
    ROOT / "CONTRIBUTING.md",
    *sorted((ROOT / "docs").rglob("*.md")),
]


def blocks(document: Path) -> list[Token]:
    """The fenced blocks of *document*, in order."""
    tokens = MarkdownIt().parse(document.read_text(encoding="utf-8"))
    return [token for token in tokens if token.type == "fence"]


def commands() -> list[tuple[str, list[str]]]:
    """Every line of shell in the documents, as program and words."""
    shell = (b for path in DOCUMENTS for b in blocks(path) if b.info == "sh")
    lines = (line.partition("#")[0] for b in shell for line in b.content.splitlines())
    split = (shlex.split(line) for line in lines)
    return [(words[0], words[1:]) for words in split if words]
