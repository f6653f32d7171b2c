"""The error that ends a run of a file tool; its text also tells a model what to do."""

import errno
import re

_BYTE = re.compile("[\udc80-\udcff]")
_ADVICE = {
    errno.EACCES: "permission denied. Choose another path",
    errno.EPERM: "permission denied. Choose another path",
    errno.ENOENT: "there is no such file or directory. Look at the directory above it",
    errno.ENOTDIR: "a part of the path is a file, not a directory. Check the path",
    errno.EISDIR: "it is a directory, not a file. Give the path of a file",
    errno.ELOOP: "its symbolic links lead in a circle. Give the path of the file itself",
    errno.ENAMETOOLONG: "the name is too long for this file system. Choose a shorter one",
    errno.ENOSPC: "the disk is full. Free some space and try again",
    errno.EDQUOT: "the disk quota is used up. Free some space and try again",
    errno.E2BIG: "what it is given is longer than the system allows. Give a shorter pattern",
    errno.EFBIG: "this process may not write so large a file. Write less",
    errno.EROFS: "the file system is read-only. Choose another path",
}


class RunError(Exception):
    """The error that ends a run; its text says what happened and what to do next."""


def run_error(error: OSError, doing: str) -> RunError:
    """Return a `RunError` for *error*; *doing* names what failed, such as `read a.txt`."""
    reason = _ADVICE.get(error.errno or 0, error.strerror or str(error))
    return RunError(f"Could not {doing}: {reason}.")


def readable(text: str) -> str:
    r"""Return *text* with an escape such as `\xff` for each character that is not valid Unicode."""
    try:
        text.encode()
    except UnicodeEncodeError:
        escaped = _BYTE.sub(lambda byte: f"\\x{ord(byte[0]) - 0xDC00:02x}", text)
        return escaped.encode(errors="backslashreplace").decode()
    return text
