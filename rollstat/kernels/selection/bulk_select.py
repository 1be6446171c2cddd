"""One order statistic of equal windows, stretch by stretch: band, sort, bit set.

::

    stretch    |------ rows ------|--- width - 1 ---|
                                  |------ rows ------|--- width - 1 ---|
    band       from a sample or from the last answers; only what lies in it is sorted

State: that of :mod:`rollstat.kernels.selection.radix_sort`, :mod:`rollstat.kernels.selection.bitset_fixed`
and :mod:`rollstat.kernels.selection.value_band`.

Where many rows cannot change the order statistic, those that can are gathered first, see
:mod:`rollstat.kernels.selection.active_rows`.

Invariant: a row is done when its answer was found within the band, which makes it exact; the rows after
one that was not are done again with a band of everything. After f stretches in a row whose band failed,
the next 2**f go without, and twice as many where no sample gave one.

Cost: O(stretch) to sort and O(1) a row, each at most twice; what :func:`sort_words` or :func:`slide_fixed`
give up is left to the caller.

Source: see the three modules.
"""

import numpy as np

from rollstat._jit import kernel
from rollstat.kernels.selection.active_rows import events_are_few, gather_events, spread
from rollstat.kernels.selection.bitset_fixed import FIRST, begin, classify, far_code, place, slide_fixed
from rollstat.kernels.selection.quantiles import interpolate_constant
from rollstat.kernels.selection.radix_sort import bits_for, sort_words, value_range
from rollstat.kernels.selection.value_band import RECENT, band_from_answers, band_from_sample

__all__ = ["select_fixed"]

_LONGEST_PAUSE = 64
_LOOK = 4
_DEVIATIONS = 1.5
_DEVIATIONS_OF_WIDE = 5.0


@kernel
def _observed(missing):
    """How many rows are not missing."""
    absent = 0
    for i in range(len(missing)):
        absent += np.int64(missing[i])
    return len(missing) - absent


@kernel
def _extent(target, targets, first, last, width):
    """Lowest and highest rank wanted in some rows; the highest is negative where none is."""
    if targets is None:
        return target, target
    fewest, most = np.int64(width), np.int64(-1)
    for rank in targets[first:last]:
        if rank >= 0:
            fewest, most = min(fewest, rank), max(most, rank)
    return fewest, most


@kernel
def _follow(
    code,
    width,
    target,
    targets,
    origin,
    bits,
    ranks,
    banded,
    open_top,
    ordered,
    row_of,
    spare,
    events,
    fraction,
    middle,
    lower,
    upper,
    result,
):
    """Follow the windows of a stretch; rows that are done, and the codes between which most answers lay."""
    rows = len(result)
    leaving, entering = code[: rows - 1], code[width : width + rows - 1]
    under = begin(code[:width], bits, ranks)
    far = far_code(ranks)
    answers = rows
    at = events
    few = banded and fraction is not None and targets is None and events_are_few(leaving, entering, far)
    if few:
        halves = spare.view(np.uint32).reshape(2, len(spare))
        n = gather_events(leaving, entering, far, halves[0], halves[1], events)
        answers, at = n + 1, events[:n]
        leaving, entering = halves[0, :n], halves[1, :n]
    blends = fraction is not None and len(upper) > 0
    below = lower[:answers] if few or blends or fraction is None else result
    above = upper[:answers] if len(upper) > 0 else below
    done, bottom, top = slide_fixed(
        leaving,
        entering,
        row_of,
        0 if few or targets is not None else width,
        target,
        targets,
        origin,
        bits,
        under,
        ranks,
        open_top,
        len(upper) > 0,
        ordered,
        len(code),
        below.view(np.uint64),
        above.view(np.uint64),
    )
    if fraction is not None:
        if blends:
            interpolate_constant(below, above, fraction, middle, below if few else result)
        if few:
            if done < answers:
                at = at[:done]
                rows = np.int64(at[done - 1]) + 1 if done > 0 else 0
            spread(below[:done], at, result[:rows])
            done = rows
    return done, bottom, top


