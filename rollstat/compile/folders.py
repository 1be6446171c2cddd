"""The folders of compiled kernels: the ones this user reads, the one written to, and why others are not used.

::

    NUMBA_CACHE_DIR, the user's cache folder, a folder under the temporary folder
        --> absolute?  made or there?  of this user or root, and written by nobody else?  --> read
        --> a file can be made?  --> it is written to, and no further folder is used

Files of kernels are pickles: whoever can write one can run code in the processes that load it. The answers
depend on the effective user, because a process may drop privileges after its first call.
"""

import os
import tempfile
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import BinaryIO, NamedTuple

from numba import config
from numba.misc.appdirs import AppDirs

_WRITABLE_BY_OTHERS = 0o022
TEMPORARY = "new-"
"""Begins the names of files that are being written."""


class Folder(NamedTuple):
    """A folder that may hold compiled kernels.

    Attributes
    ----------
    path : Path
        Where it is, or would be.
    read, written : bool
        Whether files are loaded from it, and whether new ones may be stored in it.
    reason : str
        Why it is not read, or not written to; empty if it is both.
    """

    path: Path
    read: bool
    written: bool
    reason: str = ""


def user() -> int | None:
    """Return the number of the effective user; None where the system has no such numbers."""
    return os.geteuid() if hasattr(os, "geteuid") else None


def folders() -> tuple[Folder, ...]:
    """Return the folders in the order in which they are read, up to the one that is written to."""
    return _folders(user(), config.CACHE_DIR)


def cache_folder() -> Path | None:
    """Return the folder that compiled kernels are stored in, or None."""
    return next((folder.path for folder in folders() if folder.written), None)


def is_trusted(file: BinaryIO) -> bool:
    """Return whether an open file belongs to this user or to root."""
    return user() is None or os.fstat(file.fileno()).st_uid in (user(), 0)


@cache
def _folders(of_user: int | None, named: str) -> tuple[Folder, ...]:
    candidates = [Path(named) / "rollstat"] if named else []
    candidates.append(Path(AppDirs(appname="rollstat", appauthor=False).user_cache_dir))
    with suppress(OSError):  # where no temporary folder can be written to
        name = "user" if of_user is None else of_user
        candidates.append(Path(tempfile.gettempdir()) / f"rollstat-cache-{name}")
    judged: list[Folder] = []
    for path in candidates:
        judged.append(_judged(path, of_user))
        if judged[-1].written:
            break
    return tuple(judged)


def _judged(path: Path, of_user: int | None) -> Folder:
    """Return what a user may do with a folder; make the folder if it is missing."""
    if not path.is_absolute():
        return Folder(path, False, False, "not read: it is not an absolute path")
    try:
        path.mkdir(mode=0o755, parents=True, exist_ok=True)
        owners = {path.lstat().st_uid, path.stat().st_uid}
        others = path.stat().st_mode & _WRITABLE_BY_OTHERS
        os.scandir(path).close()
    except OSError as error:
        return Folder(path, False, False, f"not read: {error.strerror}")
    if of_user is not None and (others or not owners <= {of_user, 0}):
        return Folder(path, False, False, "not read: other users can write to it")
    try:
        tempfile.TemporaryFile(dir=path).close()
    except OSError as error:
        return Folder(path, True, False, f"not written: {error.strerror}")
    return Folder(path, True, True)


def remove_files(folder: Path, *, older_than: float = float("inf"), prefix: str = "") -> int:
    """Remove the files of a folder whose names have a prefix, and return how many.

    Files that have changed after the time `older_than`, and those that cannot be removed, stay.
    """
    removed = 0
    with suppress(OSError):
        for entry in os.scandir(folder):
            with suppress(OSError):
                if entry.name.startswith(prefix) and entry.is_file(follow_symlinks=False):
                    if entry.stat().st_mtime < older_than:
                        os.unlink(entry)
                        removed += 1
    return removed
