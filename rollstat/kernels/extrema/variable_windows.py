"""Van Herk's and Gil and Werman's scans for any monotone windows: a suffix of a block, a prefix of the next.

::

    values    . . a b c d | e f g h .
              older: best of   | newer: best of
              each tail of the | each head of the
              block            | rows after the border
                [-------------)        answer = better of older[start] and newer[end]

State: the arrays `older` and `newer` in the dtype of the values, one value longer than the longest window,
and the border between them. Invariant: ``older[j - first]`` is the best of ``values[j:border]``,
``newer[j - border]`` that of ``values[border:j]``; windows that start at the border or after it belong to
the next block, whose border is the end of the last window. Cost: at most 3 comparisons a value, amortised,
and O(window) for the row that begins a block.

Source: that of :mod:`rollstat.kernels.extrema.van_herk`, here with borders where the windows need them
instead of every `width` rows.
"""

from rollstat.compile.jit import INDEX, kernel
from rollstat.kernels.bounds import first_from
from rollstat.kernels.simd.comparator import prefer, worst_of

__all__ = ["scan"]


@kernel
def _scan_older(order, values, missing, first, border, best):
    """Write the best of every ``values[j:border]`` to ``best[j - first]``; the worst value for no values."""
    masked = len(missing) > 0
    running = best[border - first] = worst_of(order, values)
    for j in range(border - 1, first - 1, -1):
        if not (masked and missing[j]):
            running = prefer(order, values[j], running)
        best[j - first] = running


@kernel
def _scan_newer(order, values, missing, border, last, best):
    """Write the best of every ``values[border:j]`` to ``best[j - border]``; return whether a NaN was seen."""
    masked = len(missing) > 0
    running = best[0] = worst_of(order, values)
    has_nan = False
    for j in range(border, last):
        has_nan |= values[j] != values[j]
        if not (masked and missing[j]):
            running = prefer(order, values[j], running)
        best[j + 1 - border] = running
    return has_nan


@kernel
def scan(order, values, missing, start, end, older, newer, out):
    """Write the best of every window ``values[start[i]:end[i]]`` to `out`, the worst value where none is.

    NaN and rows with `missing` set are no observations; `missing` may have no length. `older` and `newer`
    have room for one value more than the longest window. Returns whether a NaN was seen.
    """
    row = right = 0
    has_nan = False
    while row < len(start):
        first = start[row]
        border = max(first, right)
        # Its first window starts at the border if it has no row in common with the windows before.
        stop = first_from(start, row, border)
        right = end[stop - 1]
        _scan_older(order, values, missing, first, border, older)
        has_nan |= _scan_newer(order, values, missing, border, right, newer)
        for i in range(row, stop):
            before, after = older[(start[i] - first) & INDEX], newer[(end[i] - border) & INDEX]
            out[i & INDEX] = prefer(order, before, after)
        row = stop
    return has_nan
