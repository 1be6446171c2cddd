"""Extrema from every row to the end of a block, and from the beginning of the next to every row, in vectors.

::

    rows of a block         a b c d     S[r]  the best of each lane from row r to the last one
                            e f g h     P[r]  the best of each lane from the first row to row r
    from c to the end       S[1] at a and b, S[0] at c and d
    from the first to g     P[0] at h, P[1] at e, f and g

Both are windows as long as a row over the rows of S, or of P, laid end to end: found by doubling, which
leaves the lanes to themselves until then. What is the better of one window of each is a window over the
better of both series.

State: memory for the rows of S. Invariant: S and P hold no NaN, which passes every comparison by or counts as
what stands for it. Cost: for each vector of results a load and an operation for each side, and twice
log2(lanes) operations for both together.

Source: the scans are those of :mod:`rollstat.kernels.extrema.van_herk`, the doubling is that of
:mod:`rollstat.kernels.extrema.doubling`; how they go together is own construction.
"""

from rollstat._jit import kernel
from rollstat.kernels.extrema.doubling import best_lane, doubled
from rollstat.kernels.extrema.nan_policy import NO, YES
from rollstat.kernels.simd.comparator import prefer, worst_of
from rollstat.kernels.simd.fill_copy import put_ahead
from rollstat.kernels.simd.vectors import broadcast, lanes_of, load, replace_nan, store

__all__ = ["running", "suffixes"]


@kernel(forceinline=True)
def _seen(values, i, decides, stand_in):
    """The vector at `i`; NaN is the `stand_in` if that decides."""
    return replace_nan(load(values, i), broadcast(stand_in)) if decides else load(values, i)


@kernel(forceinline=True)
def _after(order, values, before):
    """What is kept of a row `before` the first, see :func:`rollstat.kernels.extrema.doubling.doubled`."""
    worst = broadcast(worst_of(order, values))
    none = worst, worst, worst, worst, worst, worst, worst, worst, worst, worst, worst
    return doubled(order, lanes_of(values), before, none)[1]


@kernel(forceinline=True)
def _rise(order, values, decides, stand_in, best, whole, out, coming, past):
    """Write the windows over P for whole vectors; return the last row of P."""
    kept = _after(order, values, best)
    for i in range(0, whole, lanes_of(values)):
        best = prefer(order, _seen(values, i, decides, stand_in), best)
        window, kept = doubled(order, lanes_of(values), best, kept)
        put_ahead(window, out, i, coming, past)
    return best


@kernel
def running(order, values, before, out, stand_in, coming, past):
    """Write the best of `before` and ``values[:i + 1]`` to ``out[i]``.

    NaN counts as `stand_in`. Whole vectors of `out` are lines of the cache if they are written `past` it.
    Meanwhile the cache fetches as much of what is `coming`, which is any memory that is read next.
    """
    lanes = lanes_of(values)
    whole = len(out) // lanes * lanes
    if stand_in != worst_of(order, values):
        best = _rise(order, values, YES, stand_in, broadcast(before), whole, out, coming, past)
    else:
        best = _rise(order, values, NO, stand_in, broadcast(before), whole, out, coming, past)
    last = best_lane(order, best)
    for i in range(whole, len(out)):
        last = prefer(order, replace_nan(values[i], stand_in), last)
        out[i] = last


@kernel(forceinline=True)
def _fall(order, older, newer, decides, stand_in, last, first, whole, scratch, out, coming, past):
    """Write whole vectors of windows over S, and over P of any newer values; return the last row of P."""
    lanes, rises = lanes_of(older), len(newer) > 0
    best = last
    for i in range(whole - lanes, -1, -lanes):
        best = prefer(order, _seen(older, i, decides, stand_in), best)
        store(best, scratch, i)
    kept = _after(order, older, prefer(order, best, first))
    for i in range(0, whole, lanes):
        best = last
        if i + lanes < whole:
            best = load(scratch, i + lanes)
        if rises:
            first = prefer(order, _seen(newer, i, decides, stand_in), first)
        window, kept = doubled(order, lanes, prefer(order, best, first), kept)
        window = prefer(order, _seen(older, i, decides, stand_in), window)
        put_ahead(window, out, i, coming, past)
    return first


@kernel
def suffixes(order, older, after, newer, before, scratch, out, stand_in, coming, past):
    """Write the best of ``older[i:]``, `after`, `before` and ``newer[:i + 1]`` to ``out[i]``.

    There are as many of the older values as of results, and at least as many of the newer ones, or none.
    `scratch` may be `out` unless that is written `past` the cache. NaN counts, and what is `coming` is
    fetched, as in :func:`running`.
    """
    lanes = lanes_of(older)
    whole = len(out) // lanes * lanes
    for i in range(len(out) - 1, whole - 1, -1):
        after = prefer(order, replace_nan(older[i], stand_in), after)
        out[i] = after
    last, first = broadcast(after), broadcast(before)
    behind = stand_in, last, first, whole, scratch, out, coming, past
    if stand_in != worst_of(order, older):
        first = _fall(order, older, newer, YES, *behind)
    else:
        first = _fall(order, older, newer, NO, *behind)
    before = best_lane(order, first)
    for i in range(whole, len(out)):
        if len(newer) > 0:
            before = prefer(order, replace_nan(newer[i], stand_in), before)
        out[i] = prefer(order, before, out[i])
