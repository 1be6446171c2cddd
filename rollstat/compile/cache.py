r"""Machine code of kernels on disk: under which key it is stored, where, and how it is found.

::

    kernel, types of arguments ---> key ---> prebuilt code of the package, for the CPU level of the host
                                        \--> a file of the cache folder, for exactly this CPU
                                         \-> neither: compile, and write the file

The key is a digest of everything that the machine code depends on: the sources of the kernel and of every
module of the package that it imports, the types of the arguments, the code of operators among them, the
compiler options, the versions of Python, Numba and llvmlite, and the target CPU. Another source, version
or CPU has another key, so stale code is never found, and processes with different code or different CPUs
share a folder without conflict. If a source was written after the process started, the code in memory may be
older than the source, so kernels that depend on it are neither loaded nor stored.

One file holds one compiled function. It is written under a temporary name and renamed, so readers never
see a part of it, and it begins with a digest of its content, so a damaged file is ignored and written
again. Any error of the file system means that the function is compiled, never that a call fails. The folder
of the package is never written to, because files there would survive an uninstall.
"""

import hashlib
import logging
import os
import pickle
import sys
import time
import zlib
from collections.abc import Callable, Hashable, Iterable, Iterator
from contextlib import suppress
from functools import cache
from io import BytesIO
from pathlib import Path
from types import FunctionType
from typing import Any, NamedTuple
from uuid import uuid4

import llvmlite
import numba
from llvmlite import binding
from numba import config, types
from numba.core.caching import CompileResultCacheImpl, _Cache
from numba.core.codegen import CodeLibrary, JITCodeLibrary
from numba.core.compiler import compile_result
from numba.core.registry import cpu_target
from numba.core.runtime import rtsys
from numba.core.serialize import NumbaPickler
from numba.core.sigutils import normalize_signature

from rollstat.compile.folders import TEMPORARY, cache_folder, folders, is_trusted, remove_files
from rollstat.compile.sources import NotFixedError, class_digest, digest_of, source_digest

_log = logging.getLogger("rollstat")
_FORMAT = b"rollstat kernel 1\n"
MARKER = ".ready"
"""End of the names of the files that :func:`mark` makes."""
# Begin the names of functions, of their wrappers for Python, and of environments; and of wrappers for C.
_MANGLED = "_ZN", "cfunc._ZN"
_VERSIONS = sys.implementation.cache_tag, numba.__version__, llvmlite.__version__

# Levels of the x86-64 psABI from high to low, and the features that each needs. Code for a level runs on
# every CPU that has all of these.
_V2 = ("cx16", "sahf", "popcnt", "sse3", "sse4.1", "sse4.2", "ssse3")
_V3 = (*_V2, "avx", "avx2", "bmi", "bmi2", "f16c", "fma", "lzcnt", "movbe", "xsave")
_V4 = (*_V3, "avx512bw", "avx512cd", "avx512dq", "avx512f", "avx512vl")
LEVELS = {"x86-64-v4": _V4, "x86-64-v3": _V3, "x86-64-v2": _V2}


class CompiledKernel(NamedTuple):
    """A kernel for which this process has machine code."""

    name: str
    types: str
    """Types of the arguments."""
    origin: str
    """Where the code comes from: ``"wheel"``, ``"cache"`` or ``"compiled"``."""
    seconds: float
    """Time to load or compile it, with all kernels that it calls."""
    key: str | None
    """Name of the file that it was loaded from."""


# What this process has loaded or compiled, in this order.
compiled_kernels: list[CompiledKernel] = []
# Folders in which a file could not be stored.
_unstored: set[Path] = set()


def _features() -> set[str]:
    """Return the features of the CPU that code is compiled for."""
    if config.CPU_FEATURES is not None:
        return {name[1:] for name in config.CPU_FEATURES.split(",") if name.startswith("+")}
    return {name for name, present in binding.get_host_cpu_features().items() if present}


def cpu_name() -> str:
    """Return the name of the CPU that code is compiled for."""
    return str(config.CPU_NAME or binding.get_host_cpu_name())


@cache
def host_levels() -> tuple[str, ...]:
    """Return the CPU levels whose code this process can run, best first."""
    machine = binding.get_process_triple().split("-")[0]
    if machine == "x86_64":
        features = _features()
        return tuple(level for level, needed in LEVELS.items() if features.issuperset(needed))
    return (machine,)  # one baseline for all CPUs of the architecture


def _target() -> Any:
    """Return what the code of this process is compiled for: a CPU level while prebuilding, or this CPU."""
    return os.environ.get("ROLLSTAT_BUILD_LEVEL") or cpu_target.target_context.codegen().magic_tuple()


@cache
def prebuilt_folder() -> Path | None:
    """Return the read-only folder of machine code that a wheel brings, or None."""
    folder = Path(__file__).resolve().parent.parent / "_prebuilt"
    return folder if folder.is_dir() else None


