"""The one kernel decorator, its cache policy, and intrinsics: of bits, and of the cache.

Every compiled function of the library is made by :func:`kernel`. Kernels release the GIL, never use
``fastmath`` (it makes ``isnan(nan)`` false) and are cached on disk.

Numba keys a cached function by the source of its own file, so a function into which another file's
function was inlined would be served stale after an edit of that other file. Here the key is the
content of the file *and of every file of the package that it imports*, directly or not. The cache
folder is the first that can be written of: ``NUMBA_CACHE_DIR``, ``__pycache__`` beside the source,
the user's cache folder, a private folder under the temporary folder; with none, nothing is cached
and everything still works.

A kernel specialised on an operator (a NamedTuple class whose methods are compiled into it) also
depends on the module of that class. Classes of the package are keyed by the content of their module;
a kernel specialised on anybody else's class is never written to disk, because no key could cover all
that a user's function refers to.
"""

import hashlib
import os
import re
import stat
import sys
import tempfile
from functools import cache
from pathlib import Path

from llvmlite import ir
from numba import config, njit, types
from numba.core import cgutils
from numba.core.caching import CompileResultCacheImpl, FunctionCache, _CacheLocator
from numba.core.dispatcher import _FunctionCompiler
from numba.core.sigutils import normalize_signature
from numba.extending import intrinsic, overload
from numba.misc.appdirs import AppDirs

__all__ = [
    "INDEX",
    "count_leading_zeros",
    "count_ones",
    "count_trailing_zeros",
    "kernel",
    "prefetch",
]

# ``i & INDEX`` is `i` for every index, and shows the compiler that it is not negative: indexing an array with
# it then needs no test for counting from the end, which can cost a third of a kernel. The mask itself is
# free: the two bits that it clears are shifted out where an index becomes an offset in bytes.
INDEX = 2**62 - 1

_PACKAGE = Path(__file__).resolve().parent
_IMPORT = re.compile(rb"^[ \t]*(?:from|import)[ \t]+(rollstat(?:\.\w+)*)", re.MULTILINE)


def _module_files(module):
    """Files that an import of `module` may bring in: itself, or all of a package."""
    path = _PACKAGE.joinpath(*module.split(".")[1:])
    if path.with_suffix(".py").exists():
        return [path.with_suffix(".py")]
    return sorted(path.glob("*.py")) if path != _PACKAGE else []


@cache
def _content(path):
    """Digest of one file, and the package's files that it imports."""
    text = path.read_bytes()
    modules = {name.decode() for name in _IMPORT.findall(text)}
    imported = {file for module in modules for file in _module_files(module)}
    return hashlib.sha256(text).digest(), frozenset(imported)


@cache
def _source_digest(path):
    """Digest of a file and of everything in the package that it imports, directly or not."""
    seen, waiting = set(), [path, _PACKAGE / "_jit.py"]
    while waiting:
        file = waiting.pop()
        if file not in seen:
            seen.add(file)
            waiting.extend(_content(file)[1])
    parts = [file.name.encode() + _content(file)[0] for file in sorted(seen)]
    return hashlib.sha256(b"".join(parts)).hexdigest()


def _private_temporary_folder():
    """A folder under the temporary folder that only this user can write, or None.

    Cache files are pickles: loading them from a folder that another user prepared would run that
    user's code.
    """
    user = os.getuid() if hasattr(os, "getuid") else "user"
    folder = Path(tempfile.gettempdir()) / f"rollstat-cache-{user}"
    try:
        folder.mkdir(mode=0o700, exist_ok=True)
        status = folder.lstat()
    except OSError:
        return None
    if not stat.S_ISDIR(status.st_mode):
        return None
    if hasattr(os, "getuid") and (status.st_uid != os.getuid() or status.st_mode & 0o022):
        return None
    return folder


def _writable(folder):
    try:
        folder.mkdir(parents=True, exist_ok=True)
        tempfile.TemporaryFile(dir=folder).close()
    except OSError:
        return False
    return True


