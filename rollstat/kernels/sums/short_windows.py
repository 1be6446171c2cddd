"""Sums over windows of fewer than 32 values, eight windows at once, and what longer fixed windows share.

::

    one     x0 x1 x2 x3 x4 x5 x6 x7 | the next vector
    two     lane k + lane k + 1 of `one`                 = 2 values from every lane on
    four    lane k + lane k + 2 of `two`                 = 4 values
    leaf    lane k + lane k + 4 of `four`                = 8 values
    rest    the last ``width % 8`` values, e.g. of 7: four + (two, four lanes on) + (one, six lanes on)

Plain sums of 8 to 31 values are made of up to three leaves and a rest. Sums of fewer values are added value
by value in the order of a rest. Slopes over rows need no shift: two values at the same distance from the
middle add their difference times this distance.

Shifted sums of more than 8 values are about one value that eight windows share, like most of their rows::

    window 0    x x x x x x x x|x x x x x|x
    window 1      x x x x x x x|x x x x x|x x
    window 7                  x|x x x x x|x x x x x x x x
                suffixes of a   added     prefixes of a
                vector          once      vector

Shorter ones, and those of eight windows that share no observation, are taken value by value, about the first
observation of each window.

If values may be NaN, `scratch.counts` is an array for the observations of each window, without a length for
statistics that need no counts; else it is None and the compiler leaves out all code for counts.

State: scratch memory for the leaves and rests of BLOCK vectors. Invariant: vectors are visited backwards, so
`two` and `four` of the next vector are known. Every sum is a tree over the values of its window alone: three
roundings deep up to 8 values, six up to 31 (ten if shifted). Cost: O(1) per row for leaves and rests, O(m)
for slopes and shifted sums, an eighth of that for the rows that eight windows share.
"""

from typing import Any, NamedTuple

import numpy as np

from rollstat.compile.jit import kernel
from rollstat.compile.lowering import dispatching, prefetch
from rollstat.compile.simd.float64x8_math import (
    nan_where_below,
    replace_unobserved,
    subtract_product,
    zero_where_below,
)
from rollstat.compile.simd.float_flags import clear_flags, range_left
from rollstat.compile.simd.vectors import (
    broadcast,
    contains_nan,
    load,
    load_like,
    shift_in_next,
    shift_in_previous,
    stack_channels,
    store,
    store_2d,
    zeros_like,
)
from rollstat.kernels.missing.counting import count_vectors, is_observed, observations_between
from rollstat.kernels.sums.moment_formulas import channel_count, finish, lift, series_of, traits

# Fewest values of a window that `fixed_windows` sums by blocks.
SHORTEST_OF_BLOCKS = 32
# Vectors whose leaves stay in the fastest cache between two passes.
BLOCK = 128
# Vectors of a group of `fixed_windows`. They are added one by one: larger groups are less accurate, smaller
# groups slower.
GROUP = 16
GAVE_UP, RANGE_LEFT = 1, 2
LANE_NUMBERS = np.arange(8.0)


class Scratch(NamedTuple):
    """Working memory for one call, in float64: parts of one array, see :func:`scratch_of`.

    Attributes
    ----------
    counts : ndarray, shape (8 * (BLOCK + 1),) or None
        Observations of the windows of a block or group; None if no value is NaN.
    suffix : ndarray
        One sum for every vector of a block: from there to the end of its group.
    high, low : ndarray
        One unevaluated sum ``high + low`` for every group of a block, and one more.
    leaf, rest : ndarray
        Sums of 8 and of ``width % 8`` values, for BLOCK + 1 vectors.
    padded_x, padded_y : ndarray, shape (8 * (BLOCK + 1),)
        The end of each series, with zeros after it.
    spare : ndarray, shape (outputs, 8 * (BLOCK + 1))
        Outputs of the last windows; they need not fill a vector.
    """

    counts: Any
    suffix: Any
    high: Any
    low: Any
    leaf: Any
    rest: Any
    padded_x: Any
    padded_y: Any
    spare: Any


class Job(NamedTuple):
    """What all steps of a call share."""

    summand: Any
    width: int
    min_count: float
    scratch: Scratch


def traits_of(job):
    """Return the traits of the summand of a `Job`, from the job or its type; not for kernels."""
    return traits(job.types[job.fields.index("summand")] if hasattr(job, "types") else job.summand)


