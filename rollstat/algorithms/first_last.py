"""Counts, the oldest and newest observation, and whether any or all observations are true.

Every function writes one row of `out` for each window of `block`. Counts are 0 for windows without
observations; the other results of these windows are undefined.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rollstat.blocks import Block, Line, Outcome
from rollstat.kernels.missing.counting import count_fixed, count_observed, has_nan
from rollstat.kernels.missing.forward_fill import (
    backward_fill,
    backward_fill_nan,
    copy_until_nan,
    forward_fill,
    forward_fill_nan,
)
from rollstat.kernels.missing.simd_counts import count_series
from rollstat.plan import Choice

__all__ = ["all_true", "any_true", "choose", "counts", "line_kernel", "newest", "oldest"]

_ENDS = Outcome(algorithm="window_ends")


def choose(block: Block) -> Choice:
    """Return the algorithm for the windows of a block."""
    return Choice("window_ends", "the ends of a window, or counts, tell the result")


def line_kernel(write: Callable[..., Outcome], line: Line) -> Callable[..., bool]:
    """Return what does the work of `write` for windows in which no value is missing.

    See :meth:`rollstat.plan.Computation.line_kernel`.
    """
    write_complete, width, head, short = _COMPLETE[write], line.width, line.head, line.short

    def write_line(series: list[NDArray[Any]], outputs: list[NDArray[Any]]) -> bool:
        (values,), (out,) = series, outputs
        if short:
            out[:short] = np.nan
            out = out[short:]
        if values.dtype.kind == "f" and has_nan(values):
            return False
        write_complete(values, width, head, out)
        return True

    return write_line


def _is_unsearched(block: Block, out: NDArray[Any]) -> bool:
    """Return whether to skip a separate search for NaN, which would take half of the time."""
    return bool(block.width and not block.searched and not block.others and out.dtype == block.values.dtype)


def counts(block: Block, out: NDArray[Any]) -> Outcome:
    """Write the number of observations of each window."""
    if _is_unsearched(block, out) and out.dtype == np.float64:
        if has_nan(block.values):
            count_series((block.values,), block.width, out)
            return _ENDS
        out[:] = block.width
        return _ENDS._replace(complete=True)
    out[:] = block.width if block.width and block.missing is None else block.count
    return _ENDS


def oldest(block: Block, out: NDArray[Any]) -> Outcome:
    """Write the first observation of each window."""
    if _is_unsearched(block, out):
        values, rest = block.values[: block.rows], block.values[block.rows :]
        if not copy_until_nan(values, out):
            backward_fill_nan(block.values, out)
        elif not has_nan(rest):
            return _ENDS._replace(complete=True)
        return _ENDS
    values = block.values
    if block.missing is not None:
        values = np.empty_like(values)
        backward_fill(block.values, block.missing, values)
    if block.width:
        out[:] = values[: block.rows]
    elif len(values):
        out[:] = values[np.minimum(block.start, len(values) - 1)]
    return _ENDS


def newest(block: Block, out: NDArray[Any]) -> Outcome:
    """Write the last observation of each window."""
    if _is_unsearched(block, out):
        rest, values = block.values[: block.width - 1], block.values[block.width - 1 :]
        if not copy_until_nan(values, out):
            forward_fill_nan(block.values, out)
        elif not has_nan(rest):
            return _ENDS._replace(complete=True)
        return _ENDS
    values = block.values
    if block.missing is not None:
        values = np.empty_like(values)
        forward_fill(block.values, block.missing, values)
    if block.width:
        out[:] = values[block.width - 1 :]
    elif len(values):
        out[:] = values[np.maximum(block.end - 1, 0)]
    return _ENDS


def _count_where(block: Block, rows: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Return the number of observations of each window for which `rows` is true."""
    others = ~rows if block.missing is None else ~rows | block.missing
    count = np.empty(block.rows, np.int64)
    if block.width:
        count_fixed(others, count)
    else:
        count_observed(others, block.start, block.end, count)
    return count


def any_true(block: Block, out: NDArray[Any]) -> Outcome:
    """Write whether any observation is not zero."""
    out[:] = _count_where(block, block.values != 0) > 0
    return _ENDS


def all_true(block: Block, out: NDArray[Any]) -> Outcome:
    """Write whether no observation is zero."""
    out[:] = _count_where(block, block.values == 0) == 0
    return _ENDS


def _write_width(values: NDArray[Any], width: int, head: int, out: NDArray[Any]) -> None:
    out[:head] = range(width - head, width)
    out[head:] = width


def _write_oldest(values: NDArray[Any], width: int, head: int, out: NDArray[Any]) -> None:
    out[:head] = values[0]
    out[head:] = values[: len(out) - head]


def _write_newest(values: NDArray[Any], width: int, head: int, out: NDArray[Any]) -> None:
    out[:] = values[width - 1 - head :]


def _count_zeros(values: NDArray[Any], width: int, rows: int) -> NDArray[np.int64]:
    count = np.empty(rows, np.int64)
    count_fixed(values != 0, count)  # it counts where its argument is false
    return count


def _write_any(values: NDArray[Any], width: int, head: int, out: NDArray[Any]) -> None:
    out[:head] = np.logical_or.accumulate(values[: width - 1] != 0)[width - 1 - head :]
    np.less(_count_zeros(values, width, len(out) - head), width, out=out[head:], casting="unsafe")


def _write_all(values: NDArray[Any], width: int, head: int, out: NDArray[Any]) -> None:
    out[:head] = np.logical_and.accumulate(values[: width - 1] != 0)[width - 1 - head :]
    np.equal(_count_zeros(values, width, len(out) - head), 0, out=out[head:], casting="unsafe")


_COMPLETE: dict[Callable[..., Outcome], Callable[[NDArray[Any], int, int, NDArray[Any]], None]] = {
    counts: _write_width,
    oldest: _write_oldest,
    newest: _write_newest,
    any_true: _write_any,
    all_true: _write_all,
}
"""What writes growing and full windows over values none of which is missing, for each function of blocks."""
