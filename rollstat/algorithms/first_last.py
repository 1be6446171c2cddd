"""Counts, the oldest and newest observation, and whether any or all observations are true.

Every function writes one row of `out` for each window of `block`. Counts are 0 for windows without
observations; the other results of these windows are undefined.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rollstat.blocks import Block, Outcome
from rollstat.kernels.missing.counting import count_fixed, count_observed, has_nan
from rollstat.kernels.missing.forward_fill import (
    backward_fill,
    backward_fill_nan,
    copy_until_nan,
    forward_fill,
    forward_fill_nan,
)
from rollstat.kernels.missing.simd_counts import count_series
from rollstat.kernels.missing.window_ends import ALL, ANY, COUNT, NEWEST, OLDEST
from rollstat.plan import Choice

__all__ = ["KINDS", "all_true", "any_true", "choose", "counts", "newest", "oldest"]

_ENDS = Outcome(algorithm="window_ends")


def choose(block: Block) -> Choice:
    """Return the algorithm for the windows of a block."""
    return Choice("window_ends", "the ends of a window, or counts, tell the result")


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


KINDS: dict[Callable[..., Outcome], int] = {
    counts: COUNT,
    oldest: OLDEST,
    newest: NEWEST,
    any_true: ANY,
    all_true: ALL,
}
"""The kind of :mod:`rollstat.kernels.missing.window_ends` for each function."""
