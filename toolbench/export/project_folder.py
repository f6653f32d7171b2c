"""Write a project's files into its folder, and remove files that only an earlier export wrote."""

import json
from collections.abc import Mapping
from glob import escape
from hashlib import sha256
from pathlib import Path

from toolbench.errors import ExportError, FileError
from toolbench.files import HOW_TO_OVERWRITE, write_whole

LIST_OF_FILES = ".toolbench-export.json"
"""The file that lists the files that exports wrote into a folder, with their SHA-256."""


def check_places(folder: Path, contents: Mapping[str, bytes]) -> None:
    """Check that writing *contents* into *folder* would not replace files with other content.

    Empty files may be replaced.

    Raises:
        ExportError: If a file cannot be read.
        FileError: If files would be replaced. The message names them all.
    """
    other = list[str]()
    for place, content in contents.items():
        path = folder / place
        if path.exists() and _digest_of(path) not in (_digest(b""), _digest(content)):
            other.append(place)
    if other:
        msg = (
            f"{str(folder)!r} already has {', '.join(other)} with other content: nothing was "
            f"written. Name another folder, or overwrite it with {HOW_TO_OVERWRITE}."
        )
        raise FileError(msg)


def write_files(folder: Path, contents: Mapping[str, bytes], *, removal: bool) -> list[str]:
    """Write *contents* into *folder*, and a list of all files that were written.

    The next export reads the list to find the files that it may remove.

    Args:
        folder: The folder of the project, which is created if needed.
        contents: The content of each file, by its path in *folder*.
        removal: Whether to remove files that only an earlier export wrote. Files that the user has
            changed are not removed.

    Returns:
        Sentences for the user. They name the files of an earlier export that were removed, and
        the files that were kept because the user had changed them.

    Raises:
        ExportError: If a file cannot be written or removed.
    """
    listed, removed, sentences = dict[str, str](), list[str](), list[str]()
    earlier = _listed_digests(folder)
    try:
        for place, content in contents.items():
            path = folder / place
            path.parent.mkdir(parents=True, exist_ok=True)
            write_whole(path, content, is_private=False)
            listed[place] = _digest(content)
        for place, digest in earlier.items():
            if place in contents or not _is_own_file(folder, place):
                continue
            if removal and _digest_of(folder / place) == digest:
                _remove(folder, place)
                removed.append(f"`{place}`")
                continue
            listed[place] = digest
            if removal:
                sentences.append(
                    f"`{place}` is of the earlier export and is still there, because you changed it. "
                    "It may not fit the new package: delete it, or move what you need of it to a "
                    "file of your own."
                )
        text = json.dumps({"files": dict(sorted(listed.items()))}, indent=1)
        write_whole(folder / LIST_OF_FILES, f"{text}\n", is_private=False)
    except OSError as error:
        raise _failure(error, "written") from error
    if removed:
        sentences.insert(0, f"Files of the earlier export that were removed: {', '.join(removed)}.")
    return sentences


def _listed_digests(folder: Path) -> Mapping[str, str]:
    """Return the digests of the files that earlier exports wrote into *folder*, by path.

    The result is empty if there was no earlier export.

    Raises:
        ExportError: If the list cannot be read.
    """
    path = folder / LIST_OF_FILES
    try:
        text = path.read_text("utf-8", errors="replace")
    except (FileNotFoundError, NotADirectoryError):
        return {}
    except OSError as error:
        raise _failure(error, "read") from error
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
    """Tell whether *place* is a file inside *folder* that no link on its path leads out of."""
    parts = Path(place).parts
    try:
        path = folder.resolve().joinpath(*parts)
        is_direct = not Path(place).is_absolute() and ".." not in parts
        return is_direct and path.is_file() and path.resolve() == path
    except (OSError, ValueError, RuntimeError):
        # As for a null character in the list
        return False


def _remove(folder: Path, place: str) -> None:
    """Remove the file at *place*, its compiled code, and the folders that become empty."""
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


def _digest_of(path: Path) -> str:
    try:
        return _digest(path.read_bytes())
    except OSError as error:
        raise _failure(error, "read") from error


def _digest(content: bytes) -> str:
    """Return the SHA-256 of *content* with Unix line ends, because Git may have changed them."""
    return sha256(content.replace(b"\r\n", b"\n")).hexdigest()


def _failure(error: OSError, what: str) -> ExportError:
    return ExportError(f"{str(error.filename)!r} cannot be {what}: {error.strerror}.")
