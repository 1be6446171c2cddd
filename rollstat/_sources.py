"""What the machine code of a kernel depends on: digests of source files, and of operators.

The digest of a source file covers the file and every file of the package that it imports, directly or
indirectly. Numba would look at the file of the kernel alone, and the code of functions of other files that
are inlined into it would be stale after an edit of those.

A kernel can be specialised on an operator: a NamedTuple class whose methods are compiled into it. The digest
of a class of the package is that of its file. The digest of any other class covers the bytecode of its
methods and everything that they refer to by name: functions, other classes, and constants. If a method
refers to something whose value is not fixed by code, there is no digest, and the kernel is not cached.
"""

import hashlib
import inspect
import re
import sys
import time
import types
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numba.core.dispatcher import Dispatcher

__all__ = ["NotFixedError", "class_digest", "code_digest", "digest_of", "source_digest"]

_PACKAGE = Path(__file__).resolve().parent
_IMPORT = re.compile(
    rb"^[ \t]*(?:import[ \t]+(?P<whole>rollstat[\w.]*)"
    rb"|from[ \t]+(?P<package>rollstat[\w.]*)[ \t]+import[ \t]*(?P<names>\([^)]*\)|[^\n]*))",
    re.MULTILINE,
)
_COMMENT = re.compile(rb"#[^\n]*")
_NAME = re.compile(rb"(\w+)(?:[ \t]+as[ \t]+\w+)?")
# Members of every NamedTuple class.
_GENERATED = {"_asdict", "_field_defaults", "_fields", "_make", "_replace"}
# Every kernel depends on these: how it is compiled, and what its key is.
_COMMON = [_PACKAGE / "_jit.py", _PACKAGE / "_cache.py", _PACKAGE / "_sources.py"]


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


def _label(file: Path) -> str:
    """Return the name of a source file for a key; it includes the folder inside the package."""
    return file.relative_to(_PACKAGE).as_posix() if file.is_relative_to(_PACKAGE) else file.name


@cache
def source_digest(path: Path) -> str:
    """Return the digest of a file and of all files of the package that it imports, directly or indirectly.

    Raises
    ------
    NotFixedError
        If one of these files was written after this process started.
    """
    seen: set[Path] = set()
    waiting = [path, *_COMMON]
    while waiting:
        file = waiting.pop()
        if file not in seen:
            seen.add(file)
            waiting.extend(_content(file)[1])
    for file in seen:
        if _is_changed(file):
            raise NotFixedError(f"{_label(file)} was written after this process started")
    return digest_of(*(part for file in sorted(seen) for part in (_label(file), _content(file)[0])))


def _version_digest(module: str | None, name: str) -> str:
    """Return the digest of what belongs to a module of another package: the version of the package."""
    package = (module or "builtins").partition(".")[0]
    version = getattr(sys.modules.get(package), "__version__", None)
    if version is None and package not in sys.stdlib_module_names:
        raise NotFixedError(f"{name} belongs to {package}, which has no version")
    return digest_of("module", module, version)  # the version of Python is part of every key


def _names(code: types.CodeType) -> set[str]:
    """Return the names that a code object and the code objects inside it refer to."""
    inner = (item for item in code.co_consts if isinstance(item, types.CodeType))
    return set(code.co_names).union(*map(_names, inner))


def _code_digest(code: types.CodeType) -> str:
    """Return the digest of what a code object does, without file name and line numbers."""
    constants = [
        _code_digest(item) if isinstance(item, types.CodeType) else repr(item) for item in code.co_consts
    ]
    names = code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars
    return digest_of(code.co_code.hex(), constants, *names)


def _function_digest(function: types.FunctionType, seen: list[Any]) -> str:
    """Return the digest of a Python function and of everything that it refers to by name."""
    scope = function.__globals__
    used = {name: scope[name] for name in _names(function.__code__) if name in scope}
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or ()):
        used[name] = cell.cell_contents
    parts = [(name, _value_digest(used[name], name, seen)) for name in sorted(used)]
    defaults = [_value_digest(value, "a default", seen) for value in function.__defaults__ or ()]
    return digest_of(_code_digest(function.__code__), parts, defaults)


def _methods_digest(cls: Any, seen: list[Any]) -> str:
    """Return the digest of the methods, fields and constants of a class and of its bases."""
    fields = getattr(cls, "_fields", ())
    parts = [fields]
    for base in cls.__mro__:
        if base.__module__ != "builtins":
            own = sorted(name for name in vars(base) if not name.startswith("__") and name not in _GENERATED)
            members = [(name, inspect.getattr_static(base, name)) for name in own if name not in fields]
            parts += [(name, _value_digest(value, name, seen)) for name, value in members]
    return digest_of(cls.__qualname__, parts)


def _value_digest(value: Any, name: str, seen: list[Any]) -> str:
    """Return the digest of a value that code refers to as `name`; `seen` holds those that are under way."""
    if any(value is other for other in seen):
        return digest_of("recursion", name)
    seen = [*seen, value]
    value = value.fget if isinstance(value, property) else getattr(value, "__func__", value)
    if isinstance(value, types.ModuleType):
        return _version_digest(value.__name__, name)
    if isinstance(value, Dispatcher):
        return digest_of(_function_digest(value.py_func, seen), sorted(value.targetoptions.items()))
    if isinstance(value, types.FunctionType):
        return _function_digest(value, seen)
    if isinstance(value, type) and hasattr(value, "_fields"):
        return _methods_digest(value, seen)
    if isinstance(value, (type, types.BuiltinFunctionType, np.ufunc)):
        return digest_of(_version_digest(value.__module__, name), value.__qualname__)
    if value is None or isinstance(value, (bool, int, float, complex, str, np.generic)):
        return digest_of(type(value).__name__, repr(value))
    if isinstance(value, np.ndarray) and not value.dtype.hasobject:
        return digest_of(value.dtype, value.shape, value.tobytes().hex())
    if isinstance(value, tuple):
        return digest_of("tuple", *(_value_digest(item, name, seen) for item in value))
    raise NotFixedError(f"{name} is of type {type(value).__name__}")


def code_digest(value: Any) -> str:
    """Return the digest of the code of an operator class, or of functions and constants in a tuple.

    Raises
    ------
    NotFixedError
        If it depends on more than code.
    """
    try:
        return _value_digest(value, "the operator", [])
    except ValueError as error:  # a variable of an enclosing function that has no value yet
        raise NotFixedError(str(error)) from None


@cache
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
