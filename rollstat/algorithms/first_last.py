"""Counts, and the oldest and newest observation: what a window has at its ends needs no combinations.

Every function writes one row of `out` for each window of `block`; rows without an observation may get
anything, but counts are 0 there.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from rollstat.blocks import Block, Outcome
from rollstat.kernels.missing.compaction import (
    carry_back,
    carry_numbers_back,
    carry_numbers_on,
    carry_on,
    copy_numbers,
)
from rollstat.kernels.missing.counting import count_in_width, count_observed, has_nan
from rollstat.kernels.missing.simd_counts import count_numbers
from rollstat.plan import Choice

__all__ = ["all_true", "any_true", "choose", "counts", "newest", "oldest"]

_ENDS = Outcome(algorithm="window_ends")


def choose(block: Block) -> Choice:
    """Return the algorithm for the windows of a block."""
    return Choice("window_ends", "the ends of a window, or counts, tell the result")


def _straight(block: Block, out: NDArray[Any]) -> bool:
    """Whether results can be read off values that nobody searched for NaN: such a search is half the work."""
    return bool(block.width and not block.searched and not block.others and out.dtype == block.values.dtype)


def counts(block: Block, out: NDArray[Any]) -> Outcome:
    """Number of observations."""
    if _straight(block, out) and out.dtype == np.float64:
        if has_nan(block.values):
            count_numbers((block.values,), block.width, out)
            return _ENDS
        out[:] = block.width
        return _ENDS._replace(complete=True)
    out[:] = block.width if block.width and block.missing is None else block.count
    return _ENDS


def oldest(block: Block, out: NDArray[Any]) -> Outcome:
    """The first observation."""
    if _straight(block, out):
        values, rest = block.values[: block.rows], block.values[block.rows :]
        if not copy_numbers(values, out):
            carry_numbers_back(block.values, out)
        elif not has_nan(rest):
            return _ENDS._replace(complete=True)
        return _ENDS
    values = block.values
    if block.missing is not None:
        values = np.empty_like(values)
        carry_back(block.values, block.missing, values)
    if block.width:
        out[:] = values[: block.rows]
    elif len(values):
        out[:] = values[np.minimum(block.start, len(values) - 1)]
    return _ENDS


def newest(block: Block, out: NDArray[Any]) -> Outcome:
    """The last observation."""
    if _straight(block, out):
        rest, values = block.values[: block.width - 1], block.values[block.width - 1 :]
        if not copy_numbers(values, out):
            carry_numbers_on(block.values, out)
        elif not has_nan(rest):
            return _ENDS._replace(complete=True)
        return _ENDS
    values = block.values
    if block.missing is not None:
        values = np.empty_like(values)
        carry_on(block.values, block.missing, values)
    if block.width:
        out[:] = values[block.width - 1 :]
    elif len(values):
        out[:] = values[np.maximum(block.end - 1, 0)]
    return _ENDS


def _count_where(block: Block, rows: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Observations of each window among `rows`."""
    others = ~rows if block.missing is None else ~rows | block.missing
    count = np.empty(block.rows, np.int64)
    if block.width:
        count_in_width(others, count)
    else:
        count_observed(others, block.start, block.end, count)
    return count


def any_true(block: Block, out: NDArray[Any]) -> Outcome:
    """Whether some observation is not zero."""
    out[:] = _count_where(block, block.values != 0) > 0
    return _ENDS


def all_true(block: Block, out: NDArray[Any]) -> Outcome:
    """Whether no observation is zero."""
    out[:] = _count_where(block, block.values == 0) == 0
    return _ENDS
