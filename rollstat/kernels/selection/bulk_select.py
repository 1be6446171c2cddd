"""One order statistic of equal windows, block by block: choose a band, sort it, slide over a bit set.

::

    blocks     |------ rows ------|--- width - 1 ---|
                                  |------ rows ------|--- width - 1 ---|
    band       from a sample or from the last answers; only what lies in it is sorted

State: `Scratch`, the memory of :mod:`rollstat.kernels.selection.radix_sort`,
:mod:`rollstat.kernels.selection.band_codes` and :mod:`rollstat.kernels.selection.value_band`. Where few rows
are active, they are gathered first, see :mod:`rollstat.kernels.selection.band_codes`.

Invariant: a row is done when its answer lies within the band, which makes it exact. From the first row whose
answer does not, the rows are done again with a band of all values. After f blocks in a row whose band failed,
the next 2**f blocks use none, and twice as many where a sample gave none.

Cost: O(rows + width) to sort a block and O(1) a row, each at most twice. Blocks that `rank_band` or
`slide_fixed` abandons are left to the caller.

Source: see the modules above.
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
    rank_band,
)
from rollstat.kernels.selection.bitset_fixed import begin, slide_fixed
from rollstat.kernels.selection.quantiles import interpolate_constant
from rollstat.kernels.selection.radix_sort import (
    SortScratch,
    allocate_sort,
    bits_for,
    row_mask,
    value_range,
)
from rollstat.kernels.selection.value_band import (
    RECENT,
    Band,
    allocate_band,
    band_from_answers,
    band_from_sample,
)

__all__ = ["Scratch", "allocate", "select_fixed"]

# Most blocks that are ranked without a band after bands have failed.
_LONGEST_PAUSE = 64
# The first block with a band from a sample has the rows of a window divided by this.
_FIRST_BLOCK_SHARE = 4
# Standard deviations of a rank that a band from answers has on each side, and those where windows are wide.
_DEVIATIONS = 1.5
_DEVIATIONS_OF_WIDE = 5.0

# Where a band comes from.
_ANSWERS, _SAMPLE = 0, 1


class Scratch(NamedTuple):
    """Memory for blocks of n rows, those before the first full window included.

    Attributes
    ----------
    sort : SortScratch
    index : BandIndex
    band : Band
    active : ndarray of uint32, shape (n,)
        The active rows.
    answers : ndarray, shape (2, n)
        Order statistics that points are made of.
    attempts : ndarray of int64, shape (2, 2)
        Failures in a row, of bands from answers and of those from samples; and how many blocks use none.
    """

    sort: SortScratch
    index: BandIndex
    band: Band
    active: np.ndarray
    answers: np.ndarray
    attempts: np.ndarray


def allocate(rows, dtype):
    """Return a Scratch for blocks of up to this many rows."""
    return Scratch(
        allocate_sort(rows),
        allocate_index(rows),
        allocate_band(dtype),
        np.empty(rows, np.uint32),
        np.empty((2, rows), dtype),
        np.empty((2, 2), np.int64),
    )


@kernel
def _count_observed(missing):
    """Number of rows that are not missing."""
    absent = 0
    for i in range(len(missing)):
        absent += np.int64(missing[i])
    return len(missing) - absent


@kernel
def _part(targets, first, last):
    """Slice of an array, or None for None."""
    if targets is None:
        return None
    return targets[first:last]


@kernel
def _rank_range(target, targets, width):
    """Lowest and highest wanted rank; the highest is negative where no rank is wanted."""
    if targets is None:
        return target, target
    fewest, most = np.int64(width), np.int64(-1)
    for rank in targets:
        if rank >= 0:
            fewest, most = min(fewest, rank), max(most, rank)
    return fewest, most


@kernel
def _value_limits(values, missing, banded, band):
    """Lowest and highest value to sort: the limits of the band, else those of the data."""
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
def _slide_values(size, width, target, targets, ranks, scratch, lower, upper):
    """Write the order statistics of a block of `size` values, and the next ones unless `upper` is empty.

    Returns what `slide_fixed` returns.
    """
    rows, index = len(lower), scratch.index
    code = index.code[:size]
    leaving, entering = code[: rows - 1], code[width : width + rows - 1]
    below = begin(code[:width], index.bits, ranks)
    needs_following = scratch.band.bounded[1] and len(upper) > 0
    lower = lower.view(np.uint64)
    upper = upper.view(np.uint64) if len(upper) > 0 else lower
    width = 0 if targets is not None else width
    return slide_fixed(
        leaving, entering, width, target, targets, index, below, ranks, needs_following, size, lower, upper
    )


@kernel
def _slide_points(size, width, target, ranks, banded, fraction, middle, scratch, result):
    """Write a point between two order statistics into the rows of a block, see `select_fixed`.

    Returns what `slide_fixed` returns.
    """
    rows, index = len(result), scratch.index
    code = index.code[:size]
    leaving, entering = code[: rows - 1], code[width : width + rows - 1]
    below = begin(code[:width], index.bits, ranks)
    above = above_band_code(ranks)
    answers, active = rows, scratch.active
    few = banded and active_rows_are_few(leaving, entering, above)
    if few:
        codes = scratch.sort.spare.view(np.uint32).reshape(2, len(scratch.sort.spare))
        n = gather_active_rows(leaving, entering, above, codes[0], codes[1], active)
        answers, active = n + 1, active[:n]
        leaving, entering = codes[0, :n], codes[1, :n]
    blended = middle or fraction > 0
    lower = scratch.answers[0, :answers] if few or blended else result
    upper = scratch.answers[1, :answers] if blended else lower
    low, high = lower.view(np.uint64), upper.view(np.uint64)
    needs_following = scratch.band.bounded[1] and blended
    width = 0 if few else width
    done, bottom, top = slide_fixed(
        leaving, entering, width, target, None, index, below, ranks, needs_following, size, low, high
    )
    if blended:
        interpolate_constant(lower, upper, fraction, middle, lower if few else result)
    if few:
        if done < answers:
            active = active[:done]
            rows = np.int64(active[done - 1]) + 1 if done > 0 else 0
        fill_forward(lower[:done], active, result[:rows])
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
    """Note the range of the answers of a block, which are the codes `bottom` to `top`."""
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
    """Write an order statistic of every window and the next one, or a point between the two.

    Parameters
    ----------
    values : ndarray of float64 or uint64, shape (rows + width - 1,)
    missing : ndarray of bool
        As long as `values`, or empty where no value is missing.
    width : int
        Rows of a window.
    target : int
        The rank, if it is the same in every row.
    targets : ndarray of int64, shape (rows,), or None
        The rank in every row otherwise, negative where nothing is wanted. None where `fraction` is given.
    block_rows : int
        Rows of a block, at least one.
    fraction : float, or None
        How far the point lies from the order statistic towards the next one; None for both as they are.
    middle : bool
        Whether the point is their mean.
    lower : ndarray, shape (rows,)
        Receives the order statistics, or the points if `fraction` is given.
    upper : ndarray, shape (rows,), or None
        Receives the next order statistics; empty where they are not wanted. None if `fraction` is given.
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
        observed = _count_observed(block_missing) if len(block_missing) > 0 else len(block)
        fewest, most = _rank_range(target, _part(targets, first, last), width)
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
                if len(block_missing) > 0 and _count_observed(block_missing) == 0:
                    first = last
                    continue
        lowest, highest = _value_limits(block, block_missing, banded, band)
        everything = observed == len(block) and not banded
        ranks = rank_band(block, block_missing, lowest, highest, everything, sort, index)
        if ranks < 0:
            return first
        # Numba compiles no branch on a parameter that is None, so a call compiles one of these two.
        size = len(block)
        done, bottom, top = 0, 0, 0
        if upper is not None:
            wanted = _part(targets, first, last)
            done, bottom, top = _slide_values(
                size, width, target, wanted, ranks, scratch, lower[first:last], upper[first:last]
            )
        if fraction is not None:
            done, bottom, top = _slide_points(
                size, width, target, ranks, banded, fraction, middle, scratch, lower[first:last]
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
