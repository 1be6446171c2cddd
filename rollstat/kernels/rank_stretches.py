"""One order statistic of equal windows, stretch by stretch: band, sort, bit set.

::

    stretch    |------ rows ------|--- width - 1 ---|
                                  |------ rows ------|--- width - 1 ---|
    band       every value         where the answers of the last stretches lay, and a margin

State: that of :mod:`rollstat.kernels.radix_sort` and :mod:`rollstat.kernels.rank_slide`, and `recent`,
the lowest and the highest answer of the last stretches. Only what lies in the band is sorted.

Invariant: a row is done when its answer was found within the band, which makes it exact; the rows after
one that was not are done again with a band of everything. After f stretches in a row whose band failed,
the next 2**f go without.

Cost: O(stretch) to sort and O(1) a row, each at most twice; what :func:`radix_sort` or
:func:`slide_fixed` give up is left to the caller.

Source: see the two modules; estimating where an order statistic lies so that all else is only counted
is from R. W. Floyd and R. L. Rivest, Expected time bounds for selection (1975),
doi:10.1145/360680.360691.
"""

import numpy as np

from rollstat._jit import kernel
from rollstat.kernels.radix_sort import bits_for, sort_words, value_range
from rollstat.kernels.rank_slide import FIRST, begin, classify, far_code, place, slide_fixed

__all__ = ["RECENT", "select_fixed"]

RECENT = 4
_LONGEST_PAUSE = 64


@kernel
def _rank_of(ranked, rows, values, value):
    """How many of the sorted observations are below `value`."""
    low, high = 0, len(ranked)
    while low < high:
        middle = (low + high) // 2
        if values[np.int64(ranked[middle] & rows)] < value:
            low = middle + 1
        else:
            high = middle
    return low


@kernel
def _next_band(ranked, rows, values, recent, seen, sides, band):
    """Choose the band of the next stretch from where the answers lay; return whether there is one.

    ``sides[0]`` and ``sides[1]`` say whether the band is bounded below and above. A bounded side that
    leaves no margin cannot be moved outward, for what lies beyond was not sorted.
    """
    count = len(ranked)
    low = _rank_of(ranked, rows, values, np.min(recent[0, : min(seen, RECENT)]))
    high = _rank_of(ranked, rows, values, np.max(recent[1, : min(seen, RECENT)]))
    margin = (high - low) // 4 + 8
    low, high = low - margin, high + margin
    if (low < 0 and sides[0]) or (high >= count and sides[1]) or 2 * (high - low) > len(values):
        return False
    sides[0], sides[1] = low >= 0, high < count
    if sides[0]:
        band[0] = values[np.int64(ranked[low] & rows)]
    if sides[1]:
        band[1] = values[np.int64(ranked[high] & rows)]
    return True


@kernel
def _observed(missing):
    """How many rows are not missing."""
    absent = 0
    for gone in missing:
        absent += gone
    return len(missing) - absent


@kernel
def select_fixed(
    values,
    missing,
    scaled,
    width,
    target,
    targets,
    want_upper,
    stretch,
    words,
    spare,
    bucket,
    code,
    bits,
    ordered,
    recent,
    band,
    sides,
    lower,
    upper,
):
    """Write an order statistic of every window, and the next one if it is wanted.

    Parameters
    ----------
    values : ndarray, shape (rows + width - 1,)
        Floats, with `scaled`, or unsigned integers.
    missing : ndarray of bool
        As long as `values`, or empty for none missing.
    scaled : bool
        Whether `values` are floats.
    width : int
        Rows of a window.
    target : int
        The rank, if it is the same in every row.
    targets : ndarray of int64, shape (rows,), or None
        The rank in every row otherwise, negative where nothing is wanted.
    want_upper : bool
        Whether to write `upper`, where there is a next one.
    stretch : int
        Rows to work on at a time; at least one.
    words, spare : ndarray of uint64, shape (stretch + width,)
    bucket : ndarray of int32, shape (DIGITS, LARGEST_DIGIT)
    code : ndarray of uint32, shape (stretch + width,)
    bits : ndarray of uint64, shape (words_for(stretch + width),)
    ordered : ndarray of the values' dtype, shape (64 * len(bits),)
    recent : ndarray of the values' dtype, shape (2, RECENT)
    band : ndarray of the values' dtype, shape (2,)
    sides : ndarray of bool, shape (2,)
        Scratch.
    lower, upper : ndarray, shape (rows,)
        Receive the values.

    Returns
    -------
    int
        Rows that are done, from the first on; fewer than all where another algorithm must go on.
    """
    rows = len(lower)
    banded = False
    seen = failures = pause = 0
    first = 0
    while first < rows:
        last = min(first + stretch, rows)
        part = values[first : last + width - 1]
        gone = missing[first : last + width - 1] if len(missing) > 0 else missing
        everything = len(gone) == 0 or _observed(gone) == len(gone)
        if not everything and _observed(gone) == 0:
            first = last
            continue
        lowest, highest = value_range(part, gone)
        if banded:
            lowest = band[0] if sides[0] and band[0] > lowest else lowest
            highest = band[1] if sides[1] and band[1] < highest else highest
        else:
            sides[:] = False
        complete = everything and not banded
        count = sort_words(part, scaled, gone, lowest, highest, complete, words, spare, bucket)
        if count < 0:
            return first
        if not complete:
            classify(part, gone, lowest, far_code(count), code)
        row_bits = bits_for(len(part))
        ranked = words[:count]
        place(ranked, row_bits, part, code, ordered)
        done, bottom, top = slide_fixed(
            code[: len(part)],
            width,
            target,
            targets[first:last] if targets is not None else None,
            bits,
            begin(code[:width], bits, count),
            count,
            not sides[1],
            want_upper,
            ordered.view(np.uint64),
            len(part),
            lower[first:last].view(np.uint64),
            (upper[first:last] if want_upper else upper).view(np.uint64),
        )
        first += done
        if first < last:
            if not banded:
                return first
            failures += 1
            pause = min(1 << failures, _LONGEST_PAUSE)
            banded, seen = False, 0
            continue
        failures = 0 if banded else failures
        pause -= pause > 0
        banded = False
        if bottom <= top:
            row_mask = (np.uint64(1) << np.uint64(row_bits)) - np.uint64(1)
            recent[0, seen % RECENT] = part[np.int64(ranked[bottom - FIRST] & row_mask)]
            recent[1, seen % RECENT] = part[np.int64(ranked[min(top - FIRST, count - 1)] & row_mask)]
            seen += 1
            banded = pause == 0 and _next_band(ranked, row_mask, part, recent, seen, sides, band)
    return rows
