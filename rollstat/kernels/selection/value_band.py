"""Bands of values in which the order statistics of the next windows are likely to lie.

::

    values       . ' . , ' . ; ' . , . ' , ; . ' .      one of every `step` values, at a random place in it
    sample         '     ;     .     ,     ;   '        windows of width / step
    band         from the lowest of rank / step - margin, to the highest of rank / step + margin

State: `Band`. Invariant: the limits of a band are observations. A band is a guess: its user finds out where
it is too narrow.

Cost: that of ranking the sample, a `step`-th of the values, and of sliding two order statistics over it; a
band from earlier answers costs two binary searches.

Source: R. W. Floyd and R. L. Rivest, Expected time bounds for selection (1975),
doi:10.1145/360680.360691: an order statistic lies between those of a sample whose ranks are a few standard
deviations to either side.
"""

from typing import NamedTuple

import numpy as np

from rollstat.compile.jit import kernel
from rollstat.kernels.selection.band_codes import FIRST, rank_band
from rollstat.kernels.selection.bitset_fixed import begin, slide_fixed
from rollstat.kernels.selection.radix_sort import bits_for, row_mask, value_range

__all__ = [
    "RECENT",
    "Band",
    "Sample",
    "allocate_band",
    "allocate_sample",
    "band_from_answers",
    "band_from_sample",
]

# Blocks whose answers a band is made from.
RECENT = 4
# Fewest values of a window that are in its sample.
_SAMPLE_WIDTH = 512
# Standard deviations of a rank that a band from a sample has on each side.
_DEVIATIONS = 3.0
# Largest share of the observations that a band may hold: sorting more saves too little.
_LARGEST_SHARE = 0.35


class Band(NamedTuple):
    """A band of values, and the answers that it is made from.

    Attributes
    ----------
    limits : ndarray, shape (2,)
        Lowest and highest value.
    bounded : ndarray of bool, shape (2,)
        Whether the lower and the upper limit hold; the band has no end on a side that is not bounded.
    recent : ndarray, shape (2, RECENT)
        Lowest and highest answers of the last blocks, as a ring.
    """

    limits: np.ndarray
    bounded: np.ndarray
    recent: np.ndarray


class Sample(NamedTuple):
    """Memory for a sample of up to n rows.

    Attributes
    ----------
    values : ndarray, shape (n,)
        The values drawn.
    read_only : ndarray, shape (n,)
        The same memory, of the type that the kernels are already compiled for.
    missing : ndarray of bool, shape (n,)
        Which of them are missing.
    """

    values: np.ndarray
    read_only: np.ndarray
    missing: np.ndarray


def allocate_band(dtype):
    """Return a Band for values of this dtype, not bounded and without answers."""
    return Band(np.zeros(2, dtype), np.zeros(2, np.bool_), np.zeros((2, RECENT), dtype))


def allocate_sample(rows, dtype):
    """Return a Sample for up to this many rows."""
    values = np.zeros(rows, dtype)
    read_only = values.view()
    read_only.flags.writeable = False
    return Sample(values, read_only, np.empty(rows, np.bool_))


@kernel
def _rank_of(records, mask, values, value):
    """Number of sorted observations that are below `value`."""
    low, high = 0, len(records)
    while low < high:
        middle = (low + high) // 2
        if values[np.int64(records[middle] & mask)] < value:
            low = middle + 1
        else:
            high = middle
    return low


