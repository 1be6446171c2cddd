"""The kernel decorator and its cache policy.

Every compiled function of the library is made by :func:`kernel`. Kernels release the GIL, never use
``fastmath`` (it makes ``isnan(nan)`` false) and are cached on disk.

Numba keys a cached function by the source of its own file. If a function of another file is inlined into
it, the cached code is stale after an edit of that other file. Here the key is the content of the file *and of
every file of the package that it imports*, directly or indirectly. The cache folder is the first writable one
of ``NUMBA_CACHE_DIR``, ``__pycache__`` beside the source, the cache folder of the user, and a private folder
under the temporary folder. If there is none, nothing is cached and everything still works.

A kernel specialised on an operator (a NamedTuple class whose methods are compiled into it) also depends on
the module of that class. The key covers the content of this module if it belongs to the package. Kernels
specialised on other classes are not cached, because no key could cover everything that the functions of a
user refer to.
"""

import hashlib
import os
import re
import stat
import sys
import tempfile
from functools import cache
from pathlib import Path

from numba import config, types
from numba.core.caching import CompileResultCacheImpl, FunctionCache, _CacheLocator
from numba.core.dispatcher import _FunctionCompiler
from numba.core.registry import CPUDispatcher
from numba.core.sigutils import normalize_signature
from numba.misc.appdirs import AppDirs

__all__ = [
    "INDEX",
    "kernel",
]

# ``i & INDEX`` equals `i` for every valid index and tells the compiler that it is not negative. Array
# accesses then need no test for counting from the end, which can take a third of the time of a kernel. The
# mask costs nothing: the two bits that it clears are shifted out when an index becomes an offset in bytes.
INDEX = 2**62 - 1

_PACKAGE = Path(__file__).resolve().parent
_IMPORT = re.compile(
    rb"^[ \t]*(?:import[ \t]+(?P<whole>rollstat[\w.]*)"
    rb"|from[ \t]+(?P<package>rollstat[\w.]*)[ \t]+import[ \t]*(?P<names>\([^)]*\)|[^\n]*))",
    re.MULTILINE,
)
_COMMENT = re.compile(rb"#[^\n]*")
_NAME = re.compile(rb"(\w+)(?:[ \t]+as[ \t]+\w+)?")


def _module_file(parts):
    """Return the file of the module with these dotted parts, or None if there is no such module."""
    path = _PACKAGE.joinpath(*parts[1:])
    candidates = (path.with_suffix(".py"), path / "__init__.py") if parts[1:] else (path / "__init__.py",)
    return next((file for file in candidates if file.exists()), None)


def _imported_files(text):
    """Return the files of the package that the import statements of a source text name.

    ``from rollstat.kernels.tree import add`` and ``from rollstat.kernels import tree`` both name the
    file ``kernels/tree.py``. If `add` comes from the ``__init__`` of a package, it names that ``__init__``.
    The top-level ``__init__`` only exports public names and no kernel may import from it.
    """
    files = set()
    for match in _IMPORT.finditer(_COMMENT.sub(b"", text)):
        if match["whole"]:
            files.add(_module_file(match["whole"].decode().split(".")))
            continue
        package = match["package"].decode().split(".")
        if b"*" in match["names"]:
            files.add(_module_file(package))
        for name in _NAME.findall(match["names"]):
            files.add(_module_file([*package, name.decode()]) or _module_file(package))
    return frozenset(files - {None, _PACKAGE / "__init__.py"})


@cache
def _content(path):
    """Return the digest of one file, and the files of the package that it imports."""
    text = path.read_bytes()
    return hashlib.sha256(text).digest(), _imported_files(text)


def _label(file):
    """Return the name of a source file for a key; it includes the folder inside the package."""
    return file.relative_to(_PACKAGE).as_posix() if file.is_relative_to(_PACKAGE) else file.name


@cache
def _source_digest(path):
    """Return the digest of a file and of all files of the package that it imports, directly or indirectly."""
    seen, waiting = set(), [path, _PACKAGE / "_jit.py"]
    while waiting:
        file = waiting.pop()
        if file not in seen:
            seen.add(file)
            waiting.extend(_content(file)[1])
    parts = [_label(file).encode() + _content(file)[0] for file in sorted(seen)]
    return hashlib.sha256(b"".join(parts)).hexdigest()


