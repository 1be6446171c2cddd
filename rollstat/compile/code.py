"""What the code of an operator means: a digest of everything that decides it, and copies that cannot change.

::

    combine ---> code, defaults
            ---> closure, globals, mypkg.helper, mypkg.K ---> their code, globals, ... or values
                 math.sin, np.add                        ---> name, and version of the package

Numba compiles a function with the values that its globals have at that moment, and keeps the machine code
as long as the function lives. So operators are compiled from frozen copies, whose globals and closures are
copies too, and the digest is the key of the machine code, in memory and on disk. If something has no digest,
such as an object of an unknown class, a copy is compiled for one use and never found again.

Names are read from the bytecode, attributes of modules too: a module stands for the attributes that are
read. The standard library, NumPy and Numba do not change while a process runs, and have versions, so what
belongs to them stands for itself. All other modules are digested by content.
"""

import builtins
import dis
import os
import sys
import sysconfig
from collections.abc import Iterable
from enum import Enum, EnumMeta
from functools import cache, lru_cache
from hashlib import sha256
from inspect import CO_VARARGS
from itertools import pairwise
from pathlib import Path
from types import CellType, CodeType, EllipsisType, FunctionType, ModuleType
from typing import Any

import numpy as np
from numba import njit
from numba.core import types
from numba.core.dispatcher import Dispatcher
from numba.core.registry import cpu_target

from rollstat.compile.sources import NotFixedError, digest_of, file_digest, source_digest

_PACKAGE = __name__.partition(".")[0]
_PLAIN = {bool, int, float, complex, str, bytes, type(None), EllipsisType, range, slice}
_VALUES = {"LOAD_GLOBAL", "LOAD_NAME", "LOAD_DEREF", "LOAD_CLASSDEREF"}
_VALUES |= {"LOAD_FROM_DICT_OR_DEREF", "LOAD_FROM_DICT_OR_GLOBALS"}
_ATTRIBUTES = {"LOAD_ATTR", "LOAD_METHOD"}
_WRAPPERS = (staticmethod, classmethod)
# Numbers that compiled functions can get as arguments, and operations that are quick, or compile, because
# their right operand is a constant.
_NUMBERS = {int, float, np.int32, np.int64, np.float32, np.float64}
_OF_CONSTANTS = {"**", "//", "%", "<<", ">>", "[]"}
# Members of every NamedTuple class.
_GENERATED = {"_asdict", "_field_defaults", "_fields", "_make", "_replace"}
# Names and the attributes read from their values, as nested dictionaries; WHOLE says that the value is used.
_Reads = dict[Any, Any]
_WHOLE = None
_VALUE: _Reads = {_WHOLE: {}}
_ABSENT = object()
# A change of this file changes all digests. Without sources, nothing is stored under them.
_SOURCE = os.path.realpath(__file__)
_FORMAT = file_digest(_SOURCE) if _SOURCE.endswith(".py") and os.path.exists(_SOURCE) else ""
_STANDARD = [Path(sysconfig.get_path(name)) for name in ("stdlib", "platstdlib")]


@cache
def _version(package: str) -> str | None:
    """Return the version of a package whose modules stand for themselves, or None for any other."""
    module = sys.modules.get(package)
    if package in ("numpy", "numba"):
        return str(getattr(module, "__version__", None))
    if module is None or package not in sys.stdlib_module_names:
        return None
    file = getattr(module, "__file__", None)
    # A module beside the user's script hides one of the standard library of the same name.
    standard = file is None or any(Path(file).is_relative_to(folder) for folder in _STANDARD)
    return "standard" if standard else None


def _name_of_fixed(value: Any) -> tuple[Any, ...] | None:
    """Return the name of what belongs to the standard library, NumPy or Numba; None for anything else."""
    module, name = getattr(value, "__module__", None), getattr(value, "__name__", None)
    if not (isinstance(module, str) and isinstance(name, str)):
        return None
    version = _version(module.partition(".")[0])
    if version is None or getattr(sys.modules.get(module), name, None) is not value:
        return None
    return "fixed", module, name, version


