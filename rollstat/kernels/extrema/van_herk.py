"""Van Herk's and Gil and Werman's scans: windows as a suffix of one block and a prefix of the next.

::

    values    . . a b c d | e f g h .
              best of each | best of each
              tail of the  | head of the
              left block   | right block
                [-------------)        answer = better of a suffix and a prefix

    rows of a block         a b c d     S[r]  the best of each lane from row r to the last row
                            e f g h     P[r]  the best of each lane from the first row to row r
    from c to the end       S[1] at a and b, S[0] at c and d
    from the first to g     P[0] at h, P[1] at e, f and g

`prefixes` and `suffixes` compute the two scans of whole blocks in vectors: a row is one vector, S and P need
no shifts, and both scans are windows as long as a row over the rows of S, or of P, laid end to end, which
doubling finds. The better of a suffix and a prefix is a window over the better of both series, so one
doubling serves the two.

State: S of the older block, or the last row of P. Invariant: S and P hold no NaN. Cost: for each vector of
results a load and an operation for each scan, and twice log2(lanes) operations for both together.

Source: M. van Herk, A fast algorithm for local minimum and maximum filters on rectangular and octagonal
kernels, Pattern Recognition Letters 13 (1992) 517-521, doi:10.1016/0167-8655(92)90069-C; J. Gil and
M. Werman, Computing 2-D min, median, and max filters, IEEE TPAMI 15 (1993) 504-507,
doi:10.1109/34.211471. The doubling is that of :mod:`rollstat.kernels.extrema.doubling`; the combination is
own construction.
"""

from rollstat.compile.jit import kernel
from rollstat.compile.simd.vectors import broadcast, lanes_of, load, replace_nan, store
from rollstat.kernels.extrema.doubling import best_lane, doubled
from rollstat.kernels.extrema.nan_policy import NO, YES
from rollstat.kernels.simd.comparator import prefer, worst_of
from rollstat.kernels.simd.loops import store_and_prefetch

__all__ = ["prefixes", "suffixes"]


@kernel(forceinline=True)
def _observed(values, i, replaces, sentinel):
    """Return the vector at `i`, in which the sentinel replaces NaN if requested."""
    return replace_nan(load(values, i), broadcast(sentinel)) if replaces else load(values, i)


@kernel(forceinline=True)
def _kept_after(order, values, before):
    """Return what doubling keeps of a row `before` the first, see `doubled`."""
    worst = broadcast(worst_of(order, values))
    none = worst, worst, worst, worst, worst, worst, worst, worst, worst, worst, worst
    return doubled(order, lanes_of(values), before, none)[1]


@kernel(forceinline=True)
def _prefix_vectors(order, values, replaces, sentinel, best, whole, out, prefetch_source):
    """Write the windows over P for whole vectors; return the last row of P."""
    kept = _kept_after(order, values, best)
    for i in range(0, whole, lanes_of(values)):
        best = prefer(order, _observed(values, i, replaces, sentinel), best)
        window, kept = doubled(order, lanes_of(values), best, kept)
        store_and_prefetch(window, out, i, prefetch_source)
    return best


@kernel
def prefixes(order, values, before, out, sentinel, prefetch_source):
    """Write the best of `before` and ``values[:i + 1]`` to ``out[i]``.

    NaN counts as `sentinel`. Meanwhile the cache fetches as many elements of `prefetch_source`, any memory
    that is read next.
    """
    lanes = lanes_of(values)
    whole = len(out) // lanes * lanes
    # Comparisons drop a NaN by themselves: only a sentinel that wins has to replace it.
    rest = sentinel, broadcast(before), whole, out, prefetch_source
    if sentinel != worst_of(order, values):
        best = _prefix_vectors(order, values, YES, *rest)
    else:
        best = _prefix_vectors(order, values, NO, *rest)
    last = best_lane(order, best)
    for i in range(whole, len(out)):
        last = prefer(order, replace_nan(values[i], sentinel), last)
        out[i] = last


@kernel(forceinline=True)
def _suffix_vectors(order, older, newer, replaces, sentinel, last, first, whole, out, prefetch_source):
    """Write whole vectors of windows over S, and over P of any newer values; return the last row of P."""
    lanes, with_prefixes = lanes_of(older), len(newer) > 0
    best = last
    # S is kept in `out`: a row of it is read before its results are written.
    for i in range(whole - lanes, -1, -lanes):
        best = prefer(order, _observed(older, i, replaces, sentinel), best)
        store(best, out, i)
    kept = _kept_after(order, older, prefer(order, best, first))
    for i in range(0, whole, lanes):
        best = last
        if i + lanes < whole:
            best = load(out, i + lanes)
        if with_prefixes:
            first = prefer(order, _observed(newer, i, replaces, sentinel), first)
        window, kept = doubled(order, lanes, prefer(order, best, first), kept)
        window = prefer(order, _observed(older, i, replaces, sentinel), window)
        store_and_prefetch(window, out, i, prefetch_source)
    return first


@kernel
def suffixes(order, older, after, newer, before, out, sentinel, prefetch_source):
    """Write the best of ``older[i:]``, `after`, `before` and ``newer[:i + 1]`` to ``out[i]``.

    There are as many older values as results, and at least as many newer values, or none. The last two
    parameters are as in :func:`prefixes`.
    """
    lanes = lanes_of(older)
    whole = len(out) // lanes * lanes
    for i in range(len(out) - 1, whole - 1, -1):
        after = prefer(order, replace_nan(older[i], sentinel), after)
        out[i] = after
    rest = sentinel, broadcast(after), broadcast(before), whole, out, prefetch_source
    if sentinel != worst_of(order, older):
        first = _suffix_vectors(order, older, newer, YES, *rest)
    else:
        first = _suffix_vectors(order, older, newer, NO, *rest)
    before = best_lane(order, first)
    for i in range(whole, len(out)):
        if len(newer) > 0:
            before = prefer(order, replace_nan(newer[i], sentinel), before)
        out[i] = prefer(order, before, out[i])
