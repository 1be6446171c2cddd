"""Extrema of long windows of a fixed number of rows, block by block.

::

    blocks of values   | k      | k + 1  |   ...   | q - 1  | q      | q + 1  |
    windows that       [===========================================)
    begin in block k       [===========================================)
                       suffix   [   common to all, M       ]   prefix

All windows that begin in one block have the blocks between in common. Their best is a window over the best
values of whole blocks, a series many times shorter. If neither the block in which the windows begin nor the
two in which they end hold anything better, that is the answer to all of them. Otherwise the scans of
:mod:`rollstat.kernels.extrema.van_herk`, suffixes of the first block and prefixes of the last ones, are done
for this block alone, in vectors.

Blocks are answered in groups, as soon as the values of their windows are known and still in the cache. After
each block that is answered, one block of the next group is read, whose values the cache fetches while the
results are written, so that reading and writing memory overlap.

NaN is no observation; or, under a rule, a sentinel replaces it, and results that equal the sentinel are
written as NaN.

State: scratch memory alone. Invariant: ``total[b]`` is the best of block b, and ``common[k - first]`` that of
the blocks ``k + 1, ..., q - 1``. Cost: one vector operation for each vector of values, and
a few more where the extremum of the windows changes within a block; at most about 12 for each vector.

Source: the scans are those of :mod:`rollstat.kernels.extrema.van_herk`; that the extremum of a window seldom
changes is D. Lemire's observation, arXiv:cs/0610046, section 3.
"""

from typing import NamedTuple

from numpy.typing import NDArray

from rollstat.compile.jit import kernel
from rollstat.compile.simd.vectors import (
    broadcast,
    contains_nan,
    lanes_of,
    load,
    propagate_nan,
    replace_nan,
    unaligned,
    zeros,
)
from rollstat.kernels.extrema import doubling
from rollstat.kernels.extrema.nan_policy import ALL, ANY, HAS_NAN, HAS_SENTINEL, SKIP
from rollstat.kernels.extrema.van_herk import prefixes, suffixes
from rollstat.kernels.missing import counting
from rollstat.kernels.missing.nan_bitmap import record_nan_if
from rollstat.kernels.simd.comparator import best_of, better, missing_of, prefer, where_equal, worst_of
from rollstat.kernels.simd.loops import fill, fill_and_prefetch

__all__ = ["best_in", "growing", "occurs", "rolling", "room_for", "scratch_length", "shrinking", "totals"]

# Blocks of results that are answered together.
_GROUP = 64


class Windows(NamedTuple):
    """Windows ``values[i:i + width]`` in blocks of `block` rows."""

    values: NDArray
    width: int
    block: int


