"""Order statistics of equal windows over a few distinct values, by prefix counts of each value.

::

    values    3 1 3 3 1 1 3           levels 1 3
    counts   0 0 1 1 1 2 3 3          how many of the first i values are at most 1
    window [1, 5): counts[5] - counts[1] = 2 values are at most 1, so rank 1 is 1 and rank 2 is 3

State: `counts`, int32 (length + 1,), rewritten for every level but the last. Invariant: every value is one of
the levels, which the caller checks with `are_levels`. Cost: O(1) a row and level, without branches.

Source: cumulative histograms, as in T. S. Huang, G. J. Yang and G. Y. Tang, A fast two-dimensional median
filtering algorithm (1979), doi:10.1109/TASSP.1979.1163188, with prefix sums in place of updates.
"""

import numpy as np

from rollstat._jit import kernel

__all__ = ["are_levels", "select_few"]

_PART = 4096  # values that stay in the cache while they are compared with every level


@kernel
def are_levels(values, levels):
    """Whether every value is one of the levels."""
    for first in range(0, len(values), _PART):
        part = values[first : first + _PART]
        found = 0
        for level in levels:
            for i in range(len(part)):
                found += np.int64(part[i] == level)  # sums of bool are not vectorised
        if found < len(part):
            return False
    return True


@kernel
def _count_up_to(values, level, counts):
    """Write the prefix counts of the values up to `level`."""
    total = 0
    counts[0] = 0
    ahead = counts[1:]
    for i in range(len(values)):
        total += values[i] <= level
        ahead[i] = total


@kernel
def _choose(older, newer, target, low, high, result):
    """Write `high` where at most `target` values of the window are counted, else `low`."""
    for i in range(len(result)):
        result[i] = high if newer[i] - older[i] <= target else low


@kernel
def _raise(older, newer, target, level, result):
    """Write `level` where at most `target` values of the window are counted."""
    for i in range(len(result)):
        result[i] = level if newer[i] - older[i] <= target else result[i]


@kernel
def select_few(values, levels, width, target, want_upper, counts, lower, upper):
    """Write the value of rank `target` in every window, and of the next rank if it is wanted.

    Parameters
    ----------
    values : ndarray, shape (rows + width - 1,)
    levels : ndarray
        All distinct values, ascending.
    width, target : int
        Rows of a window, and the rank.
    want_upper : bool
        Whether to write `upper`.
    counts : ndarray of int32, shape (rows + width,)
        Scratch.
    lower, upper : ndarray, shape (rows,)
        Receive the values.
    """
    if len(levels) == 1:
        lower[:] = levels[0]
        upper[:] = levels[0]
    for d in range(len(levels) - 1):
        _count_up_to(values, levels[d], counts)
        older, newer = counts[: len(lower)], counts[width : width + len(lower)]
        if d == 0:
            _choose(older, newer, target, levels[0], levels[1], lower)
            if want_upper:
                _choose(older, newer, target + 1, levels[0], levels[1], upper)
        else:
            _raise(older, newer, target, levels[d + 1], lower)
            if want_upper:
                _raise(older, newer, target + 1, levels[d + 1], upper)
