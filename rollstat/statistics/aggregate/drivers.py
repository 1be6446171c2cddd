"""Any associative operator over any monotone windows of numbers.

Missing values are removed before any kernel runs, and bounds are converted to positions among the
observations, so an operator needs no identity for missing values.
"""

from collections.abc import Sequence
from functools import lru_cache, partial
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from rollstat.blocks import Block, Kept, read_only
from rollstat.kernels.aggregate import greedy, static_tree
from rollstat.kernels.aggregate.van_herk import scan, scan_fixed
from rollstat.kernels.aggregate.window import QUEUES, aggregate_windows
from rollstat.kernels.missing.observations import keep_observed
from rollstat.operators.interface import NOTHING, arguments_of_lift, empty_result, for_dtype, with_constants
from rollstat.operators.layout import Layout, computing_dtype, describe
from rollstat.statistics.sums.float_range import combine_within_range, warn_of_range

ALGORITHMS = {
    "operator_scan": "any windows; the quickest",
    "greedy": "any windows; the fewest combinations",
    "two_stacks": "any windows; at most 2 combinations per element and 1 a row",
    "daba": "any windows; O(1) combinations in every step",
    "static_tree": "any windows; at most 3 combinations a window and few per element, in any order",
}

# Clearing new memory would cost the system more than using it.
_cells = Kept()
_MOST_ROWS_KEPT = 1 << 18


class AggregateOverflow(OverflowError):
    """An exact result does not fit its dtype; `row` is the row of the block."""

    def __init__(self, operator: Any, dtype: np.dtype[Any], row: int) -> None:
        super().__init__(operator, dtype, row)
        self.operator, self.dtype, self.row = operator, dtype, row

    def __str__(self) -> str:
        name = type(self.operator).__name__
        return f"the exact {name} of the window of row {self.row} does not fit {self.dtype}"


def block_rows(width: int) -> int:
    """Rows of a block for windows of `width` rows: so many windows that few of them overlap two blocks."""
    return max(round(2**16 / width), 8) * width


def _columns(block: Block, operator: Any, missing: NDArray[np.bool_] | None) -> tuple[NDArray[Any], ...]:
    """Return the arguments of `lift`, in the dtypes of computation, without rows that are `missing`."""
    columns = [block.values, *block.others]
    kept = [np.ascontiguousarray(column, computing_dtype(column.dtype)) for column in columns]
    if getattr(operator, "with_row", False):
        kept.append(np.arange(block.base, block.base + len(kept[0])))
    if missing is not None:
        kept = [_observed(column, missing) for column in kept]
    return tuple(map(read_only, kept))


def _observed(column: NDArray[Any], missing: NDArray[np.bool_]) -> NDArray[Any]:
    if column.ndim > 1:
        return column[~missing]
    kept = np.empty(len(column) + 1, column.dtype)
    keep_observed(column, missing, kept)
    return kept[: len(column) - int(np.count_nonzero(missing))]


def observed(
    block: Block, operator: Any, all_rows: bool = False
) -> tuple[tuple[NDArray[Any], ...], NDArray[np.int64], NDArray[np.int64]]:
    """Return the arguments of `lift`, and the bounds of windows: without missing rows, or of `all_rows`."""
    start, end = (block.start, block.end) if all_rows else block.observed
    return _columns(block, operator, None if all_rows else block.missing), read_only(start), read_only(end)


def outputs_for(dtypes: Sequence[np.dtype[Any]], results: Sequence[NDArray[Any]]) -> list[NDArray[Any]]:
    """Return arrays of these dtypes for a kernel: the `results` themselves where they are such."""
    return [
        result
        if result.dtype == dtype.base and result.flags.c_contiguous
        else np.zeros((len(result), *dtype.shape), dtype.base)  # kernels do not write empty windows
        for result, dtype in zip(results, dtypes)
    ]


def deliver(written: Sequence[NDArray[Any]], results: Sequence[NDArray[Any]]) -> None:
    """Copy what a kernel has written to `results`, unless it is the same memory."""
    with np.errstate(over="ignore", invalid="ignore"):  # float32 has inf, insufficient rows any number
        for result, values in zip(results, written):
            if result is not values:
                result[...] = values


def prepare(operator: Any, dtypes: Sequence[np.dtype[Any]]) -> tuple[Any, Layout]:
    """Return the operator for series of `dtypes`, and the dtypes of its states and results."""
    number = arguments_of_lift(operator) - getattr(operator, "with_row", False)
    if number != len(dtypes):
        name = type(operator).__name__
        raise ValueError(f"{name} takes {number} series, one for each argument of lift; got {len(dtypes)}")
    computing = [computing_dtype(dtype) for dtype in dtypes]
    operator = for_dtype(operator, computing[0].base)
    samples = [np.ones(1, dtype) for dtype in computing]
    if getattr(operator, "with_row", False):
        samples.append(np.zeros(1, np.int64))
    values = tuple(samples) if len(samples) > 1 else samples[0]
    try:
        return operator, describe(operator, values)
    except TypeError:
        constant = with_constants(operator)
        if constant is None:
            raise
        return constant, describe(constant, values)


@lru_cache(maxsize=64)
def _prepare_once(kind: Any, operator: Any, *dtypes: np.dtype[Any]) -> tuple[Any, Layout]:
    return prepare(operator, dtypes)


