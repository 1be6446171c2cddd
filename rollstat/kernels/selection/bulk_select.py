"""One order statistic of equal windows, block by block: choose a band, sort it, slide over a bit set.

::

    blocks     |------ rows ------|--- width - 1 ---|
                                  |------ rows ------|--- width - 1 ---|
    band       from a sample or from the last answers; only what lies in it is sorted

    values     . ' . , ' . ; ' . , . ' , ; . ' .      one of every `step` values, at a random place in it
    sample       '     ;     .     ,     ;   '        windows of width / step
    band       from the lowest of rank / step - margin, to the highest of rank / step + margin

State: `Scratch`, the memory of :mod:`rollstat.kernels.selection.radix_sort` and
:mod:`rollstat.kernels.selection.band_codes`, and a `Band` with the answers that it is made from. Where few
rows are active, they are gathered first, see :mod:`rollstat.kernels.selection.band_codes`.

Invariant: the limits of a band are observations. A row is done when its answer lies within the band, which
makes it exact. From the first row whose answer does not, the rows are done again with a band of all values.
After f blocks in a row whose band failed, the next 2**f blocks use none, and twice as many where a sample
gave none.

Cost: O(rows + width) to sort a block and O(1) a row, each at most twice. A band from a sample costs ranking a
`step`-th of the values and sliding two order statistics over them. A band from earlier answers costs two
binary searches. Blocks that `rank_band` or `slide_fixed` abandons are left to the caller.

Source: R. W. Floyd and R. L. Rivest, Expected time bounds for selection (1975), doi:10.1145/360680.360691: an
order statistic lies between the order statistics of a sample whose ranks are a few standard deviations to
either side. For the rest see the modules above.
"""

from typing import NamedTuple

import numpy as np

from rollstat.compile.jit import kernel
from rollstat.kernels.selection.band_codes import (
    FIRST,
    BandIndex,
    above_band_code,
    active_rows_are_few,
    allocate_index,
    fill_forward,
    gather_active_rows,
    keep_ranks,
    rank_band,
    rows_with,
)
from rollstat.kernels.selection.bitset_fixed import Wanted, begin, slide_fixed
from rollstat.kernels.selection.quantiles import interpolate_constant
from rollstat.kernels.selection.radix_sort import (
    SortScratch,
    allocate_sort,
    bits_for,
    row_mask,
    value_range,
)

# The most blocks to rank without a band after bands have failed.
_LONGEST_PAUSE = 64
# The first block with a band from a sample has the rows of a window divided by this.
_FIRST_BLOCK_SHARE = 4
# Standard deviations of a rank that a band has on each side: from answers, where windows are wide, and from a
# sample.
_DEVIATIONS = 1.5
_DEVIATIONS_OF_WIDE = 5.0
_DEVIATIONS_OF_SAMPLE = 3.0
# Blocks whose answers a band is made from.
RECENT = 4
# Fewest values of a window that are in its sample.
_SAMPLE_WIDTH = 512
# Largest share of the observations that a band may hold: sorting more saves too little.
_LARGEST_SHARE = 0.35

# Where a band comes from.
_ANSWERS, _SAMPLE = 0, 1


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


class Scratch(NamedTuple):
    """Memory for blocks of n rows, including the rows before the first full window.

    Attributes
    ----------
    sort : SortScratch
    index : BandIndex
    band : Band
    breaks : ndarray of uint32, shape (n,)
        Where the rank is not that of the row before, or which rows are active.
    answers : ndarray, shape (2, n + 8)
        Order statistics that points are made of, or those of the active rows.
    attempts : ndarray of int64, shape (2, 2)
        Failures in a row, of bands from answers and of bands from samples; and how many blocks use none.
    """

    sort: SortScratch
    index: BandIndex
    band: Band
    breaks: np.ndarray
    answers: np.ndarray
    attempts: np.ndarray


def allocate(rows, dtype):
    """Return a Scratch for blocks of up to this many rows."""
    return Scratch(
        allocate_sort(rows),
        allocate_index(rows),
        allocate_band(dtype),
        np.empty(rows, np.uint32),
        np.empty((2, rows + 8), dtype),
        np.empty((2, 2), np.int64),
    )


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
        The sorted records of the last block that lie within its band.
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
    """Number of values from which one is drawn, for windows of this width."""
    return max(np.int64(width / max(_SAMPLE_WIDTH, width ** (2.0 / 3.0))), 2)


