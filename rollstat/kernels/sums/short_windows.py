"""Sums of few neighbouring values, eight windows at once: leaves, and windows that are no longer than those.

::

    row     x0 x1 x2 x3 x4 x5 x6 x7 | the row after
    two     every lane + the lane one on
    four    every two + the two, two lanes on
    leaf    every four + the four, four lanes on         = 8 values from every lane on
    rest    e.g. of 7: four + (two, four lanes on) + (one, six lanes on)

State: scratch for the leaves and rests of CHUNK rows. Invariant: rows are visited backwards, so the
row after has its twos and fours when they are needed. Every sum is a tree over the values of its window
alone: three roundings deep up to 8 values, six up to 31.

Shifted sums of up to 15 values are taken one value after the other instead, about the first value of
each window. Cost: O(1) a row for leaves and rests, O(m) for narrow windows, `m` below 32.
"""

import inspect

from numba import types

from rollstat._jit import kernel
from rollstat._lowering import chosen, known, lowered, prefetch
from rollstat.kernels.missing.simd_counts import count_rows, numbers_among
from rollstat.kernels.simd.float64x8 import (
    four_on,
    load,
    load_like,
    one_on,
    six_on,
    spread,
    store,
    store_each,
    two_on,
)
from rollstat.kernels.simd.float64x8_math import any_nan, fill_lacking, mark_below
from rollstat.kernels.sums.moment_formulas import channel_count, finish, form_of, is_shifted, lift, series_of

__all__ = [
    "CHUNK",
    "copy_padded",
    "count_gaps",
    "has_gaps",
    "lift_observed",
    "lift_rows",
    "narrow_windows",
    "observed_among",
    "write_rows",
]

# Rows whose leaves are kept in the fastest cache between two passes.
CHUNK = 128


def has_gaps(counts):
    """Whether values may be missing, known to the compiler: `counts` is an array then, else None."""
    return counts is not None


@lowered(has_gaps)
def _has_gaps(counts):
    return known(types.boolean(counts), not isinstance(counts, types.NoneType))


def _by_gaps(function, without, within):
    """Let `function` be one of two kernels within kernels, as its parameter `counts` is None or an array."""
    place = list(inspect.signature(function).parameters).index("counts")
    chosen(function)(lambda *given: without if isinstance(given[place], types.NoneType) else within)


@kernel
def _none_counted(counts, series, width):
    return 0


@kernel
def _first_counted(counts, series, width):
    return numbers_among(series, 0, width)


def observed_among(counts, series, width):
    """Observations of the first window; nobody counts them where nothing is missing."""
    return (_none_counted if counts is None else _first_counted)(counts, series, width)


@kernel
def _as_before(counts, leaving, first, entering, second, rows, observed):
    return observed


@kernel
def _rows_counted(counts, leaving, first, entering, second, rows, observed):
    return count_rows(leaving, first, entering, second, rows, observed, counts)


def count_gaps(counts, leaving, first, entering, second, rows, observed):
    """Count the observations of the windows of some rows, as :func:`count_rows`, if values may be missing."""
    count = _as_before if counts is None else _rows_counted
    return count(counts, leaving, first, entering, second, rows, observed)


@kernel(forceinline=True)
def lift_observed(summand, x, y, at_x, at_y):
    """What eight rows add to the channels, nothing if missing: shifts stand there, 0 for plain sums."""
    return lift(summand, fill_lacking(x, y, at_x), fill_lacking(y, x, at_y), at_x, at_y)


@kernel(forceinline=True)
def _write_all(summand, counts, least, width, i, sums, at_x, at_y, out, to):
    store_each(out, to, finish(summand, sums, at_x, at_y, spread(float(width))))


@kernel(forceinline=True)
def _write_observed(summand, counts, least, width, i, sums, at_x, at_y, out, to):
    count = load(counts, i)
    outputs = finish(summand, sums, at_x, at_y, count)
    store_each(out, to, mark_below(outputs, count, spread(least)))


def write_rows(summand, counts, least, width, i, sums, at_x, at_y, out, to):
    """Write the outputs of eight windows from index `to` on, NaN where fewer than `least` are observed.

    Their observations are at index `i` of `counts`.
    """
    write = _write_all if counts is None else _write_observed
    write(summand, counts, least, width, i, sums, at_x, at_y, out, to)


@kernel(forceinline=True)
def _lift_all(summand, counts, x, y, i, at_x, at_y):
    return lift(summand, load(x, i), load(y, i), at_x, at_y)


@kernel(forceinline=True)
def _lift_those_observed(summand, counts, x, y, i, at_x, at_y):
    series = series_of(summand, x, y)
    return lift_observed(summand, load(series[0], i), load(series[-1], i), at_x, at_y)


def lift_rows(summand, counts, x, y, i, at_x, at_y):
    """What the eight observations from index `i` on add to the channels."""
    lift_each = _lift_all if counts is None else _lift_those_observed
    return lift_each(summand, counts, x, y, i, at_x, at_y)


_by_gaps(observed_among, _none_counted, _first_counted)
_by_gaps(count_gaps, _as_before, _rows_counted)
_by_gaps(write_rows, _write_all, _write_observed)
_by_gaps(lift_rows, _lift_all, _lift_those_observed)


