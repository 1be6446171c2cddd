"""Sums over windows of a fixed width, without drift, and the statistics that follow from them.

::

    blocks of q vectors of 8 values             a window that starts in lane 3, width 8q + r

    block b      vector 0  |. . . . . . . .|
                        1  |. . . [x x x x x|      leaf of (vector, lane): the 8 values from there on
                        2  |x x x x x x x x |
    block b + 1         0  |x x x|r r|y y y|       r: the r values after the border of the lane
                        1  |y y y y y]. . .|       y: leaves again, r lanes further on

    lane 3 of the leaves, groups of GROUP vectors within a block:

      block b                            block b + 1
      [ group | group | group   ]  rest  [ group | group | group   ]
              .  s s s|# # # # #   r r r  # # # #|p p p  .              q vectors
             suffix of   whole            whole   prefix of
             a group     groups           groups  a group

Eight windows, one per lane, are computed at once. Each is the sum of five disjoint parts: a suffix of a
group, the whole groups after it, the rest at the border, the whole groups of the next block, and a prefix of
a group there. Nothing is ever subtracted, so values that have left a window leave no error in it. Within a
group, vectors are added one by one; the groups of a block are added with compensation. A leaf is built from
sums of two and four values (see `short_windows`): sums that start in their lane for suffixes, which
are computed backwards, and sums that end in their lane for prefixes. So each vector is read once per pass.

State: `suffix` has one sum for every vector of the last block. `high` and `low` have, for every group, the
unevaluated sum of the groups after it, and in one more place the unevaluated sum of the rest and the groups
of this block so far. Where values may be NaN, `counts` has the observations of the windows of one group.
Invariant: before vector j of block b + 1 is finished, ``suffix[j]`` belongs to block b.

Sums of powers are about a shift, the value in the last vector and lane of the block in which the window
starts, because every such window contains it. So each vector is lifted twice: for the windows that end in its
block and for the windows that start there. If values are NaN, the shift is the last observation of the block;
windows that start after this observation do not contain it, and `recompute_unshifted` computes them again.

Error: at most ``22 u * sum(abs(x)) + O(m u**2)``, ``u = 2**-53``, for every width; at most 3 u for fewer
than 8 values. That is 11 epsilon; the documentation states what follows for each statistic. Plain sums of
fewer than 32 values and shifted sums of up to 8 depend on the values of their window alone. The last bits of
others depend on where the grid of blocks starts.

Cost: O(1) amortised and O(m) worst case per row, about 20 vector operations for eight rows.
Source: the block scan of van Herk, doi:10.1016/0167-8655(92)90069-C, and Gil and Werman,
doi:10.1109/34.211471, with + for min; two-sum: Knuth, The Art of Computer Programming 2, section 4.2.2.
"""

from rollstat.compile.jit import kernel
from rollstat.compile.lowering import dispatching, prefetch
from rollstat.compile.simd.float64x8_math import nan_where_below
from rollstat.compile.simd.float_flags import clear_flags, range_left
from rollstat.compile.simd.vectors import (
    broadcast,
    contains_nan,
    load,
    load_like,
    replace_nan,
    shift_in_next,
    store,
    store_2d,
    zeros_like,
)
from rollstat.kernels.missing.counting import is_observed, observations_between
from rollstat.kernels.sums.moment_formulas import channel_count, finish, lift, series_of
from rollstat.kernels.sums.short_windows import (
    GROUP,
    LANE_NUMBERS,
    Job,
    copy_padded,
    copy_spare,
    count_first,
    count_next,
    lift_at,
    lift_observed,
    outcome_of,
    scratch_of,
    traits_of,
    write_windows,
)

# Vectors by which a prefetch runs ahead: hardware prefetching stops at the end of a page.
_AHEAD = 32


@kernel(forceinline=True)
def _add_exactly(high, low, at, value):
    """Add a vector to the unevaluated sum ``high + low``."""
    old = load_like(high, at, value)
    new = old + value
    part = new - old
    error = (old - (new - part)) + (value - part)
    # The error of a sum that is not finite is NaN; `high` alone is the result then.
    store(new, high, at)
    store(load_like(low, at, value) + replace_nan(error, zeros_like(error)), low, at)


