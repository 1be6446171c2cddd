"""Extrema of a few rows: each value is read where each of its rows is.

::

    values               5  3  8  1  7  ...
    the same, one on     3  8  1  7         the better of each lane, at once for a vector of windows
    and one more         8  1  7

That needs no memory but the values and the results, and takes about the time in which they are read and
written; for both extrema each value is still read once.

State: none. Invariant: the windows before ``first`` are written. Cost: for each vector of windows a load for
each row of it, and an operation for each result. NaN is looked for, and counts as the best or the worst value
in what follows, and in its chunk once more.

Source: own construction.
"""

from rollstat._jit import kernel
from rollstat.kernels.extrema.nan_policy import ANY, CAREFUL, HOPEFUL, NAN, NO, PASS, STAND_IN, YES
from rollstat.kernels.missing.nan_bitmap import record_nan_if
from rollstat.kernels.simd.comparator import (
    Least,
    best_of,
    missing_of,
    prefer,
    reject,
    where_equal,
    worst_of,
)
from rollstat.kernels.simd.fill_copy import stand_alike
from rollstat.kernels.simd.vectors import (
    broadcast,
    contains,
    contains_nan,
    lanes_of,
    load,
    propagate_nan,
    put,
    replace_nan,
    settle_writes,
    unaligned,
    zeros,
)

__all__ = ["FEW", "rolling", "rolling_both"]

# Windows of so many rows are few.
FEW = 5


@kernel(forceinline=True)
def _write(order, both, values, width, first, last, out, other, look, stand_in, inverse, hidden, past):
    """Write the windows that begin at ``first, ..., last - 1``, and some before if they fill no vector.

    The best of each goes to `out`, where NaN counts as `stand_in`; if `both` are wanted, the best by the
    other order goes to `other`, where it counts as the `inverse`. If it is `hidden` there, it is revealed.
    """
    lanes = lanes_of(values)
    instead, inverted, missing = broadcast(stand_in), broadcast(inverse), broadcast(missing_of(values))
    nan, found, found_too = zeros(values), zeros(values), zeros(values)
    aligned = unaligned(out[first:])
    i, step = first, aligned if aligned > 0 else lanes
    while i < last:
        i = min(i, last - lanes)
        best = opposite = load(values, i)
        later = load(values, i + width - 1)  # with the first rows, these are all values
        nan = propagate_nan(propagate_nan(nan, best), later)
        if look == CAREFUL:
            found = where_equal(later, instead, later, where_equal(best, instead, best, found))
            if both:
                found_too = where_equal(best, inverted, best, found_too)
                found_too = where_equal(later, inverted, later, found_too)
                opposite = replace_nan(opposite, inverted)
            best = replace_nan(best, instead)
        for j in (1, 2, 3, 4):
            if j < width:
                later = load(values, i + j)
                best = prefer(order, replace_nan(later, instead) if look == CAREFUL else later, best)
                if both:
                    opposite = reject(
                        order, replace_nan(later, inverted) if look == CAREFUL else later, opposite
                    )
        if hidden:
            best = where_equal(best, instead, missing, best)
        far = past and unaligned(out[i:]) == 0
        put(best, out, i, far)
        if both:
            if hidden:
                opposite = where_equal(opposite, inverted, missing, opposite)
            put(opposite, other, i, far)
        i, step = i + step, lanes
    confused = look == CAREFUL and (contains(found, stand_in) or (both and contains(found_too, inverse)))
    return NAN * int(contains_nan(nan)) + STAND_IN * int(confused)


@kernel(forceinline=True)
def _rolling(order, both, values, width, chunk, out, other, rule, words, past):
    """As :func:`rolling`, and both extrema if `both` are wanted."""
    hidden = NO
    stand_in, inverse = best_of(order, values), worst_of(order, values)
    if rule != ANY:
        stand_in, inverse = inverse, stand_in
    found = first = noted = 0
    lanes = lanes_of(values)
    chunk = max(chunk // lanes, 1) * lanes
    last = unaligned(out)  # so that no line of the cache is written twice
    while first < len(out):
        last = min(last + chunk, len(out))
        part = order, both, values, width, first, last, out, other
        if not found & NAN:
            found |= _write(*part, HOPEFUL, stand_in, inverse, NO, past)
            hidden = rule != PASS and found & NAN != 0
        if found & NAN:
            found |= _write(*part, CAREFUL, stand_in, inverse, hidden, past)
        if rule != PASS and found == NAN + STAND_IN:
            return found
        noted = record_nan_if(found, values, noted, last + width - 1, words)
        first = last
    return found & NAN


@kernel
def rolling(order, values, width, chunk, out, rule, words):
    """As `rolling` of `extrema.doubling`, for windows of a few rows; `out` is a vector at least."""
    return _rolling(order, NO, values, width, chunk, out, out, rule, words, NO)


@kernel
def rolling_both(values, width, chunk, low, high, rule, words, past):
    """As :func:`rollstat.kernels.extrema.doubling_both.rolling_both`, for windows of a few rows."""
    past = past and stand_alike(low, high)
    found = _rolling(Least(), YES, values, width, chunk, low, high, rule, words, past)
    if past:
        settle_writes()
    return found
