"""Bands of values in which the order statistics of the next windows are likely to lie.

::

    values       . ' . , ' . ; ' . , . ' , ; . ' .      one of every `step`, at a place drawn in it
    sample         '     ;     .     ,     ;   '        windows of width / step
    band         from the lowest of rank / step - margin, to the highest of rank / step + margin

State: `band`, two values, and `sides`, which of them bound it. A band is a guess: whoever uses it finds out
where it was too narrow. Invariant: what bounds the band is an observation.

Cost: that of ranking the sample, a `step`-th of the values, and of following two order statistics over it; a
band from earlier answers costs two binary searches.

Source: R. W. Floyd and R. L. Rivest, Expected time bounds for selection (1975),
doi:10.1145/360680.360691: an order statistic lies between those of a sample whose ranks are a few standard
deviations to either side.
"""

import numpy as np

from rollstat._jit import kernel
from rollstat.kernels.selection.bitset_fixed import FIRST, begin, classify, far_code, place, slide_fixed
from rollstat.kernels.selection.radix_sort import bits_for, sort_words, value_range

__all__ = ["RECENT", "band_from_answers", "band_from_sample"]

RECENT = 4
_SAMPLE_WIDTH = 512
_DEVIATIONS = 3.0
_LARGEST_SHARE = 0.35


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
def band_from_answers(ranked, row_bits, values, deviation, recent, seen, sides, band):
    """Choose a band around the last answers, with a margin; return whether it is worth it.

    Parameters
    ----------
    ranked : ndarray of uint64
        The words of the last stretch, in order, of the rows of `values` that its band held.
    row_bits : int
        Bits of a row in a word.
    values : ndarray
        The last stretch.
    deviation : int
        Ranks by which the next answers would differ from the last ones if the values were independent.
    recent : ndarray, shape (2, RECENT)
        Lowest and highest answers of the last stretches, `seen` of them.
    sides, band : ndarray, shape (2,)
        The last band, which becomes the next. A bounded side never moves outward, for what lies beyond it
        was not sorted.
    """
    rows = (np.uint64(1) << np.uint64(row_bits)) - np.uint64(1)
    count = len(ranked)
    lowest, highest = recent[0, 0], recent[1, 0]
    for i in range(1, min(seen, RECENT)):
        lowest, highest = min(lowest, recent[0, i]), max(highest, recent[1, i])
    low = _rank_of(ranked, rows, values, lowest)
    high = _rank_of(ranked, rows, values, highest)
    margin = (high - low) // 4 + 8 + deviation
    low, high = low - margin, high + margin
    low = max(low, 0) if sides[0] else low
    high = min(high, count - 1) if sides[1] else high
    if high - low > _LARGEST_SHARE * len(values):
        return False
    sides[0], sides[1] = low >= 0, high < count
    if sides[0]:
        band[0] = values[np.int64(ranked[low] & rows)]
    if sides[1]:
        band[1] = values[np.int64(ranked[high] & rows)]
    return True


@kernel
def _sample_step(width):
    """One of how many values to draw for windows of this width."""
    return max(np.int64(width / max(_SAMPLE_WIDTH, width ** (2.0 / 3.0))), 2)


@kernel
def _draw(values, missing, step, sample, sample_missing):
    """Take one of every `step` values, at a place that no period of the data follows."""
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
def band_from_sample(
    values,
    missing,
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
    row_of,
    sample,
    drawn,
    sample_missing,
    sides,
    band,
):
    """Choose a band from a sample of the stretch `values`; return whether it is worth it.

    `fewest` and `most` bound the ranks that are wanted; the other parameters are those of
    :func:`rollstat.kernels.selection.bulk_select.select_fixed`.
    """
    step = _sample_step(width)
    drawn = drawn[: len(values) // step]
    gone = sample_missing[: len(drawn)] if len(missing) > 0 else missing
    _draw(values, missing, step, sample[: len(drawn)], gone)
    narrow = width // step
    if len(gone) > 0 and np.sum(gone) > len(gone) // 2:
        return False
    lowest, highest = value_range(drawn, gone)
    count = sort_words(drawn, scaled, gone, lowest, highest, len(gone) == 0, words, spare, bucket)
    if count < 0:
        return False
    if len(gone) > 0:
        classify(drawn, gone, lowest, far_code(count), code)
    row_bits = bits_for(len(drawn))
    rows = (np.uint64(1) << np.uint64(row_bits)) - np.uint64(1)
    place(words[:count], row_bits, drawn, code, ordered, row_of)
    share = most / width
    margin = np.int64(_DEVIATIONS * np.sqrt(narrow * share * (1.0 - share))) + 2
    low, high = 0, count - 1
    for side in range(2):
        target = fewest // step - margin if side == 0 else most // step + 1 + margin
        sides[side] = 0 <= target < narrow
        if sides[side]:
            windows = len(drawn) - narrow + 1
            done, bottom, top = slide_fixed(
                code[: windows - 1],
                code[narrow : len(drawn)],
                row_of,
                narrow,
                target,
                None,
                np.int64(0),
                bits,
                begin(code[:narrow], bits, count),
                count,
                count > 0,
                count < 0,
                ordered.view(np.uint64),
                len(drawn),
                spare[:windows],
                spare[:windows],
            )
            if done < windows:
                sides[side] = False
            elif side == 0:
                low = bottom - FIRST
                band[0] = drawn[np.int64(words[low] & rows)]
            else:
                high = top - FIRST
                band[1] = drawn[np.int64(words[high] & rows)]
    return high - low < _LARGEST_SHARE * count
