"""The protocol of operators, and operators made of plain functions."""

from collections import OrderedDict
from collections.abc import Callable
from inspect import signature
from itertools import count
from threading import Lock
from types import FunctionType
from typing import Any, NamedTuple, Protocol, runtime_checkable
from weakref import WeakValueDictionary

import numpy as np

from rollstat._sources import NotFixedError, code_digest

__all__ = [
    "NOTHING",
    "Operator",
    "arguments_of_lift",
    "as_operator",
    "empty_result",
    "for_dtype",
    "function_operator",
    "is_builtin",
    "key_of",
]


class _Nothing:
    def __repr__(self) -> str:
        return "NOTHING"

    def __reduce__(self) -> str:
        return "NOTHING"


NOTHING = _Nothing()


@runtime_checkable
class Operator(Protocol):
    """An associative operator: an instance of a NamedTuple class with these methods.

    Only ``combine`` is required. The optional members are:

    - ``lift(self, x)`` returns the state of one element. For several series it takes one argument each. If
      the class has ``with_row = True``, the last argument is the row of the element.
    - ``lower(self, state)`` returns the result.
    - ``identity`` is the state of an empty window, or a method that returns it.
    - ``overflowed(self, state)`` returns whether an exact result does not fit its dtype.
    - ``for_dtype(self, dtype)`` returns the operator for a dtype.
    - ``kinds`` are the supported kinds of dtype.
    - ``element_ndim`` is the number of dimensions of an element that is an array.
    - ``rounds_integers`` is whether ``lift`` turns integers into floats, ``rounds_results`` whether results
      are on the scale of the integers, but floats: then large integers cause a warning.
    - ``combine_into(self, accumulator, newer)`` may change the accumulator and returns it; it is called for
      Python objects only.

    Numba compiles the methods and everything that they call.
    """

    def combine(self, older: Any, newer: Any) -> Any:
        """Return the state of two adjacent runs of rows from their states."""


class _NoFields(NamedTuple):
    pass


_numbers = count()
_by_digest: WeakValueDictionary[str, Any] = WeakValueDictionary()


def _new_class(name: str, base: type, members: dict[str, Any], code: Any) -> Any:
    """Return a class whose name no class with other code has.

    Compiled functions distinguish classes of tuples by name alone. If two classes had one name, for example
    because a notebook cell runs again after an edit, the second would use the machine code of the first.
    The digest of the `code` in the name lets other processes find this machine code on disk. Equal code has
    one class. Where there is no digest, the name ends with a number, and kernels for the class are not
    stored.
    """
    name = "".join(c if c.isalnum() else "_" for c in name)
    try:
        digest = code_digest((name, code))
    except NotFixedError as reason:
        return type(f"{name}_{next(_numbers)}", (base,), members | {"__not_stored__": str(reason)})
    found = _by_digest.get(digest)
    if found is None:
        members["__code_digest__"] = digest
        found = _by_digest[digest] = type(f"{name}_{digest[:32]}", (base,), members)
    return found


_CLASSES_KEPT = 256
_classes: OrderedDict[Any, Any] = OrderedDict()
_classes_lock = Lock()


def _key(part: Any) -> Any:
    """Return a key that is equal for functions and values that compile to the same code.

    Where that is unknown, the key is the identity of the object.
    """
    try:
        if isinstance(part, FunctionType):
            contents = tuple(_key(cell.cell_contents) for cell in part.__closure__ or ())
            return part.__code__, id(part.__globals__), _key(part.__defaults__), contents
        hash(part)
    except (TypeError, ValueError):
        return type(part), id(part)
    return type(part), repr(part), part


def _make_class(parts: dict[str, Any]) -> Any:
    combine = parts["combine"]
    members = {name: staticmethod(part) if callable(part) else part for name, part in parts.items()}

    def reduce(self: Any) -> tuple[Any, ...]:
        return _from_parts, (parts,)

    members |= {"__slots__": (), "__module__": getattr(combine, "__module__", None) or "builtins"}
    members["__reduce__"] = reduce
    name = getattr(combine, "__name__", type(combine).__name__)
    return _new_class(name, _NoFields, members, tuple(parts.items()))