@kernel
def _count_observed(values, missing):
    """Number of values that are neither NaN nor `missing`; `missing` may be empty."""
    gaps = np.sum(missing)
    for i in range(len(values)):
        gaps += values[i] != values[i]
    return len(values) - gaps


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
    observed = _count_observed(drawn, drawn_missing)
    if observed < rows - rows // 2:
        return False
    lowest, highest = value_range(drawn, drawn_missing)
    count = rank_band(drawn, drawn_missing, lowest, highest, observed == rows, sort, index)
    if count < 0:
        return False
    mask = row_mask(bits_for(rows))
    narrow = width // step
    windows = rows - narrow + 1
    share = most / width
    margin = np.int64(_DEVIATIONS_OF_SAMPLE * np.sqrt(narrow * share * (1.0 - share))) + 2
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
                Wanted(target, found[:0].view(np.int64), index.row_of[:0]),
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


@kernel
def _rank_range(target, targets, first, last, width):
    """Lowest and highest wanted rank of some rows; the highest is negative where no rank is wanted."""
    if targets is None:
        return target, target
    targets = targets[first:last]
    fewest, most = np.uint64(width), np.int64(-1)
    for i in range(len(targets)):  # the compiler needs indices from 0 to write vector code
        fewest, most = min(fewest, np.uint64(targets[i])), max(most, targets[i])  # unsigned, none is negative
    return np.int64(fewest), most


@kernel
def _value_limits(values, missing, banded, band):
    """Lowest and highest value to sort: the limits of the band, else the limits of the data."""
    bounded, limits = band.bounded, band.limits
    bounded[0] &= banded
    bounded[1] &= banded
    lowest, highest = limits[0], limits[1]
    if not (bounded[0] and bounded[1]):
        low, high = value_range(values, missing)
        lowest = lowest if bounded[0] else low
        highest = highest if bounded[1] else high
    return lowest, highest


@kernel
def _slide_block(width, target, targets, code, ranks, banded, fraction, middle, scratch, lower, upper):
    """Write the order statistics of the rows of a block, or points between two, see `select_fixed`.

    Returns what `slide_fixed` returns.
    """
    rows, spare, breaks = len(lower), scratch.sort.spare, scratch.breaks[: len(lower) - 1]
    codes = spare.view(np.uint32).reshape(2, len(spare))
    marks = breaks.view(np.uint8)
    leaving, entering = code[: rows - 1], code[width:]
    by_row, blended, found = scratch.attempts[0, :0], middle or fraction > 0, 0
    pair = blended
    if targets is not None:  # Numba compiles no branch on a parameter that is None
        leaving, entering = codes[0, : rows - 1], codes[1, : rows - 1]
        found = keep_ranks(targets, ranks, code, leaving, entering, breaks)
        target, by_row, pair = targets[0], targets, len(upper) > 0
    breaks = breaks if found > 0 else breaks[:0]
    below, above = begin(code[:width], scratch.index.bits, ranks), above_band_code(ranks)
    few = banded and len(breaks) == 0 and active_rows_are_few(leaving, entering, above)
    answers = rows
    if few:
        n = gather_active_rows(leaving, entering, above, codes[0], codes[1], marks)
        answers = n + 1
        leaving, entering = codes[0, :n], codes[1, :n]
    low = scratch.answers[0, :answers] if few or blended else lower
    high = low
    if pair:
        high = upper if targets is not None and not few else scratch.answers[1, :answers]
    done, bottom, top = slide_fixed(
        leaving,
        entering,
        0 if few or len(breaks) > 0 else width,
        Wanted(target, by_row, breaks),
        scratch.index,
        below,
        ranks,
        scratch.band.bounded[1] and pair,
        len(code),
        low.view(np.uint64),
        high.view(np.uint64),
    )
    if blended:
        interpolate_constant(low, high, fraction, middle, low if few else lower)
    if few:
        if done < answers:
            rows = rows_with(done, marks)
        fill_forward(scratch.answers[0], marks, lower[:rows])
        if targets is not None and pair:
            fill_forward(scratch.answers[1], marks, upper[:rows])
        done = rows
    return done, bottom, top


@kernel
def _try_sample(values, missing, width, fewest, most, sample, scratch):
    """Choose a band from a sample, unless samples are paused or not drawn; return whether there is a band."""
    if sample is not None:
        failures, pause = scratch.attempts[0], scratch.attempts[1]
        if pause[_SAMPLE] == 0:
            sort, index, band = scratch.sort, scratch.index, scratch.band
            if band_from_sample(values, missing, width, fewest, most, sample, sort, index, band):
                return True
            failures[_SAMPLE] += 1
            pause[_SAMPLE] = min(2 << failures[_SAMPLE], _LONGEST_PAUSE)
    return False


