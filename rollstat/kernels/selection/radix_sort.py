"""Stable least-significant-digit radix sort of 64-bit records, each a code of a value and a row.

::

    record  |       code of the value        |  row   |     sorted by the leading digits of the code,
            | digit 0 | digit 1 | digit 2 |...|........|     from the last one used to digit 0;
                                         rest: sorted by `insertion_sort`

    float key   -inf ... -1.0 ... -0.0 = 0.0 ... 1.0 ... inf       the bits of negative floats run
    key           0 <------------- 2**63 -------------> 2**64 - 1   backwards and are reversed

The code of a value, a float or an unsigned key, is its distance from the lowest value, as a float, scaled to
an integer. `keys_of_floats` makes keys of floats whose code would not be finite.

A series that only rises or only falls needs no sort: `direction` checks this in one pass over vectors. The
pass ends with the part that has steps of both kinds. `number` and `number_tied` turn sorted rows into ranks,
`number_records` and `number_ties` sorted records.

State: `SortScratch`; each row of its histograms counts a digit of the records.

Invariant: the code never decreases with the value, every pass is stable and rows enter in ascending order. As
many digits are sorted as nearly all codes need to differ, estimated from digit 0; `insertion_sort` finishes
by (code, value, row). It stops when a budget of moves is used up, and `_digits_needed` fails if no number of
digits is enough: the caller then sorts by comparison.

Cost: O(n) per digit, at most DIGITS digits; the insertion sort takes at most `budget` moves beyond one pass.

Source: D. E. Knuth, The Art of Computer Programming 3, section 5.2.5 (radix) and 5.2.1 (insertion);
finishing a radix sort of the leading digits by insertion is from M. D. MacLaren, Internal sorting by
radix plus sifting, J. ACM 13 (1966), doi:10.1145/321341.321348; the reversal of negative floats: M. Herf,
Radix tricks (2001).
"""

from typing import NamedTuple

import numpy as np

from rollstat.compile.jit import INDEX, kernel
from rollstat.compile.simd.masks import append_between
from rollstat.kernels.comparator import Greatest, Least
from rollstat.kernels.extrema.blockwise import best_in
from rollstat.kernels.loops import copy

# Most digits, and most bits of a digit: the counts of all digits fit in the first-level cache.
_DIGITS = 4
_LARGEST_DIGIT_BITS = 11
# Values examined for their direction between two chances to stop.
_PART = 256
# Most moves for each record in the insertion sort after the last digit; with more, the sort is abandoned.
_MOVES_PER_RECORD = 32

_ONE = np.uint64(1)
_SIGN = np.uint64(1 << 63)


class SortScratch(NamedTuple):
    """Memory to sort up to n rows.

    Attributes
    ----------
    records : ndarray of uint64, shape (n,)
        Receives the sorted records.
    spare : ndarray of uint64, shape (n,)
        The other buffer of the passes.
    histograms : ndarray of int32 or int64, shape (digits, values of a digit)
        Counts of every digit.
    """

    records: np.ndarray
    spare: np.ndarray
    histograms: np.ndarray


def allocate_sort(rows):
    """Return a SortScratch for up to this many rows."""
    counts = np.int32 if rows < 1 << 31 else np.int64
    return SortScratch(*np.empty((2, rows), np.uint64), np.empty((_DIGITS, 1 << _LARGEST_DIGIT_BITS), counts))


@kernel
def keys_of_floats(bits, magnitude, key):
    """Write unsigned keys in the order of floats; both zeros have one key, and the key of NaN means nothing.

    `bits` are the bits of the floats, as signed integers of a type whose largest value is `magnitude`.
    """
    negative_zero = -magnitude - 1
    for i in range(len(bits)):
        signed = np.int64(bits[i])
        signed = np.int64(0) if signed == negative_zero else signed
        key[i] = np.uint64(signed ^ ((signed >> 63) & magnitude)) ^ _SIGN


@kernel
def bits_for(n):
    """Number of bits that hold every row below `n`, at least one."""
    bits = 1
    while n > 1 << bits:
        bits += 1
    return bits


@kernel
def row_mask(row_bits):
    """Mask of the bits of a record that hold its row."""
    return (_ONE << np.uint64(row_bits)) - _ONE


@kernel
def rows_of(records, row_bits, row):
    """Write the row of every record."""
    mask = row_mask(row_bits)
    for i in range(len(records)):
        row[i] = np.int64(records[i] & mask)