def _private_temporary_folder():
    """Return a folder under the temporary folder that only this user can write to, or None.

    Cache files are pickles: loading them from a folder of another user would run the code of that user.
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
    """Return the first writable folder for the kernels of `source_folder`, or None."""
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
    """Return the digest of the sources of `cls`, or None if it is not a class of the package."""
    module = sys.modules.get(cls.__module__)
    if cls.__module__.split(".")[0] != _PACKAGE.name or getattr(module, cls.__qualname__, None) is not cls:
        return None
    return _source_digest(Path(module.__file__).resolve())


def _operator_digests(signature):
    """Return the digests of the NamedTuple classes among the types of the arguments of a kernel."""
    arguments, _ = normalize_signature(signature)
    classes = {type_.instance_class for type_ in arguments if isinstance(type_, types.BaseNamedTuple)}
    return [_class_digest(cls) for cls in classes]


class _ContentCache(FunctionCache):
    _impl_class = _ContentCacheImpl

    def __init__(self, function):
        super().__init__(function)
        # The index file pickles classes of arguments, which may not exist in other versions of the sources.
        # Numba reads the version before the rest, so a stale file must differ in its version.
        self._cache_file._version += " " + self._impl.locator.get_source_stamp()

    def load_overload(self, sig, target_context):
        return None if None in _operator_digests(sig) else super().load_overload(sig, target_context)

    def save_overload(self, sig, data):
        if None not in _operator_digests(sig):
            super().save_overload(sig, data)

    def _index_key(self, sig, codegen):
        return (*super()._index_key(sig, codegen), *sorted(_operator_digests(sig)))


def _holds_arrays(type_):
    """Return whether elements of arrays of this type are arrays themselves."""
    if isinstance(type_, types.BaseTuple):
        return any(_holds_arrays(item) for item in type_)
    if not isinstance(type_, types.Array):
        return False
    fields = type_.dtype.fields.values() if isinstance(type_.dtype, types.Record) else ()
    return type_.ndim > 1 or any(isinstance(field.type, types.NestedArray) for field in fields)


class _UncountedCompiler(_FunctionCompiler):
    """A compiler without reference counts, unless methods of an operator pass arrays to the kernel."""

    def _compile_core(self, args, return_type):
        tuples = [type_ for type_ in args if isinstance(type_, types.BaseNamedTuple)]
        operators = any(hasattr(type_.instance_class, "combine") for type_ in tuples)
        self.targetoptions["_nrt"] = operators and any(map(_holds_arrays, args))
        return super()._compile_core(args, return_type)


class _Kernel(CPUDispatcher):
    """A dispatcher that never compiles another version for a literal argument."""

    def get_call_template(self, args, kws):
        types_alone = [types.unliteral(type_) for type_ in args]
        return super().get_call_template(types_alone, {name: types.unliteral(kws[name]) for name in kws})


class _InnerKernel(_Kernel):
    """A dispatcher for calls from kernels only: no wrapper for Python, which takes a fifth of compiling."""

    def add_overload(self, cres):
        # The base class would also register the wrapper, which does not exist.
        self.overloads[tuple(cres.signature.args)] = cres

    def _compile_for_args(self, *args, **kws):
        raise TypeError(f"{self.py_func.__qualname__} is compiled for calls from other kernels alone")


def kernel(function=None, *, inline="never", forceinline=False, boundscheck=None):
    """Compile `function` on first call: no GIL, cached by content, NumPy's rules for division.

    Parameters
    ----------
    function : callable
        A pure function of scalars and preallocated arrays: it makes no arrays, raises no exceptions and has
        no keyword defaults. Arrays are therefore not reference-counted, which saves about 20 ns per call,
        except where the states of an operator are arrays. Functions of the package whose names start with
        an underscore are for kernels only; a call from Python raises TypeError.
    inline : {"never", "always"}
        Whether Numba copies the body into its callers before type inference, which takes much longer to
        compile than a call: ``"always"`` is for functions that return views of arrays, which a call
        would have to reference-count.
    forceinline : bool
        Whether LLVM must inline the compiled function into other kernels: for small steps of their loops.
    boundscheck : bool, optional
        Check every index. The default follows ``NUMBA_BOUNDSCHECK``.

    Returns
    -------
    callable
        The dispatcher, or `function` itself where ``NUMBA_DISABLE_JIT`` is set.
    """

    def decorate(function):
        if config.DISABLE_JIT:
            return function
        private = function.__name__.startswith("_")
        inner = private and function.__module__.split(".")[0] == _PACKAGE.name
        options = {
            "nopython": True,
            "nogil": True,
            "error_model": "numpy",
            "inline": inline,
            "forceinline": forceinline,
            "boundscheck": boundscheck,
            "no_cpython_wrapper": inner,
            "no_cfunc_wrapper": True,
        }
        dispatcher = (_InnerKernel if inner else _Kernel)(function, targetoptions=options)
        kept = ("py_func", "targetdescr", "targetoptions", "locals", "pipeline_class")
        dispatcher._compiler = _UncountedCompiler(*(getattr(dispatcher._compiler, name) for name in kept))
        if _cache_folder(Path(function.__code__.co_filename).resolve().parent):
            dispatcher._cache = _ContentCache(function)
        return dispatcher

    return decorate if function is None else decorate(function)
