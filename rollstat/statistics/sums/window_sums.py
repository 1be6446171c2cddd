"""Sums over windows, and what follows from them: one scan for fixed windows, two stacks for others.

A statistic is an operator of :mod:`rollstat.operators`; :mod:`rollstat.kernels.sums.moment_formulas` has its
formula. A row is an observation if all series have a value there. With ``u = 2**-53``, the relative error
of a result is at most

===========================  =========================================================
sum, mean                    ``24 u * sum(abs(x)) / abs(sum(x))``
variance                     ``80 u * k``, where ``k = 1 + (c - mean)**2 / variance``
deviation, standard error    half of that
skewness, kurtosis           ``O(u * k**1.5)`` and ``O(u * k**2)``
===========================  =========================================================

to first order in u. `c` is one value of the window, so `k` is at most ``m + 1`` for m observations, and small
on almost all data. Statistics of two series have the errors of variances, relative to the product of both
deviations: a result is the exact one for values that differ from the given ones by at most about ``80 u`` of
their distance from some value of the window. Values outside a window have no influence.

The grid of the scan starts again in each block. Results do not depend on the size of the blocks if it is a
multiple of :func:`grid`; those of windows of few values never do.

64-bit integers are numbers whose differences float64 arithmetic does not round::

    all within 2**53 of 0                    float64
    all within 2**53 of an anchor            float64, less the anchor
    others                                   the operator: subtracts one value of the window

Deviations, and what follows from them, do not depend on the anchor.
"""

import math
from collections import defaultdict
from collections.abc import Sequence
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rollstat import operators as built_in
from rollstat import thresholds
from rollstat.blocks import UNKNOWN, Block, Kept, Outcome, observed_bounds, read_only
from rollstat.compile.bound_calls import BoundKernel
from rollstat.compile.jit import plain
from rollstat.compile.simd.vectors import aligned_empty
from rollstat.dtypes import EXACT, is_large
from rollstat.kernels.comparator import Greatest, Least
from rollstat.kernels.missing.counting import subtract_mean_row
from rollstat.kernels.missing.nan_bitmap import empty_bitmap, mark_insufficient, record_nan
from rollstat.kernels.missing.observations import keep_observed
from rollstat.kernels.sums import variable_windows
from rollstat.kernels.sums.fixed_windows import recompute_unshifted, sum_fixed_windows
from rollstat.kernels.sums.moment_formulas import traits
from rollstat.kernels.sums.short_windows import (
    GAVE_UP,
    RANGE_LEFT,
    SHORTEST_OF_BLOCKS,
    scratch_sizes,
    sum_short_windows,
)
from rollstat.plan import IN_ANY_ORDER, SHORT, Bounds, Choice, Computation, OneCall, Output
from rollstat.statistics.aggregate.drivers import aggregate, prepare_once
from rollstat.statistics.extrema.drivers import Extremum, automatic
from rollstat.statistics.sums.float_range import MODERATE, is_extreme, is_moderate
from rollstat.windows import Windows

operators: Any = built_in  # type checkers take class attributes of the operators for fields

# Minimum rows per block, with several threads and with one.
_ROWS = 1 << 17
_ROWS_ALONE = 1 << 20
_ONE_WIDTH = Choice("fixed_windows", "all windows have the same width")
# Exponent of the sum of as many values as a window can have.
_SPARE = 64
_WRAP = 1 << 64
_FLOAT64 = np.dtype(np.float64)
_COMPLETE = Outcome(complete=True, algorithm=_ONE_WIDTH.name)
# What computes a line over row numbers, where none is missing.
_OF_ROWS = {
    operators.Slope: operators.moments.SlopeOfRows,
    operators.moments.LinearFitByRow: operators.moments.LinearFitOfRows,
}
# About how many float64 elements a thread keeps for the next block.
_LONGEST_KEPT = 1 << 19


def _aligned_array(shape: tuple[int, ...]) -> NDArray[np.float64]:
    """Return an array that starts on a cache line: a vector across two lines takes twice the time."""
    return np.asarray(aligned_empty(math.prod(shape), np.float64)).reshape(shape)


_scratch = Kept()
_fronts = Kept()
_rows = Kept()
_short = defaultdict[tuple[int, int], Kept](Kept)


