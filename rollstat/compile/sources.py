"""What the machine code of a kernel depends on: digests of source files.

The digest of a source file covers the file and every file of the package that it imports, directly or
indirectly. Numba would look at the file of the kernel alone, and the inlined code of functions of other files
would be stale after an edit of these files.

A kernel can be specialised on an operator: a NamedTuple class whose methods are compiled into it. The digest
of a class of the package is its file's digest; any other class brings the digest of its code, see
:mod:`rollstat.compile.code`. If there is none, the kernel is not cached.
"""

import hashlib
import inspect
import re
import time
from functools import cache
from pathlib import Path

_PACKAGE = Path(__file__).resolve().parent.parent
_IMPORT = re.compile(
    rb"^[ \t]*(?:import[ \t]+(?P<whole>rollstat[\w.]*)"
    rb"|from[ \t]+(?P<package>rollstat[\w.]*)[ \t]+import[ \t]*(?P<names>\([^)]*\)|[^\n]*))",
    re.MULTILINE,
)
_COMMENT = re.compile(rb"#[^\n]*")
_NAME = re.compile(rb"(\w+)(?:[ \t]+as[ \t]+\w+)?")
# Every kernel depends on the decorator and all that it imports: how it is compiled, and what its key is. A
# kernel that adds two vectors imports neither their type nor its operators.
_DECORATOR = Path(__file__).resolve().with_name("jit.py")
_VECTORS = sorted(_DECORATOR.parent.glob("simd/*.py"))


class NotFixedError(Exception):
    """The machine code depends on something whose value is not fixed by the source files or by code."""


def digest_of(*parts: object) -> str:
    """Return the digest of a sequence of values by their texts."""
    return hashlib.sha256("\0".join(map(str, parts)).encode()).hexdigest()


def _module_file(parts: list[str]) -> Path | None:
    """Return the file of the module with these dotted parts, or None if there is no such module."""
    path = _PACKAGE.joinpath(*parts[1:])
    candidates = (path.with_suffix(".py"), path / "__init__.py") if parts[1:] else (path / "__init__.py",)
    return next((file for file in candidates if file.exists()), None)


def _imported_files(text: bytes) -> frozenset[Path]:
    """Return the files of the package that the import statements of a source text name.

    ``from rollstat.kernels.tree import add`` and ``from rollstat.kernels import tree`` both name the
    file ``kernels/tree.py``. If `add` comes from the ``__init__`` of a package, it names that ``__init__``.
    The top-level ``__init__`` only exports public names and no kernel may import from it.
    """
    files: set[Path | None] = set()
    for match in _IMPORT.finditer(_COMMENT.sub(b"", text)):
        if match["whole"]:
            files.add(_module_file(match["whole"].decode().split(".")))
            continue
        package = match["package"].decode().split(".")
        if b"*" in match["names"]:
            files.add(_module_file(package))
        for name in _NAME.findall(match["names"]):
            files.add(_module_file([*package, name.decode()]) or _module_file(package))
    return frozenset(file for file in files if file and file != _PACKAGE / "__init__.py")


_STARTED = time.time()


def _is_changed(file: Path) -> bool:
    """Return whether a file was written after this process started, so the code in memory may be another.

    A time in the future says that a clock is wrong, not that the file has changed.
    """
    return _STARTED < file.stat().st_mtime <= time.time()


@cache
def _content(path: Path) -> tuple[str, frozenset[Path]]:
    """Return the digest of one file, and the files of the package that it imports."""
    text = path.read_bytes()
    return hashlib.sha256(text).hexdigest(), _imported_files(text)


def file_digest(path: Path) -> str:
    """Return the digest of one file."""
    return _content(path)[0]


def _label(file: Path) -> str:
    """Return the name of a source file for a key; it includes the folder inside the package."""
    return file.relative_to(_PACKAGE).as_posix() if file.is_relative_to(_PACKAGE) else file.name


@cache
def source_digest(path: Path) -> str:
    """Return the digest of a file and of all files of the package that it imports, directly or indirectly.

    Raises
    ------
    NotFixedError
        If one of these files was written after this process started, or is not there.
    """
    seen: set[Path] = set()
    waiting = [path, _DECORATOR, *_VECTORS]
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
    return digest_of(*(part for file in sorted(seen) for part in (_label(file), _content(file)[0])))


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
    if cls.__module__.partition(".")[0] == _PACKAGE.name:
        return source_digest(Path(inspect.getfile(cls)).resolve())
    raise NotFixedError(members.get("__not_stored__", "its class has no digest"))