@kernel
def band_from_answers(records, row_bits, values, deviation, seen, band):
    """Choose a band around the last answers, with a margin; return whether it is narrow enough to use.

    Parameters
    ----------
    records : ndarray of uint64
        The sorted records of the last block, those within its band.
    row_bits : int
        Bits of a row in a record.
    values : ndarray
        The values of the last block.
    deviation : int
        Ranks by which the next answers would differ from the last ones if the values were independent.
    seen : int
        Number of blocks with answers so far.
    band : Band
        The last band, replaced by the next. A bounded side never moves outward, since the values beyond
        it were not sorted.
    """
    mask = row_mask(row_bits)
    count = len(records)
    limits, bounded, recent = band
    lowest, highest = recent[0, 0], recent[1, 0]
    for i in range(1, min(seen, RECENT)):
        lowest, highest = min(lowest, recent[0, i]), max(highest, recent[1, i])
    low = _rank_of(records, mask, values, lowest)
    high = _rank_of(records, mask, values, highest)
    margin = (high - low) // 4 + 8 + deviation
    low, high = low - margin, high + margin
    low = max(low, 0) if bounded[0] else low
    high = min(high, count - 1) if bounded[1] else high
    if high - low > _LARGEST_SHARE * len(values):
        return False
    bounded[0], bounded[1] = low >= 0, high < count
    if bounded[0]:
        limits[0] = values[np.int64(records[low] & mask)]
    if bounded[1]:
        limits[1] = values[np.int64(records[high] & mask)]
    return True


@kernel
def _sample_step(width):
    """Number of values of which one is drawn, for windows of this width."""
    return max(np.int64(width / max(_SAMPLE_WIDTH, width ** (2.0 / 3.0))), 2)


@kernel
def _draw(values, missing, step, sample, sample_missing):
    """Draw one of every `step` values, at a random place, so that no period of the data biases the sample."""
    state = np.uint64(0x9E3779B97F4A7C15)
    for i in range(len(sample)):
        state ^= state << np.uint64(13)
        state ^= state >> np.uint64(7)
        state ^= state << np.uint64(17)
        row = i * step + np.int64((state >> np.uint64(32)) % np.uint64(step))
        sample[i] = values[row]
        if len(missing) > 0:
            sample_missing[i] = missing[row]


@kernel
def band_from_sample(values, missing, width, fewest, most, sample, sort, index, band):
    """Choose a band from a sample of a block; return whether it is narrow enough to use.

    Parameters
    ----------
    values : ndarray
        The values of the block, of whole windows.
    missing : ndarray of bool
        As long as `values`, or empty where no value is missing.
    width : int
        Rows of a window, at least eight.
    fewest, most : int
        Bounds of the wanted ranks.
    sample : Sample
    sort : SortScratch
    index : BandIndex
        Scratch.
    band : Band
        Receives the limits.
    """
    step = _sample_step(width)
    rows = len(values) // step
    drawn = sample.read_only[:rows]
    drawn_missing = sample.missing[:rows] if len(missing) > 0 else missing
    _draw(values, missing, step, sample.values[:rows], drawn_missing)
    if len(drawn_missing) > 0 and np.sum(drawn_missing) > rows // 2:
        return False
    lowest, highest = value_range(drawn, drawn_missing)
    count = rank_band(drawn, drawn_missing, lowest, highest, len(drawn_missing) == 0, sort, index)
    if count < 0:
        return False
    mask = row_mask(bits_for(rows))
    narrow = width // step
    windows = rows - narrow + 1
    share = most / width
    margin = np.int64(_DEVIATIONS * np.sqrt(narrow * share * (1.0 - share))) + 2
    low, high = 0, count - 1
    for side in range(2):
        target = fewest // step - margin if side == 0 else most // step + 1 + margin
        band.bounded[side] = 0 <= target < narrow
        if band.bounded[side]:
            found = sort.spare[:windows]
            done, bottom, top = slide_fixed(
                index.code[: windows - 1],
                index.code[narrow:rows],
                narrow,
                target,
                None,
                index,
                begin(index.code[:narrow], index.bits, count),
                count,
                count < 0,  # false, but not a literal, for which another version would be compiled
                rows,
                found,
                found,
            )
            if done < windows:
                band.bounded[side] = False
            elif side == 0:
                low = bottom - FIRST
                band.limits[0] = drawn[np.int64(sort.records[low] & mask)]
            else:
                high = top - FIRST
                band.limits[1] = drawn[np.int64(sort.records[high] & mask)]
    return high - low < _LARGEST_SHARE * count
