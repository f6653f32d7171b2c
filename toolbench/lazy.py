"""The public names of a package, each imported from its home when it is first asked for."""

import sys
from collections.abc import Callable, Mapping
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

    def get(name: str) -> Any:
        """Import the home of a public name when it is first asked for."""
        newer = older.get(name, name)
        if newer not in homes:
            msg = f"module {package!r} has no attribute {name!r}"
            raise AttributeError(msg)
        value = getattr(import_module(f"{package}.{homes[newer]}"), newer)
        vars(sys.modules[package])[name] = value
        return value

    def names() -> list[str]:
        """List the public names, imported or not."""
        return sorted({*vars(sys.modules[package]), *homes, *older})

    return get, names
