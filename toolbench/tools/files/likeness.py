"""Copy owner, group, mode and attributes of an old file to a new one."""

import errno
import os
import stat

_NONE = (errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS)


class UnlikeError(Exception):
    """This user cannot give the new file the owner or attributes of the old one."""


def make_alike(new: int, old: int) -> None:
    """Give the file of descriptor *new* the owner, group, mode and extended attributes of *old*.

    Access control lists are among the attributes.

    Raises:
        UnlikeError: If this user may not set one of them.
    """
    old_info = os.fstat(old)
    new_info = os.fstat(new)
    try:
        if (new_info.st_uid, new_info.st_gid) != (old_info.st_uid, old_info.st_gid):
            os.fchown(new, old_info.st_uid, old_info.st_gid)
        os.fchmod(new, stat.S_IMODE(old_info.st_mode))
        _copy_attributes(new, old)
    except PermissionError as error:
        raise UnlikeError from error


def _copy_attributes(new: int, old: int) -> None:
    has, wants = _attributes(new), _attributes(old)
    for name in has.keys() - wants.keys():
        os.removexattr(new, name)
    for name, value in wants.items():
        if has.get(name) != value:
            os.setxattr(new, name, value)


def _attributes(file: int) -> dict[str, bytes]:
    if not hasattr(os, "listxattr"):  # macOS
        return {}
    try:
        return {name: os.getxattr(file, name) for name in os.listxattr(file)}
    except OSError as error:
        if error.errno in _NONE:  # the file system has no attributes
            return {}
        raise
