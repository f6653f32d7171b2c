"""Import files that were written for the OpenHands SDK, and give them toolbench's classes."""

import builtins
import logging
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib import import_module
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from importlib.util import find_spec
from types import ModuleType
from typing import Any, NoReturn

from toolbench.compat.openhands_names import (
    ABSENT_FUNCTIONS,
    MODULES,
    OURS,
    TOOLS,
    TOP,
)
from toolbench.errors import ToolbenchError, did_you_mean


@contextmanager
def openhands() -> Iterator[None]:
    """Give modules toolbench's classes when they import from `openhands.sdk` or `openhands.tools`.

        with openhands():
            import my_tools_for_openhands

    Inside of `with`, tools, actions, observations, executors, content and the registry
    are toolbench's, and so are the runtime tools of the same names. Classes that
    toolbench does not have (`LLM`, events) can be imported, but raise an error when
    they are used. After `with`, an installed SDK is found again. A function of a module
    that was loaded inside of `with` imports toolbench's classes also later; a function
    of a notebook's cell does not. While the block runs, other threads import
    toolbench's classes too.
    """
    hidden = {name: sys.modules.pop(name) for name in _loaded()}
    finder, before = _Finder(), builtins.__import__

    def load(name: str, *arguments: Any, **options: Any) -> Any:
        names, _, level = _import_arguments(arguments, options)
        if not level and _is_below(name, TOP) and names is not None:
            _go_on_importing(names)
        return before(name, *arguments, **options)

    sys.meta_path.insert(0, finder)
    setattr(builtins, "__import__", load)  # noqa: B010 - mypy knows its type
    try:
        yield
    finally:
        if builtins.__import__ is load:
            builtins.__import__ = before
        sys.meta_path.remove(finder)
        for name in _loaded():
            del sys.modules[name]
        sys.modules.update(hidden)


def _loaded() -> list[str]:
    return [name for name in sys.modules if _is_below(name, TOP)]


def _is_below(name: str, package: str) -> bool:
    return name == package or name.startswith(f"{package}.")


def _go_on_importing(names: dict[str, Any]) -> None:
    """Let the functions of a module import toolbench's classes also after the `with` block.

    *names* are the globals of the module. A notebook and toolbench's own modules are not changed.
    """
    if names.get("__name__") == "__main__" or _is_below(names.get("__name__", ""), "toolbench"):
        return
    own = names.get("__builtins__", builtins)
    own = dict(vars(own) if isinstance(own, ModuleType) else own)
    names["__builtins__"] = {**own, "__import__": _import}


def _import_arguments(
    arguments: tuple[Any, ...], options: Mapping[str, Any]
) -> tuple[Any, Any, int]:
    """Return three of the arguments of a call of `__import__`: globals, fromlist and level.

    *arguments* are the positional arguments after the name; *options* are the keyword arguments.
    """
    order = ("globals", "locals", "fromlist", "level")
    values = {**dict(zip(order, arguments, strict=False)), **options}
    return values.get("globals"), values.get("fromlist"), values.get("level", 0)


def _import(name: str, *arguments: Any, **options: Any) -> Any:
    """Import *name* as Python does. For a module of the SDK, return toolbench's module in its place."""
    _, members, level = _import_arguments(arguments, options)
    if level or not _is_below(name, TOP):
        return builtins.__import__(name, *arguments, **options)
    place = TOP
    module = top = _stand_in(TOP)
    for part in name.split(".")[1:]:
        place = f"{place}.{part}"
        module = _stand_in(place)
    for member in members or ():
        if f"{name}.{member}" in MODULES or _tool_module(f"{name}.{member}"):
            _stand_in(f"{name}.{member}")
    return module if members else top


def _stand_in(name: str) -> ModuleType:
    """Return toolbench's module for the SDK's module *name*, and make it an attribute of its parent.

    Each call for the same name returns the same module.

    Raises:
        ModuleNotFoundError: If toolbench has no module for *name*.
    """
    module = _stand_ins.get(name)
    if module is None:
        if _Finder().find_spec(name) is None:
            raise ModuleNotFoundError(name)
        module = _stand_ins.setdefault(name, _StandIn(name))
    parent, _, own = name.rpartition(".")
    if parent:
        vars(_stand_ins[parent])[own] = module
    return module


_stand_ins: dict[str, ModuleType] = {}


class _Finder(MetaPathFinder):
    """An import finder, which finds toolbench's module for each module of the SDK."""

    def find_spec(
        self,
        fullname: str,
        path: Sequence[str] | None = None,
        target: ModuleType | None = None,
    ) -> ModuleSpec | None:
        """Return the spec of toolbench's module for *fullname*.

        Return None if *fullname* is not a module of the SDK.

        Raises:
            ModuleNotFoundError: If *fullname* is a module of the SDK and toolbench has none for it.
        """
        if fullname != TOP and not fullname.startswith(f"{TOP}."):
            return None
        if fullname in MODULES or _tool_module(fullname):
            return ModuleSpec(fullname, _Loader(), is_package=True)
        msg = f"toolbench has no module for {fullname}.{did_you_mean(fullname, MODULES)}"
        raise ModuleNotFoundError(msg, name=fullname)


class _Loader(Loader):
    """An import loader, which makes an empty module. A name in the module is looked up when it is used."""

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        """Return toolbench's module for the module of the SDK that *spec* names."""
        return _StandIn(spec.name)

    def exec_module(self, module: ModuleType) -> None:
        """Do nothing: the module has no code to run."""


class _StandIn(ModuleType):
    """A module in place of a module of the SDK: it has toolbench's classes under the SDK's names."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        if tools := _tool_module(self.__name__):
            return getattr(import_module(tools), name)
        if name == "get_logger":
            return logging.getLogger
        if name in OURS:
            return getattr(import_module(OURS[name]), name)
        if name[:1].isupper() or name in ABSENT_FUNCTIONS:
            return _absent(f"{self.__name__}.{name}")
        msg = f"toolbench has nothing in the place of {self.__name__}.{name}"
        raise AttributeError(msg)


def _tool_module(name: str) -> str:
    """Return the name of toolbench's module for *name*, a module of the SDK's tools; empty if none."""
    _, is_tool, rest = name.partition(f"{TOOLS}.")
    ours = f"toolbench.tools.{rest}"
    try:
        return ours if is_tool and find_spec(ours) is not None else ""
    except ModuleNotFoundError:
        # The parent of the module does not exist
        return ""


def _absent(place: str) -> type:
    """Return a class in place of *place*, which is a name of the SDK that toolbench does not have.

    Code can import the class. A call of the class raises a ToolbenchError, and so does
    the definition of a class that derives from it.
    """

    def refuse(*arguments: Any, **options: Any) -> NoReturn:
        msg = (
            f"toolbench has nothing in the place of {place}: load the file that defines the "
            "tools, without the part that runs an agent."
        )
        raise ToolbenchError(msg)

    name = place.rpartition(".")[2]
    return type(name, (), {"__new__": refuse, "__init_subclass__": classmethod(refuse)})
