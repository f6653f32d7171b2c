"""Parse a docstring, in any usual style, into its text and a text for each parameter."""

from dataclasses import dataclass, field
from inspect import cleandoc
from typing import Any


@dataclass(frozen=True)
class Doc:
    """A parsed docstring."""

    text: str = ""
    """The description of the function: all of the docstring except parameters and return value."""
    parameters: dict[str, str] = field(default_factory=dict)
    returns: str = ""


def parse(docstring: str | None) -> Doc:
    """Parse *docstring*, which may be in Google, NumPy or Sphinx style."""
    if not docstring:
        return Doc()
    import griffe  # noqa: PLC0415 - only where a function becomes a tool

    # A faulty docstring is not an error here
    silent = {"warnings": False}
    quiet: Any = dict.fromkeys(("google", "numpy", "sphinx"), silent)
    sections = griffe.parse_auto(
        griffe.Docstring(cleandoc(docstring)),
        per_style_options=quiet,
    )
    texts, parameters, returns = [], {}, ""
    for section in sections:
        match section.kind:
            case griffe.DocstringSectionKind.text:
                texts.append(section.value)
            case griffe.DocstringSectionKind.parameters:
                parameters = {p.name: _one_line(p.description) for p in section.value}
            case griffe.DocstringSectionKind.returns:
                returns = _one_line(" ".join(r.description for r in section.value))
    return Doc("\n\n".join(texts).strip(), parameters, returns)


def _one_line(text: str) -> str:
    return " ".join(text.split())
