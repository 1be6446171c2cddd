"""Stable least-significant-digit radix sort of 64-bit words that carry a place on a scale and a row.

::

    word    |       place of the value        |  row   |     sorted by the leading digits of the place,
            | digit 0 | digit 1 | digit 2 |...|........|     from the last one taken to digit 0;
                                          rest: put in order by `settle`

State: `words` and `spare`, uint64 (n,); `bucket`, signed integers (DIGITS, 2**digit_bits), of which the
first two rows hold the histograms of digits 0 and 1 once the words are counted.

Invariant: the place never decreases with the value, every pass is stable and rows enter in ascending
order. As many digits are taken as are needed to tell nearly all places apart, judged by how crowded
digit 0 is; `settle` finishes with an insertion sort on (place, value, row). It gives up past a budget of
moves, and `digits_needed` where no number of digits would do: the caller then has another sort to turn to.

Cost: O(n) a digit, at most DIGITS digits; `settle` at most `budget` moves beyond one pass.

Source: D. E. Knuth, The Art of Computer Programming 3, section 5.2.5 (radix) and 5.2.1 (insertion);
finishing a radix sort of the leading digits by insertion is from M. D. MacLaren, Internal sorting by
radix plus sifting, J. ACM 13 (1966), doi:10.1145/321341.321348.
"""

import numpy as np

from rollstat._jit import INDEX, kernel
from rollstat.kernels.simd.comparator import Greatest, Least, prefer
from rollstat.kernels.simd.fill_copy import copy
from rollstat.kernels.simd.masks import append_between
from rollstat.kernels.simd.vectors import first_lane, lanes_of, load, shift_in_previous

__all__ = [
    "DIGITS",
    "LARGEST_DIGIT",
    "bits_for",
    "check",
    "count_words",
    "digit_bits_for",
    "digits_needed",
    "place_floats",
    "place_keys",
    "radix_sort",
    "rows_inside",
    "settle",
    "sort_words",
    "value_range",
]

DIGITS = 4
LARGEST_DIGIT = 2048
_LARGEST_DIGIT_BITS = 11
_PATIENCE = 32

_ONE = np.uint64(1)


@kernel
def bits_for(n):
    """Bits that hold every row below `n`, at least one."""
    bits = 1
    while n > 1 << bits:
        bits += 1
    return bits


@kernel
def digit_bits_for(n):
    """Bits of a digit: the histograms must not outweigh the words, nor leave the first-level cache."""
    return min(max(bits_for(n) - 4, 8), _LARGEST_DIGIT_BITS)


@kernel
def value_range(values, missing):
    """Smallest and largest observation; `missing` may be empty for none missing. One must be there."""
    first = 0
    if len(missing) > 0:
        while missing[first]:
            first += 1
    lowest = highest = values[first]
    if len(missing) > 0:
        for i in range(first, len(values)):
            low = lowest if missing[i] else values[i]
            high = highest if missing[i] else values[i]
            lowest = low if low < lowest else lowest
            highest = high if high > highest else highest
        return lowest, highest
    lanes = lanes_of(values)
    if len(values) >= 2 * lanes:
        # Last vectors that overlap those before them leave no rest; two at a time wait for no other.
        last = len(values) - 2 * lanes
        low, low_too = load(values, last), load(values, last + lanes)
        high, high_too = low, low_too
        for i in range(0, last, 2 * lanes):
            part, part_too = load(values, i), load(values, i + lanes)
            low, low_too = prefer(Least(), part, low), prefer(Least(), part_too, low_too)
            high, high_too = prefer(Greatest(), part, high), prefer(Greatest(), part_too, high_too)
        low, high = prefer(Least(), low, low_too), prefer(Greatest(), high, high_too)
        return _best_lane(Least(), low), _best_lane(Greatest(), high)
    for value in values:
        lowest = value if value < lowest else lowest
        highest = value if value > highest else highest
    return lowest, highest


