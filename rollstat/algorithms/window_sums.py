"""Sums over windows, and what follows from them: one scan for fixed windows, two stacks for others.

The grid of the scan starts anew with each block. Results do not depend on the size of the blocks if it is a
multiple of :func:`grid`; those of windows of few values never do.
"""

import math
import threading
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rollstat.blocks import UNKNOWN, Block, Outcome
from rollstat.kernels.missing.simd_counts import count_series
from rollstat.kernels.simd.vectors import aligned_empty
from rollstat.kernels.sums import short_windows
from rollstat.kernels.sums.fixed_windows import (
    GROUP,
    SHORTEST_SHIFTED,
    recompute_unshifted,
    sum_fixed_windows,
)
from rollstat.kernels.sums.moment_formulas import Summand, series_of, traits
from rollstat.kernels.sums.variable_windows import finish_windows, sum_variable_windows
from rollstat.plan import Choice

__all__ = [
    "block_rows",
    "choose",
    "deliver",
    "evaluate",
    "grid",
    "longest",
    "observations",
    "scan",
    "working_row",
]

# Minimum rows per block, and with one thread.
_ROWS = 1 << 17
_ROWS_ALONE = 1 << 20
_ONE_WIDTH = Choice("fixed_windows", "all windows have one width")
_COMPLETE = Outcome(complete=True, algorithm=_ONE_WIDTH.name)
# Minimum number of expanding windows that are computed as fixed windows behind missing rows.
_EXPANDING = 64
# Maximum number of float64 elements that a thread keeps for the next block.
_LONGEST_KEPT = 1 << 19


class _Kept(threading.local):
    """Memory of the last block of a thread: new pages for every block would cost as much as the sums."""

    key: Any = None
    value: Any = None

    def get(self, key: Any, make: Callable[[], Any], length: int) -> Any:
        """Return the value of the last call if its key was the same, else a new one, kept if it is small."""
        if key == self.key:
            return self.value
        value = make()
        if length <= _LONGEST_KEPT:
            self.key, self.value = key, value
        return value


_scratch = _Kept()
_fronts = _Kept()


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
    values = np.asarray(values, np.float64).view()
    values.flags.writeable = False  # so that kernels are compiled for one type of array
    return values


def longest(block: Block) -> int:
    """Return the number of rows of the longest window of `block`."""
    if block.reach is not None:
        return block.reach + block.rows - 1
    return block.width or int((block.end - block.start).max(initial=0))


def working_row(out: NDArray[Any]) -> NDArray[np.float64]:
    """Return an array of float64 to compute in: `out` itself if possible."""
    return out if out.dtype == np.float64 and out.flags.c_contiguous else np.empty(out.shape)


def deliver(result: NDArray[np.float64], out: NDArray[Any]) -> None:
    """Write `result` in the dtype of `out`; values that float32 cannot hold become infinite."""
    if result is not out:
        with np.errstate(over="ignore"):
            out[:] = result


def scan(
    block: Block,
    summand: Summand,
    out: NDArray[np.float64],
    x: NDArray[np.float64],
    y: NDArray[np.float64] | None = None,
) -> bool:
    """Write the outputs of `summand` for windows of a fixed width to `out`, if possible.

    Parameters
    ----------
    block : Block
        If it has not been searched for missing values, the scan finds out whether there are any.
    summand : Summand
        What to sum, see :mod:`rollstat.kernels.sums.moment_formulas`.
    out : ndarray of float64, shape (outputs, rows)
        C-contiguous.
    x, y : ndarray of float64
        From :func:`observations`; `y` is `x` by default.

    Returns
    -------
    bool
        False if the windows have no fixed width, or a value may be missing.
    """
    if not block.width or (block.searched and block.missing is not None):
        return False
    return not (block.rows and _scan(summand, x, x if y is None else y, block.width, out))


def evaluate(
    block: Block,
    summand: Summand,
    out: NDArray[np.float64],
    x: NDArray[np.float64],
    y: NDArray[np.float64] | None = None,
) -> Outcome:
    """Write the outputs of `summand` for any windows, see :func:`scan`.

    Insufficient rows are marked, and recorded as marked, where this takes no extra work.
    """
    algorithm = choose(block).name
    if scan(block, summand, out, x, y):
        return _COMPLETE
    y = x if y is None else y
    if algorithm == "variable_windows":
        _sum_any_windows(block, summand, x, y, block.start, block.end, block.count, out)
        return Outcome(algorithm=algorithm)
    if block.width:
        _scan_with_missing(block, summand, x, y, out)
    else:
        _scan_with_missing(*_as_fixed(block, summand, x, y), out)
    return Outcome(marked=block.nan_below is not None, algorithm=algorithm)


