"""Insufficient rows of windows of a fixed width, found from a bitmap of missing values.

::

    values    1.5 NaN 2.0 NaN NaN 7.1 ...        bitmap   ...011010 (64 values per word)

    64 windows that start in one word:   missing in the first one + all that enter <= allowed?   none marked
                                         missing in the first one - all that leave > allowed?    all marked
    else window i of them:               missing in the first one + entered - left by i > allowed?   marked

State: `bitmap`, uint64: bit ``i % 64`` of word ``i // 64`` is set where value i is missing. At least one word
of zeros follows the last value. Cost: a few instructions for 64 rows where few values are missing, else some
thirty, and at most a few for each row where rows are marked.
"""

import numpy as np

from rollstat.compile.jit import INDEX, kernel
from rollstat.compile.lowering import count_ones
from rollstat.compile.simd.masks import nan_bits, rows_above

_ONE = np.uint64(1)
_PART = 1 << 10  # values that stay in the nearest cache


def empty_bitmap(length):
    """Return a bitmap for `length` values with no bit set."""
    return np.zeros(length // 64 + 3, np.uint64)


@kernel
def record_nan(values, bitmap):
    """Set the bits of the NaN in `values`."""
    whole = len(values) & -64
    for i in range(0, whole, 64):
        bitmap[(i >> 6) & INDEX] = nan_bits(values, i)
    word = np.uint64(0)
    for i in range(whole, len(values)):
        word |= np.uint64(values[i] != values[i]) << np.uint64(i - whole)
    bitmap[whole >> 6] = word


@kernel
def replace_nan(values, bitmap, replaced):
    """Set the bits of the NaN in `values`, and write the values to `replaced`, zero in the place of NaN."""
    for first in range(0, len(values), _PART):
        part, target = values[first : first + _PART], replaced[first : first + _PART]
        record_nan(part, bitmap[first >> 6 :])
        for i in range(len(part)):
            target[i] = part[i] if part[i] == part[i] else 0.0


@kernel(forceinline=True)
def _bits_from(bitmap, i):
    """Return the 64 bits from bit `i` on."""
    shift = np.uint64(i & 63)
    low, high = bitmap[(i >> 6) & INDEX], bitmap[((i >> 6) + 1) & INDEX]
    return low >> shift | high << _ONE << (np.uint64(63) - shift)


@kernel
def mark_insufficient(bitmap, width, min_periods, mark, out):
    """Write `mark` to the rows of `out` whose windows have fewer than `min_periods` observations.

    The window of row i is ``[i, i + width)``.
    """
    excess = min_periods - width
    for i in range(0, width, 64):
        word = bitmap[i >> 6]
        if i + 64 > width:
            word &= (_ONE << np.uint64(width - i)) - _ONE
        excess += count_ones(word)
    for first in range(0, len(out), 64):
        leaving, entering = bitmap[(first >> 6) & INDEX], _bits_from(bitmap, first + width)
        enter, leave = count_ones(entering), count_ones(leaving)
        if excess - leave > 0:
            out[first : first + 64] = mark
        elif excess + enter > 0:
            marked = rows_above(leaving, entering, excess)
            if marked:
                _mark_rows(marked, mark, out[first : first + 64])
        excess += enter - leave


@kernel
def _mark_rows(marked, mark, out):
    """Write `mark` to the rows of `out`, up to 64, whose bits are set; the loop runs in vectors."""
    for i in range(len(out)):
        out[i] = mark if marked >> np.uint64(i) & _ONE else out[i]
