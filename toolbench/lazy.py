"""Lazy public names of a package: each name is imported from its module when it is first used."""

import sys
from collections.abc import Callable, Iterator, Sequence
from importlib import import_module
from typing import Any


def public_names(
    package: str, *, packages: Sequence[str] = ()
) -> tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]:
    """Return the `__getattr__`, `__dir__` and `__all__` for *package* (PEP 562).

    The public names are the names that the package imports under `if TYPE_CHECKING:`. Type checkers
    read the same imports, so each name is written only once. To keep an old name for older code,
    add an import such as `from home import New as Old`.

    Args:
        package: The `__name__` of the package.
        packages: The names of the subpackages that are also public names.
    """
    homes = dict(_declared(package))

    def get(name: str) -> Any:
        """Return a subpackage or a public name, imported when it is first used."""
        if name in packages:
            return import_module(f"{package}.{name}")
        if name not in homes:
            msg = f"module {package!r} has no attribute {name!r}"
            raise AttributeError(msg)
        home, attribute = homes[name]
        value = getattr(import_module(home), attribute)
        vars(sys.modules[package])[name] = value
        return value

    def names() -> list[str]:
        """List all names of the package; lazy names are included before they are imported."""
        return sorted({*vars(sys.modules[package]), *homes, *packages})

    return get, names, sorted(homes)


def _declared(package: str) -> Iterator[tuple[str, tuple[str, str]]]:
    """Yield the names that *package* imports under `if TYPE_CHECKING:`, each with its module.

    Each import is written `from home import attribute as name`. The source is split into words and
    not parsed, because importing `ast` would take most of the time of `import toolbench`.
    """
    spec: Any = sys.modules[package].__spec__
    # `get_source` loads `tokenize`
    source = spec.loader.get_data(spec.origin).decode()
    _, _, below = source.partition("\nif TYPE_CHECKING:\n")
    imports, _, _ = below.partition("\n\n")
    home, words = "", imports.replace(",", " ").replace("(", " ").split()
    for index, word in enumerate(words):
        if word == "from":
            home = words[index + 1]
        if word == "as":
            yield words[index + 1], (home, words[index - 1])
