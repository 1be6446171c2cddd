"""Dtypes of the states and results of an operator, found before any kernel runs.

For the package's operators the plain Python methods are called, so nothing is compiled. The dtypes of other
operators come from type inference, because compiled methods can return other types.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numba import NumbaError, config, typeof, types
from numba.np.numpy_support import as_dtype
from numpy.typing import NDArray

from rollstat.compile.lowering import result_type
from rollstat.kernels.aggregate.apply_windows import call_function
from rollstat.kernels.aggregate.operator_calls import combine_states, lift_argument, lower
from rollstat.operators.interface import compiled, is_builtin


@dataclass(frozen=True)
class Layout:
    """Dtypes of an operator's states and results.

    Attributes
    ----------
    state : dtype
        Dtype of a cell: with a shape for arrays, structured for tuples.
    outputs : tuple of dtype
        Dtype of each array of results; with a shape if a result is an array.
    single : bool
        Whether ``lower`` returns one result, not a tuple of them.
    """

    state: np.dtype[Any]
    outputs: tuple[np.dtype[Any], ...]
    single: bool


def computing_dtype(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """Return the dtype in which elements of `dtype` are combined; few dtypes mean few compiled kernels."""
    if dtype.shape:
        return np.dtype((computing_dtype(dtype.base), dtype.shape))
    if dtype.kind in "biu":
        return np.dtype(np.uint64 if dtype == np.uint64 else np.int64)
    return np.dtype(np.float64) if dtype.kind == "f" else dtype


def _structure(items: Sequence[np.dtype[Any]]) -> np.dtype[Any]:
    return np.dtype([(f"item{k}", item) for k, item in enumerate(items)], align=True)


def _dtype_of_value(value: Any) -> np.dtype[Any]:
    if isinstance(value, tuple):
        return _structure([_dtype_of_value(item) for item in value])
    array = np.asarray(value)
    if array.dtype.kind not in "biufc":
        raise TypeError(
            f"states and results must be numbers, tuples or arrays of numbers; got {type(value).__name__}"
        )
    return np.dtype((array.dtype, array.shape))


def _numbers(type_: Any) -> Any:
    """Return ones of a type of compiled code; None if it contains an array: only a call tells its shape."""
    if isinstance(type_, types.BaseTuple):
        items = tuple(_numbers(item) for item in type_)
        return None if None in items else items
    if isinstance(type_, types.Optional) or type_ is types.none:
        raise TypeError("a result must be of the same kind on every path, never None")
    array = isinstance(type_, types.Array)
    try:
        dtype = as_dtype(types.unliteral(type_.dtype if array else type_))
    except (NotImplementedError, NumbaError):  # Numba has no dtype for it
        raise TypeError(
            f"states and results must be numbers, tuples or arrays of numbers; got {type_}"
        ) from None
    return None if array else np.ones((), dtype)[()]


def _dtype_of_type(type_: Any, value: Any) -> np.dtype[Any]:
    """Return the dtype of a value that compiled code returned as `type_`; the value gives the shapes."""
    if isinstance(type_, types.BaseTuple):
        return _structure([_dtype_of_type(item, part) for item, part in zip(type_, value)])
    if isinstance(type_, types.Array):
        return np.dtype((as_dtype(type_.dtype), value.shape))
    return np.dtype(as_dtype(types.unliteral(type_)))


def _promote(first: np.dtype[Any], second: np.dtype[Any]) -> np.dtype[Any]:
    if first.names and second.names and len(first.names) == len(second.names):
        return _structure([_promote(first[k], second[k]) for k in range(len(first.names))])
    if bool(first.names) != bool(second.names) or first.shape != second.shape or first.names:
        raise TypeError(f"lift and combine must give states of one shape; got {first} and {second}")
    return np.dtype((np.promote_types(first.base, second.base), first.shape))


def _state_value(dtype: np.dtype[Any], state: Any) -> Any:
    """Return `state` with its numbers in `dtype`, as a kernel would load it from a cell."""
    if dtype.names:
        return tuple(_state_value(dtype[k], item) for k, item in enumerate(state))
    return np.asarray(state, dtype.base)[()]


_methods: dict[str, Any] = {"lift": lift_argument, "combine": combine_states, "lower": lower}


def _call(operator: Any, name: str, *arguments: Any) -> Any:
    with np.errstate(all="ignore"):
        return _methods[name](operator, *arguments)


_VALUE = re.compile(
    r"The use of a (?:reflected )?(?P<type>\w+).* type, assigned to variable '(?P<name>\w+)'"
    r"|Untyped \w+ name '(?P<other>\w+)': Cannot determine Numba type of <class '(?P<kind>.*)'>"
)


_AS_OBJECTS = ", or pass elements of dtype object, which Python combines"


def _reason(error: Exception, otherwise: str = "") -> str:
    """Return the innermost reason of an error of Numba, and what to do, in one line."""
    lines = str(error).rpartition("Failed in nopython mode pipeline")[2].splitlines() or [repr(error)]
    reason = lines[min(1, len(lines) - 1)].strip().rstrip(".:")
    value = _VALUE.match(reason)
    if value is None:
        return f"{reason}; change that{otherwise}"
    name, kind = value["name"] or value["other"], value["type"] or value["kind"]
    if kind == "function":
        return f"it calls {name}, a plain function; decorate {name} with numba.njit"
    return f"it reads {name}, a {kind}; use a tuple, a NumPy array or fields of a NamedTuple class{otherwise}"


def _call_compiled(operator: Any, name: str, *arguments: Any) -> tuple[Any, np.dtype[Any]]:
    """Return a result of a method, and its dtype when compiled; only shapes of arrays need a call."""
    given = [typeof(argument) for argument in arguments]
    try:
        type_ = result_type(_methods[name], typeof(operator), *given)
    except NumbaError as error:
        own, text = type(operator).__name__.rpartition("_")[0], ", ".join(map(str, given))
        raise TypeError(
            f"{name} of {own} cannot be compiled for {text}: {_reason(error, _AS_OBJECTS)}\n{error}"
        ) from error
    numbers = _numbers(type_)
    value = _call(operator, name, *arguments) if numbers is None else numbers
    return value, _dtype_of_type(type_, value)


def _call_interpreted(operator: Any, name: str, *arguments: Any) -> tuple[Any, np.dtype[Any]]:
    value = _call(operator, name, *arguments)
    return value, _dtype_of_value(value)


def _sample(column: NDArray[Any]) -> Any:
    sample = column[:1] if len(column) else np.ones((1, *column.shape[1:]), column.dtype)
    return sample[0]


def describe(operator: Any, values: Any) -> Layout:
    """Return the dtypes of the states and results of `operator` on `values`.

    Parameters
    ----------
    operator : Operator
        An operator for the dtype of `values`.
    values : ndarray or tuple of ndarray
        One column of elements, or several.

    Returns
    -------
    Layout
        The dtypes of the arrays that a computation allocates.
    """
    operator = compiled(operator)
    call = _call_interpreted if is_builtin(operator) or config.DISABLE_JIT else _call_compiled
    element = tuple(map(_sample, values)) if isinstance(values, tuple) else _sample(values)
    state, dtype = call(operator, "lift", element)
    for _ in range(4):
        state = _state_value(dtype, state)
        _, combined = call(operator, "combine", state, state)
        known, dtype = dtype, _promote(dtype, combined)
        if dtype == known:
            break
    _, lowered = call(operator, "lower", _state_value(dtype, state))
    return Layout(dtype, *_parts(lowered))


def _parts(dtype: np.dtype[Any]) -> tuple[tuple[np.dtype[Any], ...], bool]:
    """Return the dtype of each result, and whether there is one result instead of a tuple."""
    names = dtype.names
    return ((dtype,), True) if names is None else (tuple(dtype[name] for name in names), False)


def describe_function(
    operator: Any, columns: tuple[NDArray[Any], ...]
) -> tuple[tuple[np.dtype[Any], ...], bool]:
    """Return the dtype of each result of a function of windows, and whether it returns no tuple.

    `operator` is the one that :func:`rollstat.operators.interface.compiled` makes, with the function as its
    ``combine``, and `columns` are like the columns of the windows. Raise TypeError if Numba cannot compile
    the function, or if it does not return real numbers; the message is the reason, in one line.
    """
    if config.DISABLE_JIT:
        dtype = _dtype_of_value(call_function(operator, columns, 0, 1))
    else:
        try:
            type_ = result_type(call_function, typeof(operator), typeof(columns), types.intp, types.intp)
        except Exception as error:  # Numba has errors of many classes
            raise TypeError(_reason(error)) from error
        numbers = _numbers(type_)
        if numbers is None:
            raise TypeError(f"it returns {type_}; return a real number or a tuple of real numbers")
        dtype = _dtype_of_type(type_, numbers)
    outputs, single = _parts(dtype)
    if not outputs or any(output.shape or output.kind not in "fiub" for output in outputs):
        raise TypeError(f"it returns {dtype}; return a real number or a tuple of real numbers")
    return outputs, single
