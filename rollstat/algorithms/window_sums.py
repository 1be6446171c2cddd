"""Sums over windows, and what follows from them: one scan for fixed windows, two stacks for others.

The grid of the scan starts again in each block. Results do not depend on the size of the blocks if it is a
multiple of :func:`grid`; those of windows of few values never do.
"""

import math
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rollstat import thresholds
from rollstat.algorithms.aggregate import aggregate, prepare
from rollstat.algorithms.extrema import Extrema, automatic
from rollstat.algorithms.float_range import MODERATE, is_moderate
from rollstat.algorithms.kept import Kept
from rollstat.algorithms.whole_numbers import about_anchor, operator_for
from rollstat.blocks import UNKNOWN, Block, Outcome, read_only
from rollstat.compile.jit import plain
from rollstat.compile.simd.vectors import aligned_empty
from rollstat.dtypes import is_large
from rollstat.kernels.missing.compaction import keep_observed, observed_bounds
from rollstat.kernels.sums import variable_windows
from rollstat.kernels.sums.fixed_windows import recompute_unshifted, sum_fixed_windows
from rollstat.kernels.sums.moment_formulas import Summand, traits
from rollstat.kernels.sums.short_windows import GAVE_UP, RANGE_LEFT, scratch_sizes, short_windows
from rollstat.plan import Choice

__all__ = [
    "SPARE",
    "block_rows",
    "choose",
    "deliver",
    "differences",
    "evaluate",
    "grid",
    "observations",
    "stays_in_range",
    "working_row",
]

# Minimum rows per block, with several threads and with one.
_ROWS = 1 << 17
_ROWS_ALONE = 1 << 20
_ONE_WIDTH = Choice("fixed_windows", "all windows have one width")
# Exponent of the sum of as many values as a window can have.
SPARE = 64
_COMPLETE = Outcome(complete=True, algorithm=_ONE_WIDTH.name)
# About how many float64 elements a thread keeps for the next block.
_LONGEST_KEPT = 1 << 19


def _aligned_array(shape: tuple[int, ...]) -> NDArray[np.float64]:
    """Return an array that starts on a cache line: a vector across two lines takes twice the time."""
    return np.asarray(aligned_empty(math.prod(shape), np.float64)).reshape(shape)


_scratch = Kept()
_fronts = Kept()