@kernel(forceinline=True)
def _outer_sums(high, low, at, running, model):
    """Return the sum of the whole groups of a window, between its first and its last group."""
    before = load_like(high, running, model)
    after = load_like(high, at, model)
    both = before + after
    part = both - before
    error = (before - (both - part)) + (after - part)
    rest = load_like(low, running, model) + load_like(low, at, model)
    return both + (replace_nan(error, zeros_like(error)) + rest)


@kernel
def _shift_row(series, first, border, last):
    """Return the last observed row in ``[first, border)``, or else the first one in ``[border, last)``.

    If there is none either, return any row before `last`.
    """
    for i in range(border - 1, first - 1, -1):
        if is_observed(series, i):
            return i
    for i in range(border, last):
        if is_observed(series, i):
            return i
    return min(first, last - 1)


@kernel
def _shifts_at(series, row):
    """Return the values of both series in a row, or 0 and 0 if it is not observed."""
    if is_observed(series, row):
        return series[0][row], series[-1][row]
    return 0.0, 0.0


@kernel
def _no_shifts(job, x, y, start, rows):
    return 0.0, 0.0


@kernel
def _last_observations(job, x, y, start, rows):
    """Return the shifts of the windows that start in the `rows` rows from `start` on."""
    series = series_of(job.summand, x, y)
    border = min(start + rows, len(x))
    row = border - 1
    if job.scratch.counts is not None:
        row = _shift_row(series, start, border, min(start + rows + job.width, len(x)))
    return _shifts_at(series, row)


@dispatching
def _block_shifts(job, x, y, start, rows):
    """Return the shifts of the windows that start in the `rows` rows from `start` on."""
    return _last_observations if traits_of(job).shifted else _no_shifts


@kernel
def _border_sum(job, x, y, i, shift_x, shift_y):
    """Return the sums of the ``width % 8`` values from every lane of the vector at `i` on."""
    total = zeros_like(lift(job.summand, shift_x, shift_y, shift_x, shift_y))
    for k in range(i, i + job.width % 8):
        total = total + lift_at(job.summand, job.scratch.counts, x, y, k, shift_x, shift_y)
    return total


@kernel(forceinline=True)
def _finish_group(job, x, y, i, vectors, place, outer, row, shift_x, shift_y, out, to):
    """Write the outputs of the windows that end in one group; return the sum of its leaves.

    The leaf of the first vector starts at index `i`, the suffixes of the group at `place`, and the first
    window at `row`.
    """
    summand, counts, suffix = job.summand, job.scratch.counts, job.scratch.suffix
    size = 8 * channel_count(summand)
    prefix = zeros_like(outer)
    first = broadcast(float(row)) + load(LANE_NUMBERS, 0)
    # These sums end in their lane, because a leaf is complete when its last value has been read.
    one = lift_at(summand, counts, x, y, i - 1, shift_x, shift_y)
    two = one + shift_in_next(one, one, 7)
    four = two + shift_in_next(two, two, 6)
    for j in range(vectors):
        prefetch(suffix, place + size * (j + _AHEAD))
        prefetch(x, i + 8 * (j + _AHEAD))
        total = (load_like(suffix, place + size * j, outer) + prefix) + outer
        write_windows(job, 8 * j, first, total, shift_x, shift_y, out, to + 8 * j)
        first = first + broadcast(8.0)
        last_one, last_two, last_four = one, two, four
        one = lift_at(summand, counts, x, y, i + 8 * j + 7, shift_x, shift_y)
        two = one + shift_in_next(last_one, one, 7)
        four = two + shift_in_next(last_two, two, 6)
        prefix = prefix + (four + shift_in_next(last_four, four, 4))
    return prefix