@kernel
def _best_lane(order, vector):
    """Winner among the lanes of a vector of at most eight."""
    vector = prefer(order, vector, shift_in_previous(vector, vector, 4))
    vector = prefer(order, vector, shift_in_previous(vector, vector, 2))
    return first_lane(prefer(order, vector, shift_in_previous(vector, vector, 1)))


@kernel
def rows_inside(values, missing, lowest, highest, words):
    """Write the rows of the observations from `lowest` to `highest`, in order, and return how many they are.

    `missing` is as long as `values` or empty.
    """
    n, first = np.int64(0), 0
    if len(missing) == 0:
        while first + 8 <= len(values):
            n = append_between(values, first, lowest, highest, words, n)
            first += 8
        for i in range(first, len(values)):
            words[n] = i
            n += (lowest <= values[i]) & (values[i] <= highest)
    else:
        for i in range(len(values)):
            words[n] = i
            n += (lowest <= values[i]) & (values[i] <= highest) & (not missing[i])
    return n


@kernel(forceinline=True)
def _word_of_float(value, row, base, limit, scale, up):
    value = np.float64(value)
    value = value if value > base else base
    value = value if value < limit else limit
    return (np.uint64(np.int64((value - base) * scale)) << up) | np.uint64(row)


@kernel
def place_floats(values, lowest, highest, row_bits, gathered, words):
    """Write a word for every float, its place in proportion to it; return whether there is a scale.

    With `gathered`, `words` holds the rows to take, else it takes all. What is outside the bounds, or no
    number, gets a place at will. Subtraction, multiplication and truncation never reverse an order, however
    they round.
    """
    base = np.float64(lowest)
    limit = np.float64(highest)
    if np.isinf(base) or np.isinf(limit):
        return False
    scale = 0.0
    if limit > base:
        scale = np.float64(np.int64(1) << (63 - row_bits)) * (2.0 - 2.0**-40) / (limit - base)
    if not np.isfinite(limit - base) or not np.isfinite(scale):
        return False
    up = np.uint64(row_bits)
    if gathered:
        for i in range(len(words)):
            row = np.int64(words[i])
            words[i] = _word_of_float(values[row], row, base, limit, scale, up)
    else:
        for i in range(len(values)):
            words[i] = _word_of_float(values[i], i, base, limit, scale, up)
    return True


@kernel(forceinline=True)
def _word_of_key(key, row, base, limit, up, keep):
    key = np.uint64(key)
    key = key if key > base else base
    key = key if key < limit else limit
    return (((key - base) << up) & keep) | np.uint64(row)


@kernel
def place_keys(keys, lowest, highest, row_bits, gathered, words):
    """Write a word for every unsigned key, as much of its distance from `lowest` as fits.

    With `gathered`, `words` holds the rows to take, else it takes all.
    """
    base, limit = np.uint64(lowest), np.uint64(highest)
    spread = limit - base
    shift = 0
    while shift < 63 and spread >> np.uint64(63 - shift) == 0:
        shift += 1
    keep = ~((_ONE << np.uint64(row_bits)) - _ONE)
    up = np.uint64(shift)
    if gathered:
        for i in range(len(words)):
            row = np.int64(words[i])
            words[i] = _word_of_key(keys[row], row, base, limit, up, keep)
    else:
        for i in range(len(keys)):
            words[i] = _word_of_key(keys[i], i, base, limit, up, keep)


@kernel
def count_words(words, digit_bits, bucket):
    """Histograms of digits 0 and 1: two increments take little longer than one."""
    size = 1 << digit_bits
    first, second = bucket[0], bucket[1]
    first[:size] = 0
    second[:size] = 0
    down, far_down = np.uint64(64 - digit_bits), np.uint64(64 - 2 * digit_bits)
    low = np.uint64(size - 1)
    for word in words:
        first[np.int64(word >> down) & INDEX] += 1
        second[np.int64((word >> far_down) & low) & INDEX] += 1


