"""Extrema of long windows of a fixed number of rows, block by block.

::

    blocks of values   | k      | k + 1  |   ...   | q - 1  | q      | q + 1  |
    windows that       [===========================================)
    begin in block k       [===========================================)
                       suffix   [   common to all, M       ]   running

What all windows that begin in one block share, is a window over the extrema of whole blocks, a series
many times shorter. Where neither the block in which they begin nor those in which they end hold anything
better, that is the answer to all of them. Else the scans of van Herk and of Gil and Werman, suffixes of
the first block and a running extremum of the last ones, are done for this block alone, in vectors.

State: scratch memory alone. Invariant: ``total[b]`` is the best of block b, and ``common[k]`` of the
blocks ``k + 1, ..., q - 1``. Cost: one vector operation for each vector of values and a few more where
the extremum of the windows changes within a block; at most about 12 for each vector of values.

Source: as block_scan; that a window's extremum seldom changes is D. Lemire's observation,
arXiv:cs/0610046, section 3.
"""

from rollstat._jit import kernel
from rollstat.kernels import doubling
from rollstat.kernels.monotone_runs import trend
from rollstat.kernels.order import Greatest, Least, Oldest, better, prefer, worst_of
from rollstat.kernels.vectors import (
    absorb_nan,
    broadcast,
    first_lane,
    holds_nan,
    lanes_of,
    load,
    pull_forward,
    push_back,
    spread,
    store,
    unaligned,
    zeros,
)

__all__ = [
    "best_in",
    "fill",
    "growing",
    "rolling",
    "rolling_both",
    "room_for",
    "scratch_length",
    "shrinking",
    "totals",
]


