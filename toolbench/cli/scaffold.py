"""`toolbench new`: write a new tool package, with the same files as the tools of OpenHands."""

from collections.abc import Iterator
from dataclasses import dataclass
from importlib.resources import files
from importlib.resources.abc import Traversable
from importlib.util import find_spec
from keyword import iskeyword
from pathlib import Path
from sys import stdlib_module_names

from toolbench.errors import ToolbenchError
from toolbench.files import write_whole

_SUFFIX = ".tmpl"


class ScaffoldError(ToolbenchError, ValueError):
    """The package cannot be written: its name or its folder cannot be used."""


@dataclass(frozen=True)
class Scaffold:
    """The folder and the files of a package that `scaffold` wrote."""

    folder: Path
    files: tuple[Path, ...]

    @property
    def notebook(self) -> Path:
        """The path of the notebook that shows the tool."""
        return next(path for path in self.files if path.suffix == ".ipynb")


def scaffold(name: str, into: Path) -> Scaffold:
    """Write a package for a new tool into the folder *name* inside the folder *into*.

    Raises:
        ScaffoldError: If *name* cannot be a module name, or the folder exists already.
    """
    name = name.strip().replace("-", "_")
    _check_name(name)
    folder = into / name
    try:
        folder.mkdir(parents=True)
    except FileExistsError:
        msg = f"{str(folder)!r} exists already: choose another name, or another folder with --into."
        raise ScaffoldError(msg) from None
    except OSError as error:
        msg = f"{str(folder)!r} cannot be made: {error.strerror}."
        raise ScaffoldError(msg) from error
    written = []
    for parts, template in _templates(files("toolbench.cli") / "template"):
        path = folder.joinpath(*(_named(part, name) for part in parts))
        path.parent.mkdir(parents=True, exist_ok=True)
        text = _named(template.read_text(encoding="utf-8"), name)
        write_whole(path, text, is_private=False)
        written.append(path)
    return Scaffold(folder, tuple(sorted(written)))


def _check_name(name: str) -> None:
    if not (name.isidentifier() and name.isascii() and name[0].isalpha()) or iskeyword(name):
        msg = f"{name!r} cannot be the name of a Python module: use letters, digits and _, as in 'word_count'."
        raise ScaffoldError(msg)
    if name == "tests" or name.startswith("test_"):
        msg = f"pytest would treat {name!r} as tests: choose another name, as in '{name.partition('_')[2] or 'my'}_tool'."
        raise ScaffoldError(msg)
    if name in stdlib_module_names or find_spec(name) is not None:
        msg = f"{name!r} would hide the module of this name: choose another name, as in '{name}_tool'."
        raise ScaffoldError(msg)


def _templates(
    folder: Traversable, above: tuple[str, ...] = ()
) -> Iterator[tuple[tuple[str, ...], Traversable]]:
    for entry in folder.iterdir():
        if entry.is_dir():
            yield from _templates(entry, (*above, entry.name))
        elif entry.name.endswith(_SUFFIX):
            yield (*above, entry.name.removesuffix(_SUFFIX)), entry


def _named(text: str, name: str) -> str:
    stem = "".join(part.capitalize() for part in name.removesuffix("_tool").split("_"))
    for part in ("Action", "Observation", "Executor", "Tool"):
        text = text.replace(f"My{part}", f"{stem}{part}")
    return text.replace("my_tool", name)
