"""Extrema of long windows of a fixed number of rows, block by block.

::

    blocks of values   | k      | k + 1  |   ...   | q - 1  | q      | q + 1  |
    windows that       [===========================================)
    begin in block k       [===========================================)
                       suffix   [   common to all, M       ]   running

What all windows that begin in one block share, is a window over the extrema of whole blocks, a series
many times shorter. Where neither the block in which they begin nor those in which they end hold anything
better, that is the answer to all of them. Else the scans of van Herk and of Gil and Werman, suffixes of
the first block and a running extremum of the last ones, are done for this block alone, in vectors. A
group of blocks is answered as soon as what its windows hold is known, while its values are in the cache.

NaN is no observation; or, where it decides every window with it, it counts as the best value that there is,
and is revealed in the results, as the worst is where windows of nothing else give NaN.

State: scratch memory alone. Invariant: ``total[b]`` is the best of block b, and ``common[k]`` of the
blocks ``k + 1, ..., q - 1``. Cost: one vector operation for each vector of values and a few more where
the extremum of the windows changes within a block; at most about 12 for each vector of values.

Source: as block_scan; that a window's extremum seldom changes is D. Lemire's observation,
arXiv:cs/0610046, section 3.
"""

from rollstat._jit import kernel
from rollstat.kernels import doubling
from rollstat.kernels.counting import has_nan
from rollstat.kernels.doubling import best_lane
from rollstat.kernels.doubling_places import occurs
from rollstat.kernels.missing_bits import note_if
from rollstat.kernels.monotone_runs import answer, trend
from rollstat.kernels.nan_rules import ALL, ANY, NAN, NO, PASS, STAND_IN
from rollstat.kernels.order import (
    Greatest,
    Least,
    Oldest,
    admit,
    best_of,
    better,
    missing_of,
    prefer,
    where_equal,
    worst_of,
)
from rollstat.kernels.plain_loops import copy, fill
from rollstat.kernels.vectors import (
    absorb_nan,
    broadcast,
    first_lane,
    holds_nan,
    lanes_of,
    load,
    prefetch,
    pull_forward,
    push_back,
    spread,
    store,
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


@kernel(references=False)
def room_for(count, block, lanes):
    """Space for what is known of each block of `count` values, and of two more."""
    return ((count + block - 1) // block // lanes + 1) * lanes + lanes


def scratch_length(width, rows, block, lanes):
    """Length of the scratch memory for `rows` windows of `width` and blocks of `block` values."""
    room = room_for(rows + width - 1, block, lanes)
    return room + _GROUP + doubling.scratch_length(width // block, _GROUP, lanes)


@kernel(references=False)
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
        first, second = absorb_nan(absorb_nan(first, a), b), absorb_nan(absorb_nan(second, c), d)
        i += 4 * lanes
    while i + lanes <= len(values):
        a = load(values, i)
        one, first = prefer(order, a, one), absorb_nan(first, a)
        i += lanes
    best = prefer(order, prefer(order, one, two), prefer(order, three, four))
    value = best_lane(order, best)
    nan = holds_nan(absorb_nan(first, second))
    while i < len(values):
        value = prefer(order, values[i], value)
        nan |= values[i] != values[i]
        i += 1
    return value, nan


@kernel(references=False)
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
        first, second = absorb_nan(first, a), absorb_nan(second, b)
        i += 2 * lanes
    least = best_lane(Least(), prefer(Least(), low, low_next))
    greatest = best_lane(Greatest(), prefer(Greatest(), high, high_next))
    nan = holds_nan(absorb_nan(first, second))
    while i < len(values):
        least, greatest = prefer(Least(), values[i], least), prefer(Greatest(), values[i], greatest)
        nan |= values[i] != values[i]
        i += 1
    return least, greatest, nan


@kernel(references=False)
def totals(order, values, block, total):
    """Write the best of each `block` of values to `total`, and behind them the value that never wins.

    Returns whether there may be a NaN.
    """
    nan = False
    for b in range(len(total)):
        total[b], seen = best_in(order, values[b * block : (b + 1) * block])
        nan |= seen
    return nan


@kernel(references=False)
def _best_with(order, values, stand_in, rule):
    """The best of `values` where NaN counts as `stand_in`, and what was found: `NAN`, `STAND_IN` or both."""
    best, seen = best_in(order, values)
    return _settled(order, values, best, seen, stand_in, rule)


@kernel(references=False)
def _settled(order, values, best, seen, stand_in, rule):
    """As :func:`_best_with`, where the best is known, and whether there may be a NaN."""
    confused = best == stand_in if rule == ANY else rule == ALL and occurs(values, stand_in)
    found = NAN * int(seen) + STAND_IN * int(confused)
    # A sum of values that is NaN may be an overflow.
    decides = seen and stand_in != worst_of(order, values) and has_nan(values)
    return stand_in if decides else best, found


@kernel(references=False)
def _suffixes(order, values, common, out, stand_in):
    """Write the best of `common` and ``values[i:]`` to ``out[i]``; `out` may be the shorter.

    NaN counts as `stand_in`.
    """
    lanes = lanes_of(values)
    worst, instead = broadcast(worst_of(order, values)), broadcast(stand_in)
    best = common
    if len(values) > len(out):
        best = prefer(order, _best_with(order, values[len(out) :], stand_in, PASS)[0], best)
    whole = len(out) // lanes * lanes
    for i in range(len(out) - 1, whole - 1, -1):
        best = prefer(order, admit(values[i], stand_in), best)
        out[i] = best
    carried = broadcast(best)
    for i in range(whole - lanes, -1, -lanes):
        tail = admit(load(values, i), instead)
        tail = prefer(order, tail, pull_forward(tail, worst, 1))
        tail = prefer(order, tail, pull_forward(tail, worst, 2))
        tail = prefer(order, tail, pull_forward(tail, worst, 4))
        if lanes > 8:
            tail = prefer(order, tail, pull_forward(tail, worst, 8))
        if lanes > 16:
            tail = prefer(order, tail, pull_forward(tail, worst, 16))
            tail = prefer(order, tail, pull_forward(tail, worst, 32))
        store(prefer(order, tail, carried), out, i)
        carried = prefer(order, carried, spread(tail, 0))


@kernel(references=False)
def _running(order, values, best, out, stand_in, merge):
    """Write the best of `best` and ``values[:i + 1]`` to ``out[i]``, or `merge` it into what is there.

    NaN counts as `stand_in`.
    """
    lanes = lanes_of(values)
    worst, instead = broadcast(worst_of(order, values)), broadcast(stand_in)
    whole = len(out) // lanes * lanes
    carried = broadcast(best)
    for i in range(0, whole, lanes):
        head = admit(load(values, i), instead)
        head = prefer(order, head, push_back(worst, head, 1))
        head = prefer(order, head, push_back(worst, head, 2))
        head = prefer(order, head, push_back(worst, head, 4))
        if lanes > 8:
            head = prefer(order, head, push_back(worst, head, 8))
        if lanes > 16:
            head = prefer(order, head, push_back(worst, head, 16))
            head = prefer(order, head, push_back(worst, head, 32))
        result = prefer(order, head, carried)
        if merge:
            result = prefer(order, result, load(out, i))
        store(result, out, i)
        carried = prefer(order, carried, spread(head, -1))
    best = first_lane(carried)
    for i in range(whole, len(out)):
        best = prefer(order, admit(values[i], stand_in), best)
        out[i] = prefer(order, best, out[i]) if merge else best


@kernel(references=False)
def growing(order, values, out):
    """Write the best of all of `values` but the last ones to ``out[0]``, ..., of all of them to ``out[-1]``.

    Returns whether there may have been a NaN.
    """
    known = len(values) - len(out)
    best, missing = best_in(order, values[:known])
    _running(order, values[known:], best, out, worst_of(order, values), NO)
    return missing or best_in(order, values[known:])[1]


@kernel(references=False)
def shrinking(order, values, out):
    """Write the best of ``values[i:]`` to ``out[i]``; return whether there may have been a NaN."""
    _suffixes(order, values, worst_of(order, values), out, worst_of(order, values))
    return best_in(order, values)[1]


@kernel(references=False)
def _answer(order, values, width, block, k, total, best, results, stand_in, hidden):
    """Write the windows that begin in block `k`, of which `best` is common to all, to `results`.

    NaN counts as `stand_in`, and is to be seen in the results if it is `hidden` in what is known.
    """
    for i in range(0, len(results), lanes_of(results)):
        prefetch(results, i)
    begin, last = k * block, k + width // block
    suffix = better(order, total[k], best)
    running = better(order, prefer(order, total[last], total[last + 1]), best)
    if hidden and best == stand_in and not (suffix or running):
        fill(missing_of(results), results)
        return
    if running and not suffix:
        newest = begin + width - 1
        seen = values[min(last * block, newest) : newest + len(results)]
        if trend(order, Oldest(), seen) < 0 and not better(order, best, seen[0]):
            copy(values[newest:], results)
            return
    if suffix:
        seen = values[begin : begin + block]
        if trend(order, Oldest(), seen) > 0 and not better(order, best, seen[-1]):
            copy(seen, results)
        else:
            _suffixes(order, seen, best, results, stand_in)
    elif not running:
        fill(best, results)
    if running:
        before = best
        if better(order, total[last], best):
            inside = values[last * block : begin + width]
            before = prefer(order, _best_with(order, inside, stand_in, PASS)[0], best)
        _running(order, values[begin + width - 1 :], before, results, stand_in, suffix)
    if hidden and (suffix or running):
        _reveal_all(stand_in, results)


@kernel(references=False)
def _reveal_all(hidden, results):
    """Write NaN where there is what it is `hidden` in."""
    missing = missing_of(results)
    for i in range(len(results)):
        results[i] = where_equal(results[i], hidden, missing, results[i])


@kernel(references=False)
def _take(order, values, best, stand_in):
    """The best of a few values and of `best`, and what was found, as :func:`_best_with`."""
    found = 0
    for i in range(len(values)):
        found |= NAN * int(values[i] != values[i]) + STAND_IN * int(values[i] == stand_in)
        best = prefer(order, admit(values[i], stand_in), best)
    return best, found


@kernel(references=False)
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


@kernel(references=False)
def _learn(order, values, block, first, last, total, stand_in, rule):
    """Write the best of blocks ``first, ..., last - 1`` to `total`; return what was found."""
    found = 0
    for b in range(first, last):
        total[b], here = _best_with(order, values[b * block : (b + 1) * block], stand_in, rule)
        found |= here
    return found


@kernel(references=False)
def _answer_group(order, values, width, block, first, last, total, common, rest, out, none, stand_in, hidden):
    """Write the windows that begin in blocks ``first, ..., last - 1``, of which all is known."""
    between = width // block - 1
    inner, shared = total[first + 1 : last + between], common[: last - first]
    doubling.rolling(order, inner, between, _GROUP, rest, shared, PASS, none)
    for k in range(first, last):
        results = out[k * block : (k + 1) * block]
        _answer(order, values, width, block, k, total, shared[k - first], results, stand_in, hidden)


@kernel(references=False)
def rolling(order, values, width, block, scratch, out, rule, words):
    """Write the best of every ``values[i:i + width]`` to ``out[i]``.

    As :func:`rollstat.kernels.doubling.rolling` says. Windows hold two blocks or more; `scratch` has the
    length that :func:`scratch_length` gives.
    """
    done = answer(order, Oldest(), values, width, 0, out[:0], out, out[:0])
    if done == len(out):
        return 0
    stand_in = best_of(order, scratch) if rule == ANY else worst_of(order, scratch)
    lead = min(unaligned(out[done:]), len(out) - done)
    found = _lead(order, values[done:], width, lead, out[done:], stand_in, rule)
    if rule != PASS and found == NAN + STAND_IN:
        return found
    noted = note_if(found, values, 0, done + lead + width - 1 if lead else 0, words)
    seen, values, out = values, values[done + lead :], out[done + lead :]
    rows, room = (len(out) + block - 1) // block, room_for(len(values), block, lanes_of(scratch))
    total, common, rest = scratch[:room], scratch[room : room + _GROUP], scratch[room + _GROUP :]
    known = 0
    for first in range(0, rows, _GROUP):
        last = min(first + _GROUP, rows)
        found |= _learn(order, values, block, known, last + width // block + 1, total, stand_in, rule)
        known = last + width // block + 1
        if rule != PASS and found == NAN + STAND_IN:
            return found
        noted = note_if(found, seen, noted, done + lead + known * block, words)
        hidden = rule != PASS and found & NAN != 0
        part, missing = (values, width, block, first, last), (words[:0], stand_in, hidden)
        _answer_group(order, *part, total, common, rest, out, *missing)
    return found & NAN


@kernel(references=False)
def rolling_both(values, width, block, scratch, low, high, rule, words):
    """As :func:`rolling`, both extrema in one pass; `scratch` is twice as long."""
    done = answer(Least(), Oldest(), values, width, 0, low[:0], low, high)
    if done == len(low):
        return 0
    least, greatest = best_of(Least(), scratch), best_of(Greatest(), scratch)
    low_stand_in, high_stand_in = (least, greatest) if rule == ANY else (greatest, least)
    lead = min(unaligned(low[done:]), len(low) - done)
    found = _lead(Least(), values[done:], width, lead, low[done:], low_stand_in, rule)
    found |= _lead(Greatest(), values[done:], width, lead, high[done:], high_stand_in, rule)
    if rule != PASS and found == NAN + STAND_IN:
        return found
    noted = note_if(found, values, 0, done + lead + width - 1 if lead else 0, words)
    seen, values, low, high = values, values[done + lead :], low[done + lead :], high[done + lead :]
    rows, room = (len(low) + block - 1) // block, room_for(len(values), block, lanes_of(scratch))
    lowest, highest, rest = scratch[:room], scratch[room : 2 * room], scratch[2 * room :]
    common, rest = rest[:_GROUP], rest[_GROUP:]
    known = 0
    for first in range(0, rows, _GROUP):
        last = min(first + _GROUP, rows)
        for b in range(known, last + width // block + 1):
            part = values[b * block : (b + 1) * block]
            least, greatest, nan = _both_in(part)
            lowest[b], here = _settled(Least(), part, least, nan, low_stand_in, rule)
            highest[b], there = _settled(Greatest(), part, greatest, nan, high_stand_in, rule)
            found |= here | there
        known = last + width // block + 1
        if rule != PASS and found == NAN + STAND_IN:
            return found
        noted = note_if(found, seen, noted, done + lead + known * block, words)
        hidden = rule != PASS and found & NAN != 0
        part = values, width, block, first, last
        _answer_group(Least(), *part, lowest, common, rest, low, words[:0], low_stand_in, hidden)
        _answer_group(Greatest(), *part, highest, common, rest, high, words[:0], high_stand_in, hidden)
    return found & NAN