def _read(path: Path) -> bytes | None:
    """Return the content of a file; None if it is missing, damaged, or of another user."""
    try:
        with path.open("rb") as file:
            content = file.read() if is_trusted(file) else b""
    except OSError:
        return None
    begin = len(_FORMAT) + 32
    if content[:begin] != _FORMAT + hashlib.sha256(content[begin:]).digest():
        return None
    return zlib.decompress(content[begin:])


def _write(path: Path, data: bytes) -> None:
    """Write a file at once, with the permissions that the umask leaves."""
    body = zlib.compress(data)
    temporary = path.with_name(f"{TEMPORARY}{uuid4()}")
    try:
        _remove_unfinished(path.parent)
        with temporary.open("xb") as file:
            file.write(_FORMAT + hashlib.sha256(body).digest() + body)
        temporary.replace(path)
    except OSError as error:
        _unstored.add(path.parent)
        _warn_once(f"compiled kernels cannot be stored in {path.parent}: {error.strerror}")
        with suppress(OSError):
            temporary.unlink()


@cache
def _remove_unfinished(folder: Path) -> None:
    """Remove what processes that were killed an hour ago or earlier have left half-written."""
    remove_files(folder, older_than=time.time() - 3600, prefix=TEMPORARY)


@cache
def _warn_once(message: str) -> None:
    _log.warning(message)


def record(
    function: Callable[..., Any], signature: Any, origin: str, seconds: float, key: str | None = None
) -> None:
    """Note that this process has code of a kernel; say once that compiling it took more than a second."""
    name = f"{function.__module__}.{function.__qualname__}".removeprefix("rollstat.kernels.")
    compiled_kernels.append(CompiledKernel(name, str(signature), origin, seconds, key))
    if origin == "compiled" and seconds > 1:
        _say_that_compiling_takes_time()
        for cls in _operators(signature):
            reason = vars(cls).get("__not_stored__")
            if reason is not None:
                name = cls.__name__.rpartition("_")[0]
                _warn_once(f"the operator {name} is compiled again in each call: {reason}")


@cache
def _say_that_compiling_takes_time() -> None:
    folder = cache_folder()
    next_time = (
        "cannot be stored on disk" if folder is None else f"are stored in {folder} for other processes"
    )
    _log.warning(
        "rollstat compiles kernels on first use, which takes seconds; they %s. "
        "rollstat.warmup() compiles in advance, see also `python -m rollstat info`.",
        next_time,
    )


class _Pickler(NumbaPickler):  # type: ignore[misc]  # Numba has no types
    """Classes of users are pickled by their digests: other processes need not be able to import them."""

    def persistent_id(self, obj: Any) -> Any:
        return vars(obj).get("__code_digest__") if isinstance(obj, type) else None


class _Unpickler(pickle.Unpickler):
    """Finds classes of users among the classes of the `signature` that code is loaded for."""

    def __init__(self, file: BytesIO, signature: Any) -> None:
        super().__init__(file)
        self._classes = {vars(cls).get("__code_digest__"): cls for cls in _operators(signature)}

    def persistent_load(self, pid: Any) -> Any:
        return self._classes[pid]


def all_types(arguments: Iterable[Any]) -> Iterator[Any]:
    """Yield the types of arguments, and of the items of tuples."""
    for type_ in arguments:
        yield type_
        if isinstance(type_, types.BaseTuple):
            yield from all_types(type_)


def _operators(signature: Any) -> list[type]:
    """Return the NamedTuple classes among the types of the arguments of a kernel."""
    arguments, _ = normalize_signature(signature)
    found = {t.instance_class for t in all_types(arguments) if isinstance(t, types.BaseNamedTuple)}
    return sorted(found, key=lambda cls: cls.__qualname__)


def _load_symbols(code: bytes, signature: Any, target_context: Any) -> None:
    """Load the symbols that machine code of a kernel refers to.

    A refresh of the context also imports all that compiling may need, and that takes longer than loading a
    kernel. Operators of other packages may call extensions of Numba; only a refresh loads them. Numba takes
    30 ms to compile its counting of references, and few kernels need it.
    """
    if any(cls.__module__.split(".")[0] != __name__.split(".")[0] for cls in _operators(signature)):
        target_context.refresh()
    elif b"NRT_" in code:
        rtsys.initialize(target_context)


def _digest_of_code(function: FunctionType) -> str:
    """Return the digest of a function, all that it imports, and how this process compiles."""
    source = source_digest(os.path.realpath(function.__code__.co_filename))
    settings = config.BOUNDSCHECK, config.OPT, config.DEBUGINFO_DEFAULT
    return digest_of(f"{function.__module__}.{function.__qualname__}", source, settings, _VERSIONS)


def _places() -> Iterator[tuple[str, Path, Any]]:
    """Yield where code may be: its origin, the folder, and what it is compiled for; best first."""
    prebuilt = prebuilt_folder()
    if prebuilt is not None:
        yield from (("wheel", prebuilt, level) for level in host_levels())
    yield from (("cache", folder.path, _target()) for folder in folders() if folder.read)


def _marker(function: FunctionType, variant: Hashable, target: Any) -> str:
    return digest_of(_digest_of_code(function), variant, target) + MARKER