@lru_cache(maxsize=4096)
def _digest_of_body(code: CodeType) -> str:
    """Return the digest of what a code object does, without file name and line numbers."""
    constants = [_constant(item) for item in code.co_consts]
    arguments = code.co_argcount, code.co_posonlyargcount, code.co_kwonlyargcount, code.co_flags
    names = code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars
    return digest_of(code.co_code.hex(), code.co_exceptiontable.hex(), constants, arguments, *names)


def _constant(item: Any) -> str:
    if isinstance(item, CodeType):
        return _digest_of_body(item)
    # The order of a set of strings differs between processes.
    return repr(sorted(map(repr, item))) if isinstance(item, frozenset) else repr(item)


def _merge(into: _Reads, other: _Reads) -> None:
    for name, below in other.items():
        _merge(into.setdefault(name, {}), below)


@lru_cache(maxsize=4096)
def _reads(code: CodeType) -> _Reads:
    """Return the globals and variables of enclosing functions that code reads, and their attributes."""
    found: _Reads = {}
    current: _Reads | None = None
    for step in dis.get_instructions(code):
        if step.opname == "EXTENDED_ARG":
            continue
        if step.opname == "IMPORT_NAME":
            found["import"] = {}
        if step.opname in _ATTRIBUTES and current is not None:
            current = current.setdefault(step.argval, {})
            continue
        if current is not None:
            current[_WHOLE] = {}
        current = found.setdefault(step.argval, {}) if step.opname in _VALUES else None
    for item in code.co_consts:
        if isinstance(item, CodeType):
            _merge(found, _reads(item))
    return dict(sorted(found.items()))


def _contents(cell: CellType) -> Any:
    try:
        return cell.cell_contents
    except ValueError:  # the variable has no value yet
        return _ABSENT


def _named(function: FunctionType) -> list[tuple[Any, _Reads]]:
    """Return the values that a function reads by name, each with the attributes read from it."""
    cells = dict(zip(function.__code__.co_freevars, function.__closure__ or ()))
    scope = function.__globals__
    return [
        (_contents(cells[name]) if name in cells else scope.get(name, _ABSENT), below)
        for name, below in _reads(function.__code__).items()
    ]


def _jit_options(function: FunctionType) -> dict[str, Any] | None:
    """Return the options by which ``register_jitable`` lets Numba compile a plain function, None without."""
    context = cpu_target.typing_context
    context.refresh()  # takes note of what has been registered
    type_ = context._lookup_global(function)
    options: dict[str, Any] | None = None
    for template in getattr(type_, "templates", ()):
        made = getattr(template, "_overload_func", None)
        if not any(_contents(cell) is function for cell in getattr(made, "__closure__", None) or ()):
            raise NotFixedError(f"calls of {function.__qualname__} are compiled from other code")
        options = {name: item for name, item in template._jit_options.items() if name != "nopython"}
    return options


@cache
def _source(file: str) -> str:
    return source_digest(os.path.realpath(file))


def _home(function: FunctionType) -> str:
    """Return the module whose source or version stands for a function, or an empty string."""
    name = function.__globals__.get("__name__")
    module = sys.modules.get(name) if isinstance(name, str) else None
    if module is None or vars(module) is not function.__globals__:
        return ""
    package = module.__name__.partition(".")[0]
    return module.__name__ if package == _PACKAGE or _version(package) is not None else ""


def _function(function: FunctionType, reads: _Reads) -> tuple[Any, list[tuple[Any, _Reads]]]:
    code, keywords = function.__code__, sorted((function.__kwdefaults__ or {}).items())
    home = _home(function)
    if home:
        package = home.partition(".")[0]
        version = _source(code.co_filename) if package == _PACKAGE else _version(package)
        return ("fixed", home, function.__qualname__, version), []
    if "import" in _reads(code):
        raise NotFixedError(f"{function.__qualname__} imports modules when it runs")
    options = None if reads is _VALUE else _jit_options(function)
    defaults = [*(function.__defaults__ or ()), *(value for _, value in keywords)]
    label = "function", _digest_of_body(code), repr(options), len(defaults), [name for name, _ in keywords]
    return label, [*((value, _VALUE) for value in defaults), *_named(function)]


