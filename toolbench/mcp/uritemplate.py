"""URI templates with text values, as RFC 6570 writes and expands them."""

import re
from collections.abc import Mapping
from urllib.parse import quote

_EXPRESSION = re.compile(r"\{(?P<operator>[+#./;?&]?)(?P<variables>[^{}]+)\}")
_RESERVED = ":/?#[]@!$&'()*+,;=%"
_OPERATORS = {  # what comes first, between, whether names are written, what stays unquoted
    "": ("", ",", False, ""),
    "+": ("", ",", False, _RESERVED),
    "#": ("#", ",", False, _RESERVED),
    ".": (".", ".", False, ""),
    "/": ("/", "/", False, ""),
    ";": (";", ";", True, ""),
    "?": ("?", "&", True, ""),
    "&": ("&", "&", True, ""),
}


def variables_of(template: str) -> list[str]:
    """Return the names of the variables in *template*, each once, in order."""
    names = [
        name
        for expression in _EXPRESSION.finditer(template)
        for name, _ in _parts(expression["variables"])
    ]
    return list(dict.fromkeys(names))


def expand_template(template: str, values: Mapping[str, str]) -> str:
    """Return *template* with *values* put in; a variable without a value disappears."""

    def expanded(expression: re.Match[str]) -> str:
        first, between, named, safe = _OPERATORS[expression["operator"]]
        said = [
            (f"{name}=" if named else "") + quote(values[name][:length], safe=safe)
            for name, length in _parts(expression["variables"])
            if name in values
        ]
        return first + between.join(said) if said else ""

    return _EXPRESSION.sub(expanded, template)


def _parts(variables: str) -> list[tuple[str, int | None]]:
    """The names in one expression, each with the number of characters wanted of it."""
    parts: list[tuple[str, int | None]] = []
    for variable in variables.split(","):
        name, _, length = variable.strip().rstrip("*").partition(":")
        if name:
            parts.append((name, int(length) if length.isdigit() else None))
    return parts
