"""Extrema of long windows of a fixed number of rows, block by block.

::

    blocks of values   | k      | k + 1  |   ...   | q - 1  | q      | q + 1  |
    windows that       [===========================================)
    begin in block k       [===========================================)
                       suffix   [   common to all, M       ]   running

What all windows that begin in one block share, is a window over the extrema of whole blocks, a series
many times shorter. Where neither the block in which they begin nor those in which they end hold anything
better, that is the answer to all of them. Else the scans of van Herk and of Gil and Werman, suffixes of
the first block and a running extremum of the last ones, are done for this block alone, in vectors, see
:mod:`rollstat.kernels.extrema.van_herk_simd`. A group of blocks is answered as soon as what its windows hold
is known,
while its values are in the cache. For each block that is answered, one of the next group is looked at, whose
values the cache fetches while results are written: to write and to read go on together.

NaN is no observation; or, where it decides every window with it, it counts as the best value that there is,
and is revealed in the results, as the worst is where windows of nothing else give NaN.

State: scratch memory alone. Invariant: ``total[b]`` is the best of block b, and ``common[k]`` of the
blocks ``k + 1, ..., q - 1``. Cost: one vector operation for each vector of values and a few more where
the extremum of the windows changes within a block; at most about 12 for each vector of values.

Source: as block_scan; that a window's extremum seldom changes is D. Lemire's observation,
arXiv:cs/0610046, section 3.
"""

from rollstat._jit import kernel
from rollstat.kernels.extrema import doubling
from rollstat.kernels.extrema.doubling import best_lane
from rollstat.kernels.extrema.doubling_arg import occurs
from rollstat.kernels.extrema.monotone_runs import answer, copy_run
from rollstat.kernels.extrema.nan_policy import ALL, ANY, NAN, NO, PASS, STAND_IN, YES
from rollstat.kernels.extrema.van_herk_simd import running, suffixes
from rollstat.kernels.missing.counting import has_nan
from rollstat.kernels.missing.nan_bitmap import record_nan_if
from rollstat.kernels.simd.comparator import (
    Greatest,
    Least,
    Oldest,
    best_of,
    better,
    missing_of,
    prefer,
    where_equal,
    worst_of,
)
from rollstat.kernels.simd.fill_copy import fill, fill_ahead, stand_alike
from rollstat.kernels.simd.vectors import (
    broadcast,
    contains_nan,
    lanes_of,
    load,
    propagate_nan,
    replace_nan,
    settle_writes,
    unaligned,
    zeros,
)

__all__ = [
    "best_in",
    "growing",
    "rolling",
    "rolling_both",
    "room_for",
    "scratch_length",
    "shrinking",
    "totals",
]

# Blocks of results that are answered together.
_GROUP = 64


