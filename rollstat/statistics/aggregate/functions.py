"""Any associative operator, and any function of the values of a window, over any monotone windows."""

from collections.abc import Callable
from typing import Any, Unpack

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rollstat.blocks import Block
from rollstat.engine import WholeCall
from rollstat.explanation import OF_A_WIDTH, Explanation, Step
from rollstat.operators import as_operator
from rollstat.operators.checks import check_on_data
from rollstat.operators.interface import arguments_of_lift, is_builtin
from rollstat.options import CommonOptions, Options, Window, check_flag
from rollstat.registry import check_algorithm
from rollstat.statistics.aggregate.computation import Application, WindowFunction, with_arguments
from rollstat.statistics.aggregate.drivers import ALGORITHMS, aggregate, prepare
from rollstat.statistics.aggregate.objects import aggregate_objects
from rollstat.statistics.common import as_floats, call, combine, numbers, operators, plain_dtype, statistic
from rollstat.windows import Windows

_OBJECT = np.dtype(object)


def _is_objects(arr: Any, operator: Any) -> bool:
    """Return whether the elements are Python objects; only Python calls can combine them.

    Strings are for the caller's own operators, since the built-in ones combine numbers.
    """
    if isinstance(arr, np.ndarray):
        return arr.dtype.kind in ("O" if is_builtin(operator) else "OUST")
    if is_builtin(operator) and isinstance(arr, (list, tuple)) and all(isinstance(x, str) for x in arr):
        return False
    return isinstance(arr, (list, tuple)) and any(
        not isinstance(element, (int, float, complex, list, tuple, np.number, np.bool_)) for element in arr
    )


def _reject(options: Options, what: str, *names: str) -> None:
    """Raise if one of these options is given; they do not apply to elements of this kind."""
    default = Options()
    for name in names:
        given = getattr(options, name)
        if isinstance(given, np.ndarray) or given != getattr(default, name):
            raise ValueError(f"{name} does not apply to {what}; got {given!r}")


def _describe(
    windows: Windows, window: Window, min_periods: int, step: Step, dtypes: Any
) -> Callable[[str], Explanation]:
    """Return what explains a call that one step computes."""
    width = window if windows.kind in OF_A_WIDTH else None
    whole = windows.kind, width, min_periods, windows.rows, 1, (step,), 1
    return lambda statistic: Explanation(statistic, *whole, *dtypes)


def _over_matrices(values: Any, window: Window, operator: Any, options: CommonOptions) -> WholeCall:
    """Return the call that combines the arrays ``values[i]`` of each window."""
    checked = Options.check(**options)
    check_algorithm(checked.algorithm, ALGORITHMS, "aggregate")
    _reject(checked, "elements that are arrays", "out", "fill_value", "nan_policy")
    array = np.asarray(values)
    array = np.ascontiguousarray(array, array.dtype.newbyteorder("="))
    ndim = operator.element_ndim
    if array.ndim != ndim + 1 or array.dtype.kind not in "fiub":
        raise TypeError(
            f"{type(operator).__name__} takes numbers in {ndim + 1} dimensions, the rows first; "
            f"got {array.ndim}, and dtype {array.dtype}"
        )
    if checked.axis not in (-1, 0, -array.ndim):
        raise ValueError(f"axis must be 0, along which the rows are; got {checked.axis!r}")
    windows = checked.windows(window, checked.offsets(len(array))).arranged(any_order=False)
    start, end = windows.bounds(0, windows.rows)
    ready, layout = prepare(operator, [np.dtype((array.dtype, array.shape[1:]))])
    masked = isinstance(values, np.ma.MaskedArray)
    absent = ((array != array) | np.ma.getmaskarray(values)).any(axis=tuple(range(1, array.ndim)))
    min_periods = max(checked.min_periods_for(windows), 1)
    chosen = "operator_scan" if checked.algorithm == "auto" else checked.algorithm
    bases = tuple(output.base for output in layout.outputs)
    step = Step(chosen, "all", "one block of elements that are arrays", rows=windows.rows)

    def compute() -> Any:
        results = [np.empty((windows.rows, *output.shape), output.base) for output in layout.outputs]
        for first, last in windows.pieces(0, windows.rows):
            block = Block(array, absent if absent.any() else None, start[first:last], end[first:last])
            views = [result[first:last] for result in results]
            aggregate(block, ready, layout, views, checked.algorithm, min_periods)
        before = np.concatenate([[0], np.cumsum(~absent)])
        few = before[end] - before[start] < min_periods
        for result in (*results, few):
            windows.put_back(result)
        kept = windows.whole if checked.mode == "valid" else slice(None)
        for k, result in enumerate(results):
            if few.any():
                results[k] = result.astype(np.result_type(result, np.float64), copy=False)
                results[k][few] = np.nan
            if masked:
                every = few.reshape(-1, *(1,) * (result.ndim - 1))
                results[k] = np.ma.MaskedArray(results[k], np.broadcast_to(every, result.shape))
        found = tuple(result[kept] for result in results)
        return found[0] if layout.single else found

    return WholeCall(compute, _describe(windows, window, min_periods, step, (array.dtype, bases, bases)))


