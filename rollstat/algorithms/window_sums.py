"""Sums over windows and what follows from them: fixed windows in one scan, all others by stretches.

Results do not depend on the size of the blocks where that is a multiple of :func:`grid`, and for windows
of few values where it is anything: the scan itself starts anew there.
"""

import math
import threading
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rollstat.blocks import UNKNOWN, Block, Outcome
from rollstat.kernels.missing.simd_counts import count_numbers
from rollstat.kernels.sums.fixed_windows import GROUP, SHORTEST_SHIFTED, settle_rows, window_sums
from rollstat.kernels.sums.moment_formulas import Summand, form, series_of
from rollstat.kernels.sums.short_windows import CHUNK
from rollstat.kernels.sums.variable_windows import finish_rows, stretch_sums
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

# Least rows a block, and of those that one thread alone works through.
_ROWS = 1 << 17
_ROWS_ALONE = 1 << 20
_ONE_WIDTH = Choice("fixed_windows", "all windows have one width")
_COMPLETE = Outcome(complete=True, algorithm=_ONE_WIDTH.name)
# Expanding windows from which on they are worth the front that makes them windows of a fixed width.
_EXPANDING = 64


class _Scratch(threading.local):
    """Arrays of the last block of a thread: fresh pages for every block would cost as much as the sums."""

    limit = 1 << 19
    shapes: tuple[tuple[int, ...], ...] = ()
    arrays: tuple[NDArray[np.float64], ...] = ()

    def take(self, *shapes: tuple[int, ...]) -> tuple[NDArray[np.float64], ...]:
        """Arrays of these shapes, kept for the next block unless they are large.

        They start on whole vectors: one that straddles cache lines costs twice the time.
        """
        if shapes == self.shapes:
            return self.arrays
        sizes = [-(-math.prod(shape) // 8) * 8 for shape in shapes]
        memory = np.empty(sum(sizes) + 8)
        first = -memory.ctypes.data // 8 % 8
        arrays = []
        for shape, size in zip(shapes, sizes):
            arrays.append(memory[first : first + math.prod(shape)].reshape(shape))
            first += size
        if first <= self.limit:
            self.shapes, self.arrays = shapes, tuple(arrays)
        return tuple(arrays)


_scratch = _Scratch()
_fronts = _Scratch()


def grid(width: int) -> int:
    """Rows after which the blocks of the scan for windows of `width` values repeat."""
    return max(8 * (width // 8), 1)


def block_rows(width: int, alone: bool = False) -> int:
    """Rows a block that suit windows of `width` values: a multiple of the grid, of several windows."""
    step = grid(width)
    return step * max(12, -(-(_ROWS_ALONE if alone else _ROWS) // step))


def observations(block: Block, series: int = 0) -> NDArray[np.float64]:
    """The values of one series of `block` as float64, with NaN in place of what is missing."""
    values = block.others[series - 1] if series else block.values
    if block.searched and block.missing is not None:
        values = values.astype(np.float64)
        values[block.missing] = np.nan
    values = np.asarray(values, np.float64).view()
    values.flags.writeable = False  # one compiled version, not two
    return values


def longest(block: Block) -> int:
    """Rows of the longest window of `block`."""
    if block.reach is not None:
        return block.reach + block.rows - 1
    return block.width or int((block.end - block.start).max(initial=0))


def working_row(out: NDArray[Any]) -> NDArray[np.float64]:
    """A row of float64 to compute in: `out` itself where it can be."""
    return out if out.dtype == np.float64 and out.flags.c_contiguous else np.empty(out.shape)


def deliver(result: NDArray[np.float64], out: NDArray[Any]) -> None:
    """Write `result` in the dtype of `out`; what float32 cannot hold is infinite there."""
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
    """Write the outputs of `summand` for windows of a fixed width to the rows of `out`, if possible.

    Parameters
    ----------
    block : Block
        May not have been searched for NaN.
    summand : Summand
        What to sum, see :mod:`rollstat.kernels.sums.moment_formulas`.
    out : ndarray of float64, shape (outputs, rows)
        C-contiguous.
    x, y : ndarray of float64
        From :func:`observations`; `y` is `x` by default.

    Returns
    -------
    bool
        False where the windows have no fixed width, or a value may be missing; if True, none is.
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
    """Write the outputs of `summand` for windows of any shape, see :func:`scan`.

    A scan that counts observations also marks the rows that have too few.
    """
    algorithm = choose(block).name
    if scan(block, summand, out, x, y):
        return _COMPLETE
    y = x if y is None else y
    if algorithm == "variable_windows":
        _walk(block, summand, x, y, block.start, block.end, block.count, out)
        return Outcome(algorithm=algorithm)
    if block.width:
        _scan_gaps(block, summand, x, y, out)
    else:
        _scan_gaps(*_with_front(block, summand, x, y), out)
    return Outcome(marked=block.nan_below is not None, algorithm=algorithm)


def choose(block: Block) -> Choice:
    """Return the algorithm for the windows of a block."""
    if block.width and block.rows:
        return _ONE_WIDTH
    if _expands(block):
        reason = f"at least {_EXPANDING} windows begin with the data, each one row longer"
        return Choice("fixed_windows", reason)
    return Choice("variable_windows", "the width of the windows varies")


def _expands(block: Block) -> bool:
    """Whether all windows begin with the data, and each is one row longer than the one before."""
    if block.rows < _EXPANDING or block.reach is not None:
        return block.rows >= _EXPANDING
    if block.start[-1] > 0:
        return False
    return np.array_equal(block.end, np.arange(block.end[0], block.end[0] + block.rows))


def _with_front(
    block: Block, summand: Summand, x: NDArray[np.float64], y: NDArray[np.float64]
) -> tuple[Block, Summand, NDArray[np.float64], NDArray[np.float64]]:
    """Expanding windows as windows of a fixed width, for :func:`_scan_gaps`: missing rows stand in front."""
    width = longest(block)
    (memory,) = _fronts.take((1 if x is y else 2, block.rows - 1 + width))
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
def _scan_gaps(
    block: Block, summand: Summand, x: NDArray[np.float64], y: NDArray[np.float64], out: NDArray[np.float64]
) -> None:
    """Windows of a fixed width with values missing: NaN, which need not have been searched for."""
    width, least = block.width, float(block.nan_below or 0)
    counts, *work = _working_memory(summand, width)
    window_sums(summand, x, y, width, counts, least, *work, out)
    if not form(summand).shifted or width < SHORTEST_SHIFTED:
        return
    _, high, low, _, _, _, spare = work
    rows = np.empty(0, np.int64)
    left = settle_rows(summand, x, y, width, least, high, low, spare, rows, out)
    if left:
        rows = np.empty(left, np.int64)
        settle_rows(summand, x, y, width, least, high, low, spare, rows, out)
        count = np.empty(block.rows)
        count_numbers(series_of(summand, x, y), width, count)
        again = np.empty((len(out), len(rows)))
        _walk(block, summand, x, y, rows, rows + width, count[rows], again)
        out[:, rows] = again


def _working_memory(summand: Summand, width: int) -> tuple[NDArray[np.float64], ...]:
    """Arrays for :func:`rollstat.kernels.sums.fixed_windows.window_sums`, that for counts first."""
    size = 8 * form(summand).channels
    rows = max(width // 8, 1)
    groups = size * (rows // GROUP + 2)
    chunk = 8 * (CHUNK + 1)
    return _scratch.take(
        (chunk,),
        (size * rows,),
        (groups,),
        (groups,),
        (size * (CHUNK + 1),),
        (size * (CHUNK + 1),),
        (2, chunk),
        (form(summand).outputs, chunk),
    )


@np.errstate(all="ignore")
def _scan(
    summand: Summand,
    x: NDArray[np.float64],
    y: NDArray[np.float64],
    width: int,
    out: NDArray[np.float64],
) -> bool:
    """Scan; return whether that gave up because a value may be missing."""
    _, *work = _working_memory(summand, width)
    return bool(window_sums(summand, x, y, width, None, 0.0, *work, out))


@np.errstate(all="ignore")
def _walk(
    block: Block,
    summand: Summand,
    x: NDArray[np.float64],
    y: NDArray[np.float64],
    start: NDArray[np.int64],
    end: NDArray[np.int64],
    observed: NDArray[Any],
    out: NDArray[np.float64],
) -> None:
    """Windows of any shape, with any values missing."""
    rows = len(start)
    padded = -(-rows // 8) * 8
    channels = form(summand).summed
    sums = np.zeros((channels, padded))
    shift_x, shift_y = np.zeros((2, padded))
    work = np.empty((channels, longest(block))), np.zeros((3, channels))
    stretch_sums(x, y, start, end, *work, sums, shift_x, shift_y)
    count = np.zeros(padded)
    count[:rows] = observed
    result = np.empty((form(summand).outputs, padded))
    finish_rows(summand, sums[: form(summand).channels], shift_x, shift_y, count, result)
    out[:] = result[:, :rows]