def grid(width: int) -> int:
    """Return the rows of one block of the scan for windows of `width` values."""
    return max(8 * (width // 8), 1)


def block_rows(width: int, alone: bool = False) -> int:
    """Return the rows per block for windows of `width` values: a multiple of the grid, several windows."""
    step = grid(width)
    return step * max(12, -(-(_ROWS_ALONE if alone else _ROWS) // step))


def observations(block: Block, series: int = 0) -> NDArray[np.float64]:
    """Return one series of `block` as float64, with NaN for missing values."""
    values = block.others[series - 1] if series else block.values
    if block.searched and block.missing is not None:
        values = values.astype(np.float64)
        values[block.missing] = np.nan
    return read_only(np.asarray(values, np.float64))


def differences(block: Block, series: int = 0) -> tuple[NDArray[Any], int]:
    """Return one series of `block` for shifted sums, less an integer, and this integer.

    The values are those of :func:`observations`, or int64 if float64 would round their differences.
    """
    values = block.others[series - 1] if series else block.values
    if not is_large(values):
        return observations(block, series), 0
    missing = block.missing
    less, anchor = about_anchor(values, missing)
    if missing is not None and less.dtype == np.float64:
        less[missing] = np.nan
    return read_only(less), anchor


def working_row(out: NDArray[Any]) -> NDArray[np.float64]:
    """Return an array of float64 to compute in: `out` itself if possible."""
    return out if out.dtype == np.float64 and out.flags.c_contiguous else np.empty(out.shape)


def deliver(result: NDArray[np.float64], out: NDArray[Any]) -> None:
    """Write `result` in the dtype of `out`; values that float32 cannot hold become infinite."""
    if result is not out:
        with np.errstate(over="ignore"):
            out[:] = result


def evaluate(
    block: Block,
    summand: Summand,
    out: NDArray[np.float64],
    x: NDArray[np.float64],
    y: NDArray[np.float64] | None = None,
) -> Outcome:
    """Write the outputs of `summand` for any windows, see
    :mod:`rollstat.kernels.sums.moment_formulas`.

    `x` or `y` may hold int64 if the summand is shifted. Insufficient rows are marked, and recorded as marked,
    where this takes no extra work.
    """
    if x.dtype.kind == "i" or (y is not None and y.dtype.kind == "i"):
        return _combine_integers(block, summand, x, x if y is None else y, out)
    y = x if y is None else y
    outcome, left = _evaluate(block, summand, out, x, y)
    if left:
        _rescale(block, summand, x, y, out)
    return outcome


def _evaluate(
    block: Block,
    summand: Summand,
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
    block: Block, summand: Summand, x: NDArray[np.float64], y: NDArray[np.float64]
) -> tuple[Block, Summand, NDArray[np.float64], NDArray[np.float64]]:
    """Return expanding windows as windows of a fixed width, which start in missing rows before the data."""
    width = block.longest
    shape = (1 if x is y else 2, block.rows - 1 + width)
    memory = _fronts.get(shape, partial(_aligned_array, shape), math.prod(shape) <= _LONGEST_KEPT)
    memory[:, : block.rows - 1] = np.nan
    memory[0, block.rows - 1 :] = x[:width]
    if x is not y:
        memory[1, block.rows - 1 :] = y[:width]
    series = memory.view()
    series.flags.writeable = False
    first, others = series[0], tuple(series[1:])
    regular = Block.regular(first, UNKNOWN, width, others, nan_below=block.nan_below)
    return regular, summand, first, others[0] if others else first


@np.errstate(all="ignore")
def _scan_with_missing(
    block: Block,
    summand: Summand,
    x: NDArray[np.float64],
    y: NDArray[np.float64],
    out: NDArray[np.float64],
    may_lack_shift: bool = True,
) -> bool:
    """Windows of a fixed width in which values may be NaN; those without their shift are computed again.

    Expanding windows over complete data all hold it: the shift is the first value, or that of a row before
    the end of the first window that starts after it. Return whether sums may have left the range of float64.
    """
    width, min_count = block.width, float(block.nan_below or 0)
    counts, *scratch = _scan_scratch(summand, width)
    short = short_windows(summand, width)
    outcome = (short or sum_fixed_windows)(summand, x, y, width, min_count, counts, *scratch, out)
    left = bool(outcome & RANGE_LEFT)
    if short or not traits(summand).shifted or not may_lack_shift:
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


def _scan_scratch(summand: Summand, width: int) -> list[NDArray[np.float64]]:
    """Return the arrays `counts`, `memory` and `spare` for the scan."""
    channels, outputs = traits(summand).channels, traits(summand).outputs
    key = channels, outputs, width
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
    block: Block, summand: Summand, x: NDArray[np.float64], y: NDArray[np.float64], out: NDArray[np.float64]
) -> tuple[bool, bool]:
    """Scan; return whether a value may be missing, and whether sums may have left the range of float64."""
    scratch = _scan_scratch(summand, block.width)[1:]
    kernel = short_windows(summand, block.width) or sum_fixed_windows
    outcome = kernel(summand, x, y, block.width, 0.0, None, *scratch, out)
    return bool(outcome & GAVE_UP), bool(outcome & RANGE_LEFT)


def stays_in_range(summand: Summand, x: NDArray[np.float64], y: NDArray[np.float64]) -> bool:
    """Return whether sums are in the range of float64 even if a kernel has noted that they may not be."""
    return traits(summand).shifted and is_moderate(x) and (x is y or is_moderate(y))


def _combine_integers(
    block: Block, summand: Summand, x: NDArray[Any], y: NDArray[Any], out: NDArray[np.float64]
) -> Outcome:
    """Any windows, where float64 would round the differences of integers from one anchor."""
    paired = traits(summand).paired
    operator, layout = prepare(operator_for(summand), [x.dtype, y.dtype] if paired else [x.dtype])
    aggregate(block.over((x, y) if paired else (x,)), operator, layout, list(out))
    return Outcome(algorithm="operator_scan")


@np.errstate(all="ignore")
def _sum_any_windows(
    block: Block,
    summand: Summand,
    x: NDArray[np.float64],
    y: NDArray[np.float64],
    start: NDArray[np.int64],
    end: NDArray[np.int64],
    out: NDArray[np.float64],
) -> bool:
    """Any windows, with any missing values, which are left out first.

    Return whether sums may have left the range of float64.
    """
    missing, min_count = block.missing, float(block.nan_below or 0)
    longest = block.longest
    if missing is not None:
        both = x is not y
        x = _observed(x, missing)
        y = _observed(y, missing) if both else x
        start, end = _bounds_of_observed(missing, start), _bounds_of_observed(missing, end)
    if not len(start):
        return False
    scratch = variable_windows.allocate(traits(summand).channels, len(out), longest)
    return bool(variable_windows.sum_variable_windows(summand, x, y, start, end, min_count, scratch, out))


@np.errstate(all="ignore")
def _rescale(
    block: Block, summand: Summand, x: NDArray[np.float64], y: NDArray[np.float64], out: NDArray[np.float64]
) -> None:
    """Compute windows again whose sums may have left the range of float64, times powers of two."""
    if not traits(summand).shifted:
        rows = np.flatnonzero(~np.isfinite(out[0]))
        _compute_scaled(block, summand, (x, y), (SPARE, SPARE), rows, out)
        return
    if stays_in_range(summand, x, y):
        return
    series = (x,) if x is y else (x, y)
    low, high = np.empty((2, block.rows))
    scales = np.zeros((2, block.rows), np.int64)
    for scale, values in zip(scales, series):
        automatic(block.over([values]), Extrema(minimum=low, maximum=high))
        spread = high - low
        exponent = np.frexp(np.where(np.isinf(spread), high * 0.5 - low * 0.5, spread))[1]
        scale[:] = np.where(np.abs(exponent) > MODERATE, np.rint(exponent / MODERATE) * MODERATE, 0)
    if len(series) == 1:
        scales[1] = scales[0]
    for pair in {(int(a), int(b)) for a, b in scales.T} - {(0, 0)}:
        rows = np.flatnonzero((scales[0] == pair[0]) & (scales[1] == pair[1]))
        _compute_scaled(block, summand, (x, y), pair, rows, out)


def _compute_scaled(
    block: Block,
    summand: Summand,
    series: tuple[NDArray[np.float64], NDArray[np.float64]],
    scales: tuple[int, int],
    rows: NDArray[np.intp],
    out: NDArray[np.float64],
) -> None:
    """Write these rows from both series divided by 2 to the power of their scales."""
    if not len(rows):
        return
    scaled = [read_only(np.ldexp(values, -scale)) for values, scale in zip(series, scales)]
    x, y = (scaled[0], scaled[0]) if series[0] is series[1] else scaled
    again = np.empty((len(out), len(rows)))
    _sum_any_windows(block, summand, x, y, block.start[rows], block.end[rows], again)
    for result, part, powers in zip(out, again, traits(summand).powers(summand)):
        result[rows] = np.ldexp(part, powers[0] * scales[0] + powers[1] * scales[1])


def _observed(values: NDArray[np.float64], missing: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Return the values that are not missing."""
    kept = np.empty(len(values) + 1)
    keep_observed(values, missing, kept)
    return read_only(kept[: len(values) - np.count_nonzero(missing)])


def _bounds_of_observed(missing: NDArray[np.bool_], bound: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return bounds as numbers of observations before them."""
    observed = np.empty(len(bound), np.int64)
    observed_bounds(missing, bound, observed)
    return observed
