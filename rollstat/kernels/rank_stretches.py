"""One order statistic of equal windows, stretch by stretch: band, sort, bit set.

::

    stretch    |------ rows ------|--- width - 1 ---|
                                  |------ rows ------|--- width - 1 ---|
    band       from a sample or from the last answers; only what lies in it is sorted

State: that of :mod:`rollstat.kernels.radix_sort`, :mod:`rollstat.kernels.rank_slide` and
:mod:`rollstat.kernels.rank_band`.

Invariant: a row is done when its answer was found within the band, which makes it exact; the rows after
one that was not are done again with a band of everything. After f stretches in a row whose band failed,
the next 2**f go without.

Cost: O(stretch) to sort and O(1) a row, each at most twice; what :func:`sort_words` or :func:`slide_fixed`
give up is left to the caller.

Source: see the three modules.
"""

import numpy as np

from rollstat._jit import kernel
from rollstat.kernels.radix_sort import bits_for, sort_words, value_range
from rollstat.kernels.rank_band import RECENT, band_from_answers, band_from_sample, sample_step
from rollstat.kernels.rank_slide import FIRST, begin, classify, far_code, place, slide_fixed

__all__ = ["select_fixed"]

_LONGEST_PAUSE = 64


@kernel
def _observed(missing):
    """How many rows are not missing."""
    absent = 0
    for i in range(len(missing)):
        absent += np.int64(missing[i])
    return len(missing) - absent


@kernel
def _extent(target, targets, first, last, width):
    """Lowest and highest rank wanted in some rows; the middle one where none is."""
    if targets is None:
        return target, target
    fewest, most = width, -1
    for rank in targets[first:last]:
        if rank >= 0:
            fewest, most = min(fewest, rank), max(most, rank)
    return (fewest, most) if most >= 0 else (width // 2, width // 2)


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
    sample,
    drawn,
    sample_missing,
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
    sample, drawn : ndarray of the values' dtype, shape (stretch + width,)
        The same memory, `drawn` read-only as `values` are, which saves compiling much twice.
    sample_missing : ndarray of bool, shape (stretch + width,)
    recent : ndarray of the values' dtype, shape (2, RECENT)
    band : ndarray of the values' dtype, shape (2,)
    sides : ndarray of bool, shape (2,)
        Scratch.
    lower, upper : ndarray, shape (rows,)
        Receive the values; `upper` is `lower` where it is not wanted.

    Returns
    -------
    int
        Rows that are done, from the first on; fewer than all where another algorithm must go on.
    """
    rows = len(lower)
    banded = False
    seen = failures = pause = 0
    first = np.int64(0)  # a literal would have the callees compiled for it
    while first < rows:
        last = min(first + stretch, rows)
        part = values[first : last + width - 1]
        gone = missing[first : last + width - 1] if len(missing) > 0 else missing
        everything = len(gone) == 0 or _observed(gone) == len(gone)
        if not everything and _observed(gone) == 0:
            first = last
            continue
        if sample_step(width) > 0 and pause == 0:
            fewest, most = _extent(target, targets, first, last, width)
            banded = band_from_sample(
                part,
                gone,
                scaled,
                width,
                fewest,
                most,
                words,
                spare,
                bucket,
                code,
                bits,
                ordered,
                sample,
                drawn,
                sample_missing,
                sides,
                band,
            )
        sides &= banded
        lowest, highest = band[0], band[1]
        if not (sides[0] and sides[1]):
            low, high = value_range(part, gone)
            lowest = lowest if sides[0] else low
            highest = highest if sides[1] else high
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
            targets,
            first,
            bits,
            begin(code[:width], bits, count),
            count,
            not sides[1],
            want_upper,
            ordered.view(np.uint64),
            len(part),
            lower[first:last].view(np.uint64),
            upper[first:last].view(np.uint64),
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
        if count > 0 and bottom <= top:
            row_mask = (np.uint64(1) << np.uint64(row_bits)) - np.uint64(1)
            recent[0, seen % RECENT] = part[np.int64(ranked[bottom - FIRST] & row_mask)]
            recent[1, seen % RECENT] = part[np.int64(ranked[min(top - FIRST, count - 1)] & row_mask)]
            seen += 1
            if pause == 0 and sample_step(width) == 0:
                banded = band_from_answers(ranked, row_bits, part, recent, seen, sides, band)
    return rows