class Sums(Computation):
    """A statistic that follows from sums.

    Parameters
    ----------
    dtype : numpy.dtype
        Of the first series.
    windows : Windows
        The windows of the call.
    summand : Operator
        The statistic.
    required : int
        Fewest observations for which there is a result.
    kind : str
        Kind of the outputs.
    """

    rounds = True

    def __init__(
        self, dtype: np.dtype[Any], windows: Windows, summand: Any, required: int, kind: str = "float"
    ) -> None:
        self._summand = summand
        self.filled_step = thresholds.FILLED_STEP_OF_SUMS
        self._converts = dtype != _FLOAT64
        self.outputs = [Output(kind, required)] * len(traits(summand).powers)
        self.any_order = len(self.outputs) == 1

    def block_rows(self, width: int, alone: bool = False) -> int:
        """Return the output rows of a block that suit windows of `width` rows.

        One thread takes longer blocks, unless values are converted to float64 or rows to numbers first: these
        should stay in the cache until they are summed.
        """
        return block_rows(width, alone=alone and not self._converts and len(self.outputs) == 1)

    def choose(self, block: Block) -> Choice:
        """Return the algorithm for a block."""
        return choose(block)

    def one_call(self, least: int, marks: Sequence[float], longest: int) -> OneCall | None:
        """Return what writes all results of a series in one call; see :class:`Computation`."""
        kernel, summand = BoundKernel(variable_windows.sum_windows), self._summand
        subtract = BoundKernel(subtract_mean_row)
        fitted, channels, limit = len(self.outputs) > 1, traits(summand).channels, float(least)
        paired = traits(summand).paired
        results = 3 if fitted else 1
        kept = _short[channels, results]

        def run(
            columns: list[NDArray[np.float64]], bounds: Bounds, outputs: Sequence[NDArray[np.float64]]
        ) -> bool:
            start, end, longest, _ = bounds
            x, by_row = columns[0], paired and len(columns) == 1
            out = np.empty((3, len(start))) if fitted else outputs[0][None]
            # Rounded up, so that other windows and series of similar lengths have the same memory.
            room = 1 << max(len(x), len(start), longest).bit_length()
            numbers, *memory = kept.get(room, lambda: _memory_of_short(channels, results, room))
            y = numbers[: len(x)] if by_row else columns[-1]
            left = kernel(summand, x, y, start, end, limit, *memory, out)
            if left and not _stays_in_range(summand, x, y):
                return False
            if fitted:
                if by_row:  # heights at the mean row become heights at the first
                    subtract(x, start, end, *out[:2])
                for result, row in zip(outputs, out):
                    result[...] = row
            return True

        return OneCall(Choice("variable_windows", SHORT), run, 5.0)

    def compute(self, block: Block, min_periods: int, results: list[NDArray[Any]]) -> Outcome:
        """Write the result of every row with at least `min_periods` observations."""
        return write_sums(block, self._summand, *results)


def _memory_of_short(channels: int, outputs: int, room: int) -> tuple[Any, ...]:
    """Return row numbers, and scratch memory of :func:`variable_windows.sum_windows` for `room` rows."""
    scratch = variable_windows.allocate(channels, outputs, room)
    return _row_numbers(room), np.empty((2, room + 1)), np.empty((3, room + 1), np.int64), scratch


def _row_numbers(rows: int) -> NDArray[np.float64]:
    return read_only(np.arange(float(rows)))