_COMPLEX = {operators.Sum: operators.ComplexSum, operators.Product: operators.ComplexProduct}


def _complex(real: Any, imaginary: Any) -> Any:
    """Return complex numbers of these parts, masked where the real part is."""
    result = np.empty(real.shape, np.complex128)
    result.real, result.imag = np.ma.getdata(real), np.ma.getdata(imaginary)
    return (
        np.ma.MaskedArray(result, np.ma.getmaskarray(real)) if isinstance(real, np.ma.MaskedArray) else result
    )


def _over_complex(values: Any, window: Window, operator: Any, options: CommonOptions) -> Any:
    """Return the call that combines the complex numbers of each window; NaN in both parts where missing."""
    if type(operator) not in _COMPLEX:
        name = type(operator).__name__
        raise TypeError(f"complex numbers are supported by Sum and Product; got the operator {name}")
    _reject(Options.check(**options), "complex numbers", "out", "fill_value")
    numbers = np.ma.asanyarray(values) if isinstance(values, np.ma.MaskedArray) else np.asarray(values)
    parts: list[ArrayLike] = [numbers.real, numbers.imag]
    of_parts = _COMPLEX[type(operator)]()
    return combine(parts, window, of_parts, "aggregate", options, required=0, finish=_complex)


def _over_objects(values: Any, window: Window, operator: Any, options: CommonOptions) -> WholeCall:
    """Return the call that combines the objects of each window."""
    checked = Options.check(**options)
    check_algorithm(checked.algorithm, {"greedy": "objects"}, "objects")
    _reject(checked, "objects", "out", "fill_value", "nan_policy")
    if checked.axis not in (-1, 0):
        raise ValueError(f"axis does not apply to objects; got {checked.axis!r}")
    if isinstance(values, np.ndarray) and values.ndim != 1:
        raise ValueError(f"arr must be 1-d if it holds objects; got shape {values.shape}")
    elements = values.tolist() if isinstance(values, np.ndarray) else list(values)
    windows = checked.windows(window, checked.offsets(len(elements))).arranged(any_order=False)
    start, end = windows.bounds(0, windows.rows)
    min_periods = checked.min_periods_for(windows)
    step = Step("greedy", "all", "the fewest calls of combine in Python", rows=windows.rows)

    def compute() -> NDArray[Any]:
        missing = np.array([element is None for element in elements], np.bool_)
        insufficient = missing if missing.any() else None
        result = np.empty(windows.rows, object)
        for first, last in windows.pieces(0, windows.rows):
            bounds = start[first:last], end[first:last]
            answers = aggregate_objects(elements, *bounds, operator, insufficient, min_periods)
            for i, answer in enumerate(answers, first):
                result[i] = answer
        windows.put_back(result)
        kept: NDArray[Any] = result[windows.whole] if checked.mode == "valid" else result
        return kept

    return WholeCall(
        compute, _describe(windows, window, min_periods, step, (_OBJECT, (_OBJECT,), (_OBJECT,)))
    )


