"""Windows of a fixed number of rows with too few observations, found from a bit for each value.

::

    values    1.5 NaN 2.0 NaN NaN 7.1 ...        words    ...010110 (64 values)
    windows that begin in a word    missing in the first of them  + what enters: no more than allowed?
                                                                  - what leaves: more than allowed?
                                    else the same for eight rows, else for each row

State: `words`, uint64, bit ``i % 64`` of word ``i // 64`` set where value i is missing, with a word of zeros
or more behind them. Cost: a few instructions for 64 rows, unless missing values decide between them; at
most a few for each row.
"""

import numpy as np

from rollstat._jit import INDEX, kernel
from rollstat._lowering import count_ones, count_trailing_zeros
from rollstat.kernels.simd.masks import nan_among

__all__ = ["NO_WORDS", "mark_few", "note_if", "note_nan", "words_for"]

NO_WORDS = np.empty(0, np.uint64)

_ONE = np.uint64(1)
_BYTE = np.uint64(255)


def words_for(length):
    """An empty set of so many values."""
    return np.zeros(length // 64 + 3, np.uint64)


@kernel
def note_nan(values, first, last, words):
    """Note which of ``values[first:last]`` are NaN; `first` is a multiple of 64.

    Returns what is noted up to, a multiple of 64 from `last` on.
    """
    i = first
    while i < last and i + 64 <= len(values):
        words[i >> 6] = nan_among(values, i)
        i += 64
    if i < last:
        word = np.uint64(0)
        for j in range(i, len(values)):
            word |= np.uint64(values[j] != values[j]) << np.uint64(j - i)
        words[i >> 6] = word
        i += 64
    return i


@kernel
def note_if(found, values, first, last, words):
    """As :func:`note_nan`, if a NaN was `found` in ``values[:last]``, and there are any `words`."""
    if len(words) == 0:
        return 0
    return note_nan(values, first, min(last, len(values)), words) if found else last & -64


@kernel(forceinline=True)
def _from(words, i):
    """The 64 bits from bit `i` on."""
    shift = np.uint64(i & 63)
    low, high = words[(i >> 6) & INDEX], words[((i >> 6) + 1) & INDEX]
    return low >> shift | high << _ONE << (np.uint64(63) - shift)


@kernel
def mark_few(words, width, need, mark, out, other):
    """Write `mark` to the rows of `out` with fewer than `need` values not missing, of `width` from it on.

    And to the same rows of `other`, which may have no length.
    """
    limit = width - need
    if width < 16:
        for first in range(0, len(out), 64):
            rows = _few_of(words[(first >> 6) & INDEX], words[((first >> 6) + 1) & INDEX], width, limit)
            if rows:
                _mark_all(rows, mark, out[first : first + 64], other[first : first + 64])
        return
    missing = 0
    for i in range(0, width, 64):
        word = words[i >> 6]
        if i + 64 > width:
            word &= (_ONE << np.uint64(width - i)) - _ONE
        missing += count_ones(word)
    for first in range(0, len(out), 64):
        leaving, entering = words[(first >> 6) & INDEX], _from(words, first + width)
        leave, enter = count_ones(leaving), count_ones(entering)
        if missing + enter > limit:
            part, same = out[first : first + 64], other[first : first + 64]
            _mark_in(leaving, entering, missing - limit, mark, part, same)
        missing += enter - leave


@kernel
def _few_of(low, high, width, limit):
    """Which of the 64 windows that begin in the word `low` miss more than `limit`, of fewer than 16 values.

    All are counted at once: each word is a binary digit of 64 counts.
    """
    one = two = four = eight = np.uint64(0)
    for i in range(width):
        carry = low >> np.uint64(i) | high << _ONE << np.uint64(63 - i)
        one, carry = one ^ carry, one & carry
        two, carry = two ^ carry, two & carry
        four, carry = four ^ carry, four & carry
        eight ^= carry
    more, same = np.uint64(0), ~np.uint64(0)
    more, same = (more, same & eight) if limit & 8 else (more | same & eight, same & ~eight)
    more, same = (more, same & four) if limit & 4 else (more | same & four, same & ~four)
    more, same = (more, same & two) if limit & 2 else (more | same & two, same & ~two)
    return more if limit & 1 else more | same & one


@kernel
def _mark_all(rows, mark, out, other):
    """Mark the rows whose bits are set."""
    while rows:
        i = count_trailing_zeros(rows)
        if i >= len(out):
            return
        out[i] = mark
        if len(other):
            other[i] = mark
        rows &= rows - _ONE


@kernel
def _mark_in(leaving, entering, above, mark, out, other):
    """Mark those of up to 64 rows, the first of which misses `above` more than allowed."""
    for first in range(0, len(out), 8):
        shift = np.uint64(first)
        leave, enter = leaving >> shift & _BYTE, entering >> shift & _BYTE
        if above + count_ones(enter) > 0:
            excess = above
            for i in range(first, min(first + 8, len(out))):
                if excess > 0:
                    out[i] = mark
                    if len(other):
                        other[i] = mark
                excess += int(enter & _ONE) - int(leave & _ONE)
                enter, leave = enter >> _ONE, leave >> _ONE
            above = excess
        else:
            above += count_ones(enter) - count_ones(leave)
