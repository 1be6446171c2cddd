"""What the machine code of a kernel depends on: digests of source files.

The digest of a source file covers the file and every file of the package that it imports, directly or
indirectly. Numba would look at the file of the kernel alone, and the inlined code of functions of other files
would be stale after an edit of these files.

A kernel can be specialised on an operator: a NamedTuple class whose methods are compiled into it. The digest
of a class of the package is its file's digest; any other class brings the digest of its code, see
:mod:`rollstat.compile.code`. If there is none, the kernel is not cached.
"""

import glob
import hashlib
import inspect
import os
import re
import time
from functools import cache

_FOLDER = os.path.dirname(os.path.realpath(__file__))
_PACKAGE = os.path.dirname(_FOLDER)
# Regular expressions that begin with a character are searched for faster than those that begin with ^.
_IMPORT = re.compile(
    rb"\n[ \t]*(?:import[ \t]+(?P<whole>rollstat[\w.]*)"
    rb"|from[ \t]+(?P<package>rollstat[\w.]*)[ \t]+import[ \t]*"
    rb"(?P<names>\((?:[^)#]|#[^\n]*)*\)|[^\n]*))"
)
_COMMENT = re.compile(rb"#[^\n]*")
_NAME = re.compile(rb"(\w+)(?:[ \t]+as[ \t]+\w+)?")
# Every kernel depends on the decorator and all that it imports: how it is compiled, and what its key is. A
# kernel that adds two vectors imports neither their type nor its operators.
_OF_ALL = os.path.join(_FOLDER, "jit.py"), *glob.glob(os.path.join(_FOLDER, "simd", "*.py"))


class NotFixedError(Exception):
    """The machine code depends on something whose value is not fixed by the source files or by code."""


def digest_of(*parts: object) -> str:
    """Return the digest of a sequence of values by their texts."""
    return hashlib.sha256("\0".join(map(str, parts)).encode()).hexdigest()


@cache
def _module_file(name: str) -> str | None:
    """Return the file of the module with this dotted name, or None if there is no such module."""
    path = os.path.join(_PACKAGE, *name.split(".")[1:])
    return next(filter(os.path.exists, (f"{path}.py", os.path.join(path, "__init__.py"))), None)


def _imported_files(text: bytes) -> frozenset[str]:
    """Return the files of the package that the import statements of a source text name.

    ``from rollstat.kernels.tree import add`` and ``from rollstat.kernels import tree`` both name the
    file ``kernels/tree.py``. If `add` comes from the ``__init__`` of a package, it names that ``__init__``.
    The top-level ``__init__`` only exports public names and no kernel may import from it.
    """
    files: set[str | None] = set()
    for match in _IMPORT.finditer(b"\n" + text):
        package = (match["whole"] or match["package"]).decode()
        file = _module_file(package)
        names = _COMMENT.sub(b"", match["names"] or b"") if str(file).endswith("__init__.py") else b""
        files.update(
            [_module_file(f"{package}.{name.decode()}") or file for name in _NAME.findall(names)] or [file]
        )
    return frozenset(file for file in files if file and file != _module_file("rollstat"))


_STARTED = time.time()


def _is_changed(file: str) -> bool:
    """Return whether a file was written after this process started, so the code in memory may be another.

    A time in the future says that a clock is wrong, not that the file has changed.
    """
    return _STARTED < os.stat(file).st_mtime <= time.time()


@cache
def _content(path: str) -> tuple[str, frozenset[str]]:
    """Return the digest of one file, and the files of the package that it imports."""
    with open(path, "rb") as file:
        text = file.read()
    return hashlib.sha256(text).hexdigest(), _imported_files(text)


def file_digest(path: str) -> str:
    """Return the digest of one file."""
    return _content(path)[0]


def _label(file: str) -> str:
    """Return the name of a source file for a key; it includes the folder inside the package."""
    inner = file.removeprefix(_PACKAGE + os.sep)
    return os.path.basename(file) if inner == file else inner.replace(os.sep, "/")


@cache
def source_digest(path: str) -> str:
    """Return the digest of a file and of all files of the package that it imports, directly or indirectly.

    Raises
    ------
    NotFixedError
        If one of these files was written after this process started, or is not there.
    """
    seen: set[str] = set()
    waiting = [path, *_OF_ALL]
    try:
        while waiting:
            file = waiting.pop()
            if file not in seen:
                seen.add(file)
                waiting.extend(_content(file)[1])
        changed = [_label(file) for file in seen if _is_changed(file)]
    except OSError as error:
        raise NotFixedError(f"the source {error.filename} cannot be read: {error.strerror}") from None
    if changed:
        raise NotFixedError(f"{changed[0]} was written after this process started")
    return digest_of(*sorted((_label(file), _content(file)[0]) for file in seen))


def class_digest(cls: type) -> str:
    """Return the digest of the code of an operator class as kernels get it.

    Raises
    ------
    NotFixedError
        If it depends on more than code.
    """
    members = vars(cls)
    if "__code_digest__" in members:
        return str(members["__code_digest__"])
    if cls.__module__.partition(".")[0] == os.path.basename(_PACKAGE):
        return source_digest(os.path.realpath(inspect.getfile(cls)))
    raise NotFixedError(members.get("__not_stored__", "its class has no digest"))
