"""Any associative operator over any monotone windows."""

from typing import Any, Unpack

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rollstat.algorithms.aggregate import ALGORITHMS
from rollstat.algorithms.objects import aggregate_objects
from rollstat.explain import Explanation, PlanOnly, Step, explaining
from rollstat.functions.apply import combine, operators
from rollstat.functions.common import statistic
from rollstat.operators import as_operator
from rollstat.options import CommonOptions, Options, Window
from rollstat.registry import check_algorithm

__all__ = ["rolling_aggregate"]

_OBJECT = np.dtype(object)


def _is_objects(arr: Any) -> bool:
    """Return whether the elements are Python objects, which only calls of Python can combine."""
    if isinstance(arr, np.ndarray):
        return bool(arr.dtype.kind == "O")
    return isinstance(arr, (list, tuple)) and any(
        not isinstance(element, (int, float, complex, str, list, tuple, np.number, np.bool_))
        for element in arr
    )


def _over_objects(values: Any, window: Window, operator: Any, options: CommonOptions) -> NDArray[Any]:
    """Return the combination of the objects in each window."""
    checked = Options.check(**options)
    check_algorithm(checked.algorithm, {"greedy": "objects"}, "objects")
    for name, given in (
        ("out", checked.out is not None),
        ("fill_value", checked.fill_value is not None),
        ("nan_policy", checked.nan_policy != "omit"),
        ("axis", checked.axis not in (-1, 0)),
    ):
        if given:
            raise ValueError(f"{name} does not apply to objects; it was {getattr(checked, name)!r}")
    if isinstance(values, np.ndarray) and values.ndim != 1:
        raise ValueError(f"arr must be 1-d if it holds objects; its shape was {values.shape}")
    elements = list(values)
    windows = checked.windows(window, checked.offsets(len(elements)))
    start, end = windows.bounds(0, windows.rows)
    min_periods = checked.min_periods_for(windows)
    if explaining.active:
        width = window if windows.kind in ("rows", "forward", "time") else None
        step = Step("greedy", "all", "the fewest calls of combine in Python", rows=windows.rows)
        whole = windows.kind, width, min_periods, windows.rows, 1, (step,), 1
        raise PlanOnly(Explanation(explaining.statistic, *whole, _OBJECT, (_OBJECT,), (_OBJECT,)))
    missing = np.array([element is None for element in elements], np.bool_)
    insufficient = missing if missing.any() else None
    answers = aggregate_objects(elements, start, end, operator, insufficient, min_periods)
    result = np.empty(len(answers), object)
    for i, answer in enumerate(answers):
        result[i] = answer
    kept: NDArray[Any] = result[windows.whole] if checked.mode == "valid" else result
    return kept


@statistic(
    family="aggregate",
    samples=({"op": operators.Sum()}, {"op": operators.Maximum()}),
    kinds="fiub",
    exact=False,
    cost="O(1) combinations amortised; O(1) worst case with daba; the fewest with greedy",
    source="Basin, Klaedtke and Zalinescu (2015), Greedily Computing Associative Aggregations",
    algorithms=ALGORITHMS,
)
def rolling_aggregate(arr: ArrayLike, op: Any, window: Window, **options: Unpack[CommonOptions]) -> Any:
    """Combine the observations of each window with any associative operator.

    Parameters
    ----------
    arr : array_like of float, int or bool, or sequence of Python objects, shape (..., n, ...)
        The series, along `axis`. Objects (sets, matrices, sketches) form a 1-D series, in which None is
        missing.
    op : Operator or callable
        An operator of :mod:`rollstat.operators`; an instance of your own NamedTuple class with
        ``combine(self, older, newer)`` and, optionally, ``lift``, ``lower`` and ``identity``; or a function
        of two arguments, the older one first. It must be associative, but need not be commutative or
        invertible. It is compiled for numbers, and called as Python code for objects.
    {window}
    {options}

    Returns
    -------
    ndarray, shape (..., rows, ...), or tuple of ndarray for an operator that returns tuples
        Floating results as floats. Integer results as integers with ``mode="valid"`` or ``fill_value=``,
        otherwise as float64. For objects an array of objects, None where missing. With ``min_periods=0`` the
        result of an empty window is the operator's identity, if it has one.

    Raises
    ------
    OverflowError
        If an exact result does not fit its dtype.
    {raises}

    Notes
    -----
    Missing values are ignored. ``algorithm="greedy"`` makes the fewest combinations that the windows of a
    series allow, which is worthwhile if combinations are expensive; each series is then one block, on one
    thread. Objects always use it.

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
    operator = as_operator(op)
    if _is_objects(arr):
        return _over_objects(arr, window, operator, options)
    results = combine([arr], window, operator, "aggregate", options, required=0)
    return results[0] if len(results) == 1 else tuple(results)