@cache
def _cache_folder(source_folder):
    """The first folder that can be written for kernels of `source_folder`, or None."""
    name = f"{source_folder.name}_{hashlib.sha256(str(source_folder).encode()).hexdigest()[:16]}"
    if config.CACHE_DIR:
        candidates = [Path(config.CACHE_DIR) / name]
    else:
        user = Path(AppDirs(appname="rollstat", appauthor=False).user_cache_dir)
        candidates = [source_folder / "__pycache__", user / name]
    for folder in candidates:
        if _writable(folder):
            return folder
    temporary = _private_temporary_folder()
    if temporary is not None and _writable(temporary / name):
        return temporary / name
    return None


class _ContentLocator(_CacheLocator):
    """Cache location and freshness of one kernel, by the content of its sources."""

    def __init__(self, function, path):
        self._py_file = str(path)
        self._path = path
        self._line = function.__code__.co_firstlineno

    def get_cache_path(self):
        return str(_cache_folder(self._path.parent))

    def get_source_stamp(self):
        return _source_digest(self._path)

    def get_disambiguator(self):
        return str(self._line)

    @classmethod
    def from_function(cls, function, path):
        path = Path(path).resolve()
        if not path.exists() or _cache_folder(path.parent) is None:
            return None
        return cls(function, path)


class _ContentCacheImpl(CompileResultCacheImpl):
    _locator_classes = (_ContentLocator,)


@cache
def _class_digest(cls):
    """Digest of the package's sources behind the methods of `cls`; None for a class of anybody else."""
    module = sys.modules.get(cls.__module__)
    if cls.__module__.split(".")[0] != _PACKAGE.name or getattr(module, cls.__qualname__, None) is not cls:
        return None
    return _source_digest(Path(module.__file__).resolve())


def _operator_digests(signature):
    """Digests of the NamedTuple classes among the types of a kernel's arguments."""
    arguments, _ = normalize_signature(signature)
    classes = {type_.instance_class for type_ in arguments if isinstance(type_, types.BaseNamedTuple)}
    return [_class_digest(cls) for cls in classes]


class _ContentCache(FunctionCache):
    _impl_class = _ContentCacheImpl

    def __init__(self, function):
        super().__init__(function)
        # An index pickles the classes of arguments, which other sources need not have: it is to be
        # known as stale before it is read, and the version is all that is read before.
        self._cache_file._version += " " + self._impl.locator.get_source_stamp()

    def load_overload(self, sig, target_context):
        return None if None in _operator_digests(sig) else super().load_overload(sig, target_context)

    def save_overload(self, sig, data):
        if None not in _operator_digests(sig):
            super().save_overload(sig, data)

    def _index_key(self, sig, codegen):
        return (*super()._index_key(sig, codegen), *sorted(_operator_digests(sig)))


def _holds_arrays(type_):
    """Whether elements of arrays of this type are arrays themselves."""
    if isinstance(type_, types.BaseTuple):
        return any(_holds_arrays(item) for item in type_)
    if not isinstance(type_, types.Array):
        return False
    fields = type_.dtype.fields.values() if isinstance(type_.dtype, types.Record) else ()
    return type_.ndim > 1 or any(isinstance(field.type, types.NestedArray) for field in fields)


class _UncountedCompiler(_FunctionCompiler):
    """Compiles without reference counts, unless an operator's methods give arrays to the kernel."""

    def _compile_core(self, args, return_type):
        tuples = [type_ for type_ in args if isinstance(type_, types.BaseNamedTuple)]
        operators = any(hasattr(type_.instance_class, "combine") for type_ in tuples)
        self.targetoptions["_nrt"] = operators and any(map(_holds_arrays, args))
        return super()._compile_core(args, return_type)