def members(cls: type) -> list[tuple[str, Any]]:
    """Return methods and constants of a NamedTuple class and its bases, by name."""
    left = {*getattr(cls, "_fields", ()), *_GENERATED}
    found: dict[str, Any] = {}
    for base in reversed(cls.__mro__):
        if _name_of_fixed(base) is None:
            found |= {name: value for name, value in vars(base).items() if not name.startswith("__")}
    return sorted((name, value) for name, value in found.items() if name not in left)


def _class(cls: Any) -> tuple[Any, list[tuple[Any, _Reads]]]:
    if isinstance(cls, EnumMeta):
        values = [member.value for member in cls.__members__.values()]  # type: ignore[var-annotated]  # of any type
        return ("enum", cls.__qualname__, list(cls.__members__)), [(value, _VALUE) for value in values]
    if not (issubclass(cls, tuple) and hasattr(cls, "_fields")):
        raise NotFixedError(f"{cls.__qualname__} is a class whose meaning is unknown")
    defaults = cls._field_defaults
    inner = members(cls)
    label = "class", cls.__qualname__, cls._fields, sorted(defaults), [name for name, _ in inner]
    values = [defaults[name] for name in sorted(defaults)] + [value for _, value in inner]
    return label, [(value, _VALUE) for value in values]


def _dispatcher(value: Any) -> tuple[Any, list[tuple[Any, _Reads]]]:
    options = sorted({**value.targetoptions, **value._compiler.locals}.items())
    signatures = [] if value._can_compile else sorted(map(str, value.nopython_signatures))
    label = type(value).__name__, [name for name, _ in options], signatures
    return label, [(value.py_func, _VALUE), *((item, _VALUE) for _, item in options)]


def _parts(value: Any, reads: _Reads) -> tuple[Any, Iterable[tuple[Any, _Reads]]]:
    """Return what tells a value from others of its kind, and the values that it consists of."""
    kind = type(value)
    if value is _ABSENT:
        return "absent", ()
    if isinstance(value, FunctionType):
        return _function(value, reads)
    if isinstance(value, ModuleType):
        version = _version(value.__name__.partition(".")[0])
        if version is not None:
            return ("module", value.__name__, version), ()
        if _WHOLE in reads:
            raise NotFixedError(f"the module {value.__name__} is used as a value")
        return "module", [(getattr(value, name, _ABSENT), below) for name, below in reads.items()]
    if isinstance(value, Dispatcher):
        return _dispatcher(value)
    fixed = _name_of_fixed(value)
    if fixed is not None:
        return fixed, ()
    if isinstance(value, np.ndarray | np.generic) and not value.dtype.hasobject:
        array = np.asarray(value)
        content = sha256(array.tobytes()).hexdigest()
        return (kind.__name__, repr(value.dtype), array.shape, content), ()
    if isinstance(value, Enum):
        return ("member", value.name), [(kind, _VALUE)]
    if kind in (tuple, list):
        return (kind.__name__, len(value)), [(item, _VALUE) for item in value]
    if isinstance(value, tuple) and hasattr(kind, "_fields"):
        return "named tuple", [(kind, _VALUE), *((item, _VALUE) for item in value)]
    if kind in (set, frozenset):
        return (kind.__name__, sorted(code_digest(item) for item in value)), ()
    if kind is dict:
        return ("dict", len(value)), [(item, _VALUE) for pair in value.items() for item in pair]
    if kind is property:
        return "property", [(value.fget, _VALUE)]
    if isinstance(value, _WRAPPERS):
        return kind.__name__, [(value.__func__, _VALUE)]
    if isinstance(value, type):
        return _class(value)
    if isinstance(value, np.dtype | types.Number | types.Boolean):
        return (kind.__name__, repr(value)), ()
    raise NotFixedError(f"it refers to an object of type {kind.__name__}")


