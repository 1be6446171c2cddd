"""Extrema of a few rows, and their positions: every window reads each of its rows.

::

    values               5  3  8  1  7  ...
    one row later        3  8  1  7         the best of each lane is one window; a vector of windows
    two rows later       8  1  7            is done at once

Windows so short need no scratch memory. The time is about that of reading the values and writing the
results.

State: none. Invariant: the windows before ``first`` are written. Cost: for each vector of windows one load
for each row of a window, and one operation for each of them. The kernel searches for
NaN; once it finds one, it computes that chunk again, with the sentinel in place of NaN from there on.

Source: own construction.
"""

from rollstat.compile.jit import kernel
from rollstat.compile.simd.vectors import (
    broadcast,
    channels_of,
    contains,
    contains_nan,
    lanes_of,
    load,
    propagate_nan,
    replace_nan,
    stack_channels,
    store,
    unaligned,
    zeros,
)
from rollstat.kernels.extrema.nan_policy import (
    ANY,
    HAS_NAN,
    HAS_SENTINEL,
    MAY_HAVE_NAN,
    NO,
    SKIP,
    UNCHECKED,
    Nan,
)
from rollstat.kernels.missing.nan_bitmap import record_nan_if
from rollstat.kernels.simd.comparator import best_of, missing_of, prefer, where_equal, worst_of

__all__ = ["FEW", "positions", "rolling"]

# The longest window that is read row by row.
FEW = 5


@kernel(forceinline=True)
def _write(order, values, width, first, last, out, nan):
    """Write windows ``first, ..., last - 1``, and some before them if these do not fill a vector."""
    lanes = lanes_of(values)
    sentinel, missing = broadcast(nan.sentinel), broadcast(missing_of(values))
    has_nan = zeros(values)
    found = has_nan
    prefix = unaligned(out[first:])
    i, step = first, prefix if prefix > 0 else lanes
    while i < last:
        i = min(i, last - lanes)
        oldest, newest = load(values, i), load(values, i + width - 1)
        # The oldest and the newest rows of all windows together are all values.
        has_nan = propagate_nan(propagate_nan(has_nan, oldest), newest)
        best = oldest
        if nan.mode == MAY_HAVE_NAN:
            found = where_equal(oldest, sentinel, oldest, found)
            found = where_equal(newest, sentinel, newest, found)
            best = replace_nan(best, sentinel)
        # A constant number of steps lets the compiler unroll them.
        for j in (1, 2, 3, 4):
            if j < width:
                newer = load(values, i + j)
                if nan.mode == MAY_HAVE_NAN:
                    newer = replace_nan(newer, sentinel)
                best = prefer(order, newer, best)
        if nan.decode:
            best = where_equal(best, sentinel, missing, best)
        store(best, out, i)
        i, step = i + step, lanes
    confused = nan.mode == MAY_HAVE_NAN and contains(found, nan.sentinel)
    return HAS_NAN * int(contains_nan(has_nan)) + HAS_SENTINEL * int(confused)


@kernel
def rolling(order, values, width, chunk, out, rule, words):
    """As `rolling` of :mod:`rollstat.kernels.extrema.doubling`; `out` has at least one vector of rows."""
    sentinel = best_of(order, values) if rule == ANY else worst_of(order, values)
    found = first = noted = 0
    rows, lanes = len(out), lanes_of(values)
    chunk = max(chunk // lanes, 1) * lanes
    last = unaligned(out)  # later chunks begin at a cache line, so that none is written twice
    while first < rows:
        last = min(last + chunk, rows)
        if not found & HAS_NAN:
            found |= _write(order, values, width, first, last, out, Nan(UNCHECKED, sentinel, NO))
        if found & HAS_NAN:
            nan = Nan(MAY_HAVE_NAN, sentinel, rule != SKIP)
            found |= _write(order, values, width, first, last, out, nan)
        if rule != SKIP and found == HAS_NAN + HAS_SENTINEL:
            return found
        noted = record_nan_if(found, values, noted, last + width - 1, words)
        first = last
    return found & HAS_NAN


@kernel
def positions(order, values, numbers, width, out):
    """Write the position of the best of every window, of at least one vector of windows.

    `order` is an :class:`~rollstat.kernels.simd.comparator.Arg`. `numbers` holds the row of each value. Like
    `out`, it has the dtype of the values, and its bits are those of the integers. Returns whether there may
    be a NaN, and whether some window has no better value than the worst one.
    """
    lanes = lanes_of(values)
    never = worst_of(order.order, values)
    worst = broadcast(never)
    has_nan, empty = zeros(values), zeros(values)
    i = 0
    while i < len(out):
        i = min(i, len(out) - lanes)
        oldest = load(values, i)
        has_nan = propagate_nan(propagate_nan(has_nan, oldest), load(values, i + width - 1))
        best = stack_channels((prefer(order.order, oldest, worst), load(numbers, i)))
        for j in (1, 2, 3, 4):
            if j < width:
                newer = prefer(order.order, load(values, i + j), worst), load(numbers, i + j)
                best = prefer(order, stack_channels(newer), best)
        value, position = channels_of(best)
        empty = where_equal(value, worst, value, empty)
        store(position, out, i)
        i += lanes
    return contains_nan(has_nan), contains(empty, never)