@kernel
def room_for(count, block, lanes):
    """Space for what is known of each block of `count` values, and of two more."""
    return ((count + block - 1) // block // lanes + 1) * lanes + lanes


def scratch_length(width, rows, block, lanes):
    """Length of the scratch memory for `rows` windows of `width` and blocks of `block` values."""
    room = room_for(rows + width - 1, block, lanes)
    return room + _GROUP + block + doubling.scratch_length(max(width // block, 1), _GROUP, lanes)


@kernel
def best_in(order, values):
    """The best of `values`, and a vector with NaN if there may be one."""
    lanes = lanes_of(values)
    one = two = three = four = broadcast(worst_of(order, values))
    first = second = zeros(values)
    i = 0
    while i + 4 * lanes <= len(values):
        a, b = load(values, i), load(values, i + lanes)
        c, d = load(values, i + 2 * lanes), load(values, i + 3 * lanes)
        one, two = prefer(order, a, one), prefer(order, b, two)
        three, four = prefer(order, c, three), prefer(order, d, four)
        first, second = propagate_nan(propagate_nan(first, a), b), propagate_nan(propagate_nan(second, c), d)
        i += 4 * lanes
    while i + lanes <= len(values):
        a = load(values, i)
        one, first = prefer(order, a, one), propagate_nan(first, a)
        i += lanes
    best = prefer(order, prefer(order, one, two), prefer(order, three, four))
    value = best_lane(order, best)
    nan = contains_nan(propagate_nan(first, second))
    while i < len(values):
        value = prefer(order, values[i], value)
        nan |= values[i] != values[i]
        i += 1
    return value, nan


@kernel
def _both_in(values):
    """The least and the greatest of `values`, and whether there may be a NaN."""
    lanes = lanes_of(values)
    low = low_next = broadcast(worst_of(Least(), values))
    high = high_next = broadcast(worst_of(Greatest(), values))
    first = second = zeros(values)
    i = 0
    while i + 2 * lanes <= len(values):
        a, b = load(values, i), load(values, i + lanes)
        low, low_next = prefer(Least(), a, low), prefer(Least(), b, low_next)
        high, high_next = prefer(Greatest(), a, high), prefer(Greatest(), b, high_next)
        first, second = propagate_nan(first, a), propagate_nan(second, b)
        i += 2 * lanes
    least = best_lane(Least(), prefer(Least(), low, low_next))
    greatest = best_lane(Greatest(), prefer(Greatest(), high, high_next))
    nan = contains_nan(propagate_nan(first, second))
    while i < len(values):
        least, greatest = prefer(Least(), values[i], least), prefer(Greatest(), values[i], greatest)
        nan |= values[i] != values[i]
        i += 1
    return least, greatest, nan


@kernel
def totals(order, values, block, total):
    """Write the best of each `block` of values to `total`, and behind them the value that never wins.

    Returns whether there may be a NaN.
    """
    nan = False
    for b in range(len(total)):
        total[b], seen = best_in(order, values[b * block : (b + 1) * block])
        nan |= seen
    return nan


@kernel
def _best_with(order, values, stand_in, rule):
    """The best of `values` where NaN counts as `stand_in`, and what was found: `NAN`, `STAND_IN` or both."""
    best, seen = best_in(order, values)
    return _settled(order, values, best, seen, stand_in, rule)


@kernel
def _settled(order, values, best, seen, stand_in, rule):
    """As :func:`_best_with`, where the best is known, and whether there may be a NaN."""
    confused = best == stand_in if rule == ANY else rule == ALL and occurs(values, stand_in)
    found = NAN * int(seen) + STAND_IN * int(confused)
    # A sum of values that is NaN may be an overflow.
    decides = seen and stand_in != worst_of(order, values) and has_nan(values)
    return stand_in if decides else best, found


@kernel
def growing(order, values, out):
    """Write the best of all of `values` but the last ones to ``out[0]``, ..., of all of them to ``out[-1]``.

    Returns whether there may have been a NaN.
    """
    known = len(values) - len(out)
    best, missing = best_in(order, values[:known])
    running(order, values[known:], best, out, worst_of(order, values), values, NO)
    return missing or best_in(order, values[known:])[1]


@kernel
def shrinking(order, values, out):
    """Write the best of ``values[i:]`` to ``out[i]``; return whether there may have been a NaN."""
    worst = worst_of(order, values)
    best, missing = best_in(order, values[len(out) :])
    suffixes(order, values[: len(out)], best, values[:0], worst, out, out, worst, values, NO)
    return missing or best_in(order, values[: len(out)])[1]


@kernel
def _answer(order, values, width, block, k, total, best, scratch, results, stand_in, hidden, coming, past):
    """Write the windows that begin in block `k`, of which `best` is common to all, to `results`.

    NaN counts as `stand_in`, and is to be seen in the results if it is `hidden` in what is known. Meanwhile
    the cache fetches as many values of those that are `coming`.
    """
    begin, last = k * block, k + width // block
    older, newer = values[begin : begin + block], values[begin + width - 1 :]
    leads = better(order, total[k], best)
    follows = better(order, prefer(order, total[last], total[last + 1]), best)
    if not (leads or follows):
        shown = missing_of(results) if hidden and best == stand_in else best
        fill_ahead(shown, results, coming, past)
        return
    # Results are not read, unless NaN is to be revealed in them.
    past = past and not hidden
    before = after = best
    if len(results) < block:
        after = prefer(order, _best_with(order, older[len(results) :], stand_in, PASS)[0], best)
    if better(order, total[last], best):
        inside = values[last * block : begin + width - 1]
        before = prefer(order, _best_with(order, inside, stand_in, PASS)[0], best)
    older = older[: len(results)]
    written = False
    if not follows and not better(order, after, older[-1]):
        written = copy_run(order, Oldest(), YES, older, results, coming, past)
    elif not leads and not better(order, before, newer[0]):
        written = copy_run(order, Oldest(), NO, newer[: len(results)], results, coming, past)
    if leads and not written:
        newer = newer[: len(results) if follows else 0]
        suffixes(order, older, after, newer, before, scratch, results, stand_in, coming, past)
    elif not written:
        running(order, newer, before, results, stand_in, coming, past)
    if hidden:
        _reveal_all(stand_in, results)


@kernel
def _reveal_all(hidden, results):
    """Write NaN where there is what it is `hidden` in."""
    missing = missing_of(results)
    for i in range(len(results)):
        results[i] = where_equal(results[i], hidden, missing, results[i])


@kernel
def _take(order, values, best, stand_in):
    """The best of a few values and of `best`, and what was found, as :func:`_best_with`."""
    found = 0
    for i in range(len(values)):
        found |= NAN * int(values[i] != values[i]) + STAND_IN * int(values[i] == stand_in)
        best = prefer(order, replace_nan(values[i], stand_in), best)
    return best, found


@kernel
def _lead(order, values, width, lead, out, stand_in, rule):
    """Write the few first windows one by one; return what was found, as :func:`_best_with`."""
    if lead == 0:
        return 0
    shared, found = _best_with(order, values[lead:width], stand_in, rule)
    for i in range(lead):
        best, older = _take(order, values[i:lead], shared, stand_in)
        out[i], newer = _take(order, values[width : i + width], best, stand_in)
        found |= older | newer
    if found & NAN and rule != PASS:
        _reveal_all(stand_in, out[:lead])
    return found


@kernel
def _learn(order, values, block, b, total, stand_in, rule):
    """Write the best of block `b` to `total`; return what was found."""
    total[b], found = _best_with(order, values[b * block : (b + 1) * block], stand_in, rule)
    return found


@kernel
def _learn_both(values, block, b, lowest, highest, low_stand_in, high_stand_in, rule):
    """As :func:`_learn`, for both orders."""
    part = values[b * block : (b + 1) * block]
    least, greatest, nan = _both_in(part)
    lowest[b], found = _settled(Least(), part, least, nan, low_stand_in, rule)
    highest[b], there = _settled(Greatest(), part, greatest, nan, high_stand_in, rule)
    return found | there


@kernel
def _share(order, total, first, last, between, rest, common, none):
    """Write what all windows that begin in blocks ``first, ..., last - 1`` hold of whole blocks."""
    if between == 0:
        fill(worst_of(order, total), common)
        return
    inner = total[first + 1 : last + between]
    doubling.rolling(order, inner, between, _GROUP, rest, common[: last - first], PASS, none)


@kernel
def rolling(order, values, width, block, scratch, out, rule, words):
    """Write the best of every ``values[i:i + width]`` to ``out[i]``.

    As :func:`rollstat.kernels.extrema.doubling.rolling` says. Windows hold a block or more; `scratch` has the
    length that :func:`scratch_length` gives.
    """
    done = answer(order, Oldest(), values, width, 0, out[:0], out, out[:0], NO)
    if done == len(out):
        return 0
    stand_in = best_of(order, scratch) if rule == ANY else worst_of(order, scratch)
    lead = min(unaligned(out[done:]), len(out) - done)
    found = _lead(order, values[done:], width, lead, out[done:], stand_in, rule)
    if rule != PASS and found == NAN + STAND_IN:
        return found
    noted = record_nan_if(found, values, 0, done + lead + width - 1 if lead else 0, words)
    seen, values, out = values, values[done + lead :], out[done + lead :]
    rows, room = (len(out) + block - 1) // block, room_for(len(values), block, lanes_of(scratch))
    total, common, rest = scratch[:room], scratch[room : room + _GROUP], scratch[room + _GROUP :]
    suffix, rest = rest[:block], rest[block:]
    known = 0
    for first in range(0, rows, _GROUP):
        last, more = min(first + _GROUP, rows), min(first + 2 * _GROUP, rows)
        while known <= last + width // block:
            found |= _learn(order, values, block, known, total, stand_in, rule)
            known += 1
        if rule != PASS and found == NAN + STAND_IN:
            return found
        noted = record_nan_if(found, seen, noted, done + lead + known * block, words)
        hidden = rule != PASS and found & NAN != 0
        _share(order, total, first, last, width // block - 1, rest, common, words[:0])
        for k in range(first, last):
            part, coming = (values, width, block, k), values[known * block :]
            results, best = out[k * block : (k + 1) * block], common[k - first]
            _answer(order, *part, total, best, suffix, results, stand_in, hidden, coming, NO)
            if known <= more + width // block:
                found |= _learn(order, values, block, known, total, stand_in, rule)
                known += 1
    return found & NAN


@kernel
def rolling_both(values, width, block, scratch, low, high, rule, words, past):
    """As :func:`rolling`, both extrema in one pass; `scratch` is twice as long.

    Results that stand alike to the lines of the cache may be written `past` it.
    """
    past = past and stand_alike(low, high)
    done = answer(Least(), Oldest(), values, width, 0, low[:0], low, high, past)
    if past and done == len(low):
        settle_writes()
    if done == len(low):
        return 0
    least, greatest = best_of(Least(), scratch), best_of(Greatest(), scratch)
    low_stand_in, high_stand_in = (least, greatest) if rule == ANY else (greatest, least)
    lead = min(unaligned(low[done:]), len(low) - done)
    found = _lead(Least(), values[done:], width, lead, low[done:], low_stand_in, rule)
    found |= _lead(Greatest(), values[done:], width, lead, high[done:], high_stand_in, rule)
    if rule != PASS and found == NAN + STAND_IN:
        return found
    noted = record_nan_if(found, values, 0, done + lead + width - 1 if lead else 0, words)
    seen, values, low, high = values, values[done + lead :], low[done + lead :], high[done + lead :]
    rows, room = (len(low) + block - 1) // block, room_for(len(values), block, lanes_of(scratch))
    lowest, highest, rest = scratch[:room], scratch[room : 2 * room], scratch[2 * room :]
    least_common, greatest_common, rest = rest[:_GROUP], rest[_GROUP : 2 * _GROUP], rest[2 * _GROUP :]
    suffix, rest = rest[:block], rest[block:]
    learned = lowest, highest, low_stand_in, high_stand_in, rule
    known = 0
    for first in range(0, rows, _GROUP):
        last, more = min(first + _GROUP, rows), min(first + 2 * _GROUP, rows)
        while known <= last + width // block:
            found |= _learn_both(values, block, known, *learned)
            known += 1
        if rule != PASS and found == NAN + STAND_IN:
            return found
        noted = record_nan_if(found, seen, noted, done + lead + known * block, words)
        hidden = rule != PASS and found & NAN != 0
        between = width // block - 1
        _share(Least(), lowest, first, last, between, rest, least_common, words[:0])
        _share(Greatest(), highest, first, last, between, rest, greatest_common, words[:0])
        for k in range(first, last):
            part, coming = (values, width, block, k), values[known * block :]
            results, best = low[k * block : (k + 1) * block], least_common[k - first]
            behind = results, low_stand_in, hidden, coming, past
            _answer(Least(), *part, lowest, best, suffix, *behind)
            results, best = high[k * block : (k + 1) * block], greatest_common[k - first]
            behind = results, high_stand_in, hidden, suffix, past
            _answer(Greatest(), *part, highest, best, suffix, *behind)
            if known <= more + width // block:
                found |= _learn_both(values, block, known, *learned)
                known += 1
    if past:
        settle_writes()
    return found & NAN