def choose(block: Block) -> Choice:
    """Return the algorithm for the windows of a block."""
    if block.width and block.rows:
        return _ONE_WIDTH
    if _is_expanding(block):
        reason = f"at least {_EXPANDING} windows begin with the data, each one row longer"
        return Choice("fixed_windows", reason)
    return Choice("variable_windows", "the width of the windows varies")


def _is_expanding(block: Block) -> bool:
    """Return whether all windows start with the data and each is one row longer than the one before."""
    if block.rows < _EXPANDING or block.reach is not None:
        return block.rows >= _EXPANDING
    if block.start[-1] > 0:
        return False
    return np.array_equal(block.end, np.arange(block.end[0], block.end[0] + block.rows))


def _as_fixed(
    block: Block, summand: Summand, x: NDArray[np.float64], y: NDArray[np.float64]
) -> tuple[Block, Summand, NDArray[np.float64], NDArray[np.float64]]:
    """Return expanding windows as windows of a fixed width, which start in missing rows before the data."""
    width = longest(block)
    shape = (1 if x is y else 2, block.rows - 1 + width)
    memory = _fronts.get(shape, lambda: _aligned_arrays(shape)[0], math.prod(shape))
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
    block: Block, summand: Summand, x: NDArray[np.float64], y: NDArray[np.float64], out: NDArray[np.float64]
) -> None:
    """Windows of a fixed width in which values may be NaN."""
    width, min_count = block.width, float(block.nan_below or 0)
    scratch = _scan_scratch(summand, width, counting=True)
    sum_fixed_windows(summand, x, y, width, min_count, scratch, out)
    if not traits(summand).shifted or width < SHORTEST_SHIFTED:
        return
    rows = np.empty(0, np.int64)
    left = recompute_unshifted(summand, x, y, width, min_count, scratch, rows, out)
    if left:
        rows = np.empty(left, np.int64)
        recompute_unshifted(summand, x, y, width, min_count, scratch, rows, out)
        count = np.empty(block.rows)
        count_series(series_of(summand, x, y), width, count)
        again = np.empty((len(out), len(rows)))
        _sum_any_windows(block, summand, x, y, rows, rows + width, count[rows], again)
        out[:, rows] = again


def _scan_scratch(summand: Summand, width: int, counting: bool) -> short_windows.Scratch:
    """Return scratch memory for the scan, which counts observations where values may be NaN."""
    channels, outputs = traits(summand).channels, traits(summand).outputs
    size = 8 * channels
    vectors = max(width // 8, 1)
    groups = size * (vectors // GROUP + 2)
    leaves = size * (short_windows.BLOCK + 1)
    rows = 8 * (short_windows.BLOCK + 1)

    def make() -> tuple[short_windows.Scratch, short_windows.Scratch]:
        counts, *arrays = _aligned_arrays(
            (rows,), (size * vectors,), (groups,), (groups,), (leaves,), (leaves,), (2, rows), (outputs, rows)
        )
        return short_windows.Scratch(None, *arrays), short_windows.Scratch(counts, *arrays)

    return _scratch.get((channels, outputs, width), make, size * vectors)[counting]


def _aligned_arrays(*shapes: tuple[int, ...]) -> list[NDArray[np.float64]]:
    """Return arrays that start on a cache line: a vector across two lines takes twice the time."""
    sizes = [-(-math.prod(shape) // 8) * 8 for shape in shapes]
    memory = aligned_empty(sum(sizes), np.float64)
    parts = np.split(memory, np.cumsum(sizes)[:-1])
    return [part[: math.prod(shape)].reshape(shape) for part, shape in zip(parts, shapes)]


@np.errstate(all="ignore")
def _scan(
    summand: Summand,
    x: NDArray[np.float64],
    y: NDArray[np.float64],
    width: int,
    out: NDArray[np.float64],
) -> bool:
    """Scan; return whether the scan gave up because a value may be missing."""
    scratch = _scan_scratch(summand, width, counting=False)
    return bool(sum_fixed_windows(summand, x, y, width, 0.0, scratch, out))


@np.errstate(all="ignore")
def _sum_any_windows(
    block: Block,
    summand: Summand,
    x: NDArray[np.float64],
    y: NDArray[np.float64],
    start: NDArray[np.int64],
    end: NDArray[np.int64],
    observed: NDArray[Any],
    out: NDArray[np.float64],
) -> None:
    """Any windows, with any missing values."""
    rows = len(start)
    padded = -(-rows // 8) * 8
    channels = traits(summand).channels
    sums = np.zeros((channels, padded))
    shift_x, shift_y = np.zeros((2, padded))
    work = np.empty((channels, longest(block))), np.zeros((3, channels))
    sum_variable_windows(summand, x, y, start, end, *work, sums, shift_x, shift_y)
    count = np.zeros(padded)
    count[:rows] = observed
    result = np.empty((traits(summand).outputs, padded))
    finish_windows(summand, sums, shift_x, shift_y, count, result)
    out[:] = result[:, :rows]