@kernel
def _digit_bits_for(n):
    """Bits of a digit: the histograms stay smaller than the records, and fit into the first-level cache."""
    return min(max(bits_for(n) - 4, 8), _LARGEST_DIGIT_BITS)


@kernel
def direction(values):
    """Return 1 if no value is less than the one before it, -1 if none is greater, otherwise 0.

    Constant values count as ascending. There must be no NaN.
    """
    rising = falling = True
    for first in range(0, len(values) - 1, _PART):
        after = values[first + 1 : first + 1 + _PART]
        before = values[first : first + len(after)]
        ups = downs = 0
        for i in range(len(after)):
            ups += after[i] > before[i]
            downs += after[i] < before[i]
        rising = rising and downs == 0
        falling = falling and ups == 0
        if not rising and not falling:
            return 0
    return 1 if rising else -1


@kernel
def number(row, rank):
    """Write the inverse of the permutation `row`."""
    for i in range(len(row)):
        rank[row[i]] = i


@kernel
def number_tied(row, first, rank):
    """Write tied ranks: the rank of the first of equal values. `first` marks where a new value begins."""
    r = 0
    for i in range(len(row)):
        r = i if first[i] else r
        rank[row[i]] = r


@kernel
def number_records(records, row_bits, values, rank):
    """Write the rank of the row of every sorted record; return whether two values are equal."""
    mask, last = row_mask(row_bits), values[0]
    ties = 0
    for i in range(len(records)):
        row = np.int64(records[i] & mask)
        value = values[row]
        ties += i > 0 and value == last
        last = value
        rank[row] = i
    return ties > 0


@kernel
def number_ties(records, row_bits, values, first, last):
    """Write the ranks of the first and of the last of the sorted records with the value of each row."""
    mask, begin = row_mask(row_bits), 0
    for i in range(1, len(records) + 1):
        value = values[np.int64(records[begin] & mask)]
        if i == len(records) or values[np.int64(records[i] & mask)] != value:
            for j in range(begin, i):
                row = np.int64(records[j] & mask)
                first[row] = begin
                last[row] = i - 1
            begin = i


@kernel
def value_range(values, missing):
    """Smallest and largest of at least one observation; `missing` is empty where no value is missing."""
    if len(missing) > 0:
        first = 0
        while missing[first]:
            first += 1
        lowest = highest = values[first]
        for i in range(first, len(values)):
            low = lowest if missing[i] else values[i]
            high = highest if missing[i] else values[i]
            lowest = low if low < lowest else lowest
            highest = high if high > highest else highest
        return lowest, highest
    lowest, _ = best_in(Least(), values)
    highest, _ = best_in(Greatest(), values)
    return lowest, highest


@kernel
def _rows_inside(values, missing, lowest, highest, rows):
    """Write the rows of the observations from `lowest` to `highest` in ascending order; return their number.

    `missing` is as long as `values`, or empty.
    """
    n, first, everything = np.int64(0), 0, len(missing) == 0
    while everything and first + 8 <= len(values):
        n = append_between(values, first, lowest, highest, rows, n)
        first += 8
    for i in range(first, len(values)):
        rows[n] = i
        n += (lowest <= values[i]) & (values[i] <= highest) & (everything or not missing[i])
    return n


@kernel
def _write_records(values, lowest, highest, row_bits, gathered, records):
    """Write a record for every value, coded in proportion to it; return whether the scale is finite.

    If `gathered`, `records` holds the rows to take, else all rows are taken. The code is monotone in the
    value however the operations round, since subtraction, conversion, multiplication and truncation never
    reverse an order.
    """
    distance = np.float64(highest - lowest)
    scale = 0.0
    if distance > 0.0:
        scale = np.float64(np.int64(1) << (63 - row_bits)) * (2.0 - 2.0**-40) / distance
    if not (np.isfinite(distance) and np.isfinite(scale)):
        return False
    row_bits = np.uint64(row_bits)
    for i in range(len(records)):
        row = np.int64(records[i]) if gathered else i
        code = np.int64(np.float64(values[row] - lowest) * scale)
        records[i] = (np.uint64(code) << row_bits) | np.uint64(row)
    return True


@kernel
def sort_by_counts(values, counts, row):
    """Write the row at each rank of integers from 0 on; `counts` are two more zeros than the largest."""
    for value in values:
        counts[np.int64(value) + 1] += 1
    for i in range(1, len(counts)):
        counts[i] += counts[i - 1]
    for i in range(len(values)):
        value = np.int64(values[i])
        row[counts[value & INDEX] & INDEX] = i
        counts[value & INDEX] += 1