@kernel(forceinline=True)
def _suffix_group(job, x, y, i, vectors, starts, place, shift_x, shift_y):
    """Write the suffixes of the group that starts at index `i` to `place`; return its sum.

    No window starts after the first `starts` vectors, so apart from their suffixes only the sum of all
    vectors is written.
    """
    summand, counts, suffix = job.summand, job.scratch.counts, job.scratch.suffix
    size = 8 * channel_count(summand)
    one = lift_at(summand, counts, x, y, i + 8 * vectors, shift_x, shift_y)
    two = one + shift_in_next(one, one, 1)
    four = two + shift_in_next(two, two, 2)
    total = zeros_like(one)
    for j in range(vectors - 1, -1, -1):
        next_one, next_two, next_four = one, two, four
        one = lift_at(summand, counts, x, y, i + 8 * j, shift_x, shift_y)
        two = one + shift_in_next(one, next_one, 1)
        four = two + shift_in_next(two, next_two, 2)
        total = total + (four + shift_in_next(four, next_four, 4))
        if j < starts:
            store(total, suffix, place + size * j)
    store(total, suffix, place)
    return total


@kernel
def _sum_later_groups(scratch, size, groups, model):
    """Replace the sum of each group of a finished block by the sum of the groups after it."""
    suffix, high, low = scratch.suffix, scratch.high, scratch.low
    running = size * groups
    zero = zeros_like(model)
    store(zero, high, running)
    store(zero, low, running)
    for g in range(groups - 1, -1, -1):
        store(load_like(high, running, model), high, size * g)
        store(load_like(low, running, model), low, size * g)
        _add_exactly(high, low, running, load_like(suffix, size * GROUP * g, model))


@kernel
def sum_fixed_windows(summand, x, y, width, min_count, counts, memory, spare, out):
    """Write the outputs of `summand` for every window of `width` values; return the outcome.

    For shorter windows see :func:`rollstat.kernels.sums.short_windows.sum_short_windows`. If `counts` is
    None, the kernel gives up when a sum is NaN, because a value may be missing; the outputs are then
    worthless. Otherwise rows in which `x` or `y` is NaN add nothing, outputs with fewer than `min_count`
    observations are NaN, and :func:`recompute_unshifted` must correct some shifted sums. For `memory` and
    `spare` see :func:`scratch_of`; they are one array because every argument takes time.
    """
    clear_flags()
    job = Job(summand, width, min_count, scratch_of(summand, width, counts, memory, spare))
    high, low, padded_x, padded_y = (
        job.scratch.high,
        job.scratch.low,
        job.scratch.padded_x,
        job.scratch.padded_y,
    )
    series = series_of(summand, x, y)
    block_vectors = width // 8
    windows = len(x) - width + 1
    all_vectors = (windows + 7) // 8 + block_vectors
    groups = (block_vectors + GROUP - 1) // GROUP
    size = 8 * channel_count(summand)
    running = size * groups
    shift_x = shift_y = broadcast(0.0)
    outer = zeros_like(lift(summand, shift_x, shift_y, shift_x, shift_y))
    observed = count_first(counts, series, width)
    found_nan = False
    for block in range(0, all_vectors, block_vectors):
        previous_x, previous_y = shift_x, shift_y  # the shifts of the windows that end in this block
        value_x, value_y = _block_shifts(job, x, y, 8 * block, 8 * block_vectors)
        shift_x, shift_y = broadcast(value_x), broadcast(value_y)
        for group in range(groups):
            first = block + GROUP * group
            vectors = min(GROUP, block_vectors - GROUP * group, all_vectors - first)
            if vectors <= 0:
                break
            i, source_x, source_y = 8 * first, x, y
            if i + 8 * vectors + 16 > len(x):  # loads could extend past the last value
                i = min(i, 8)
                copy_padded(x, 8 * first - i, padded_x)
                copy_padded(y, 8 * first - i, padded_y)
                source_x, source_y = padded_x, padded_y
            if block:
                if group == 0:
                    outer = _border_sum(job, source_x, source_y, i, previous_x, previous_y)
                    found_nan |= contains_nan(outer)
                    store(outer, high, running)
                    store(zeros_like(outer), low, running)
                if groups > 1:
                    outer = _outer_sums(high, low, size * group, running, outer)
                start, to = i + width % 8, 8 * (first - block_vectors)
                entering = series_of(summand, source_x, source_y)
                observed = count_next(counts, series, to, entering, start, vectors, observed)
                target, at = out, to
                extends = to + 8 * vectors > windows
                if extends:
                    target, at = job.scratch.spare, 0
                place = size * GROUP * group
                shifts = previous_x, previous_y
                prefix = _finish_group(
                    job, source_x, source_y, start, vectors, place, outer, to, *shifts, target, at
                )
                if extends:
                    copy_spare(job.scratch.spare, to, windows, out)
                found_nan |= contains_nan(prefix)
                if groups > 1:
                    _add_exactly(high, low, running, prefix)
            if 8 * block <= len(x) - width:
                starts = (windows + 7) // 8 - first
                place = size * GROUP * group
                suffix = _suffix_group(job, source_x, source_y, i, vectors, starts, place, shift_x, shift_y)
                found_nan |= contains_nan(suffix)
            if found_nan and counts is None:
                return outcome_of(True)
        if groups > 1:
            _sum_later_groups(job.scratch, size, groups, outer)
    return outcome_of(False)


