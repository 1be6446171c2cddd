"""Extrema of any monotone windows by scans of blocks, with branches that a processor predicts.

::

    values    . . a b c d | e f g h .
              suffix: best of  | running: best of
              each tail of the | what came after
              left part        | the boundary
                [-------------)        answer = better of suffix[left] and running

State: ``suffix`` in the dtype of the values, as long as the longest window; the boundary, the running
best. Invariant: ``suffix[j - base]`` is the best of ``values[j:boundary]`` for every j between the left
bound and the boundary, and ``running`` is the best of ``values[boundary:right]``. When the left bound
passes the boundary, the boundary moves to the right bound and the suffixes are scanned anew. Cost: at
most 3 comparisons a value, amortised, in any data; worst case O(window) for the row that moves the
boundary.

Source: M. van Herk, A fast algorithm for local minimum and maximum filters on rectangular and octagonal
kernels, Pattern Recognition Letters 13 (1992) 517-521, doi:10.1016/0167-8655(92)90069-C; J. Gil and
M. Werman, Computing 2-D min, median, and max filters, IEEE TPAMI 15 (1993) 504-507,
doi:10.1109/34.211471; here with boundaries where the windows need them instead of every `width` rows.
"""

from rollstat._jit import kernel
from rollstat.kernels.simd.comparator import prefer, worst_of

__all__ = ["scan"]


@kernel
def scan(order, values, missing, start, end, suffix, out):
    """Write the best of every window ``values[start[i]:end[i]]`` to `out`, the worst value where none is.

    NaN and rows with `missing` set are no observations; `missing` may have no length. Returns whether
    a NaN was seen.
    """
    masked = len(missing) > 0
    base = boundary = right = 0
    neutral = running = worst_of(order, values)
    seen = False
    for i in range(len(start)):
        left = start[i]
        if left >= boundary:
            base, boundary = left, max(left, right)
            running = neutral
            best = neutral
            for j in range(boundary - 1, left - 1, -1):
                if not (masked and missing[j]):
                    best = prefer(order, values[j], best)
                suffix[j - base] = best
        for j in range(max(right, boundary), end[i]):
            seen |= values[j] != values[j]
            if not (masked and missing[j]):
                running = prefer(order, values[j], running)
        right = end[i]
        out[i] = prefer(order, suffix[left - base], running) if left < boundary else running
    return seen