def grid(width: int) -> int:
    """Return the rows of one block of the scan for windows of `width` values."""
    return max(8 * (width // 8), 1)


def block_rows(width: int, alone: bool = False) -> int:
    """Return the rows per block for windows of `width` values: a multiple of the grid, several windows."""
    step = grid(width)
    return step * max(12, -(-(_ROWS_ALONE if alone else _ROWS) // step))


def observations(block: Block, series: int = 0, shifted: bool = False) -> NDArray[Any]:
    """Return one series of `block` as float64, with NaN for missing values.

    If float64 could round integers, return them as they are, or, for sums that are `shifted`, less an anchor:
    as float64, or as int64 where float64 would round their differences.
    """
    values = block.others[series - 1] if series else block.values
    missing = block.missing if block.searched else None
    if is_large(values):
        if not shifted:
            return read_only(values)
        missing = block.missing
        values = _about_anchor(values, missing)
        if values.dtype == np.int64:
            return read_only(values)
    if missing is not None:
        values = values.astype(np.float64)
        values[missing] = np.nan
    return read_only(np.asarray(values, np.float64))


def _about_anchor(values: NDArray[Any], missing: NDArray[np.bool_] | None) -> NDArray[Any]:
    """Return exact differences of integers from an anchor; any number where a value is missing.

    They are int64 where float64 would round some.
    """
    observed = values if missing is None else values[~missing]
    low, high = (int(observed.min()), int(observed.max())) if len(observed) else (0, 0)
    anchor = low + (high - low + 1) // 2  # half the range to both sides fits in int64
    less = (values.view(np.uint64) - np.uint64(anchor % _WRAP)).view(np.int64)
    return less.astype(np.float64) if high - low <= 2 * EXACT else less


def write_sums(block: Block, summand: Any, *outputs: NDArray[Any]) -> Outcome:
    """Write the results of a statistic for each window of `block`; insufficient rows are undefined."""
    known = traits(summand)
    x = y = observations(block, 0, known.shifted)
    by_row = known.paired and not block.others
    if by_row and _write_for_rows(block, _OF_ROWS[type(summand)], x, outputs):
        return _COMPLETE
    if known.paired:
        y = _row_numbers(len(x)) if by_row else observations(block, 1, known.shifted)
    if len(outputs) > 1:
        return _write_lines(block, summand, outputs, x, y)
    (out,) = outputs
    result = out if out.dtype == np.float64 and out.flags.c_contiguous else np.empty(out.shape)
    outcome = evaluate(block, summand, result[None], x, y)
    _deliver(result, out)
    return outcome


def plain_summand(operator: Any) -> Any:
    """Return the summand of plain sums that give the results of an operator for moderate values; or None."""
    if type(operator) is operators.DownsideDeviation:
        return operators.moments.PlainDownsideDeviation()
    return operators.sums.PlainWeightedMean() if type(operator) is operators.WeightedMean else None


def write_plain(
    block: Block, operator: Any, min_periods: int, out: NDArray[Any]
) -> tuple[Outcome, NDArray[np.intp]] | None:
    """Write the results of an operator by plain sums; return the rows that the operator must write instead.

    These are the windows with an extreme value or a negative weight, where sums could be small differences of
    large ones. So no value outside a window decides how its result is computed. Return None if plain sums
    give no result.
    """
    series = [np.asarray(values, np.float64) for values in (block.values, *block.others)]
    if getattr(operator, "target", 0.0):
        series = [series[0] - operator.target]
    rows = np.empty(0, np.intp)
    if not all(map(is_moderate, series)) or any((weights < 0).any() for weights in series[1:]):
        unfit = np.logical_or.reduce([weights < 0 for weights in series[1:]] + [*map(is_extreme, series)])
        held = block.count_without(unfit) < block.end - block.start
        enough = block.count >= max(min_periods, block.nan_below or 0)  # other rows are NaN already
        if held[enough].all():
            return None
        rows = np.flatnonzero(held & enough)
    plain = block
    if any(a is not b for a, b in zip(series, (block.values, *block.others))):
        plain = block.over([read_only(values) for values in series])
    return write_sums(plain, plain_summand(operator), out), rows


def _deliver(result: NDArray[np.float64], out: NDArray[Any]) -> None:
    """Write `result` in the dtype of `out`; values that float32 cannot hold become infinite."""
    if result is not out:
        with np.errstate(over="ignore"):
            out[:] = result


def _write_lines(
    block: Block, summand: Any, outputs: Sequence[NDArray[Any]], y: NDArray[Any], x: NDArray[Any]
) -> Outcome:
    """Write slope and intercept of the least-squares line of y over x, and R².

    x is the second series, or, if there is none, the row, which is then counted from the start of the window.
    R² is NaN where y is constant, all three are where x is.
    """
    lines = np.empty((3, block.rows))
    outcome = evaluate(block, summand, lines, y, x)
    slope, height, _ = lines
    if any(map(is_large, (block.values, *block.others))):
        # Heights above an anchor would be rounded to its digits, however small the values of the window are.
        write_sums(block.over([block.values]), operators.Mean(), height)
        if block.others:
            mean = np.empty(block.rows)
            write_sums(block.over(block.others), operators.Mean(), mean)
            with np.errstate(invalid="ignore"):  # slopes that are not defined
                height -= slope * mean
    if not block.others:
        # The mean row is a quotient of integers and is rounded once.
        if y.dtype == np.int64:  # which has no NaN
            y = np.zeros(len(y)) if block.missing is None else np.where(block.missing, np.nan, 0.0)
        subtract_mean_row(y, block.start, block.end, slope, height)
        if y.dtype.kind == "f" and np.isinf(height).any():
            _scale_heights(block, summand, y, height)
    for line, out in zip(lines, outputs):
        _deliver(line, out)
    return outcome


def _write_for_rows(block: Block, kind: Any, y: NDArray[Any], outputs: Sequence[NDArray[Any]]) -> bool:
    """Write lines of y over rows for windows of one width; return whether no value is missing or extreme."""
    missing = block.searched and block.missing is not None
    if missing or choose(block) != _ONE_WIDTH or is_large(block.values):
        return False
    rows = _rows.get(len(y), partial(_row_numbers, len(y)), len(y) <= _LONGEST_KEPT)
    lines = _one_array(outputs)
    found = np.empty((len(outputs), block.rows)) if lines is None else lines
    if any(_scan(block, kind(), y, rows, found)):
        return False
    for line, out in zip(found, outputs if lines is None else ()):
        _deliver(line, out)
    return True


def _one_array(outputs: Sequence[NDArray[Any]]) -> NDArray[np.float64] | None:
    """Return an array whose rows begin with the outputs, if these lie in memory like that."""
    if any(out.dtype != np.float64 or not out.flags.c_contiguous for out in outputs):
        return None
    if len(outputs) == 1:
        return outputs[0][None]
    places = [out.__array_interface__["data"][0] for out in outputs]
    step = places[1] - places[0]
    if step < outputs[0].nbytes or step % 8 or any(b - a != step for a, b in pairwise(places)):
        return None
    return np.lib.stride_tricks.as_strided(outputs[0], (len(outputs), step // 8), (step, 8))


def _scale_heights(block: Block, summand: Any, y: NDArray[np.float64], height: NDArray[np.float64]) -> None:
    """Compute infinite heights at first rows again, from values so small that slopes are finite."""
    small = np.empty((3, block.rows))
    write_sums(block.over([read_only(np.ldexp(y, -_SPARE))]), summand, *small)
    with np.errstate(over="ignore"):
        np.copyto(height, np.ldexp(small[1], _SPARE), where=np.isinf(height))


def evaluate(
    block: Block,
    summand: Any,
    out: NDArray[np.float64],
    x: NDArray[np.float64],
    y: NDArray[np.float64] | None = None,
) -> Outcome:
    """Write the outputs of `summand` for any windows; the series may hold integers.

    Insufficient rows are marked, and recorded as marked, where this takes no extra work. Windows whose sums
    leave the range of float64 are computed again. The formulas are those of
    :mod:`rollstat.kernels.sums.moment_formulas`.
    """
    y = x if y is None else y
    if _needs_operator(block, x, y):
        outcome, left = _combine(block, summand, out, x, y), True
    else:
        outcome, left = _evaluate(block, summand, out, x, y)
    if left:
        _rescale(block, summand, x, y, out)
    return outcome


def _needs_operator(block: Block, x: NDArray[Any], y: NDArray[Any]) -> bool:
    """Return whether no kernel for sums takes the windows or the values of a block."""
    return block.any_order or x.dtype.kind in "iu" or y.dtype.kind in "iu"


def _combine(
    block: Block, summand: Any, out: NDArray[np.float64], x: NDArray[Any], y: NDArray[Any]
) -> Outcome:
    """As :func:`evaluate`, by the operator; some sums may have left the range of float64."""
    series = [x] if x is y else [x, y]
    operator = summand
    if traits(summand).paired and len(out) > 1:
        operator, series = operators.LinearFit(), [y, x]
    prepared = prepare_once(operator, *[each.dtype for each in series])
    aggregate(block.over(series), *prepared, list(out), min_periods=0, warn=False)
    return Outcome(algorithm="static_tree" if block.any_order else "operator_scan")


def _evaluate(
    block: Block,
    summand: Any,
    out: NDArray[np.float64],
    x: NDArray[np.float64],
    y: NDArray[np.float64],
) -> tuple[Outcome, bool]:
    """As :func:`evaluate`, for floats; return also whether sums may have left the range of float64."""
    algorithm = choose(block).name
    outcome = Outcome(marked=block.nan_below is not None, algorithm=algorithm)
    if algorithm == "variable_windows":
        return outcome, _sum_any_windows(block, summand, x, y, block.start, block.end, out)
    if not block.width:
        missing = bool(np.isnan(x).any() or (x is not y and np.isnan(y).any()))
        return outcome, _scan_with_missing(*_as_fixed(block, summand, x, y), out, may_lack_shift=missing)
    if not block.searched or block.missing is None:
        gave_up, left = _scan(block, summand, x, y, out)
        if not gave_up:
            return _COMPLETE, left
    return outcome, _scan_with_missing(block, summand, x, y, out)


def choose(block: Block) -> Choice:
    """Return the algorithm for the windows of a block."""
    if block.any_order:
        return Choice("static_tree", IN_ANY_ORDER)
    if block.width and block.rows:
        return _ONE_WIDTH
    if _is_expanding(block):
        reason = f"at least {thresholds.EXPANDING_AS_FIXED} windows begin with the data, each one row longer"
        return Choice("fixed_windows", reason)
    return Choice("variable_windows", "the width of the windows varies")


def _is_expanding(block: Block) -> bool:
    """Return whether all windows start with the data and each is one row longer than the one before."""
    if block.rows < thresholds.EXPANDING_AS_FIXED or block.reach is not None:
        return block.rows >= thresholds.EXPANDING_AS_FIXED
    if block.start[-1] > 0:
        return False
    return np.array_equal(block.end, np.arange(block.end[0], block.end[0] + block.rows))


def _as_fixed(
    block: Block, summand: Any, x: NDArray[np.float64], y: NDArray[np.float64]
) -> tuple[Block, Any, NDArray[np.float64], NDArray[np.float64]]:
    """Return expanding windows as windows of a fixed width that start in missing rows before the data."""
    width = block.longest
    shape = (1 if x is y else 2, block.rows - 1 + width)
    memory = _fronts.get(shape, partial(_aligned_array, shape), math.prod(shape) <= _LONGEST_KEPT)
    memory[:, : block.rows - 1] = np.nan
    memory[0, block.rows - 1 :] = x[:width]
    if x is not y:
        memory[1, block.rows - 1 :] = y[:width]
    series = read_only(memory)
    first, others = series[0], tuple(series[1:])
    regular = Block.regular(first, UNKNOWN, width, others, nan_below=block.nan_below)
    return regular, summand, first, others[0] if others else first


@np.errstate(all="ignore")
def _scan_with_missing(
    block: Block,
    summand: Any,
    x: NDArray[np.float64],
    y: NDArray[np.float64],
    out: NDArray[np.float64],
    may_lack_shift: bool = True,
) -> bool:
    """Windows of a fixed width in which values may be NaN; those without their shift are computed again.

    Expanding windows over complete data all hold it: the shift is the first value, or the value of a row
    before the end of the first window that starts after it. Return whether sums may have left the range of
    float64.
    """
    width, min_count = block.width, float(block.nan_below or 0)
    counts, *scratch = _scan_scratch(summand, width)
    if not traits(summand).counted:
        counts, min_count = counts[:0], 0.0
    outcome = _scan_by(width)(summand, x, y, width, min_count, counts, *scratch, out)
    left = bool(outcome & RANGE_LEFT)
    if not traits(summand).counted and block.nan_below:
        bitmap = empty_bitmap(len(x))
        record_nan(x, bitmap)
        mark_insufficient(bitmap, width, block.nan_below, np.nan, out[0])
    if width < SHORTEST_OF_BLOCKS or not traits(summand).shifted or not may_lack_shift:
        return left
    rows = np.empty(0, np.int64)
    number, left_by_some = recompute_unshifted(summand, x, y, width, min_count, *scratch, rows, out)
    if number:
        rows = np.empty(number, np.int64)
        recompute_unshifted(summand, x, y, width, min_count, *scratch, rows, out)
        again = np.empty((len(out), len(rows)))
        left |= _sum_any_windows(block, summand, x, y, rows, rows + width, again)
        out[:, rows] = again
    return left or left_by_some


def _scan_by(width: int) -> Any:
    """Return the kernel for windows of `width` values."""
    return sum_short_windows if width < SHORTEST_OF_BLOCKS else sum_fixed_windows


def _scan_scratch(summand: Any, width: int) -> list[NDArray[np.float64]]:
    """Return the arrays `counts`, `memory` and `spare` for the scan."""
    key = traits(summand).channels, len(traits(summand).powers), width
    kept: list[NDArray[np.float64]] = _scratch.get(key, partial(_new_scan_scratch, *key), _is_short(*key))
    return kept


def _new_scan_scratch(channels: int, outputs: int, width: int) -> list[NDArray[np.float64]]:
    suffixes, groups, leaves, rows = plain(scratch_sizes)(channels, width)
    shapes = (rows,), (suffixes + 2 * (groups + leaves + rows),), (outputs, rows)
    return list(map(_aligned_array, shapes))


def _is_short(channels: int, outputs: int, width: int) -> bool:
    """Return whether the scratch memory of windows is so small that a thread keeps it."""
    return (channels + outputs + 4) * width <= _LONGEST_KEPT


@np.errstate(all="ignore")
def _scan(
    block: Block, summand: Any, x: NDArray[np.float64], y: NDArray[np.float64], out: NDArray[np.float64]
) -> tuple[bool, bool]:
    """Scan; return whether a value may be missing, and whether sums may have left the range of float64."""
    scratch = _scan_scratch(summand, block.width)[1:]
    outcome = _scan_by(block.width)(summand, x, y, block.width, 0.0, None, *scratch, out)
    return bool(outcome & GAVE_UP), bool(outcome & RANGE_LEFT)


def _stays_in_range(summand: Any, x: NDArray[Any], y: NDArray[Any]) -> bool:
    """Return whether sums are in the range of float64 even if a kernel has noted that they may not be."""
    return traits(summand).shifted and is_moderate(x) and (x is y or is_moderate(y))


@np.errstate(all="ignore")
def _sum_any_windows(
    block: Block,
    summand: Any,
    x: NDArray[np.float64],
    y: NDArray[np.float64],
    start: NDArray[np.int64],
    end: NDArray[np.int64],
    out: NDArray[np.float64],
) -> bool:
    """Any windows, after leaving out missing values.

    Return whether sums may have left the range of float64.
    """
    missing, min_count = block.missing, float(block.nan_below or 0)
    longest = block.longest
    if missing is not None:
        both = x is not y
        x = _observed(x, missing)
        y = _observed(y, missing) if both else x
        start, end = observed_bounds(missing, start, end)
    if not len(start):
        return False
    scratch = variable_windows.allocate(traits(summand).channels, len(out), longest)
    return bool(variable_windows.sum_variable_windows(summand, x, y, start, end, min_count, scratch, out))


@np.errstate(all="ignore")
def _rescale(block: Block, summand: Any, x: NDArray[Any], y: NDArray[Any], out: NDArray[np.float64]) -> None:
    """Compute windows again whose sums may have left the range of float64, times powers of two."""
    if not traits(summand).shifted:
        rows = np.flatnonzero(~np.isfinite(out[0]))
        _compute_scaled(block, summand, (x, y), (_SPARE, _SPARE), rows, out)
        return
    if _stays_in_range(summand, x, y):
        return
    series = (x,) if x is y else (x, y)
    low, high = np.zeros((2, len(series), block.rows))
    for i, values in enumerate(series):
        if values.dtype.kind == "f":  # integers are moderate
            automatic(block.over([values]), [Extremum(Least(), low[i]), Extremum(Greatest(), high[i])])
    spread = high - low
    exponent = np.frexp(np.where(np.isinf(spread), high * 0.5 - low * 0.5, spread))[1]
    scale = np.where(np.abs(exponent) > MODERATE, np.rint(exponent / MODERATE) * MODERATE, 0)
    scales = np.broadcast_to(scale, (2, block.rows))
    for pair in {(int(a), int(b)) for a, b in scales.T} - {(0, 0)}:
        rows = np.flatnonzero((scales[0] == pair[0]) & (scales[1] == pair[1]))
        _compute_scaled(block, summand, (x, y), pair, rows, out)


def _compute_scaled(
    block: Block,
    summand: Any,
    series: tuple[NDArray[Any], NDArray[Any]],
    scales: tuple[int, int],
    rows: NDArray[np.intp],
    out: NDArray[np.float64],
) -> None:
    """Write these rows from both series divided by 2 to the power of their scales, 0 for integers."""
    if not len(rows):
        return
    scaled = [read_only(np.ldexp(x, -scale)) if scale else x for x, scale in zip(series, scales)]
    x, y = (scaled[0], scaled[0]) if series[0] is series[1] else scaled
    again = np.empty((len(out), len(rows)))
    if _needs_operator(block, x, y):
        every = np.empty((len(out), block.rows))
        _combine(block, summand, every, x, y)
        again[:] = every[:, rows]
    else:
        _sum_any_windows(block, summand, x, y, block.start[rows], block.end[rows], again)
    for result, part, powers in zip(out, again, traits(summand).powers):
        result[rows] = np.ldexp(part, powers[0] * scales[0] + powers[1] * scales[1])


def _observed(values: NDArray[np.float64], missing: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Return the values that are not missing."""
    kept = np.empty(len(values) + 1)
    keep_observed(values, missing, kept)
    return read_only(kept[: len(values) - np.count_nonzero(missing)])