@statistic(
    family="aggregate",
    samples=({"operator": operators.Sum()}, {"operator": operators.Maximum()}),
    kinds="fiub",
    exact=False,
    ordered=True,
    several=True,
    cost="O(1) combinations amortised; O(1) worst case with daba; the fewest with greedy",
    source="Basin, Klaedtke and Zalinescu (2015), Greedily Computing Associative Aggregations",
    algorithms=ALGORITHMS,
)
def rolling_aggregate(
    arr: ArrayLike, operator: Any, window: Window, check: bool = True, **options: Unpack[CommonOptions]
) -> Any:
    """Combine the observations of each window with any associative operator.

    Parameters
    ----------
    arr : array_like of float, int, bool or complex, or sequence of Python objects, shape (..., n, ...)
        The series, along `axis`. Objects (sets, strings, sketches) form a 1-D series, in which None is
        missing; strings need an operator of your own. An operator of several series (its ``lift`` has several
        arguments) takes a tuple of as many arrays; :class:`~rollstat.operators.MatrixProduct` takes matrices,
        shape (n, k, k). ``Sum`` and ``Product`` support complex numbers.
    operator : Operator or callable
        An operator from :mod:`rollstat.operators`; an instance of your own NamedTuple class with
        ``combine(self, older, newer)`` and, optionally, ``lift``, ``lower``, ``identity`` and other members
        of :class:`~rollstat.operators.Operator`; or a function of two arguments, the older one first. The
        operator must be associative, but need not be commutative or invertible. It is compiled for numbers,
        and called as Python code for objects.
    {window}
    check : bool, default True
        Whether to check on a few elements of the data that your own operator is associative: integers
        exactly, floats up to a relative error of 1e-6. The check calls the methods as plain Python, once
        for each plan.
    {options}

    Returns
    -------
    ndarray, shape (..., rows, ...), or tuple of ndarray for an operator that returns tuples
        Floats for floating results. Integers for integer results with ``mode="valid"`` or ``fill_value=``,
        otherwise float64. An array of objects for objects, None where missing. With ``min_periods=0`` the
        result of an empty window is the operator's identity, if it has one.

    Raises
    ------
    OverflowError
        If an exact result does not fit its dtype.
    ValueError
        If the operator is not associative; the message names three elements.
    {raises}

    Notes
    -----
    Missing values are ignored. ``algorithm="greedy"`` makes the fewest possible combinations, for expensive
    operators; each series is then one block, on one thread. Objects always use this algorithm.

    Cost: O(1) combinations per element amortised; O(1) in the worst case with ``"daba"``. Source: Basin,
    Klaedtke and Zalinescu, *Greedily Computing Associative Aggregations on Sliding Windows*, Information
    Processing Letters 115(2), 2015, doi:10.1016/j.ipl.2014.09.009; Tangwongsan, Hirzel and Schneider (2021)
    for ``"daba"``.

    Examples
    --------
    >>> import rollstat
    >>> rollstat.rolling_aggregate([1.0, 5.0, 2.0], lambda older, newer: max(older, newer), 2)
    array([nan,  5.,  5.])
    >>> words = [frozenset("ab"), frozenset("b"), frozenset("c")]
    >>> [sorted(s) for s in rollstat.rolling_aggregate(words, frozenset.union, 2, mode="valid")]
    [['a', 'b'], ['b', 'c']]
    """
    operator = as_operator(operator)
    columns = arguments_of_lift(operator) - bool(getattr(operator, "with_row", False))
    of_arrays = bool(getattr(operator, "element_ndim", 0))
    of_objects = columns == 1 and (of_arrays or _is_objects(arr, operator))
    if check_flag("check", check) and not is_builtin(operator):
        check_on_data(operator, arr if columns > 1 or of_objects else [arr], of_objects)
    if columns > 1:
        series: Any = arr
        if not isinstance(arr, tuple) or len(series) != columns:
            raise TypeError(
                f"arr must be a tuple of {columns} arrays, one for each argument of lift; "
                f"got {type(arr).__name__}"
            )
        names = tuple(f"arr[{k}]" for k in range(columns))
        return combine(list(series), window, operator, "aggregate", options, required=0, names=names)
    if of_arrays:
        return _over_matrices(arr, window, operator, options)
    if of_objects:
        return _over_objects(arr, window, operator, options)
    if np.asarray(arr).dtype.kind == "c":
        return _over_complex(arr, window, operator, options)
    return combine([arr], window, operator, "aggregate", options, required=0)


