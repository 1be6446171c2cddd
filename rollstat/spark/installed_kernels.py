"""The kernels that `shipped_kernels` has brought to an executor, in the cache folder of its workers."""

import os
import shutil
import tempfile
from contextlib import suppress
from pathlib import Path

from pyspark import SparkFiles

from rollstat._cache import cache_folder

__all__ = ["ARCHIVE", "install_shipped_kernels"]

ARCHIVE = "rollstat_kernels_"  # beginning of the names of archives
_installed: set[str] = set()


def install_shipped_kernels() -> None:
    """Copy the kernels that a driver has shipped to the cache folder of this machine, in a worker."""
    folder = cache_folder()
    if folder is None:
        return
    for archive in Path(SparkFiles.getRootDirectory()).glob(f"{ARCHIVE}*"):
        if archive.is_dir() and archive.name not in _installed:
            _installed.add(archive.name)
            for file in archive.iterdir():
                with suppress(OSError):  # then the kernel is compiled
                    _copy(file, folder / file.name)


def _copy(file: Path, target: Path) -> None:
    """Copy a file in one step, so that no process sees a part of it."""
    if target.exists():
        return
    handle, name = tempfile.mkstemp(prefix="new-", dir=target.parent)
    os.close(handle)
    shutil.copyfile(file, name)
    os.replace(name, target)