def is_marked(function: FunctionType, variant: Hashable) -> bool:
    """Return whether a process has noted by :func:`mark` that this variant of a kernel is stored."""
    with suppress(NotFixedError, OSError):
        return any((folder / _marker(function, variant, of)).exists() for _, folder, of in _places())
    return False


def mark(function: FunctionType, variant: Hashable) -> None:
    """Note in the cache folder that the code of a variant of a kernel is stored there.

    A variant is an object whose text stands for the types of the arguments before there are arguments.
    """
    folder = cache_folder()
    if folder is not None and folder not in _unstored:
        with suppress(OSError, NotFixedError):
            (folder / _marker(function, variant, _target())).touch()


class _StoredLibrary(JITCodeLibrary):  # type: ignore[misc]  # Numba has no types
    """Machine code of a kernel, without LLVM code: the kernels that call it link its `inner` dispatcher.

    Numba would make an LLVM module for each library, and read the names that it defines from LLVM code.
    """

    def __init__(self, codegen: Any, name: str, machine_code: bytes, defined: list[str]) -> None:
        CodeLibrary.__init__(self, codegen, name)
        engine = codegen._engine
        engine._ee.add_object_file(binding.ObjectFileRef.from_data(machine_code))
        engine._defined_symbols.update(defined)
        engine.finalize_object()
        self._finalized = True


class KernelCache(_Cache):  # type: ignore[misc]  # Numba has no types
    """The stored machine code of one kernel."""

    ending = ""
    """Ends the names of the files."""

    def __init__(self, function: FunctionType, options: dict[str, Any]) -> None:
        self._function = function
        self._options = digest_of(*sorted(options.items()))
        self._enabled = True

    @property
    def cache_path(self) -> str:
        """Folder of the files; the cache of a kernel without one is never asked for it."""
        return str(cache_folder())

    def enable(self) -> None:
        """Load and store code."""
        self._enabled = True

    def disable(self) -> None:
        """Neither load nor store code."""
        self._enabled = False

    def flush(self) -> None:
        """Keep all files: a key is never found again once anything that it covers has changed."""

    def key_without_target(self, sig: Any) -> str | None:
        """Return what the key of these types covers besides the target; None if the code cannot be stored."""
        try:
            operators = [class_digest(cls) for cls in _operators(sig)]
            return digest_of(_digest_of_code(self._function), sig, operators, self._options)
        except NotFixedError:
            return None

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Return the compiled kernel for these types of arguments, or None if none is stored."""
        begin = time.perf_counter()
        common = self.key_without_target(sig) if self._enabled else None
        if common is None:
            return None
        for origin, folder, target in _places():
            key = digest_of(common, target) + self.ending
            data = _read(folder / key)
            if data is None:
                continue
            # The process that stored the code may have had a module of an operator that is no file.
            with suppress(ImportError):
                code = self.unpacked(_Unpickler(BytesIO(data), sig).load(), sig, target_context)
                if not self.ending:
                    record(self._function, sig, origin, time.perf_counter() - begin, key)
                return code
        return None

    def save_overload(self, sig: Any, data: Any) -> str | None:
        """Store a compiled kernel, and return the name of its file; None if the code cannot be stored."""
        common = self.key_without_target(sig) if self._enabled else None
        folder = cache_folder()
        if common is None or folder is None or data.library.has_dynamic_globals:
            return None
        content = BytesIO()
        _Pickler(content).dump(self.packed(data))
        key = digest_of(common, _target()) + self.ending
        _write(folder / key, content.getvalue())
        return key

    def packed(self, result: Any) -> Any:
        """Return what is stored of a result of the compiler."""
        (name, _, (machine_code, code)), descriptor, environment, signature, *_, reload_init, environments = (
            CompileResultCacheImpl.reduce(None, result)
        )
        result.library._shared_module = None  # a copy of its LLVM code that nothing else needs
        module = binding.parse_bitcode(code)
        things = *module.functions, *module.global_variables
        names = [thing.name for thing in things if not thing.is_declaration]
        library = name, machine_code, [name for name in names if name.startswith(_MANGLED)]
        # Code reads an environment for its constants; to load one imports a module of Numba.
        environments = [each for each in environments if each.consts]
        return library, descriptor, environment, signature, reload_init, environments

    def unpacked(self, parts: Any, sig: Any, target_context: Any) -> Any:
        """Return the result of the compiler from what is stored of it."""
        (name, machine_code, defined), descriptor, environment, signature, reload_init, environments = parts
        for prepare in reload_init:
            prepare()
        _load_symbols(machine_code, sig, target_context)
        library = _StoredLibrary(target_context.codegen(), name, machine_code, defined)
        function = target_context.get_executable(library, descriptor, environment)
        for each in environments:
            library.codegen.set_env(each.env_name, each)
        return compile_result(
            target_context=target_context,
            entry_point=function,
            library=library,
            fndesc=descriptor,
            environment=environment,
            signature=signature,
            objectmode=False,
        )