@kernel
def digits_needed(n, digit_bits, bucket):
    """Digits that leave fewer than n / 4 pairs on one place, were digits uniform; -1 if none would."""
    pairs = 0.0
    for count in bucket[0, : 1 << digit_bits]:
        pairs += 0.5 * count * count
    digits = 1
    while pairs > 0.25 * n:
        if digits == DIGITS:
            return -1
        pairs /= 1 << digit_bits
        digits += 1
    return digits


@kernel
def radix_sort(words, spare, digits, digit_bits, bucket):
    """Sort `words` by their leading digits, stably, once `count_words` has counted two of them.

    `spare` is scratch of the same length.
    """
    n = len(words)
    size = 1 << digit_bits
    low = np.uint64(size - 1)
    for d in range(2, digits):
        histogram = bucket[d]
        histogram[:size] = 0
        down = np.uint64(64 - digit_bits * (d + 1))
        for word in words:
            histogram[np.int64((word >> down) & low)] += 1
    in_words = True
    for d in range(digits - 1, -1, -1):
        histogram = bucket[d]
        total = 0
        single = False
        for digit in range(size):
            count = histogram[digit]
            single |= count == n
            histogram[digit] = total
            total += count
        if single:
            continue
        source = words if in_words else spare
        target = spare if in_words else words
        down = np.uint64(64 - digit_bits * (d + 1))
        for word in source:
            digit = np.int64((word >> down) & low) & INDEX
            place = np.int64(histogram[digit])
            target[place & INDEX] = word
            histogram[digit] = place + 1
        in_words = not in_words
    if not in_words:
        copy(spare, words)


@kernel
def settle(words, values, row_bits, budget):
    """Finish the sort by insertion; return whether `budget` moves were enough."""
    rows = (_ONE << np.uint64(row_bits)) - _ONE
    for i in range(1, len(words)):
        word = words[i]
        if (words[(i - 1) & INDEX] | rows) < word:
            continue
        value = values[np.int64(word & rows)]
        j = i
        while j > 0:
            other = words[j - 1]
            if (other | rows) < word:
                break
            if (other ^ word) <= rows and not value < values[np.int64(other & rows)]:
                break
            words[j] = other
            j -= 1
        words[j] = word
        budget -= i - j
        if budget < 0:
            return False
    return True


@kernel
def sort_words(values, scaled, missing, lowest, highest, everything, words, spare, bucket):
    """Fill `words` with the observations from `lowest` to `highest` in the order (value, row).

    Parameters
    ----------
    values : ndarray
        Floats, with `scaled`, or unsigned integers.
    scaled : bool
        Whether `values` are floats.
    missing : ndarray of bool
        As long as `values`, or empty for none missing.
    lowest, highest : number
        Bounds, which are among the observations or between them.
    everything : bool
        Whether there is no observation outside the bounds and none is missing.
    words, spare : ndarray of uint64, at least as long as `values`
    bucket : ndarray of signed integers, shape (DIGITS, LARGEST_DIGIT)
        Scratch.

    Returns
    -------
    int
        How many words there are, or -1 where a sort by comparison is called for.
    """
    row_bits = bits_for(len(values))
    digit_bits = digit_bits_for(len(values))
    count = len(values)
    if not everything:
        count = rows_inside(values, missing, lowest, highest, words)
    words, spare = words[:count], spare[:count]
    if scaled:
        if not place_floats(values, lowest, highest, row_bits, not everything, words):
            return -1
    else:
        place_keys(values, lowest, highest, row_bits, not everything, words)
    count_words(words, digit_bits, bucket)
    digits = digits_needed(count, digit_bits, bucket)
    if digits < 0:
        return -1
    radix_sort(words, spare, digits, digit_bits, bucket)
    return count if settle(words, values, row_bits, _PATIENCE * count) else -1


@kernel
def check(words, values, row_bits):
    """Whether `words` are in the order (value, row)."""
    rows = (_ONE << np.uint64(row_bits)) - _ONE
    for i in range(1, len(words)):
        older, newer = np.int64(words[i - 1] & rows), np.int64(words[i] & rows)
        if values[older] > values[newer] or (values[older] == values[newer] and older >= newer):
            return False
    return True