@kernel
def _count_digit(records, shift, digit_bits, histogram):
    """Write the histogram of the digit that begins at bit `shift`."""
    size = 1 << digit_bits
    histogram[:size] = 0
    for record in records:
        histogram[np.int64((record >> np.uint64(shift)) & np.uint64(size - 1)) & INDEX] += 1


@kernel
def _digits_needed(n, digit_bits, histograms):
    """Number of digits after which fewer than n / 4 pairs share a code, or -1 if all are too few.

    The number of pairs is counted for digit 0, and every further digit is taken to be uniform.
    """
    pairs = 0.0
    for count in histograms[0, : 1 << digit_bits]:
        pairs += 0.5 * count * count
    digits = 1
    while pairs > 0.25 * n:
        if digits == _DIGITS:
            return -1
        pairs /= 1 << digit_bits
        digits += 1
    return digits


@kernel
def _radix_sort(records, spare, digits, digit_bits, histograms):
    """Sort `records` by their leading digits, stably, after digit 0 has been counted.

    `spare` is scratch of the same length.
    """
    n = len(records)
    size = 1 << digit_bits
    digit_mask = np.uint64(size - 1)
    for d in range(1, digits):
        _count_digit(records, 64 - digit_bits * (d + 1), digit_bits, histograms[d])
    in_records = True
    for d in range(digits - 1, -1, -1):
        histogram = histograms[d]
        total = 0
        single = False
        for digit in range(size):
            count = histogram[digit]
            single |= count == n
            histogram[digit] = total
            total += count
        if single:  # all records share this digit
            continue
        source = records if in_records else spare
        target = spare if in_records else records
        shift = np.uint64(64 - digit_bits * (d + 1))
        for record in source:
            digit = np.int64((record >> shift) & digit_mask) & INDEX
            place = np.int64(histogram[digit])
            target[place & INDEX] = record
            histogram[digit] = place + 1
        in_records = not in_records
    if not in_records:
        copy(spare, records)


@kernel
def insertion_sort(records, values, row_bits, budget):
    """Finish the sort by (code, value, row); return whether `budget` moves are enough."""
    mask = row_mask(row_bits)
    for i in range(1, len(records)):
        record = records[i]
        # With all row bits set, the record before is the largest of its code: nearly all are in order.
        if (records[(i - 1) & INDEX] | mask) < record:
            continue
        value = values[np.int64(record & mask)]
        j = i
        while j > 0:
            other = records[j - 1]
            if (other | mask) < record:
                break
            # Records of one code are compared by value; ties stay in row order, as the sort is stable.
            if (other ^ record) <= mask and not value < values[np.int64(other & mask)]:
                break
            records[j] = other
            j -= 1
        records[j] = record
        budget -= i - j
        if budget < 0:
            return False
    return True


@kernel
def sort_records(values, missing, lowest, highest, everything, scratch):
    """Write the records of the observations from `lowest` to `highest` in the order (value, row).

    Parameters
    ----------
    values : ndarray of float64 or uint64
    missing : ndarray of bool
        As long as `values`, or empty where no value is missing.
    lowest, highest : number
        Bounds, between the smallest and the largest observation.
    everything : bool
        Whether no value is missing and every observation lies within the bounds.
    scratch : SortScratch
        Receives the records.

    Returns
    -------
    int
        Number of records, or -1 where the radix sort does not suit the values.
    """
    row_bits = bits_for(len(values))
    digit_bits = _digit_bits_for(len(values))
    count = len(values)
    if not everything:
        count = _rows_inside(values, missing, lowest, highest, scratch.records)
    records, spare = scratch.records[:count], scratch.spare[:count]
    if not _write_records(values, lowest, highest, row_bits, not everything, records):
        return -1
    _count_digit(records, 64 - digit_bits, digit_bits, scratch.histograms[0])
    digits = _digits_needed(count, digit_bits, scratch.histograms)
    if digits < 0:
        return -1
    _radix_sort(records, spare, digits, digit_bits, scratch.histograms)
    return count if insertion_sort(records, values, row_bits, _MOVES_PER_RECORD * count) else -1


@kernel
def sort_observations(values, missing, scratch):
    """Write the records of all observations, of which there may be none, like :func:`sort_records`."""
    observed = len(values)
    for i in range(len(missing)):
        observed -= np.int64(missing[i])
    if observed == 0:
        return 0
    lowest, highest = value_range(values, missing)
    return sort_records(values, missing, lowest, highest, observed == len(values), scratch)