@kernel(references=False)
def room_for(count, block, lanes):
    """Space for what is known of each block of `count` values, and of two more."""
    return ((count + block - 1) // block // lanes + 1) * lanes + lanes


def scratch_length(width, rows, block, lanes):
    """Length of the scratch memory for `rows` windows of `width` and blocks of `block` values."""
    count = rows + width - 1
    blocks = count // block + 1
    return 2 * room_for(count, block, lanes) + doubling.scratch_length(width // block, blocks, lanes)


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
    best = prefer(order, best, push_back(best, best, 32))
    best = prefer(order, best, push_back(best, best, 16))
    best = prefer(order, best, push_back(best, best, 8))
    best = prefer(order, best, push_back(best, best, 4))
    best = prefer(order, best, push_back(best, best, 2))
    value = first_lane(prefer(order, best, push_back(best, best, 1)))
    nan = holds_nan(absorb_nan(first, second))
    while i < len(values):
        value = prefer(order, values[i], value)
        nan |= values[i] != values[i]
        i += 1
    return value, nan


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
def fill(value, out):
    """Write `value` everywhere."""
    for i in range(len(out)):
        out[i] = value


@kernel(references=False)
def _copy(values, out):
    """Write the first of `values` to the whole of `out`."""
    for i in range(len(out)):
        out[i] = values[i]


@kernel(references=False)
def _suffixes(order, values, common, out):
    """Write the best of `common` and ``values[i:]`` to ``out[i]``; `out` may be the shorter."""
    lanes = lanes_of(values)
    worst = broadcast(worst_of(order, values))
    best = prefer(order, best_in(order, values[len(out) :])[0], common)
    whole = len(out) // lanes * lanes
    for i in range(len(out) - 1, whole - 1, -1):
        best = prefer(order, values[i], best)
        out[i] = best
    carried = broadcast(best)
    for i in range(whole - lanes, -1, -lanes):
        tail = prefer(order, load(values, i), worst)
        tail = prefer(order, tail, pull_forward(tail, worst, 1))
        tail = prefer(order, tail, pull_forward(tail, worst, 2))
        tail = prefer(order, tail, pull_forward(tail, worst, 4))
        tail = prefer(order, tail, pull_forward(tail, worst, 8))
        tail = prefer(order, tail, pull_forward(tail, worst, 16))
        tail = prefer(order, tail, pull_forward(tail, worst, 32))
        store(prefer(order, tail, carried), out, i)
        carried = prefer(order, carried, spread(tail, 0))


@kernel(references=False)
def _running(order, values, best, out):
    """Take `best` and ``values[:i + 1]`` into ``out[i]``."""
    lanes = lanes_of(values)
    worst = broadcast(worst_of(order, values))
    whole = len(out) // lanes * lanes
    carried = broadcast(best)
    for i in range(0, whole, lanes):
        head = prefer(order, load(values, i), worst)
        head = prefer(order, head, push_back(worst, head, 1))
        head = prefer(order, head, push_back(worst, head, 2))
        head = prefer(order, head, push_back(worst, head, 4))
        head = prefer(order, head, push_back(worst, head, 8))
        head = prefer(order, head, push_back(worst, head, 16))
        head = prefer(order, head, push_back(worst, head, 32))
        result = prefer(order, prefer(order, head, carried), load(out, i))
        store(result, out, i)
        carried = prefer(order, carried, spread(head, -1))
    best = first_lane(carried)
    for i in range(whole, len(out)):
        best = prefer(order, values[i], best)
        out[i] = prefer(order, best, out[i])


@kernel(references=False)
def growing(order, values, out):
    """Write the best of all of `values` but the last ones to ``out[0]``, ..., of all of them to ``out[-1]``.

    Returns whether there may have been a NaN.
    """
    known = len(values) - len(out)
    best, missing = best_in(order, values[:known])
    fill(best, out)
    _running(order, values[known:], best, out)
    return missing or best_in(order, values[known:])[1]


@kernel(references=False)
def shrinking(order, values, out):
    """Write the best of ``values[i:]`` to ``out[i]``; return whether there may have been a NaN."""
    _suffixes(order, values, worst_of(order, values), out)
    return best_in(order, values)[1]


@kernel(references=False)
def _common(order, values, width, block, rows, scratch):
    """What windows that begin in one block share, for so many `rows` of blocks, in scratch memory.

    The memory begins with the best of each block. Returns that and what is common.
    """
    lanes = lanes_of(scratch)
    room = room_for(len(values), block, lanes)
    total, common, rest = scratch[:room], scratch[room : 2 * room], scratch[2 * room :]
    between = width // block - 1
    doubling.rolling(order, total[1 : rows + between], between, rows, rest, common[:rows])
    return total, common


@kernel(references=False)
def _answer(order, values, width, block, k, total, best, results):
    """Write the windows that begin in block `k`, of which `best` is common to all, to `results`."""
    begin, last = k * block, k + width // block
    suffix = better(order, total[k], best)
    running = better(order, prefer(order, total[last], total[last + 1]), best)
    if running and not suffix:
        newest = begin + width - 1
        seen = values[min(last * block, newest) : newest + len(results)]
        if trend(order, Oldest(), seen) < 0 and not better(order, best, seen[0]):
            _copy(values[newest:], results)
            return
    if suffix:
        seen = values[begin : begin + block]
        if trend(order, Oldest(), seen) > 0 and not better(order, best, seen[-1]):
            _copy(seen, results)
        else:
            _suffixes(order, seen, best, results)
    else:
        fill(best, results)
    if running:
        before = best_in(order, values[last * block : begin + width])[0]
        _running(order, values[begin + width - 1 :], before, results)


@kernel(references=False)
def _lead(order, values, width, lead, out):
    """Write the few first windows one by one; return whether there may be a NaN."""
    shared, nan = best_in(order, values[lead:width])
    for i in range(lead):
        best = shared
        for j in range(i, lead):
            best = prefer(order, values[j], best)
            nan |= values[j] != values[j]
        for j in range(width, i + width):
            best = prefer(order, values[j], best)
        out[i] = best
    return nan


@kernel(references=False)
def rolling(order, values, width, block, scratch, out):
    """Write the best of every ``values[i:i + width]`` to ``out[i]``, the worst value where there is none.

    NaN is no observation. Windows hold two blocks or more; `scratch` has the length that
    :func:`scratch_length` gives. Returns whether there may have been a NaN.
    """
    way = trend(order, Oldest(), values)
    if way != 0:
        _copy(values if way > 0 else values[width - 1 :], out)
        return False
    lead = min(unaligned(out), len(out))
    nan = _lead(order, values, width, lead, out)
    values, out = values[lead:], out[lead:]
    rows = (len(out) + block - 1) // block
    nan |= totals(order, values, block, scratch[: room_for(len(values), block, lanes_of(scratch))])
    total, common = _common(order, values, width, block, rows, scratch)
    for k in range(rows):
        results = out[k * block : (k + 1) * block]
        _answer(order, values, width, block, k, total, common[k], results)
    return nan


@kernel(references=False)
def rolling_both(values, width, block, scratch, low, high):
    """As :func:`rolling`, both extrema in one pass; `scratch` is twice as long."""
    lead = min(unaligned(low), len(low))
    nan = _lead(Least(), values, width, lead, low)
    _lead(Greatest(), values, width, lead, high)
    values, low, high = values[lead:], low[lead:], high[lead:]
    rows = (len(low) + block - 1) // block
    lanes = lanes_of(scratch)
    one, two = scratch[: len(scratch) // 2], scratch[len(scratch) // 2 :]
    for b in range(room_for(len(values), block, lanes)):
        seen = values[b * block : (b + 1) * block]
        one[b], missing = best_in(Least(), seen)
        two[b] = best_in(Greatest(), seen)[0]
        nan |= missing
    lowest, common_low = _common(Least(), values, width, block, rows, one)
    highest, common_high = _common(Greatest(), values, width, block, rows, two)
    for k in range(rows):
        begin, end = k * block, (k + 1) * block
        _answer(Least(), values, width, block, k, lowest, common_low[k], low[begin:end])
        _answer(Greatest(), values, width, block, k, highest, common_high[k], high[begin:end])
    return nan
