"""Small windows of constant width, sorted by a network: one row of an array for each rank."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rollstat import thresholds
from rollstat.blocks import Block, Selection
from rollstat.statistics.selection import small_window
from rollstat.windows import Windows

__all__ = ["serves", "sorted_columns"]

_VALUES_AT_ONCE = 1 << 17  # few calls, and results that stay in the cache


def serves(windows: Windows) -> bool:
    """Return whether all windows have one small number of rows, except at the ends of the data."""
    return 0 < windows.fixed_width <= thresholds.SORTED_BY_NETWORK


def sorted_columns(
    values: NDArray[Any], width: int, low: int, high: int
) -> Iterator[tuple[slice, NDArray[Any]]]:
    """Sort every window of `width` values, some windows at a time.

    Yields
    ------
    rows : slice
        The windows, by their first value.
    found : ndarray, shape (high - low + 1, windows)
        Their values of rank `low` to `high`, one row for each rank.
    """
    windows = len(values) - width + 1
    step = max(_VALUES_AT_ONCE // width, 1)
    constant = tuple(range(low, high + 1))
    for first in range(0, windows, step):
        count = min(step, windows - first)
        found = np.empty((len(constant), count), values.dtype)
        rank = np.broadcast_to(np.array(constant)[:, None], found.shape)
        part = Block.regular(values[first : first + count + width - 1], None, width)
        small_window.select(part, Selection(rank, constant, found))
        yield slice(first, first + count), found