@kernel
def _leaf_rows(summand, x, counts, first, rows, remainder, leaf, rest):
    """Write the sums of 8 and of `remainder` values from every position of `rows` rows on.

    Rows are visited backwards: a sum of two needs the row after.
    """
    size = 8 * channel_count(summand)
    zero = spread(0.0)
    one = lift_rows(summand, counts, x, x, first + 8 * rows, zero, zero)
    two = one + one_on(one, one)
    four = two + two_on(two, two)
    for j in range(rows - 1, -1, -1):
        # Of the next chunk: rows that are visited backwards are not guessed by the machine.
        prefetch(x, first + 8 * (j + CHUNK))
        next_one = one
        next_two = two
        one = lift_rows(summand, counts, x, x, first + 8 * j, zero, zero)
        two = one + one_on(one, next_one)
        next_four = four
        four = two + two_on(two, next_two)
        store(leaf, size * j, four + four_on(four, next_four))
        if remainder & 4:
            total = four
            if remainder & 2:
                total = total + four_on(two, next_two)
                if remainder & 1:
                    total = total + six_on(one, next_one)
            elif remainder & 1:
                total = total + four_on(one, next_one)
            store(rest, size * j, total)
        elif remainder & 2:
            total = two
            if remainder & 1:
                total = total + two_on(one, next_one)
            store(rest, size * j, total)
        elif remainder:
            store(rest, size * j, one)


@kernel
def copy_padded(values, first, tail):
    """Copy the values from `first` on to the front of `tail` and fill it with zeros."""
    length = min(max(len(values) - first, 0), len(tail))
    for i in range(length):
        tail[i] = values[first + i]
    for i in range(length, len(tail)):
        tail[i] = 0.0


@kernel
def _narrow_rows(summand, x, y, counts, least, first, rows, width, leaf, rest, out, to):
    """Windows of few values, one by one: shifted sums about the first value of each window."""
    series = series_of(summand, x, y)
    seen = 0
    for j in range(rows):
        i = first + 8 * j
        at_x = load(series[0], i)
        at_y = load(series[-1], i)
        if has_gaps(counts):
            for k in range(1, width):
                before = at_x
                at_x = fill_lacking(at_x, at_y, load(series[0], i + k))
                at_y = fill_lacking(at_y, before, load(series[-1], i + k))
        total = lift(summand, at_x, at_y, at_x, at_y)
        for k in range(1, width):
            total = total + lift_rows(summand, counts, x, y, i + k, at_x, at_y)
        seen |= any_nan(total)
        write_rows(summand, counts, least, width, 8 * j, total, at_x, at_y, out, to + 8 * j)
    return seen


@kernel
def _leaf_windows(summand, x, y, counts, least, first, rows, width, leaf, rest, out, to):
    """Windows of few values, one by one: plain sums of at most three leaves and the rest."""
    size = 8 * channel_count(summand)
    q = width // 8
    remainder = width % 8
    seen = 0
    zero = spread(0.0)
    model = lift(summand, zero, zero, zero, zero)
    _leaf_rows(summand, x, counts, first, rows + q, remainder, leaf, rest)
    for j in range(rows):
        if q == 0:
            total = load_like(rest, size * j, model)
        else:
            total = load_like(leaf, size * j, model)
            for k in range(j + 1, j + q):
                total = total + load_like(leaf, size * k, model)
            if remainder:
                total = total + load_like(rest, size * (j + q), model)
        seen |= any_nan(total)
        write_rows(summand, counts, least, width, 8 * j, total, zero, zero, out, to + 8 * j)
    return seen


def _narrow_chunk(summand, x, y, counts, least, first, rows, width, leaf, rest, out, to):
    windows = _narrow_rows if is_shifted(summand) else _leaf_windows
    return windows(summand, x, y, counts, least, first, rows, width, leaf, rest, out, to)


@chosen(_narrow_chunk)
def _narrow_chunk_of(summand, x, y, counts, least, first, rows, width, leaf, rest, out, to):
    return _narrow_rows if form_of(summand).shifted else _leaf_windows


@kernel
def narrow_windows(summand, x, y, width, counts, least, leaf, rest, tails, spare, out):
    """Windows of few values: each by itself."""
    windows = out.shape[1]
    step = CHUNK - 4
    seen = 0
    observed = observed_among(counts, series_of(summand, x, y), width)
    for to in range(0, windows, 8 * step):
        rows = min(step, (windows - to + 7) // 8)
        near = to
        near_x = x
        near_y = y
        target = out
        at = to
        last = to + 8 * step + 8 * CHUNK > len(x)
        if last:
            copy_padded(x, to, tails[0])
            copy_padded(y, to, tails[1])
            near = 0
            near_x = tails[0]
            near_y = tails[1]
            target = spare
            at = 0
        nearby = series_of(summand, near_x, near_y)
        observed = count_gaps(counts, nearby, near, nearby, near + width, rows, observed)
        seen |= _narrow_chunk(
            summand, near_x, near_y, counts, least, near, rows, width, leaf, rest, target, at
        )
        if seen and not has_gaps(counts):
            return 1
        for i in range(to, min(to + 8 * step, windows) if last else 0):
            for k in range(len(out)):
                out[k, i] = spare[k, i - to]
    return 0