def _read(value: Any, reads: _Reads, parts: list[Any], seen: dict[int, tuple[int, Any]]) -> None:
    """Append the parts of a value; `seen` keeps those that are under way, and their numbers."""
    if type(value) in _PLAIN:
        parts += type(value).__name__, repr(value)
        return
    if id(value) in seen:
        parts += "again", seen[id(value)][0]
        return
    if not isinstance(value, ModuleType):  # the same module may stand for other attributes elsewhere
        seen[id(value)] = len(seen), value
    label, inner = _parts(value, reads)
    parts.append(label)
    for item, below in inner:
        _read(item, below, parts, seen)


def code_digest(value: Any) -> str:
    """Return the digest of everything that decides the meaning of functions, classes and constants.

    Parameters
    ----------
    value : object
        A function, an operator class, or a tuple of functions and constants.

    Returns
    -------
    str
        The digest. It differs if any code, default, variable of an enclosing function, global, or attribute
        of a module that is read differs, directly or in what is called.

    Raises
    ------
    NotFixedError
        If the meaning depends on an object whose own meaning is not known.
    """
    parts: list[Any] = [_FORMAT]
    _read(value, _VALUE, parts, {})
    return sha256(repr(parts).encode()).hexdigest()


class _Freezer:
    """Copies of values that belong together, one of each."""

    def __init__(self) -> None:
        # The originals are kept, so that no other object can get their identity.
        self._copies: dict[int, tuple[Any, Any]] = {}

    def copy(self, value: Any, reads: _Reads = _VALUE) -> Any:
        """Return a copy that does not change with the original; what cannot be copied is used as it is."""
        if id(value) in self._copies:
            return self._copies[id(value)][0]
        try:
            _, inner = _parts(value, reads) if type(value) not in _PLAIN else ("", ())
        except NotFixedError:
            if isinstance(value, FunctionType) and reads is not _VALUE:
                return value  # Numba knows the function itself, and compiles it from other code
            inner = [(None, _VALUE)]
        if isinstance(value, np.ndarray):
            return self._note(value, value.copy(order="K"))
        if isinstance(value, FunctionType):
            return value if _home(value) else self._function(value, reads)
        if not inner:
            return value
        if isinstance(value, Dispatcher):
            return self._dispatcher(value)
        if isinstance(value, ModuleType):
            return value if _WHOLE in reads else self._module(value, reads)
        if isinstance(value, property):
            return self._note(value, property(self.copy(value.fget)))
        if isinstance(value, _WRAPPERS):
            return self._note(value, type(value)(self.copy(value.__func__)))
        if isinstance(value, tuple):
            return self._note(value, tuple.__new__(type(value), map(self.copy, value)))
        return value  # Numba compiles no other object that can change

    def _note(self, value: Any, copy: Any) -> Any:
        self._copies[id(value)] = copy, value
        return copy

    def _module(self, module: ModuleType, reads: _Reads) -> ModuleType:
        copy = ModuleType(module.__name__)
        for name, below in reads.items():
            found = getattr(module, name, _ABSENT)
            if found is not _ABSENT:
                setattr(copy, name, self.copy(found, below))
        return copy

    def _begin(self, function: FunctionType) -> FunctionType:
        """Return a copy of a function that has no globals yet."""
        scope = {"__builtins__": function.__globals__.get("__builtins__", builtins)}
        scope["__name__"] = "builtins"  # a process that loads the machine code can import it
        code, defaults = function.__code__, [*map(self.copy, function.__defaults__ or ())]
        keywords = {name: self.copy(value) for name, value in (function.__kwdefaults__ or {}).items()}
        if code.co_kwonlyargcount == len(keywords) > 0 and not code.co_flags & CO_VARARGS:
            # Numba does not fill in the defaults of keyword-only parameters; these come last.
            positional, number = code.co_argcount, code.co_argcount + len(keywords)
            defaults += [keywords[name] for name in code.co_varnames[positional:number]]
            code, keywords = code.replace(co_argcount=number, co_kwonlyargcount=0), {}
        cells = tuple(CellType() for _ in code.co_freevars)
        copy = FunctionType(code, scope, function.__name__, tuple(defaults) or None, cells)
        copy.__qualname__, copy.__module__ = function.__qualname__, function.__module__
        copy.__kwdefaults__ = keywords or None
        return copy

    def _finish(self, function: FunctionType, copy: FunctionType) -> None:
        """Give a copy of a function its globals and the contents of its closure."""
        cells = dict(zip(copy.__code__.co_freevars, copy.__closure__ or ()))
        for (value, below), name in zip(_named(function), _reads(function.__code__)):
            if value is _ABSENT:
                continue
            if name in cells:
                cells[name].cell_contents = self.copy(value, below)
            else:
                copy.__globals__[name] = self.copy(value, below)

    def _function(self, function: FunctionType, reads: _Reads) -> Any:
        begun, options = self._begin(function), None if reads is _VALUE else _jit_options(function)
        # Numba knows the function itself, not its copy, and keeps the code that it has compiled for it.
        copy = self._note(function, begun if options is None else njit(**options)(begun))
        self._finish(function, begun)
        return copy

    def _dispatcher(self, dispatcher: Any) -> Any:
        if _home(dispatcher.py_func):
            return dispatcher
        begun = self._begin(dispatcher.py_func)
        kept = dispatcher._compiler
        options = {"locals": dict(kept.locals), "pipeline_class": kept.pipeline_class}
        copy = type(dispatcher)(begun, targetoptions=dict(dispatcher.targetoptions), **options)
        self._note(dispatcher, copy)
        self._finish(dispatcher.py_func, begun)
        if not dispatcher._can_compile:
            for signature in dispatcher.nopython_signatures:
                copy.compile(signature)
            copy.disable_compile()
        return copy


