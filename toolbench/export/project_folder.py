"""Write the files of a project into its folder, and remove those that only an earlier export wrote."""

import json
from collections.abc import Iterator, Mapping
from glob import escape
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple, Self

from toolbench.errors import ExportError, FileError
from toolbench.files import HOW_TO_OVERWRITE, write_whole

LIST_OF_FILES = ".toolbench-export.json"
"""The file in the folder that says which files exports wrote there, each with its SHA-256."""


class EarlierFiles(NamedTuple):
    """The files that earlier exports wrote into a folder, are still there, and are not written again.

    Attributes:
        digests: The SHA-256 of each of them as it was written, by its path in the folder.
        unchanged: The paths of those that are still as they were written.
        changed: The paths of the others: a person changed them.
    """

    digests: Mapping[str, str]
    unchanged: tuple[str, ...]
    changed: tuple[str, ...]

    @classmethod
    def of(cls, folder: Path, contents: Mapping[str, bytes]) -> Self:
        """Return the earlier files of *folder* that are not in *contents*, the files to write.

        Raises:
            ExportError: If the list of the files or one of them cannot be read.
        """
        digests = {
            place: digest
            for place, digest in _listed_digests(folder).items()
            if place not in contents and _is_own_file(folder, place)
        }
        try:
            unchanged = [
                place
                for place, digest in digests.items()
                if _digest((folder / place).read_bytes()) == digest
            ]
        except OSError as error:
            raise _failure(error, "read") from error
        changed = [place for place in digests if place not in unchanged]
        return cls(digests, tuple(unchanged), tuple(changed))


def check_places(folder: Path, contents: Mapping[str, bytes]) -> None:
    """Check that no file of *folder* has other content than in *contents*; an empty one has none.

    Raises:
        ExportError: If a file cannot be read.
        FileError: If files have other content; the message names all.
    """
    try:
        other = [
            place
            for place, content in contents.items()
            if (folder / place).exists()
            and _digest((folder / place).read_bytes()) not in (_digest(b""), _digest(content))
        ]
    except OSError as error:
        raise _failure(error, "read") from error
    if other:
        msg = (
            f"{str(folder)!r} already has {', '.join(other)} with other content: nothing was "
            f"written. Name another folder, or overwrite it with {HOW_TO_OVERWRITE}."
        )
        raise FileError(msg)


def write_files(folder: Path, contents: Mapping[str, bytes], *, removal: bool) -> tuple[str, ...]:
    """Write *contents* into *folder*, and list there what was written.

    Args:
        folder: The folder of the project; it is made if needed.
        contents: The content of each file, by its path in *folder*.
        removal: Remove the files that only an earlier export wrote, except those that a person changed.

    Returns:
        Sentences for a person: which files were removed, and which of the earlier files are still there.

    Raises:
        ExportError: If a file cannot be written or removed.
    """
    earlier = EarlierFiles.of(folder, contents)
    try:
        for place, content in contents.items():
            path = folder / place
            path.parent.mkdir(parents=True, exist_ok=True)
            write_whole(path, content, is_private=False)
    except OSError as error:
        raise _failure(error, "written") from error
    removed = earlier.unchanged if removal else ()
    try:
        for place in removed:
            _remove(folder, place)
    except OSError as error:
        raise _failure(error, "removed") from error
    digests = {place: _digest(content) for place, content in contents.items()}
    digests |= {p: d for p, d in earlier.digests.items() if p not in removed}
    try:
        text = json.dumps({"files": dict(sorted(digests.items()))}, indent=1)
        write_whole(folder / LIST_OF_FILES, f"{text}\n", is_private=False)
    except OSError as error:
        raise _failure(error, "written") from error
    return tuple(_sentences(removed, earlier.changed if removal else ()))


def _sentences(removed: tuple[str, ...], changed: tuple[str, ...]) -> Iterator[str]:
    if removed:
        files = ", ".join(f"`{place}`" for place in removed)
        yield f"Files of the earlier export that were removed: {files}."
    for place in changed:
        yield (
            f"`{place}` is of the earlier export and is still there, because you changed it. It may "
            "not fit the new package: delete it, or move what you need of it to a file of your own."
        )


def _listed_digests(folder: Path) -> Mapping[str, str]:
    """Return the digests of the files that exports wrote into *folder*; empty if there is no list.

    Raises:
        ExportError: If the list cannot be read.
    """
    path = folder / LIST_OF_FILES
    try:
        text = path.read_text("utf-8")
    except (FileNotFoundError, NotADirectoryError):
        return {}
    except OSError as error:
        raise _failure(error, "read") from error
    except ValueError:
        text = ""
    try:
        digests = json.loads(text)["files"]
        return {str(place): str(digest) for place, digest in digests.items()}
    except (ValueError, TypeError, KeyError, AttributeError):
        msg = (
            f"{str(path)!r}, the list of the files that an export wrote, is damaged: nothing was "
            "written. Delete it, and then yourself what you no longer need of the earlier export."
        )
        raise ExportError(msg) from None


def _is_own_file(folder: Path, place: str) -> bool:
    """Tell whether *place* is a file inside of *folder* itself: no link on the way leads elsewhere."""
    parts = Path(place).parts
    try:
        path = folder.resolve().joinpath(*parts)
        is_direct = not Path(place).is_absolute() and ".." not in parts
        return is_direct and path.is_file() and path.resolve() == path
    except (OSError, ValueError, RuntimeError):
        # As for a null character in the list
        return False


def _remove(folder: Path, place: str) -> None:
    """Remove the file at *place*, what Python compiled of it, and the folders that are empty then."""
    path = folder / place
    path.unlink()
    if path.suffix == ".py":
        compiled = path.parent / "__pycache__"
        for file in compiled.glob(f"{escape(path.stem)}.*.pyc"):
            file.unlink()
        _remove_if_empty(compiled)
    for parent in path.relative_to(folder).parents[:-1]:
        _remove_if_empty(folder / parent)


def _remove_if_empty(folder: Path) -> None:
    if folder.is_dir() and not any(folder.iterdir()):
        folder.rmdir()


def _digest(content: bytes) -> str:
    """Return the SHA-256 of *content* with the line ends of Unix: Git may write those of Windows."""
    return sha256(content.replace(b"\r\n", b"\n")).hexdigest()


def _failure(error: OSError, what: str) -> ExportError:
    return ExportError(f"{str(error.filename)!r} cannot be {what}: {error.strerror}.")