@kernel
def _sum_window(job, x, y, first, count):
    """Write the outputs of the window at row `first` to lane 0 of `scratch.spare`."""
    summand, width = job.summand, job.width
    high, low = job.scratch.high, job.scratch.low
    series = series_of(summand, x, y)
    value_x, value_y = _shifts_at(series, _shift_row(series, first, first, first + width))
    shift_x, shift_y = broadcast(value_x), broadcast(value_y)
    total = zeros_like(lift(summand, shift_x, shift_y, shift_x, shift_y))
    store(total, high, 0)
    store(total, low, 0)
    whole = first + width // 8 * 8
    for start in range(first, whole, 8 * GROUP):
        part = zeros_like(total)
        for i in range(start, min(start + 8 * GROUP, whole), 8):
            part = part + lift_observed(summand, load(series[0], i), load(series[-1], i), shift_x, shift_y)
        _add_exactly(high, low, 0, part)
    # The last eight values, without the values that the vectors before have.
    already = broadcast(8.0 - width % 8)
    lanes = load(LANE_NUMBERS, 0)
    last_x = nan_where_below(load(series[0], first + width - 8), lanes, already)
    last_y = nan_where_below(load(series[-1], first + width - 8), lanes, already)
    _add_exactly(high, low, 0, lift_observed(summand, last_x, last_y, shift_x, shift_y))
    total = load_like(high, 0, total) + load_like(low, 0, total)
    total = total + shift_in_next(total, total, 4)
    total = total + shift_in_next(total, total, 2)
    total = total + shift_in_next(total, total, 1)
    store_2d(finish(summand, total, shift_x, shift_y, broadcast(float(count)), shift_y), job.scratch.spare, 0)


@kernel
def recompute_unshifted(summand, x, y, width, min_count, memory, spare, rows, out):
    """Correct the windows of :func:`sum_fixed_windows` that do not contain their shift.

    The shift is the last observation before the border of two blocks, so windows that start after this
    observation do not contain it, unless there is no observation at all before the border. Up to GROUP
    successive windows are computed here one by one. For longer runs the rows are written to `rows` as far as
    it has room, and their number is returned: the caller shares work among them. Insufficient rows stay as
    they are. Also return whether sums may have left the range of float64.
    """
    clear_flags()
    job = Job(summand, width, min_count, scratch_of(summand, width, None, memory, spare))
    series = series_of(summand, x, y)
    step = 8 * (width // 8)
    windows = len(x) - width + 1
    left = 0
    for border in range(step, windows + step, step):
        first = border
        while first > border - step and not is_observed(series, first - 1):
            first -= 1
        if first == border - step:
            continue
        last = min(border, windows)
        count = observations_between(series, border, first + width - 1) if first < last else 0
        for row in range(first, last):
            count += is_observed(series, row + width - 1)
            if count < min_count:
                continue
            if last - first > GROUP:
                if left < len(rows):
                    rows[left] = row
                left += 1
                continue
            _sum_window(job, x, y, row, count)
            copy_spare(spare, row, row + 1, out)
    return left, range_left()
