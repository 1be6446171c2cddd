"""The protocol of operators, and operators made of plain functions."""

from collections import namedtuple
from collections.abc import Callable
from inspect import signature
from itertools import count
from threading import Lock
from typing import Any, Protocol, runtime_checkable

import numpy as np

from rollstat.compile.bound_calls import forget_bound
from rollstat.compile.code import calls_itself, code_digest, frozen, members, without_numbers
from rollstat.compile.jit import forget
from rollstat.compile.sources import NotFixedError


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
    - ``kinds`` holds the supported kinds of dtype, such as ``"iu"``.
    - ``element_ndim`` is the number of dimensions of an element that is an array.
    - ``rounds_integers`` tells whether ``lift`` turns integers into floats, and ``rounds_results`` whether
      results of the size of the integers are floats. In both cases large integers cause a warning.
    - ``combine_into(self, accumulator, newer)`` may change the accumulator and returns it; it is called for
      Python objects only.

    Numba compiles the methods and everything that they call.
    """

    def combine(self, older: Any, newer: Any) -> Any:
        """Return the state of two adjacent runs of rows from their states."""


class FunctionOperator:
    """An operator made of plain functions; it has only the members that it is made of."""

    def __init__(self, parts: dict[str, Any]) -> None:
        self.__dict__.update(parts)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, FunctionOperator):
            return NotImplemented
        return vars(self) == vars(other) or None is not key_of(self) == key_of(other)

    __hash__ = None  # type: ignore[assignment]  # equality follows what the functions mean now

    def __repr__(self) -> str:
        return f"<operator of {_name(self)}>"


def function_operator(
    combine: Callable[[Any, Any], Any],
    lift: Callable[..., Any] | None = None,
    lower: Callable[[Any], Any] | None = None,
    identity: Any = NOTHING,
    combine_into: Callable[[Any, Any], Any] | None = None,
) -> Any:
    """Return an operator made of plain functions.

    Functions that mean the same are compiled once, even if they are created at every call.
    """
    functions = {"combine": combine, "lift": lift, "lower": lower, "combine_into": combine_into}
    for name, function in functions.items():
        if not (callable(function) or (function is None and name != "combine")):
            raise TypeError(f"{name} must be callable; got {function!r}")
    parts: dict[str, Any] = {name: function for name, function in functions.items() if function is not None}
    if identity is not NOTHING:
        parts["identity"] = identity
    return FunctionOperator(parts)


def as_operator(operator: Any) -> Any:
    """Return `operator`, or for a function the operator with this ``combine``."""
    if isinstance(operator, type) and hasattr(operator, "combine"):
        raise TypeError(f"operator must be an instance, {operator.__name__}(); got the class itself")
    if callable(getattr(operator, "combine", None)):
        return operator
    if callable(operator):
        return function_operator(operator)
    raise TypeError(
        f"operator must be a function of two states or have combine(older, newer); got {operator!r}"
    )


class _Compiled:
    """Base of the classes that operators of users are compiled for."""

    __slots__ = ()


def is_builtin(operator: Any) -> bool:
    """Return whether an operator is of this package; such operators never raise in compiled code."""
    own = type(operator).__module__.split(".")[0] == __name__.split(".")[0]
    return own and not isinstance(operator, FunctionOperator | _Compiled)


def key_of(value: Any) -> Any:
    """Return a key that is equal for tuples, functions and operators of the same meaning; None without one.

    The meaning of a function or an operator can change with its globals; then its key changes.
    """
    if isinstance(value, tuple):
        try:
            hash(value)
        except TypeError:
            return None
        if type(value) is tuple or is_builtin(value):
            return type(value), tuple.__repr__(value)
        if isinstance(value, _Compiled):
            return None if hasattr(value, "__not_stored__") else (type(value), tuple.__repr__(value))
    elif callable(value):
        value = FunctionOperator({"combine": value})
    elif not isinstance(value, FunctionOperator):
        return None
    try:
        return code_digest((_code_of(value), tuple(value) if isinstance(value, tuple) else ()))
    except NotFixedError:
        return None


def _name(operator: Any) -> str:
    if isinstance(operator, FunctionOperator):
        combine = vars(operator)["combine"]
        return str(getattr(combine, "__name__", type(combine).__name__))
    return type(operator).__name__


def _holds_code(field: Any) -> bool:
    return callable(field) or (isinstance(field, tuple) and any(map(_holds_code, field)))


def _code_of(operator: Any) -> tuple[Any, ...]:
    """Return name, fields, members and fields that hold code: everything that decides an operator's code."""
    if isinstance(operator, FunctionOperator):
        return _name(operator), (), tuple(vars(operator).items()), ()
    cls: Any = type(operator)
    held = tuple(field if _holds_code(field) else None for field in operator)
    return cls.__name__, cls._fields, tuple(members(cls)), held