def _rises(window: NDArray[Any]) -> int:
    """Return how many values are above the one before."""
    count = 0
    for i in range(1, len(window)):
        count += window[i] > window[i - 1]
    return count


@statistic(
    family="aggregate",
    samples=({"function": _rises},),
    kinds="fiub",
    ordered=True,
    several=True,
    cost="one call of the function",
    source="the definition: every window is computed by itself",
)
def rolling_apply(
    arr: ArrayLike,
    function: Any,
    window: Window,
    args: Any = (),
    kwargs: Any = None,
    with_missing: bool = False,
    **options: Unpack[CommonOptions],
) -> Any:
    """Call a compiled function of the values of each window.

    Parameters
    ----------
    arr : array_like of float, int or bool, or tuple of such arrays, shape (..., n, ...)
        The series, along `axis`, or several series with the same rows.
    function : callable
        Takes a read-only array of the values of a window for each series, oldest first: float64, or int64 or
        uint64 for integers and bool. Returns a number, or a tuple of numbers. It may call functions of NumPy
        and of the module ``math``, and functions that Numba has compiled. Its global and closure variables
        keep the values that they have in the call; functions that differ only in numbers are compiled once.
    {window}
    args : sequence, optional
        Further positional arguments of the function, after the windows.
    kwargs : mapping, optional
        Further keyword arguments of the function.
    with_missing : bool, default False
        Whether the function receives all rows of a window as float64, with NaN for missing values, as in
        pandas' ``apply``. By default it receives only the rows where no series is missing.
    {options}

    Returns
    -------
    ndarray, shape (..., rows, ...), or tuple of ndarray for a function that returns a tuple
        Floats for floating results. Integers for integer results with ``mode="valid"`` or ``fill_value=``,
        otherwise float64.

    Raises
    ------
    IndexError
        If the function reads beyond its window. The function's other errors are raised unchanged.
    {raises}

    Warns
    -----
    UserWarning
        If Numba cannot compile the function; the warning gives the reason, once for each function. Python
        then calls the function on one thread, which can take a hundred times as long, and the function must
        return one number.

    Notes
    -----
    The function is called for each window with at least `min_periods` observations (with ``min_periods=0``,
    also for empty windows), in any order, and on several threads with ``threads=``. Its machine code is
    stored on disk like an operator's.

    Each result depends only on its own window. If the function is an associative operator, use
    :func:`rolling_aggregate`: its cost does not depend on the length of the windows.

    Cost: one call of the function per row. Source: the definition.

    Examples
    --------
    >>> import numpy as np, rollstat
    >>> rollstat.rolling_apply([1.0, 5.0, 2.0, 4.0], lambda x: x.max() - x[0], 3)
    array([nan, nan,  4.,  0.])
    >>> price, volume = np.array([10.0, 12.0, 11.0]), np.array([1.0, 3.0, 2.0])
    >>> rollstat.rolling_apply((price, volume), lambda p, v: (p * v).sum() / v.sum(), 2)
    array([ nan, 11.5, 11.6])
    """
    series = arr if isinstance(arr, tuple) and arr and all(map(np.ndim, arr)) else (arr,)
    names = tuple(f"arr[{k}]" for k in range(len(series))) if series is arr else ("arr",)
    dtypes = [plain_dtype(numbers(name, each).dtype) for name, each in zip(names, series)]
    if with_missing:
        series, dtypes = tuple(map(as_floats, series)), [np.dtype(np.float64)] * len(series)
    own = with_arguments(function, len(series), args, kwargs or {})
    parameters: dict[str, Any] = {"with_missing": bool(with_missing)}
    parameters["function"] = WindowFunction.of(own, dtypes, bool(with_missing))
    return call(Application, list(series), window, options, "apply", series_names=names, **parameters)
