"""Insufficient rows of windows of a fixed width, found from a bitmap of missing values.

::

    values    1.5 NaN 2.0 NaN NaN 7.1 ...        bitmap   ...011010 (64 values per word)

    64 windows that start in one word:   missing in the first one + all that enter <= allowed?   none marked
                                         missing in the first one - all that leave > allowed?    all marked
    else window i of them:               missing in the first one + entered - left by i > allowed?   marked

State: `bitmap`, uint64: bit ``i % 64`` of word ``i // 64`` is set where value i is missing. At least one word
of zeros follows the last value. Cost: a few instructions for 64 rows where few values are missing, at most a
few for each row elsewhere.
"""

import numpy as np

from rollstat.compile.jit import INDEX, kernel
from rollstat.compile.lowering import count_ones
from rollstat.compile.simd.masks import nan_bits

_ONE = np.uint64(1)


def empty_bitmap(length):
    """Return a bitmap for `length` values with no bit set."""
    return np.zeros(length // 64 + 3, np.uint64)


@kernel
def record_nan(values, first, last, bitmap):
    """Set the bits of the NaN in ``values[first:last]``; `first` is a multiple of 64.

    Return where the recorded values end: a multiple of 64, at least `last`.
    """
    i = first
    while i < last and i + 64 <= len(values):
        bitmap[i >> 6] = nan_bits(values, i)
        i += 64
    if i < last:
        word = np.uint64(0)
        for j in range(i, len(values)):
            word |= np.uint64(values[j] != values[j]) << np.uint64(j - i)
        bitmap[i >> 6] = word
        i += 64
    return i


@kernel
def record_nan_if(found, values, first, last, bitmap):
    """As :func:`record_nan`, if a NaN was `found` in ``values[:last]`` and `bitmap` has a length."""
    if len(bitmap) == 0:
        return 0
    return record_nan(values, first, min(last, len(values)), bitmap) if found else last & -64


@kernel(forceinline=True)
def _bits_from(bitmap, i):
    """Return the 64 bits from bit `i` on."""
    shift = np.uint64(i & 63)
    low, high = bitmap[(i >> 6) & INDEX], bitmap[((i >> 6) + 1) & INDEX]
    return low >> shift | high << _ONE << (np.uint64(63) - shift)


@kernel
def mark_insufficient(bitmap, width, min_periods, mark, out, other):
    """Write `mark` to the rows of `out` whose windows have fewer than `min_periods` observations.

    The window of row i is ``[i, i + width)``. The same rows of `other` are marked if it has a length.
    """
    excess = min_periods - width
    if width < 16:
        for first in range(0, len(out), 64):
            low, high = bitmap[(first >> 6) & INDEX], bitmap[((first >> 6) + 1) & INDEX]
            bits = _insufficient_bits(low, high, width, -excess)
            if bits:
                _mark_bits(bits, mark, out[first : first + 64])
                _mark_bits(bits, mark, other[first : first + 64])
        return
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
            other[first : first + 64] = mark
        elif excess + enter > 0:
            _mark_rows(leaving, entering, excess, mark, out[first : first + 64])
            _mark_rows(leaving, entering, excess, mark, other[first : first + 64])
        excess += enter - leave


@kernel
def _insufficient_bits(low, high, width, limit):
    """Return the bits of the windows that start in the word `low` and have more than `limit` missing values.

    `width` is less than 16. All 64 windows are counted at once: bit i of `one`, `two`, `four` and `eight` are
    the binary digits of the count of window i.
    """
    one = two = four = eight = np.uint64(0)
    for i in range(width):
        carry = low >> np.uint64(i) | high << _ONE << np.uint64(63 - i)
        one, carry = one ^ carry, one & carry
        two, carry = two ^ carry, two & carry
        four, carry = four ^ carry, four & carry
        eight ^= carry
    # Compare with `limit` from the highest digit down: `more` are the windows that exceed it already, `same`
    # those that are equal so far.
    more, same = np.uint64(0), ~np.uint64(0)
    more, same = (more, same & eight) if limit & 8 else (more | same & eight, same & ~eight)
    more, same = (more, same & four) if limit & 4 else (more | same & four, same & ~four)
    more, same = (more, same & two) if limit & 2 else (more | same & two, same & ~two)
    return more if limit & 1 else more | same & one


@kernel
def _mark_bits(bits, mark, out):
    """Mark the rows whose bits are set; all rows are written, which takes no branches."""
    for i in range(len(out)):
        out[i] = mark if bits >> np.uint64(i) & _ONE else out[i]


@kernel
def _mark_rows(leaving, entering, excess, mark, out):
    """Mark those of up to 64 rows that are insufficient; the loop has no branches and runs in vectors.

    `excess` is how many more values than allowed are missing in the window of the first row.
    """
    for i in range(len(out)):
        before = (_ONE << np.uint64(i)) - _ONE
        missing = excess + count_ones(entering & before) - count_ones(leaving & before)
        out[i] = mark if missing > 0 else out[i]