_MOST_CLASSES = 64
# Classes by their digests, the one that was used last at the end.
_classes: dict[str, Any] = {}
_classes_lock = Lock()
_numbers = count()


def _numbers_apart(code: tuple[Any, ...]) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Return the code of an operator of functions without their numbers, and these as fields of a class."""
    apart, names = [], {}
    fields: dict[str, Any] = {}
    for member, part in code[2]:
        if member in ("combine", "lift", "lower"):
            part, numbers = without_numbers(part)
            names[member] = tuple(numbers)
            fields |= {f"{member}_{name}": number for name, number in numbers.items()}
        apart.append((member, part))
    return (code[0], tuple(fields), (*apart, ("__numbers__", names)), ()), fields


def _new_class(operator: Any, code: tuple[Any, ...], end: str, mark: dict[str, str]) -> Any:
    """Return a class with copies of an operator's members; nothing can change the copies."""
    name, fields, parts, held = frozen(code)
    functions = isinstance(operator, FunctionOperator)
    base: Any = namedtuple("_Numbers", fields) if functions else type(operator)
    own = {member: staticmethod(part) if functions and callable(part) else part for member, part in parts}
    module = getattr(vars(operator)["combine"] if functions else base, "__module__", None) or "builtins"

    def reduce(self: Any) -> tuple[Any, ...]:
        return compiled, getattr(self, "__source__", None) or (tuple.__new__(base, self),)

    own |= {"__module__": module, "__reduce__": reduce, "__held__": held, **mark}
    name = "".join(c if c.isalnum() else "_" for c in name)
    return type(f"{name}_{end}", (_Compiled, base), own)


def compiled(operator: Any, constants: bool = False) -> Any:
    """Return an operator for kernels; it always keeps the present meaning of `operator`.

    Compiled functions distinguish classes of tuples by name alone. If two classes had one name, for example
    because a notebook cell runs again after an edit, the second would use the machine code of the first.
    The digest of the code in the name lets other processes find this machine code on disk. Operators of equal
    code have one class. Where there is no digest, the name ends with a number, and the class is used once.

    Numbers that plain functions read are fields of the class, unless they must be `constants` in its code.
    """
    if is_builtin(operator) or isinstance(operator, _Compiled):
        return operator
    functions = isinstance(operator, FunctionOperator)
    if not functions and not (isinstance(operator, tuple) and hasattr(operator, "_fields")):
        name = type(operator).__name__
        raise TypeError(f"an operator over numbers must be of a NamedTuple class; got {name}")
    code = _code_of(operator)
    for member, part in code[2]:
        if calls_itself(part):
            raise TypeError(
                f"{member} must not call itself by its name if it is to be compiled; got {part.__qualname__}"
            )
    shared, numbers = _numbers_apart(code) if functions and not constants else (code, {})
    with _classes_lock:
        try:
            digest = code_digest(shared)
            mark = {"__code_digest__": digest}
        except NotFixedError as reason:
            digest = str(next(_numbers))
            mark = {"__not_stored__": str(reason)}
        cls = _classes.pop(digest, None) or _new_class(operator, shared, digest[:32], mark)
        _classes[digest] = cls
        if len(_classes) > _MOST_CLASSES:
            forget(_classes.pop(next(iter(_classes))))
            forget_bound()
    if not functions:
        return tuple.__new__(cls, (kept if _holds_code(x) else x for x, kept in zip(operator, cls.__held__)))
    ready = tuple.__new__(cls, numbers.values())
    # Calls from Python go to functions that read the numbers by name.
    vars(ready).update(frozen(code[2]) if numbers else {}, __source__=(operator, constants))
    return ready


def with_constants(operator: Any) -> Any:
    """Return an operator for kernels with numbers as constants in its code; None if there are no others."""
    given, constants = getattr(operator, "__source__", (None, True))
    return None if constants or not operator else compiled(given, constants=True)


def for_dtype(operator: Any, dtype: np.dtype[Any]) -> Any:
    """Return the operator for kernels on elements of `dtype`, a computing dtype."""
    kinds = getattr(operator, "kinds", None)
    if kinds is not None and dtype.kind not in kinds:
        names = {"i": "signed integers", "u": "unsigned integers", "f": "floats", "b": "bool", "c": "complex"}
        served = ", ".join(names.get(kind, kind) for kind in kinds)
        raise TypeError(f"{type(operator).__name__} supports {served}; got {dtype}")
    return compiled(operator.for_dtype(dtype) if hasattr(operator, "for_dtype") else operator)


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