@kernel
def _note_answers(records, bottom, top, values, seen, band):
    """Note the range of the answers of a block, the codes `bottom` to `top`."""
    mask = row_mask(bits_for(len(values)))
    last = len(records) - 1
    band.recent[0, seen % RECENT] = values[np.int64(records[bottom - FIRST] & mask)]
    band.recent[1, seen % RECENT] = values[np.int64(records[min(top - FIRST, last)] & mask)]


@kernel
def _rank_deviation(fewest, most, width, rows, wide):
    """Ranks, among `rows` values, by which the answers of independent values would change."""
    share = (fewest + most) / (2 * width)
    deviations = _DEVIATIONS_OF_WIDE if wide else _DEVIATIONS
    return np.int64(deviations * np.sqrt(share * (1 - share) / width) * rows)


@kernel
def select_fixed(
    values, missing, width, target, targets, block_rows, fraction, middle, lower, upper, scratch, sample
):
    """Write an order statistic of every window and the next one, or the same point of every window.

    Parameters
    ----------
    values : ndarray of float64 or uint64, shape (rows + width - 1,)
    missing : ndarray of bool
        As long as `values`; or empty where no value is missing, or only NaN is.
    width : int
        Rows of a window.
    target : int
        The rank at or below the point.
    targets : ndarray of int64, shape (rows,), or None
        The rank in every row, negative where nothing is wanted; None if a point is wanted.
    block_rows : int
        Rows of a block, at least one.
    fraction : float
        How far the point lies from the order statistic towards the next one.
    middle : bool
        Whether the point is their mean.
    lower : ndarray, shape (rows,)
        Receives the order statistics, or the points.
    upper : ndarray, shape (rows,)
        Receives the next order statistics unless empty or a point is wanted.
    scratch : Scratch
        For ``block_rows + width`` rows.
    sample : Sample, or None
        Memory for samples of ``block_rows + width`` rows; None for windows too narrow to draw samples. With
        None, the code that draws them is not compiled.

    Returns
    -------
    int
        Number of rows that are done, from the first on; if not all are, another algorithm must continue.
    """
    rows = len(lower)
    sort, index, band = scratch.sort, scratch.index, scratch.band
    failures, pause = scratch.attempts[0], scratch.attempts[1]
    scratch.attempts[:] = 0
    banded, origin, seen = False, _ANSWERS, 0
    first = np.int64(0)  # not a literal, for which other versions of the callees would be compiled
    while first < rows:
        last = min(first + block_rows, rows)
        block = values[first : last + width - 1]
        block_missing = missing[first : last + width - 1] if len(missing) > 0 else missing
        observed = _count_observed(block, block_missing)
        fewest, most = _rank_range(target, targets, first, last, width)
        if most < 0 or observed == 0:
            first = last
            continue
        if not banded and _try_sample(block, block_missing, width, fewest, most, sample, scratch):
            banded, origin = True, _SAMPLE
            if pause[_ANSWERS] == 0:
                # A short block first: its answers give a narrower band than the sample.
                last = min(first + width // _FIRST_BLOCK_SHARE, last)
                block = block[: last - first + width - 1]
                block_missing = block_missing[: len(block)]
                observed = _count_observed(block, block_missing)
                if observed == 0:
                    first = last
                    continue
        lowest, highest = _value_limits(block, block_missing, banded, band)
        everything = observed == len(block) and not banded
        ranks = rank_band(block, block_missing, lowest, highest, everything, sort, index)
        if ranks < 0:
            return first
        wanted = None if targets is None else targets[first:last]
        code, results = index.code[: len(block)], (lower[first:last], upper[first:last])
        done, bottom, top = _slide_block(
            width, target, wanted, code, ranks, banded, fraction, middle, scratch, *results
        )
        first += done
        if first < last:
            if not banded:
                return first
            # The band is too narrow for row `first`: go on from there with all values.
            failures[origin] += 1
            pause[origin] = min(1 << failures[origin], _LONGEST_PAUSE)
            banded, origin, seen = False, _ANSWERS, 0
            continue
        if banded:
            failures[origin] = 0
        for i in range(2):
            pause[i] = max(pause[i] - 1, 0)
        wide = sample is not None
        # Where windows are wide, a block without a band is followed by one that draws a new sample.
        may_follow = pause[_ANSWERS] == 0 and (banded or not wide)
        banded, origin = False, _ANSWERS
        if ranks > 0 and bottom <= top:
            records = sort.records[:ranks]
            _note_answers(records, bottom, top, block, seen, band)
            seen += 1
            if may_follow:
                deviation = _rank_deviation(fewest, most, width, len(block), wide)
                banded = band_from_answers(records, bits_for(len(block)), block, deviation, seen, band)
    return rows
