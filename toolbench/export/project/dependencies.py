"""Find the requirements of a package: the installed distributions of the modules it imports."""

import re
import sys
from collections.abc import Iterable, Mapping
from functools import cache
from importlib.metadata import (
    PackageNotFoundError,
    distribution,
    packages_distributions,
    version,
)
from importlib.util import find_spec

from toolbench._version import __version__
from toolbench.errors import ExportError

_OURS = "jupyter-toolbench"
_SDK = "openhands-sdk"
_SDK_TOOLS = "openhands-tools"


def requirements(modules: Iterable[str], *, package: str, extras: Mapping[str, str]) -> list[str]:
    """Return the requirements for *modules*, each with the installed version as its lower bound.

    Args:
        modules: The full names of the imported modules.
        package: The package itself, which needs no requirement.
        extras: The needed extra of a distribution, by its name: `{"fastmcp-slim": "server"}`.

    Raises:
        ExportError: If a module belongs to no distribution: then it cannot be installed elsewhere.
    """
    names = dict[str, str]()
    for module in sorted(modules):
        top = module.partition(".")[0]
        if top in sys.stdlib_module_names or top == package:
            continue
        name = _distribution_of(module)
        extra = extras.get(name, "")
        names[name] = f"{name}{f'[{extra}]' if extra else ''}{_bounds(name)}"
    return sorted(names.values(), key=str.lower)


@cache
def _installed() -> Mapping[str, list[str]]:
    return packages_distributions()


def _distribution_of(module: str) -> str:
    top = module.partition(".")[0]
    if top in ("toolbench", "openhands"):
        is_of_tools = f"{module}.".startswith("openhands.tools.")
        return _OURS if top == "toolbench" else _SDK_TOOLS if is_of_tools else _SDK
    # Perhaps it was installed later: look again
    if top not in _installed():
        _installed.cache_clear()
    names = list(dict.fromkeys(_installed().get(top, ())))
    if not names:
        msg = f"`{top}` is of no installed package{_place_of(top)}: install it, or put its code into a cell."
        raise ExportError(msg)
    if len(names) == 1:
        return names[0]
    path = module.replace(".", "/")
    return next((name for name in names if _holds(name, path)), names[0])


def _place_of(module: str) -> str:
    try:
        spec = find_spec(module)
    except (ImportError, ValueError):
        spec = None
    return f" but the file {spec.origin}" if spec is not None and spec.origin else ""


def _holds(name: str, path: str) -> bool:
    """Tell whether the distribution *name* has the module at *path*.

    Several distributions can share a namespace package.
    """
    files = distribution(name).files or []
    return any(str(file).startswith((f"{path}/", f"{path}.")) for file in files)


def _bounds(name: str) -> str:
    """Return the allowed versions of *name*: from the installed version to the next major version.

    In versions that begin with 0, the second number counts as the major version. Return
    an empty text if *name* is not installed.
    """
    if name == _OURS:
        return f">={__version__}"
    try:
        installed = version(name)
    except PackageNotFoundError:
        # The SDK, which does not share an environment with us
        return ""
    numbers = [int(number) for number in re.findall(r"\d+", installed.partition("+")[0])[:3]]
    lower = ".".join(map(str, numbers))
    if numbers[0] > 0 or len(numbers) < 2:
        return f">={lower},<{numbers[0] + 1}"
    return f">={lower},<0.{numbers[1] + 1}"
