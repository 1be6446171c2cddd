"""All results of a short series in one kernel call, whatever its windows.

The kernels take bounds, skip NaN, count observations and write every row, so nothing but their call remains
to be done. For a short series that saves more than faster kernels would. They are compiled for float64 alone:
other numbers are converted first, if that is exact.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numba import config
from numpy.typing import NDArray

from rollstat.blocks import NOTHING_MISSING, exact_floats, read_only
from rollstat.compile.bound_calls import BoundKernel
from rollstat.dtypes import EXACT, same_memory
from rollstat.kernels.aggregate.van_herk import scan
from rollstat.kernels.extrema.any_windows import extremes_of_windows, write_distances
from rollstat.kernels.missing.counting import has_nan
from rollstat.kernels.rank_space.sorted_windows import sorted_windows
from rollstat.operators.layout import Layout, computing_dtype
from rollstat.plan import Bounds, Choice, OneCall
from rollstat.results import convert
from rollstat.statistics.aggregate.drivers import without_exponents
from rollstat.statistics.sums.float_range import combine_within_range, may_leave_range

# Distances of integers up to here, halves of them, and means of two halves, are exact in float64.
_EXACT_DISTANCES = 2**50
_FLOAT64 = np.dtype(np.float64)
_NOTHING = np.empty(0)
SHORT = "the series is so short that one kernel call takes the least time"

Run = Callable[[list[NDArray[np.float64]], Bounds, Sequence[NDArray[np.float64]]], bool | None]


@dataclass(frozen=True)
class OverFloats:
    """What converts series and results of a call from and to float64.

    Attributes
    ----------
    run : callable
        Takes the series, the windows and the results; returns False if it does not serve the values.
    most : int
        The largest absolute value of integers that may be converted.
    """

    run: Run
    most: int = EXACT

    def __call__(self, series: Sequence[Any], bounds: Bounds, outputs: Sequence[NDArray[Any]]) -> bool:
        """Write all results; return whether the values are served."""
        columns = []
        for values in series:
            column = exact_floats(values, self.most)
            if column is None:
                return False
            columns.append(column)
        written = [out if out.dtype == _FLOAT64 else np.empty(len(out)) for out in outputs]
        if self.run(columns, bounds, written) is False:
            return False
        for out, result in zip(outputs, written):
            if out is not result:
                with np.errstate(over="ignore"):  # values that float32 cannot hold become infinite
                    out[...] = result
        return True


def sorted_in_one_call(
    reader: NamedTuple, least: int, marks: Sequence[float], *, distances: bool = False
) -> OneCall:
    """Return what reads statistics from a sorted array of each window.

    Parameters
    ----------
    reader : NamedTuple
        What to read, see :mod:`rollstat.kernels.rank_space.sorted_windows`.
    least : int
        Observations below which a window has no result.
    marks : sequence of float
        What each result is where there is none.
    distances : bool
        Whether distances of values, and means of these, must be exact.
    """
    kernel, marked = BoundKernel(sorted_windows), np.array([*marks, 0.0][:2])

    def run(columns: list[NDArray[Any]], bounds: Bounds, outputs: Sequence[NDArray[np.float64]]) -> bool:
        (values,), (start, end, longest, own) = columns, bounds
        window = np.empty(longest + 1)
        return bool(
            kernel(reader, values, NOTHING_MISSING, start, end, own, least, window, marked, tuple(outputs))
        )

    call = OverFloats(run, _EXACT_DISTANCES if distances else EXACT)
    # A third of the entries move on average.
    return OneCall(Choice("sorted_window", SHORT), call, 15.0, 0.35)


def extrema_in_one_call(
    names: Sequence[str], last: bool, opposite: bool, relative_to: str, least: int, marks: Sequence[float]
) -> OneCall | None:
    """Return what computes extrema and their positions; None if these have marks that it cannot write.

    The first four parameters are those of :class:`rollstat.statistics.extrema.computation.ExtremaOf`, the
    others those of :func:`sorted_in_one_call`.
    """
    same = all(mark == marks[0] or mark != mark for mark in marks)
    if not same or ("ptp" in names and marks[0] == marks[0]):  # the distance of two marks is none
        return None
    kernel = BoundKernel(extremes_of_windows)

    def find(values: Any, bounds: Bounds, sign: float, ties: bool, value: Any, position: Any) -> None:
        rows = np.empty(len(values), np.int64)
        start, end = bounds.start, bounds.end
        kernel(values, start, end, sign, ties, least, rows, marks[0], value, position)

    def run(columns: list[NDArray[Any]], bounds: Bounds, outputs: Sequence[NDArray[np.float64]]) -> None:
        (values,) = columns
        for name, out in zip(names, outputs):
            if name in ("min", "max"):
                find(values, bounds, 1.0 if name == "min" else -1.0, False, out, _NOTHING)
            elif name == "ptp":
                low, high = np.empty((2, len(out)))
                find(values, bounds, 1.0, False, low, _NOTHING)
                find(values, bounds, -1.0, False, high, _NOTHING)
                write_distances(low, high, out)
            else:
                ties = last != (name == "argmax" and opposite)
                find(values, bounds, 1.0 if name == "argmin" else -1.0, ties, _NOTHING, out)
                if relative_to == "oldest":
                    np.subtract(out, bounds.start, out=out, where=out >= 0)
                elif relative_to == "newest":
                    np.subtract(bounds.end - 1, out, out=out, where=out >= 0)

    passes = sum(3 if name == "ptp" else 1 for name in names)
    return OneCall(Choice("wedge", SHORT), OverFloats(run), 10.0 * passes)


def operator_in_one_call(
    operator: Any, layout: Layout, least: int, marks: Sequence[float], longest: int
) -> OneCall | None:
    """Return what combines the values of each window, if none is missing; None if no kernel does.

    `operator` and `layout` are those of :func:`rollstat.statistics.aggregate.drivers.prepare`, the other
    parameters those of :func:`sorted_in_one_call`.
    """
    if getattr(operator, "with_row", False) or config.DISABLE_JIT:
        return None
    kernel, exact = BoundKernel(scan), getattr(operator, "rounds_integers", False)
    limits, longest = None, max(longest, 1)
    if hasattr(operator, "unscaled"):
        kind: Any = type(operator)
        operator, layout, limits = without_exponents(kind, operator, longest)
        if limits[0] < 0.0:
            return None

    def write(series: Sequence[Any], bounds: Bounds, outputs: Sequence[NDArray[Any]]) -> bool:
        columns = []
        for values in series:
            if values.dtype.kind == "f" and not _combines(values, limits, longest):
                return False
            column = exact_floats(values) if exact else values
            if column is None:
                return False
            columns.append(read_only(column.astype(computing_dtype(values.dtype), copy=False)))
        if may_leave_range(operator, columns, max(bounds.longest, 1)):
            return False
        few = bounds.end - bounds.start < max(least, 1)
        if least == 0 and few.any():  # which have the identity as their result
            return False
        suffix, failed = np.empty(max(bounds.longest, 1), layout.state), np.zeros(len(bounds.start), np.bool_)
        given = tuple(columns) if len(columns) > 1 else columns[0]
        written = [same_memory(out, dtype) for out, dtype in zip(outputs, layout.outputs)]
        out = written[0] if layout.single else tuple(written)
        kernel(operator, given, bounds.start, bounds.end, suffix, out, failed)
        if np.count_nonzero(failed):  # faster than `any`
            return False
        for view, result, mark in zip(outputs, written, marks):
            if view is not result:
                result[few] = 0
                convert(result, view)
            view[few] = mark
        return True

    return OneCall(Choice("operator_scan", SHORT), write, 10.0)


def _combines(values: NDArray[Any], limits: tuple[float, float] | None, longest: int) -> bool:
    """Return whether no value is missing, and none needs the exponents that an operator leaves out."""
    return not has_nan(values) if limits is None else combine_within_range(values, limits, longest)