def _from_parts(parts: dict[str, Any]) -> Any:
    key = tuple((name, _key(part)) for name, part in parts.items())
    with _classes_lock:
        # The class keeps its parts alive, so no other object can get an identity that is in a key.
        cls = _classes.pop(key, None) or _make_class(parts)
        _classes[key] = cls
        while len(_classes) > _CLASSES_KEPT:
            _classes.popitem(last=False)
    return cls()


def function_operator(
    combine: Callable[[Any, Any], Any],
    lift: Callable[..., Any] | None = None,
    lower: Callable[[Any], Any] | None = None,
    identity: Any = NOTHING,
    combine_into: Callable[[Any, Any], Any] | None = None,
) -> Any:
    """Return an operator made of plain functions.

    Functions with equal code and equal closures give operators of one class, so a lambda that is created
    at every call is compiled once.
    """
    functions = {"combine": combine, "lift": lift, "lower": lower, "combine_into": combine_into}
    for name, function in functions.items():
        if not (callable(function) or (function is None and name != "combine")):
            raise TypeError(f"{name} must be callable; it was {function!r}")
    parts: dict[str, Any] = {name: function for name, function in functions.items() if function is not None}
    if identity is not NOTHING:
        parts["identity"] = identity
    return _from_parts(parts)


def as_operator(operator: Any) -> Any:
    """Return `operator`, or for a function the operator with this ``combine``."""
    if isinstance(operator, type) and hasattr(operator, "combine"):
        raise TypeError(f"operator must be an instance, {operator.__name__}(), not the class")
    if callable(getattr(operator, "combine", None)):
        return operator
    if callable(operator):
        return function_operator(operator)
    raise TypeError(
        f"operator must be a function of two states or have combine(older, newer); it was {operator!r}"
    )


def key_of(operator: Any) -> Any:
    """Return what tells an operator from others that are equal as tuples; None if a field has no hash."""
    if not isinstance(operator, tuple):
        return None
    try:
        hash(operator)
    except TypeError:
        return None
    return type(operator), tuple.__repr__(operator)


def is_builtin(operator: Any) -> bool:
    """Return whether an operator is of this package, whose operators never raise in compiled code."""
    cls = type(operator)
    own = cls.__module__.split(".")[0] == __name__.split(".")[0]
    return own and not issubclass(cls, _NoFields)


_unique_classes: dict[Any, Any] = {}


def _with_unique_class(operator: Any) -> Any:
    """Return an equal operator whose class has a unique name, as the classes of the package have."""
    cls = type(operator)
    if is_builtin(operator) or issubclass(cls, _NoFields):
        return operator
    if not (isinstance(operator, tuple) and hasattr(operator, "_fields")):
        raise TypeError(f"an operator over numbers must be of a NamedTuple class; it was of {cls.__name__}")
    with _classes_lock:
        unique = _unique_classes.get(cls)
        if unique is None:
            members = {"__slots__": (), "__module__": cls.__module__}
            unique = _unique_classes[cls] = _new_class(cls.__name__, cls, members, cls)
    return tuple.__new__(unique, operator)


def for_dtype(operator: Any, dtype: np.dtype[Any]) -> Any:
    """Return the operator for kernels on elements of `dtype`, a computing dtype."""
    kinds = getattr(operator, "kinds", None)
    if kinds is not None and dtype.kind not in kinds:
        names = {"i": "signed integers", "u": "unsigned integers", "f": "floats", "b": "bool", "c": "complex"}
        served = ", ".join(names.get(kind, kind) for kind in kinds)
        raise TypeError(f"{type(operator).__name__} supports {served}; the dtype was {dtype}")
    return _with_unique_class(operator.for_dtype(dtype) if hasattr(operator, "for_dtype") else operator)


def arguments_of_lift(operator: Any) -> int:
    """Return the number of arguments of ``lift``: one per series, and one for the row if it is requested."""
    if not hasattr(operator, "lift"):
        return 1
    try:
        parameters = signature(operator.lift).parameters.values()
    except (TypeError, ValueError):
        return 1
    required = (p for p in parameters if p.default is p.empty)
    return sum(p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD) for p in required)


def empty_result(operator: Any) -> Any:
    """Return the result of an empty window, or NOTHING if the operator has no identity."""
    identity = getattr(operator, "identity", NOTHING)
    if identity is NOTHING:
        return NOTHING
    if callable(identity):
        identity = identity()
    return operator.lower(identity) if hasattr(operator, "lower") else identity
