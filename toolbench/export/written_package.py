"""A package that was written, and what a person should look at in it."""

from pathlib import Path
from typing import Any, NamedTuple, Self


class WrittenPackage(NamedTuple):
    """A package that was written.

    Attributes:
        folder: The folder of the project.
        notes: The sentences of "To look at" in its README: what is not in the package, what runs
            at each import, which calls are not repeated by its tests. After them sentences about
            the files of an earlier export: which were removed, which are still there.
    """

    folder: Path
    notes: tuple[str, ...]

    def to_look_at(self) -> str:
        """Return the notes, each on a line of its own that begins with a line break; empty if none."""
        return "".join(f"\nTo look at: {note}" for note in self.notes)


class PackageFolder(type(Path())):  # type: ignore[misc]  # Path itself: from Python 3.12
    """The folder of a package that was written: a path that a cell shows with what to look at."""

    _to_look_at = ""

    @classmethod
    def of(cls, package: WrittenPackage) -> Self:
        """Return the folder of *package*."""
        folder = cls(package.folder)
        folder._to_look_at = package.to_look_at()
        return folder

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:  # noqa: FBT001 - as IPython calls it
        printer.text(f"{Path(self)!r}{self._to_look_at}")