def prepare_once(operator: Any, *dtypes: np.dtype[Any]) -> tuple[Any, Layout]:
    """Return what :func:`prepare` returns, for a built-in operator; keep it, since it takes long to make."""
    # Operators of two classes with equal parameters are equal.
    return _prepare_once(cast(Any, type(operator)), operator, *dtypes)


def _run(
    algorithm: str,
    operator: Any,
    state: np.dtype[Any],
    values: Any,
    bounds: tuple[NDArray[np.int64], NDArray[np.int64]],
    width: int,
    out: Any,
    failed: NDArray[np.bool_],
    least: int,
) -> None:
    """Run the kernel of `algorithm`; `width` is positive if all windows have it and no value is missing.

    Rows with fewer than `least` observations need no result.
    """
    start, end = bounds
    widest = int((end - start).max())
    if widest == 0:
        return
    if algorithm in ("auto", "operator_scan"):
        suffix = np.empty(widest, state)
        if width:
            scan_fixed(operator, values, width, suffix, out, failed)
        else:
            scan(operator, values, start, end, suffix, out, failed)
    elif algorithm == "static_tree":
        rows = len(values[0] if isinstance(values, tuple) else values)
        size = 1 << rows.bit_length()  # of which there are few
        kept = _cells.get((state, size), partial(static_tree.create, state, size), size <= _MOST_ROWS_KEPT)
        tree = kept[0][:rows], kept[1][:rows], kept[2]
        blocks = static_tree.build(operator, values, widest, *tree)
        static_tree.query(operator, values, blocks, *tree, start, end, out, failed)
    elif algorithm == "greedy":
        header, top, below = greedy.create(widest)
        cells = np.empty(header[greedy.MASK] + 1, state)
        plan = np.empty(widest, np.int64), np.empty(widest, np.int64)
        windows = greedy.Windows(start, end, max(least, 1))
        greedy.fold_windows(operator, header, top, below, cells, *plan, values, windows, out, failed)
    else:
        queue: Any = QUEUES[algorithm]
        header, cells = queue.functions.create(state, widest)
        aggregate_windows(queue, operator, header, cells, values, start, end, out, failed)


def aggregate(
    block: Block,
    operator: Any,
    layout: Layout,
    results: Sequence[NDArray[Any]],
    algorithm: str = "auto",
    min_periods: int = 1,
    warn: bool = True,
) -> None:
    """Write the result of each row whose window has at least `min_periods` observations.

    Parameters
    ----------
    block : Block
        Rows, and as many series as ``lift`` has arguments. The values may have further dimensions.
    operator, layout
        As :func:`prepare` returns them for the dtypes of the series.
    results : sequence of ndarray
        One array for each output, of any dtype that the results can be cast to. Rows with fewer than
        `min_periods` observations are undefined.
    algorithm : str
        ``"auto"`` or a key of ALGORITHMS.
    min_periods : int
        Observations that a row needs; with 0, rows without any receive the identity, if there is one.
    warn : bool
        Whether to warn if sums may leave the range of float64.

    Raises
    ------
    AggregateOverflow
        If the exact result of a row does not fit its dtype.
    """
    if block.rows == 0:
        return
    columns, start, end = observed(block, operator)
    operator, layout = _unscaled(operator, layout, columns, block.longest)
    values = columns if len(columns) > 1 else columns[0]
    written = outputs_for(layout.outputs, results)
    failed = np.zeros(block.rows, np.bool_)
    out = written[0] if layout.single else tuple(written)
    width = block.width if block.missing is None else 0
    if block.any_order:
        algorithm = "static_tree"
    if warn:
        warn_of_range(operator, columns, block.longest)
    with np.errstate(all="ignore"):
        _run(algorithm, operator, layout.state, values, (start, end), width, out, failed, min_periods)
    if failed.any():
        rows = np.flatnonzero(failed & (end - start >= min_periods))
        if len(rows):
            raise AggregateOverflow(operator, layout.outputs[0], int(rows[0]))
    if min_periods == 0 and (start == end).any():
        _fill_empty(operator, layout, start == end, written)
    deliver(written, results)


@lru_cache(maxsize=64)
def without_exponents(kind: Any, operator: Any, longest: int) -> tuple[Any, Layout, tuple[float, float]]:
    """Return the operator without exponents, its layout, and the limits of :func:`combine_within_range`."""
    plain, *limits = operator.unscaled(longest)
    return *prepare(plain, [np.dtype(np.float64)] * arguments_of_lift(plain)), (limits[0], limits[1])


def _unscaled(
    operator: Any, layout: Layout, columns: Sequence[NDArray[Any]], longest: int
) -> tuple[Any, Layout]:
    """Return the operator to use, with its layout: one without exponents if these would all be 0.

    The results are bit-for-bit equal. See :mod:`rollstat.operators.scaled`.
    """
    if not hasattr(operator, "unscaled"):
        return operator, layout
    longest = max(longest, 1)
    plain, plain_layout, limits = without_exponents(cast(Any, type(operator)), operator, longest)
    floats = [column for column in columns if column.dtype.kind == "f"]
    if limits[0] >= 0.0 and all(combine_within_range(column, limits, longest) for column in floats):
        return plain, plain_layout
    return operator, layout


def _fill_empty(operator: Any, layout: Layout, empty: NDArray[np.bool_], results: Sequence[Any]) -> None:
    identity = empty_result(operator)
    if identity is not NOTHING:
        for result, item in zip(results, [identity] if layout.single else identity):
            result[empty] = np.array(item).astype(result.dtype)
