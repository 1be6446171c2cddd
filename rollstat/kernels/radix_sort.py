"""Stable least-significant-digit radix sort of 64-bit words that carry a key and a row.

::

    word    | key - lowest, shifted to the top | row |      sorted by the digits of the key from the
            |  digit 0 |  digit 1 |  digit 2 |.......|      last one taken to digit 0, 11 bits each
                                          rest: put in order by `settle`

State: `words` and `spare`, uint64 (n,); `bucket`, int64 (DIGITS, 2048); `key`, uint64, one per row,
whose order is the order of the values (see :mod:`rollstat.kernels.sort_keys`).

Invariant: every pass is stable and rows enter in ascending order, so equal keys stay in row order.
As many digits are taken as are needed to tell nearly all keys apart, judged by the crowding of the
first digit; `settle` finishes with an insertion sort on the whole key and gives up past a budget of
moves, whereupon the caller sorts by comparison.

Cost: O(n) a digit, at most DIGITS digits; `settle` at most `budget` moves beyond one pass.

Source: D. E. Knuth, The Art of Computer Programming 3, section 5.2.5 (radix) and 5.2.1 (insertion);
finishing a radix sort of the leading digits by insertion is from M. D. MacLaren, Internal sorting by
radix plus sifting, J. ACM 13 (1966), doi:10.1145/321341.321348.
"""

import numpy as np

from rollstat._jit import kernel

__all__ = ["DIGITS", "RADIX", "check", "pack", "radix_sort", "settle"]

DIGITS = 4
RADIX = 2048
_BITS = 11


@kernel
def pack(key, missing, lowest, highest, shift, row_bits, words):
    """Write the words of the observations with ``lowest <= key <= highest``; return how many.

    `missing` is either as long as `key` or empty. The part of the shifted key that does not fit
    beside the row is cut off.
    """
    keep = ~((np.uint64(1) << np.uint64(row_bits)) - np.uint64(1))
    up = np.uint64(shift)
    n = 0
    if len(missing) == 0:
        for i in range(len(key)):
            inside = (lowest <= key[i]) & (key[i] <= highest)
            words[n] = (((key[i] if inside else lowest) - lowest << up) & keep) | np.uint64(i)
            n += inside
    else:
        for i in range(len(key)):
            inside = (lowest <= key[i]) & (key[i] <= highest) & (not missing[i])
            words[n] = (((key[i] if inside else lowest) - lowest << up) & keep) | np.uint64(i)
            n += inside
    return n


@kernel
def _count_digits(words, bucket, digits):
    """Histogram of each of the leading `digits` digits."""
    low = np.uint64(RADIX - 1)
    for d in range(digits):
        bucket[d, :] = 0
        down = np.uint64(64 - _BITS * (d + 1))
        row = bucket[d]
        for word in words:
            row[(word >> down) & low] += 1


@kernel
def _digits_needed(first, n):
    """Leading digits that leave fewer than n / 8 pairs of equal keys, were the rest uniform."""
    pairs = 0.0
    for count in first:
        pairs += 0.5 * count * count
    digits = 1
    while digits < DIGITS and pairs > 0.125 * n:
        pairs /= RADIX
        digits += 1
    return digits


@kernel
def radix_sort(words, spare, bucket):
    """Sort `words` by their leading digits, stably; `spare` is scratch of the same length."""
    n = len(words)
    _count_digits(words, bucket, 1)
    digits = _digits_needed(bucket[0], n)
    _count_digits(words, bucket, digits)
    low = np.uint64(RADIX - 1)
    in_words = True
    for d in range(digits - 1, -1, -1):
        place = bucket[d]
        total = 0
        single = False
        for value in range(RADIX):
            count = place[value]
            single |= count == n
            place[value] = total
            total += count
        if single:
            continue
        source = words if in_words else spare
        target = spare if in_words else words
        down = np.uint64(64 - _BITS * (d + 1))
        for word in source:
            digit = (word >> down) & low
            target[place[digit]] = word
            place[digit] += 1
        in_words = not in_words
    if not in_words:
        words[:] = spare


@kernel
def settle(words, key, row_bits, exact, budget):
    """Finish the sort by insertion on (key, row); return whether `budget` moves were enough.

    `exact` says that no part of a key was cut off by `pack`, so that words compare as keys do.
    """
    rows = (np.uint64(1) << np.uint64(row_bits)) - np.uint64(1)
    for i in range(1, len(words)):
        word = words[i]
        if words[i - 1] > word:
            j = i
            while j > 0 and words[j - 1] > word:
                words[j] = words[j - 1]
                j -= 1
            words[j] = word
            budget -= i - j
            if budget < 0:
                return False
    if exact:
        return True
    for i in range(1, len(words)):
        word = words[i]
        if (words[i - 1] ^ word) <= rows and key[words[i - 1] & rows] > key[word & rows]:
            j = i
            while j > 0 and (words[j - 1] ^ word) <= rows and key[words[j - 1] & rows] > key[word & rows]:
                words[j] = words[j - 1]
                j -= 1
            words[j] = word
            budget -= i - j
            if budget < 0:
                return False
    return True


@kernel
def check(words, key, row_bits):
    """Whether `words` are in the order (key, row)."""
    rows = (np.uint64(1) << np.uint64(row_bits)) - np.uint64(1)
    for i in range(1, len(words)):
        older, newer = words[i - 1] & rows, words[i] & rows
        if key[older] > key[newer] or (key[older] == key[newer] and older >= newer):
            return False
    return True