def kernel(function=None, *, inline="never", forceinline=False, boundscheck=None, references=True):
    """Compile `function` on first call: no GIL, cached by content, NumPy's rules for division.

    Parameters
    ----------
    function : callable
        A pure function over scalars and preallocated arrays: no allocation that grows with the data,
        no exceptions, no keyword defaults.
    inline : {"never", "always"}
        Whether Numba copies the body into its callers before type inference. LLVM inlines small
        functions by itself; ``"always"`` is for the rare case where it does not.
    forceinline : bool
        Whether LLVM must inline the compiled function into kernels that call it: for small steps of a
        loop in another kernel.
    boundscheck : bool, optional
        Check every index. The default follows ``NUMBA_BOUNDSCHECK``.
    references : bool
        Whether arrays are reference-counted inside. A kernel that neither makes nor returns arrays, and
        calls none that does, does without: counting around calls costs some 20 ns a call, and as
        much again when called from Python. Where an operator's states are arrays they are counted
        all the same.

    Returns
    -------
    callable
        The dispatcher, or `function` itself where ``NUMBA_DISABLE_JIT`` is set.
    """

    def decorate(function):
        options = {"inline": inline, "forceinline": forceinline, "boundscheck": boundscheck}
        dispatcher = njit(nogil=True, error_model="numpy", _nrt=references, **options)(function)
        if not references and not config.DISABLE_JIT:
            kept = ("py_func", "targetdescr", "targetoptions", "locals", "pipeline_class")
            dispatcher._compiler = _UncountedCompiler(*(getattr(dispatcher._compiler, name) for name in kept))
        if not config.DISABLE_JIT and _cache_folder(Path(function.__code__.co_filename).resolve().parent):
            dispatcher._cache = _ContentCache(function)
        return dispatcher

    return decorate if function is None else decorate(function)


def _bit_intrinsic(method):
    @intrinsic
    def operation(typing_context, word):
        def generate(context, builder, signature, arguments):
            if method == "ctpop":
                return builder.ctpop(arguments[0])
            zero_is_undefined = ir.Constant(ir.IntType(1), 0)
            return getattr(builder, method)(arguments[0], zero_is_undefined)

        return types.uint64(types.uint64), generate

    return operation


_cttz = _bit_intrinsic("cttz")
_ctlz = _bit_intrinsic("ctlz")
_ctpop = _bit_intrinsic("ctpop")


def count_trailing_zeros(word):
    """Number of zero bits below the lowest one bit of a uint64; 64 for zero."""
    word = int(word)
    return 64 if word == 0 else (word & -word).bit_length() - 1


def count_leading_zeros(word):
    """Number of zero bits above the highest one bit of a uint64; 64 for zero."""
    return 64 - int(word).bit_length()


def count_ones(word):
    """Number of one bits of a uint64."""
    return int(word).bit_count()


@overload(count_trailing_zeros, inline="always")
def _count_trailing_zeros(word):
    return lambda word: types.int64(_cttz(types.uint64(word)))


@overload(count_leading_zeros, inline="always")
def _count_leading_zeros(word):
    return lambda word: types.int64(_ctlz(types.uint64(word)))


@overload(count_ones, inline="always")
def _count_ones(word):
    return lambda word: types.int64(_ctpop(types.uint64(word)))


@intrinsic
def _prefetch(typing_context, array, index):
    def generate(context, builder, signature, arguments):
        view = context.make_array(array)(context, builder, arguments[0])
        byte, word = ir.IntType(8).as_pointer(), ir.IntType(32)
        signature = ir.FunctionType(ir.VoidType(), [byte, word, word, word])
        function = cgutils.get_or_insert_function(builder.module, signature, "llvm.prefetch.p0")
        address = builder.bitcast(builder.gep(view.data, [arguments[1]]), byte)
        to_read, to_keep, of_data = word(0), word(3), word(1)
        builder.call(function, [address, to_read, to_keep, of_data])
        return context.get_dummy_value()

    return types.void(array, types.intp), generate


def prefetch(array, index):
    """Have the cache fetch the line of an element of a contiguous array, and wait for nothing.

    The element need not exist.
    """


@overload(prefetch, inline="always")
def _prefetch_overload(array, index):
    return lambda array, index: _prefetch(array, index)