@lru_cache(maxsize=4096)
def _constants(code: CodeType) -> set[str]:
    """Return the names that stand for constants: operands of _OF_CONSTANTS, and what inner functions read."""
    found = {name for item in code.co_consts if isinstance(item, CodeType) for name in _reads(item)}
    for step, then in pairwise(dis.get_instructions(code)):
        if then.opname == "BINARY_SUBSCR" or then.argrepr.rstrip("=") in _OF_CONSTANTS:
            found.add(step.argval[-1] if isinstance(step.argval, tuple) else step.argval)
    return found


def without_numbers(function: Any) -> tuple[Any, dict[str, Any]]:
    """Return a frozen copy of a plain function that can get numbers as arguments, and these numbers by name.

    They are its defaults, and what it reads from globals and variables of enclosing functions. Their types
    stand for them in the copy, so the copies of functions that differ in numbers alone have one digest.
    """
    copy = frozen(function)
    if not isinstance(copy, FunctionType) or _home(copy):
        return copy, {}
    code, defaults, scope = copy.__code__, copy.__defaults__ or (), copy.__globals__
    with_default = code.co_varnames[code.co_argcount - len(defaults) : code.co_argcount]
    read = {name: value for (value, below), name in zip(_named(copy), _reads(code)) if below == _VALUE}
    numbers = {
        name: value
        for name, value in (read | dict(zip(with_default, defaults))).items()
        if type(value) in _NUMBERS and name not in _constants(code)
        if not isinstance(value, int) or -(2**63) <= value < 2**63
    }
    kinds = {name: type(value) for name, value in numbers.items()}
    for name, cell in zip(code.co_freevars, copy.__closure__ or ()):
        if name in kinds:
            cell.cell_contents = kinds[name]
    scope.update((name, kinds[name]) for name in scope.keys() & kinds)
    copy.__defaults__ = tuple(map(kinds.get, with_default, defaults)) or None
    return copy, numbers


def calls_itself(function: Any) -> bool:
    """Return whether a plain function reads itself by name; Numba cannot compile such a function."""
    return isinstance(function, FunctionType) and any(value is function for value, _ in _named(function))


def frozen(value: Any) -> Any:
    """Return a copy of functions and constants, alone or in a tuple, that does not change with them."""
    return _Freezer().copy(value)
