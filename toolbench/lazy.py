"""The public names of a package, each imported from its home when it is first asked for."""

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib import import_module
from types import MappingProxyType
from typing import Any

_NONE: Mapping[str, str] = MappingProxyType({})


def lazily(
    package: str, homes: Mapping[str, str], older: Mapping[str, str] = _NONE
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Return the `__getattr__` and `__dir__` of *package* (PEP 562).

    Args:
        package: Its `__name__`.
        homes: The module below *package* that each public name is from.
        older: What names of older versions are called now.
    """
    modules = {name: f"{package}.{home}" for name, home in homes.items()}
    return _imported_late(package, modules, older)


def _imported_late(
    package: str, modules: Mapping[str, str], older: Mapping[str, str]
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    def get(name: str) -> Any:
        """Import the home of a public name when it is first asked for."""
        newer = older.get(name, name)
        if newer not in modules:
            msg = f"module {package!r} has no attribute {name!r}"
            raise AttributeError(msg)
        value = getattr(import_module(modules[newer]), newer)
        vars(sys.modules[package])[name] = value
        return value

    def names() -> list[str]:
        """List the public names, imported or not."""
        return sorted({*vars(sys.modules[package]), *modules, *older})

    return get, names


def public_names(
    package: str, *, packages: Sequence[str] = (), older: Mapping[str, str] = _NONE
) -> tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]:
    """Return the `__getattr__`, `__dir__` and `__all__` of *package* (PEP 562).

    The names are those that the package imports under `if TYPE_CHECKING:`, as type checkers
    read them: so each is listed once.

    Args:
        package: Its `__name__`.
        packages: What can be used as attributes too: packages below it.
        older: What names of older versions are called now.
    """
    modules = dict(_declared(package))
    get, names = _imported_late(package, modules, older)

    def get_or_import(name: str) -> Any:
        """Import a package below, or the home of a public name, when it is first used."""
        return import_module(f"{package}.{name}") if name in packages else get(name)

    return get_or_import, lambda: sorted({*names(), *packages}), sorted(modules)


def _declared(package: str) -> Iterator[tuple[str, str]]:
    """The names that the source of *package* imports for type checkers, with their homes.

    Each is written `from home import name as name`. Read as words: `ast` would be the largest
    import of `import toolbench`.
    """
    spec: Any = sys.modules[package].__spec__
    source = spec.loader.get_data(spec.origin).decode()  # `get_source` loads `tokenize`
    _, _, below = source.partition("\nif TYPE_CHECKING:\n")
    imports, _, _ = below.partition("\n\n")
    home, before = "", ""
    for word in imports.replace(",", " ").replace("(", " ").split():
        if before == "from":
            home = word
        if before == "as":
            yield word, home
        before = word