@kernel
def scratch_sizes(channels, width):
    """Return the lengths of the parts of scratch memory: suffixes, groups, leaves, and rows of a block."""
    size = 8 * channels
    vectors = max(width // 8, 1)
    return size * vectors, size * (vectors // GROUP + 2), size * (BLOCK + 1), 8 * (BLOCK + 1)


@kernel(inline="always")
def scratch_of(summand, width, counts, memory, spare):
    """Return scratch memory made of parts of `memory`: one of suffixes, two of each other size."""
    suffixes, groups, leaves, rows = scratch_sizes(channel_count(summand), width)
    low = suffixes + groups
    leaf = low + groups
    rest = leaf + leaves
    padded = rest + leaves
    return Scratch(
        counts,
        memory[:suffixes],
        memory[suffixes:low],
        memory[low:leaf],
        memory[leaf:rest],
        memory[rest:padded],
        memory[padded : padded + rows],
        memory[padded + rows : padded + 2 * rows],
        spare,
    )


@kernel
def count_first(counts, series, width):
    """Return the observations of the first window, or 0 if nothing is counted."""
    if counts is None or len(counts) == 0:
        return 0
    return observations_between(series, 0, width)


@kernel(forceinline=True)
def count_next(counts, leaving, first, entering, second, vectors, observed):
    """Count the observations of the next windows as :func:`count_vectors`, or return `observed`."""
    if counts is None or len(counts) == 0:
        return observed
    return count_vectors(leaving, first, entering, second, vectors, observed, counts)


@kernel(forceinline=True)
def lift_observed(summand, x, y, shift_x, shift_y):
    """Return the terms of eight rows; missing values are replaced by the shift, so that they add 0."""
    x_or_shift, y_or_shift = replace_unobserved(x, y, shift_x), replace_unobserved(y, x, shift_y)
    return lift(summand, x_or_shift, y_or_shift, shift_x, shift_y)


@kernel(forceinline=True)
def lift_at(summand, counts, x, y, i, shift_x, shift_y):
    """Return the terms of the eight rows from `i` on."""
    if counts is None:
        return lift(summand, load(x, i), load(y, i), shift_x, shift_y)
    series = series_of(summand, x, y)
    return lift_observed(summand, load(series[0], i), load(series[-1], i), shift_x, shift_y)


@kernel(forceinline=True)
def _terms(job, x, y, i):
    """Return the terms of the eight rows from `i` on, without a shift."""
    zero = broadcast(0.0)
    return lift_at(job.summand, job.scratch.counts, x, y, i, zero, zero)


@kernel(forceinline=True)
def _finish_windows(summand, counts, min_count, width, i, first, sums, shift_x, shift_y):
    """Return the outputs of eight windows whose observations are at index `i` of `counts`."""
    if counts is None:
        return finish(summand, sums, shift_x, shift_y, broadcast(float(width)), first)
    count = load(counts, i) if len(counts) else broadcast(float(width))
    outputs = finish(summand, sums, shift_x, shift_y, count, first)
    return nan_where_below(outputs, count, broadcast(min_count))


@kernel(forceinline=True)
def write_windows(job, i, first, sums, shift_x, shift_y, out, to):
    """Write the outputs of eight windows to `out` from `to` on, NaN where the row is insufficient.

    `first` holds the rows where the windows start, for summands of rows.
    """
    counts = job.scratch.counts
    outputs = _finish_windows(job.summand, counts, job.min_count, job.width, i, first, sums, shift_x, shift_y)
    store_2d(outputs, out, to)


@kernel(noinline=True)
def copy_padded(values, first, padded):
    """Copy the values from `first` on to `padded` and fill the rest of it with zeros."""
    length = min(max(len(values) - first, 0), len(padded))
    for i in range(length):
        padded[i] = values[first + i]
    for i in range(length, len(padded)):
        padded[i] = 0.0


@kernel(noinline=True)
def copy_spare(spare, first, last, out):
    """Copy the outputs of the windows ``first, ..., last - 1`` from the front of `spare`."""
    for i in range(first, last):
        for k in range(len(out)):
            out[k, i] = spare[k, i - first]


@kernel
def _write_leaves(job, x, y, first, vectors):
    """Write the sums of 8 and of ``width % 8`` values from every row of the `vectors` from `first` on."""
    leaf, rest = job.scratch.leaf, job.scratch.rest
    remainder = job.width % 8
    size = 8 * channel_count(job.summand)
    one = _terms(job, x, y, first + 8 * vectors)
    two = one + shift_in_next(one, one, 1)
    four = two + shift_in_next(two, two, 2)
    for j in range(vectors - 1, -1, -1):
        # Hardware prefetching does not follow a loop that runs backwards: request the next block.
        prefetch(x, first + 8 * (j + BLOCK))
        next_one, next_two, next_four = one, two, four
        one = _terms(job, x, y, first + 8 * j)
        two = one + shift_in_next(one, next_one, 1)
        four = two + shift_in_next(two, next_two, 2)
        store(four + shift_in_next(four, next_four, 4), leaf, size * j)
        if remainder & 4:
            total = four
            if remainder & 2:
                total = total + shift_in_next(two, next_two, 4)
                if remainder & 1:
                    total = total + shift_in_next(one, next_one, 6)
            elif remainder & 1:
                total = total + shift_in_next(one, next_one, 4)
            store(total, rest, size * j)
        elif remainder & 2:
            total = two
            if remainder & 1:
                total = total + shift_in_next(one, next_one, 2)
            store(total, rest, size * j)
        elif remainder:
            store(one, rest, size * j)


@kernel
def _first_shared(series, i, width):
    """Return the first observed row of those that all eight windows from row `i` on have, or -1."""
    for row in range(i + 7, i + width):
        if is_observed(series, row):
            return row
    return -1


@kernel(forceinline=True)
def _first_observations(series, i, width):
    """Return the first observation of each of the eight windows from row `i` on."""
    x, y = load(series[0], i), load(series[-1], i)
    for k in range(1, width):
        next_x, next_y = load(series[0], i + k), load(series[-1], i + k)
        x, y = replace_unobserved(x, y, next_x), replace_unobserved(y, x, next_y)
    return x, y


@kernel(forceinline=True)
def _sum_values(job, x, y, i, shift_x, shift_y):
    """Return the sums of the eight windows from row `i` on, value by value."""
    summand, width, counts = job.summand, job.width, job.scratch.counts
    # Two sums: a step of one does not wait for a step of the other.
    total = lift_at(summand, counts, x, y, i, shift_x, shift_y)
    other = zeros_like(total)
    for k in range(1, width - 1, 2):
        other = other + lift_at(summand, counts, x, y, i + k, shift_x, shift_y)
        total = total + lift_at(summand, counts, x, y, i + k + 1, shift_x, shift_y)
    if width % 2 == 0:
        other = other + lift_at(summand, counts, x, y, i + width - 1, shift_x, shift_y)
    return total + other


@kernel(forceinline=True)
def _sum_about_one(job, x, y, i, shift_x, shift_y):
    """Return the sums of the eight windows from row `i` on: suffixes, the rows of all, and prefixes."""
    summand, counts = job.summand, job.scratch.counts
    last = i + job.width - 1
    suffix = lift_at(summand, counts, x, y, i, shift_x, shift_y)
    prefix = lift_at(summand, counts, x, y, last, shift_x, shift_y)
    zero = zeros_like(suffix)
    shared = zero
    rows = job.width - 9
    if rows % 8:  # the rows before the last one, without those that the whole vectors have
        shared = lift_at(summand, counts, x, y, last - 8, shift_x, shift_y)
        shared = zero_where_below(shared, load(LANE_NUMBERS, 0), broadcast(float(8 - rows % 8)))
    for k in range(i + 8, i + 8 + rows // 8 * 8, 8):
        shared = shared + lift_at(summand, counts, x, y, k, shift_x, shift_y)
    shared = shared + shift_in_next(shared, shared, 4)
    shared = shared + shift_in_next(shared, shared, 2)
    shared = shared + shift_in_next(shared, shared, 1)
    suffix = suffix + shift_in_next(suffix, zero, 1)
    suffix = suffix + shift_in_next(suffix, zero, 2)
    suffix = suffix + shift_in_next(suffix, zero, 4)
    prefix = prefix + shift_in_previous(zero, prefix, 1)
    prefix = prefix + shift_in_previous(zero, prefix, 2)
    prefix = prefix + shift_in_previous(zero, prefix, 4)
    return (suffix + prefix) + shared


@kernel
def _sum_shifted(job, x, y, first, vectors, out, to):
    """Sum each window about a value that it has; return whether a sum is NaN."""
    width, counts = job.width, job.scratch.counts
    series = series_of(job.summand, x, y)
    found_nan = False
    for j in range(vectors):
        i = first + 8 * j
        shared = -1
        if width > 8:
            shared = i + 7 if counts is None else _first_shared(series, i, width)
        if shared >= 0:
            shift_x, shift_y = broadcast(series[0][shared]), broadcast(series[-1][shared])
            total = _sum_about_one(job, x, y, i, shift_x, shift_y)
        else:
            shift_x, shift_y = load(series[0], i), load(series[-1], i)
            if counts is not None:
                shift_x, shift_y = _first_observations(series, i, width)
            total = _sum_values(job, x, y, i, shift_x, shift_y)
        found_nan |= contains_nan(total)
        start = load(series[-1], i)  # the first row, for a summand of rows
        write_windows(job, 8 * j, start, total, shift_x, shift_y, out, to + 8 * j)
    return found_nan


@kernel
def _sum_pairs(job, x, y, first, vectors, out, to):
    """Sum the products of each window with its rows, counted from its middle; return whether a sum is NaN."""
    width, zero = job.width, broadcast(0.0)
    found_nan = False
    for j in range(vectors):
        low, high = first + 8 * j, first + 8 * j + width - 1
        one = other = zero
        distance = 0.5 * (width - 1)
        for _ in range(width // 4):  # two sums: a step of one does not wait for a step of the other
            one = subtract_product(one, broadcast(distance), load(x, low) - load(x, high))
            near = load(x, low + 1) - load(x, high - 1)
            other = subtract_product(other, broadcast(distance - 1.0), near)
            distance, low, high = distance - 2.0, low + 2, high - 2
        if width & 2:
            one = subtract_product(one, broadcast(distance), load(x, low) - load(x, high))
            low += 1
        products = subtract_product(one + other, zero, load(x, low))  # NaN if the middle is not finite
        found_nan |= contains_nan(products)
        sums = stack_channels((zero, products + (products - products)))
        write_windows(job, 8 * j, zero, sums, zero, zero, out, to + 8 * j)
    return found_nan


@kernel
def _sum_few(job, x, y, first, vectors, out, to):
    """Sum each window of fewer than eight values directly; return whether a sum is NaN."""
    found_nan = False
    zero = broadcast(0.0)
    left = job.width
    for j in range(vectors):
        # The additions that neighbouring windows share take less time than storing their sums would.
        i = first + 8 * j
        if left == 1:
            total = _terms(job, x, y, i)
        elif left < 4:
            total = _terms(job, x, y, i) + _terms(job, x, y, i + 1)
            if left == 3:
                total = total + _terms(job, x, y, i + 2)
        else:
            two = _terms(job, x, y, i + 2) + _terms(job, x, y, i + 3)
            total = (_terms(job, x, y, i) + _terms(job, x, y, i + 1)) + two
            if left & 2:
                total = total + (_terms(job, x, y, i + 4) + _terms(job, x, y, i + 5))
            if left & 1:
                total = total + _terms(job, x, y, i + left - 1)
        found_nan |= contains_nan(total)
        write_windows(job, 8 * j, zero, total, zero, zero, out, to + 8 * j)
    return found_nan


@kernel
def _sum_leaves(job, x, y, first, vectors, out, to):
    """Sum each window as up to three leaves and the rest; return whether a sum is NaN."""
    if job.width < 8:
        return _sum_few(job, x, y, first, vectors, out, to)
    leaf, rest = job.scratch.leaf, job.scratch.rest
    size = 8 * channel_count(job.summand)
    leaves = job.width // 8
    found_nan = False
    zero = broadcast(0.0)
    model = lift(job.summand, zero, zero, zero, zero)
    _write_leaves(job, x, y, first, vectors + leaves)
    for j in range(vectors):
        total = load_like(leaf, size * j, model)
        for k in range(j + 1, j + leaves):
            total = total + load_like(leaf, size * k, model)
        if job.width % 8:
            total = total + load_like(rest, size * (j + leaves), model)
        found_nan |= contains_nan(total)
        write_windows(job, 8 * j, zero, total, zero, zero, out, to + 8 * j)
    return found_nan


# A kernel that is passed as an argument would not be stored.
@dispatching
def _sum_block(job, x, y, first, vectors, out, to):
    """Sum the windows of a block; return whether a sum is NaN."""
    known = traits_of(job)
    return _sum_pairs if known.in_pairs else _sum_shifted if known.shifted else _sum_leaves


@kernel
def outcome_of(gave_up):
    """Return GAVE_UP, for a value that may be missing, plus RANGE_LEFT, for sums that may not fit float64."""
    return GAVE_UP * gave_up + RANGE_LEFT * range_left()


@kernel
def sum_short_windows(summand, x, y, width, min_count, counts, memory, spare, out):
    """Write the outputs of `summand` for every window of at least one value.

    Parameters and result are as in :func:`rollstat.kernels.sums.fixed_windows.sum_fixed_windows`.
    """
    clear_flags()
    job = Job(summand, width, min_count, scratch_of(summand, width, counts, memory, spare))
    padded_x, padded_y = job.scratch.padded_x, job.scratch.padded_y
    windows = len(x) - width + 1
    step = BLOCK - 4
    observed = count_first(counts, series_of(job.summand, x, y), job.width)
    for to in range(0, windows, 8 * step):
        vectors = min(step, (windows - to + 7) // 8)
        first, source_x, source_y = to, x, y
        target, at = out, to
        last = to + 8 * step + 8 * BLOCK > len(x)
        if last:  # vectors could extend past the last value and the last window
            copy_padded(x, to, padded_x)
            copy_padded(y, to, padded_y)
            first, source_x, source_y = 0, padded_x, padded_y
            target, at = spare, 0
        series = series_of(job.summand, source_x, source_y)
        observed = count_next(counts, series, first, series, first + job.width, vectors, observed)
        found_nan = _sum_block(job, source_x, source_y, first, vectors, target, at)
        if found_nan and counts is None:
            return outcome_of(True)
        if last:
            copy_spare(spare, to, min(to + 8 * step, windows), out)
    return outcome_of(False)