@kernel
def select_fixed(
    values,
    missing,
    scaled,
    width,
    target,
    targets,
    stretch,
    wide,
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
    recent,
    band,
    sides,
    tries,
    events,
    fraction,
    middle,
    lower,
    upper,
    result,
):
    """Write an order statistic of every window and the next one, or a point between the two.

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
    stretch : int
        Rows to work on at a time; at least one.
    wide : bool
        Whether windows are wide enough to draw samples of stretches; of at least eight rows.
    words, spare : ndarray of uint64, shape (stretch + width,)
    bucket : ndarray of int32, shape (DIGITS, LARGEST_DIGIT)
    code : ndarray of uint32, shape (stretch + width,)
    bits : ndarray of uint64, shape (words_for(stretch + width),)
    ordered : ndarray of the values' dtype, shape (64 * len(bits),)
    row_of : ndarray of uint32, shape (64 * len(bits),)
    sample, drawn : ndarray of the values' dtype, shape (stretch + width,)
        The same memory, `drawn` read-only as `values` are, which saves compiling much twice.
    sample_missing : ndarray of bool, shape (stretch + width,)
    recent : ndarray of the values' dtype, shape (2, RECENT)
    band : ndarray of the values' dtype, shape (2,)
    sides : ndarray of bool, shape (2,)
    tries : ndarray of int64, shape (2, 2)
    events : ndarray of uint32, shape (stretch + width,)
        Scratch.
    fraction : float, or None
        How far the answer lies from the order statistic towards the next one; None for both as they are.
    middle : bool
        Whether it is their mean.
    lower, upper : ndarray
        Of shape (rows,) they receive the order statistics and the next ones if `fraction` is None. Otherwise
        scratch of shape (stretch,). `upper` may be empty where the next ones are not wanted.
    result : ndarray, shape (rows,)
        Receives the answers; it is `lower` if `fraction` is None.

    Returns
    -------
    int
        Rows that are done, from the first on; fewer than all where another algorithm must go on.
    """
    rows = len(result)
    banded, kind = False, 0
    failures, pause = tries[0], tries[1]  # of bands from answers, and of those from samples
    for i in range(2):
        failures[i] = pause[i] = 0
    seen = 0
    first = np.int64(0)  # a literal would have the callees compiled for it
    while first < rows:
        last = min(first + stretch, rows)
        part = values[first : last + width - 1]
        gone = missing[first : last + width - 1] if len(missing) > 0 else missing
        everything = len(gone) == 0 or _observed(gone) == len(gone)
        fewest, most = _extent(target, targets, first, last, width)
        if most < 0 or (not everything and _observed(gone) == 0):
            first = last
            continue
        if wide and not banded and pause[1] == 0:
            kind = 1
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
                row_of,
                sample,
                drawn,
                sample_missing,
                sides,
                band,
            )
            if not banded:
                failures[1] += 1
                pause[1] = min(2 << failures[1], _LONGEST_PAUSE)
            elif pause[0] == 0:  # a first look, whose answers tell more than the sample
                last = min(first + width // _LOOK, last)
                part = part[: last - first + width - 1]
                gone = gone[: len(part)]
        sides[0] &= banded
        sides[1] &= banded
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
        place(ranked, row_bits, part, code, ordered, row_of)
        done, bottom, top = _follow(
            code[: len(part)],
            width,
            target,
            targets,
            first,
            bits,
            count,
            banded,
            not sides[1],
            ordered.view(np.uint64),
            row_of,
            spare,
            events,
            fraction,
            middle,
            lower[first:last] if fraction is None else lower[: last - first],
            upper[first:last] if fraction is None else upper[: last - first],
            result[first:last],
        )
        first += done
        if first < last:
            if not banded:
                return first
            failures[kind] += 1
            pause[kind] = min(1 << failures[kind], _LONGEST_PAUSE)
            banded, kind, seen = False, 0, 0
            continue
        if banded:
            failures[kind] = 0
        for i in range(2):
            pause[i] = max(pause[i] - 1, 0)
        told = banded or not wide
        banded, kind = False, 0
        if count > 0 and bottom <= top:
            row_mask = (np.uint64(1) << np.uint64(row_bits)) - np.uint64(1)
            recent[0, seen % RECENT] = part[np.int64(ranked[bottom - FIRST] & row_mask)]
            recent[1, seen % RECENT] = part[np.int64(ranked[min(top - FIRST, count - 1)] & row_mask)]
            seen += 1
            if pause[0] == 0 and told:
                share = (fewest + most) / (2 * width)
                factor = _DEVIATIONS_OF_WIDE if wide else _DEVIATIONS
                deviation = np.int64(factor * np.sqrt(share * (1 - share) / width) * len(part))
                banded = band_from_answers(ranked, row_bits, part, deviation, recent, seen, sides, band)
    return rows