@kernel
def room_for(count, block, lanes):
    """Return the space for one number for each block of `count` values, and for two more."""
    return ((count + block - 1) // block // lanes + 1) * lanes + lanes


def scratch_length(width, rows, block, lanes):
    """Return the length of the scratch memory for `rows` windows of `width` and blocks of `block` values."""
    room = room_for(rows + width - 1, block, lanes)
    return room + _GROUP + doubling.scratch_length(max(width // block, 1), _GROUP, lanes)


@kernel
def occurs(values, value):
    """Return whether `value` is among the values."""
    # A sum of comparisons without an early exit compiles to vector code.
    found = 0
    for i in range(len(values)):
        found += values[i] == value
    return found > 0


@kernel
def best_in(order, values):
    """Return the best of `values`, and whether there may be a NaN."""
    lanes = lanes_of(values)
    # Four accumulators: no comparison waits for the one before.
    one = two = three = four = broadcast(worst_of(order, values))
    first = second = zeros(values)
    i, step = 0, 4 * lanes
    while i + step <= len(values):
        a, b = load(values, i), load(values, i + lanes)
        one, two = prefer(order, a, one), prefer(order, b, two)
        first, second = propagate_nan(first, a), propagate_nan(second, b)
        c, d = load(values, i + 2 * lanes), load(values, i + 3 * lanes)
        three, four = prefer(order, c, three), prefer(order, d, four)
        first, second = propagate_nan(first, c), propagate_nan(second, d)
        i += step
    while i + lanes <= len(values):
        a = load(values, i)
        one, first = prefer(order, a, one), propagate_nan(first, a)
        i += lanes
    vector = prefer(order, prefer(order, one, two), prefer(order, three, four))
    best = doubling.best_lane(order, vector)
    nan = contains_nan(propagate_nan(first, second))
    while i < len(values):
        best = prefer(order, values[i], best)
        nan |= values[i] != values[i]
        i += 1
    return best, nan


@kernel
def totals(order, values, block, total):
    """Write the best of each `block` of values to `total`, and the worst value behind them.

    Returns whether there may be a NaN.
    """
    nan = False
    for b in range(len(total)):
        total[b], found = best_in(order, values[b * block : (b + 1) * block])
        nan |= found
    return nan


@kernel
def _with_sentinel(order, values, best, nan, sentinel):
    """Return the best of `values` where NaN counts as `sentinel`, from the best of the observations."""
    # `nan` may be set by an overflow: the values are searched again.
    decides = nan and sentinel != worst_of(order, values) and counting.has_nan(values)
    return sentinel if decides else best


@kernel
def _found_in(order, values, best, nan, sentinel, rule):
    """Return what was found, `HAS_NAN`, `HAS_SENTINEL` or both, in `values` with this best."""
    confused = best == sentinel if rule == ANY else rule == ALL and occurs(values, sentinel)
    return HAS_NAN * int(nan) + HAS_SENTINEL * int(confused)


@kernel
def _decode_all(sentinel, results):
    """Write NaN to all results that equal the sentinel."""
    missing = missing_of(results)
    for i in range(len(results)):
        results[i] = where_equal(results[i], sentinel, missing, results[i])


@kernel
def _best_of_few(order, values, best, sentinel):
    """Return the best of a few values and of `best`, and what was found."""
    found = 0
    for i in range(len(values)):
        found |= HAS_NAN * int(values[i] != values[i]) + HAS_SENTINEL * int(values[i] == sentinel)
        best = prefer(order, replace_nan(values[i], sentinel), best)
    return best, found


@kernel
def _first_windows(order, values, width, count, out, sentinel, rule):
    """Write the `count` first windows one by one; return what was found."""
    if count == 0:
        return 0
    common = values[count:width]
    best, nan = best_in(order, common)
    found = _found_in(order, common, best, nan, sentinel, rule)
    shared = _with_sentinel(order, common, best, nan, sentinel)
    for i in range(count):
        best, older = _best_of_few(order, values[i:count], shared, sentinel)
        out[i], newer = _best_of_few(order, values[width : i + width], best, sentinel)
        found |= older | newer
    if found & HAS_NAN and rule != SKIP:
        _decode_all(sentinel, out[:count])
    return found


@kernel
def _fill_common(order, total, first, last, between, rest, common, no_words):
    """Write the best of the `between` whole blocks of windows from blocks ``first, ..., last - 1``."""
    if between == 0:
        fill(worst_of(order, total), common)
        return
    inner = total[first + 1 : last + between]
    doubling.rolling(order, inner, between, _GROUP, rest, common[: last - first], SKIP, no_words)


@kernel
def _answer(order, windows, k, total, best, results, sentinel, decode, prefetch_source):
    """Write the windows that begin in block `k`, which have `best` in common, to `results`."""
    values, width, block = windows
    begin, last = k * block, k + width // block
    older, newer = values[begin : begin + block], values[begin + width - 1 :]
    # Can a value of the first block win, or one of the two last blocks?
    first_wins = better(order, total[k], best)
    last_wins = better(order, prefer(order, total[last], total[last + 1]), best)
    if not (first_wins or last_wins):
        decoded = missing_of(results) if decode and best == sentinel else best
        fill_and_prefetch(decoded, results, prefetch_source)
        return
    before = after = best
    if len(results) < block:
        part = older[len(results) :]
        value, has_nan = best_in(order, part)
        after = prefer(order, _with_sentinel(order, part, value, has_nan, sentinel), best)
    if better(order, total[last], best):
        part = values[last * block : begin + width - 1]
        value, has_nan = best_in(order, part)
        before = prefer(order, _with_sentinel(order, part, value, has_nan, sentinel), best)
    older = older[: len(results)]
    if first_wins:
        newer = newer[: len(results) if last_wins else 0]
        suffixes(order, older, after, newer, before, results, sentinel, prefetch_source)
    else:
        prefixes(order, newer, before, results, sentinel, prefetch_source)
    if decode:
        _decode_all(sentinel, results)


@kernel
def _read_block(order, windows, b, total, sentinel, rule):
    """Write the best of block `b` to `total`; return what was found."""
    values = windows.values[b * windows.block : (b + 1) * windows.block]
    best, nan = best_in(order, values)
    total[b] = _with_sentinel(order, values, best, nan, sentinel)
    return _found_in(order, values, best, nan, sentinel, rule)


@kernel
def rolling(order, values, width, block, scratch, out, rule, words):
    """Write the best of every ``values[i:i + width]`` to ``out[i]``.

    Parameters and result are those of :func:`rollstat.kernels.extrema.doubling.rolling`, but windows hold a
    `block` of whole vectors or more, and `scratch` has the length that :func:`scratch_length` gives.
    """
    sentinel = best_of(order, scratch) if rule == ANY else worst_of(order, scratch)
    # So many windows are written one by one that the first block of results begins at a cache line.
    done = min(unaligned(out), len(out))
    found = _first_windows(order, values, width, done, out, sentinel, rule)
    if rule != SKIP and found == HAS_NAN + HAS_SENTINEL:
        return found
    noted = record_nan_if(found, values, 0, done + width - 1 if done else 0, words)
    windows, out = Windows(values[done:], width, block), out[done:]
    blocks = (len(out) + block - 1) // block
    room = room_for(len(windows.values), block, lanes_of(scratch))
    total, common, rest = scratch[:room], scratch[room : room + _GROUP], scratch[room + _GROUP :]
    whole = width // block
    known = 0
    for first in range(0, blocks, _GROUP):
        last, next_last = min(first + _GROUP, blocks), min(first + 2 * _GROUP, blocks)
        while known <= last + whole:
            found |= _read_block(order, windows, known, total, sentinel, rule)
            known += 1
        if rule != SKIP and found == HAS_NAN + HAS_SENTINEL:
            return found
        noted = record_nan_if(found, values, noted, done + known * block, words)
        decode = rule != SKIP and found & HAS_NAN != 0
        _fill_common(order, total, first, last, whole - 1, rest, common, words[:0])
        for k in range(first, last):
            best, results = common[k - first], out[k * block : (k + 1) * block]
            prefetch_source = windows.values[known * block :]
            target = results, sentinel, decode, prefetch_source
            _answer(order, windows, k, total, best, *target)
            if known <= next_last + whole:
                found |= _read_block(order, windows, known, total, sentinel, rule)
                known += 1
    return found & HAS_NAN


@kernel
def growing(order, values, out):
    """Write the best of all but the last ``len(out) - 1`` values to ``out[0]``, ..., of all to ``out[-1]``.

    Returns whether there may have been a NaN.
    """
    known = len(values) - len(out)
    best, nan = best_in(order, values[:known])
    prefixes(order, values[known:], best, out, worst_of(order, values), values)
    return nan or best_in(order, values[known:])[1]


@kernel
def shrinking(order, values, out):
    """Write the best of ``values[i:]`` to ``out[i]``; return whether there may have been a NaN."""
    worst = worst_of(order, values)
    best, nan = best_in(order, values[len(out) :])
    suffixes(order, values[: len(out)], best, values[:0], worst, out, worst, values)
    return nan or best_in(order, values[: len(out)])[1]
