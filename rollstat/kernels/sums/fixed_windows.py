"""Sums over windows of a fixed width, and all that follows from sums, without drift.

::

    rows of 8 values, blocks of q rows          a window that starts in column 3, width 8q + r

    block b      row 0  |. . . . . . . .|
                     1  |. . . [x x x x x|      leaf of (row, column): the 8 values from there on
                     2  |x x x x x x x x |
    block b + 1      0  |x x x|r r|y y y|       r: the r values behind the border of the column
                     1  |y y y y y]. . .|       y: leaves again, r columns further on

    column 3 of the leaves, groups of GROUP rows within a block:

      block b                            block b + 1
      [ group | group | group   ]  rest  [ group | group | group   ]
              .  s s s|# # # # #   r r r  # # # #|p p p  .              q rows
             suffix of   whole            whole   prefix of
             a group     groups           groups  a group

Eight windows, one a lane, are computed at once (:mod:`rollstat.kernels.simd.float64x8`), and each is the sum
of five
disjoint parts: a suffix of a group, the whole groups after it, the rest at the border, the whole groups of
the next block, and a prefix of a group there. Nothing is ever subtracted, so nothing that left a window can
be seen in it. A group is summed row by row, the groups of a block by compensated addition. The sums of two,
four and eight values that make a leaf are those that start in their lane for suffixes, which are summed
backwards, and those that end there for prefixes: each row needs only the one visited before.

State: `suffix` holds a suffix of its group for every row of the last block; `high` and `low`, for every
group, the sum of the groups after it, and at the end of them that of the rest and the groups of this block
so far, as unevaluated pairs. Where values may be missing, `counts` holds the observations of the windows of
one group. Invariant: before row j of block b + 1 is emitted, ``suffix[j]`` is of block b.

Sums of powers are about a shift, the value in the last row and lane of the block in which the window
starts: it is in every one of these windows. So a row is lifted twice, for the windows that end in its
block and for those that start there. Among missing values the shift is the last observation of the block;
windows that start behind it have no shift of their own, and are summed one by one.

Error: a sum is off by at most ``22 u * sum(abs(x)) + O(m u**2)``, ``u = 2**-53``, whatever the width;
below 8 values by at most 3 u. That is 11 epsilon; ``docs`` say what follows for each statistic.
Windows of fewer than 32 values (16 for shifted sums) are summed by themselves, so their bits depend
on nothing else; others may differ in the last bits where the grid of blocks starts at another row.

Cost: O(1) amortised and in the worst case O(m) a row, some 20 vector operations for eight rows.
Source: the block scan of van Herk, doi:10.1016/0167-8655(92)90069-C, and Gil and Werman,
doi:10.1109/34.211471, with + for min; two-sum: Knuth, The Art of Computer Programming 2, section 4.2.2.
"""

import numpy as np

from rollstat._jit import kernel
from rollstat._lowering import prefetch
from rollstat.kernels.missing.simd_counts import is_observed, numbers_among
from rollstat.kernels.simd.float64x8 import (
    four_on,
    load,
    load_like,
    one_on,
    seven_on,
    six_on,
    spread,
    store,
    store_each,
    two_on,
    zeros_like,
)
from rollstat.kernels.simd.float64x8_math import any_nan, mark_below, nan_to_zero
from rollstat.kernels.sums.moment_formulas import channel_count, finish, is_shifted, lift, series_of
from rollstat.kernels.sums.short_windows import (
    copy_padded,
    count_gaps,
    has_gaps,
    lift_observed,
    lift_rows,
    narrow_windows,
    observed_among,
    write_rows,
)

__all__ = ["GROUP", "SHORTEST_SHIFTED", "settle_rows", "window_sums"]

# Rows that are summed one by one. More cost accuracy, fewer cost time.
GROUP = 16
# Rows that are asked for before they are needed: at the end of a page the machine stops guessing by itself.
_AHEAD = 32
# Values of the shortest shifted window that blocks serve.
SHORTEST_SHIFTED = 16
# The number of each lane.
_LANE = np.arange(8.0)


@kernel(forceinline=True)
def _add_exactly(high, low, at, value):
    """Add lanes to the unevaluated sum ``high + low``."""
    old = load_like(high, at, value)
    new = old + value
    part = new - old
    error = (old - (new - part)) + (value - part)
    # No error is known of a sum that is not finite; that sum itself says it all.
    store(high, at, new)
    store(low, at, load_like(low, at, value) + nan_to_zero(error))


@kernel
def _shift_row(series, first, border, last):
    """The last observed row before `border`, from `first` on; if there is none, the first one after.

    Where no row before `last` is an observation either, every number does.
    """
    for i in range(border - 1, first - 1, -1):
        if is_observed(series, i):
            return i
    for i in range(border, last):
        if is_observed(series, i):
            return i
    return min(first, last - 1)


@kernel
def _shifts(series, row):
    """The values of both series in a row as their shifts, 0 if it is no observation."""
    if is_observed(series, row):
        return series[0][row], series[-1][row]
    return 0.0, 0.0


@kernel(forceinline=True)
def _outer_sums(high, low, at, running, model):
    """Sum of the whole groups of a window: those after its first one, and those before its last one."""
    before = load_like(high, running, model)
    after = load_like(high, at, model)
    both = before + after
    part = both - before
    error = (before - (both - part)) + (after - part)
    return both + (nan_to_zero(error) + (load_like(low, running, model) + load_like(low, at, model)))


@kernel
def _border_sum(summand, x, y, counts, i, remainder, at_x, at_y):
    """Sums of the `remainder` values from every lane of the row at index `i` on."""
    total = zeros_like(lift(summand, at_x, at_y, at_x, at_y))
    for k in range(i, i + remainder):
        total = total + lift_rows(summand, counts, x, y, k, at_x, at_y)
    return total


@kernel(forceinline=True)
def _emit_group(summand, x, y, i, width, counts, least, rows, suffix, at, outer, at_x, at_y, out, to):
    """Write the results of the rows of one group; return the sum of its leaves.

    The leaf of the first row begins at index `i`. A leaf is known when its last value is, so these sums
    end in their lane.
    """
    size = 8 * channel_count(summand)
    prefix = zeros_like(outer)
    one = lift_rows(summand, counts, x, y, i - 1, at_x, at_y)
    two = one + seven_on(one, one)
    four = two + six_on(two, two)
    for j in range(rows):
        prefetch(suffix, at + size * (j + _AHEAD))
        prefetch(x, i + 8 * (j + _AHEAD))
        total = (load_like(suffix, at + size * j, outer) + prefix) + outer
        write_rows(summand, counts, least, width, 8 * j, total, at_x, at_y, out, to + 8 * j)
        last_one = one
        last_two = two
        last_four = four
        one = lift_rows(summand, counts, x, y, i + 8 * j + 7, at_x, at_y)
        two = one + seven_on(last_one, one)
        four = two + six_on(last_two, two)
        prefix = prefix + (four + four_on(last_four, four))
    return prefix


@kernel(forceinline=True)
def _suffix_group(summand, x, y, i, counts, rows, suffix, at, at_x, at_y):
    """Write the suffix sums of the rows of one group, which begins at index `i`; return its sum."""
    size = 8 * channel_count(summand)
    one = lift_rows(summand, counts, x, y, i + 8 * rows, at_x, at_y)
    two = one + one_on(one, one)
    four = two + two_on(two, two)
    total = zeros_like(one)
    for j in range(rows - 1, -1, -1):
        next_one = one
        next_two = two
        next_four = four
        one = lift_rows(summand, counts, x, y, i + 8 * j, at_x, at_y)
        two = one + one_on(one, next_one)
        four = two + two_on(two, next_two)
        total = total + (four + four_on(four, next_four))
        store(suffix, at + size * j, total)
    return total


@kernel
def _close_block(size, groups, suffix, high, low, model):
    """Turn the sums of the groups of a finished block into those of the groups after each."""
    running = size * groups
    zero = zeros_like(model)
    store(high, running, zero)
    store(low, running, zero)
    for g in range(groups - 1, -1, -1):
        store(high, size * g, load_like(high, running, model))
        store(low, size * g, load_like(low, running, model))
        _add_exactly(high, low, running, load_like(suffix, size * GROUP * g, model))


@kernel
def _wide_windows(summand, x, y, width, counts, least, suffix, high, low, tails, spare, out):
    """Windows of at least one row: blocks of rows."""
    q = width // 8
    remainder = width % 8
    size = 8 * channel_count(summand)
    shifted = is_shifted(summand)
    length = len(x)
    windows = out.shape[1]
    total_rows = (windows + 7) // 8 + q
    groups = (q + GROUP - 1) // GROUP
    running = size * groups
    zero = spread(0.0)
    at_x = zero
    at_y = zero
    outer = zeros_like(lift(summand, zero, zero, zero, zero))
    series = series_of(summand, x, y)
    observed = observed_among(counts, series, width)
    seen = 0
    for block in range(0, total_rows, q):
        before_x = at_x  # the shift of the windows that end in this block
        before_y = at_y
        if shifted:
            shift = min(8 * (block + q), length) - 1
            if has_gaps(counts):
                shift = _shift_row(series, 8 * block, shift + 1, min(8 * (block + q) + width, length))
            shift_x, shift_y = _shifts(series, shift)
            at_x = spread(shift_x)
            at_y = spread(shift_y)
        for group in range(groups):
            first = block + GROUP * group
            rows = min(GROUP, q - GROUP * group, total_rows - first)
            if rows <= 0:
                break
            near = 8 * first
            near_x = x
            near_y = y
            if near + 8 * rows + 16 > length:
                near = min(near, 8)
                copy_padded(x, 8 * first - near, tails[0])
                copy_padded(y, 8 * first - near, tails[1])
                near_x = tails[0]
                near_y = tails[1]
            place = size * GROUP * group
            if block:
                if group == 0:
                    outer = _border_sum(summand, near_x, near_y, counts, near, remainder, before_x, before_y)
                    seen |= any_nan(outer)
                    store(high, running, outer)
                    store(low, running, zeros_like(outer))
                if groups > 1:
                    outer = _outer_sums(high, low, size * group, running, outer)
                to = 8 * (first - q)
                nearby = series_of(summand, near_x, near_y)
                observed = count_gaps(counts, series, to, nearby, near + remainder, rows, observed)
                target = out
                at = to
                if to + 8 * rows > windows:
                    target = spare
                    at = 0
                total = _emit_group(
                    summand,
                    near_x,
                    near_y,
                    near + remainder,
                    width,
                    counts,
                    least,
                    rows,
                    suffix,
                    place,
                    outer,
                    before_x,
                    before_y,
                    target,
                    at,
                )
                for i in range(to, windows if to + 8 * rows > windows else to):
                    for k in range(len(out)):
                        out[k, i] = spare[k, i - to]
                seen |= any_nan(total)
                if groups > 1:
                    _add_exactly(high, low, running, total)
            if 8 * block <= length - width:
                seen |= any_nan(
                    _suffix_group(summand, near_x, near_y, near, counts, rows, suffix, place, at_x, at_y)
                )
            if seen and not has_gaps(counts):
                return 1
        if groups > 1:
            _close_block(size, groups, suffix, high, low, outer)
    return 0


@kernel
def window_sums(summand, x, y, width, counts, least, suffix, high, low, leaf, rest, tails, spare, out):
    """Write the outputs of `summand` for every window of `width` values; return 1 if it gave up.

    It gives up, and what it wrote is worthless, where it meets a sum that is NaN: a value may be missing.
    Unless `counts` is scratch memory for a chunk: then rows in which `x` or `y` is NaN add nothing, outputs
    with fewer than `least` observations are NaN, and 0 is returned. Some shifted sums are then
    to be done again, by :func:`settle_rows`.
    """
    if width < (SHORTEST_SHIFTED if is_shifted(summand) else 32):
        return narrow_windows(summand, x, y, width, counts, least, leaf, rest, tails, spare, out)
    return _wide_windows(summand, x, y, width, counts, least, suffix, high, low, tails, spare, out)


@kernel
def _one_window(summand, x, y, first, width, count, high, low, spare):
    """Write the outputs of one window to the front of `spare`: its lanes first, then all of them."""
    series = series_of(summand, x, y)
    shift_x, shift_y = _shifts(series, _shift_row(series, first, first, first + width))
    at_x = spread(shift_x)
    at_y = spread(shift_y)
    total = zeros_like(lift(summand, at_x, at_y, at_x, at_y))
    store(high, 0, total)
    store(low, 0, total)
    whole = first + width // 8 * 8
    for start in range(first, whole, 8 * GROUP):
        part = zeros_like(total)
        for i in range(start, min(start + 8 * GROUP, whole), 8):
            part = part + lift_observed(summand, load(series[0], i), load(series[-1], i), at_x, at_y)
        _add_exactly(high, low, 0, part)
    # The last eight values, without those that are in the rows before.
    counted = spread(8.0 - width % 8)
    row_x = mark_below(load(series[0], first + width - 8), load(_LANE, 0), counted)
    row_y = mark_below(load(series[-1], first + width - 8), load(_LANE, 0), counted)
    _add_exactly(high, low, 0, lift_observed(summand, row_x, row_y, at_x, at_y))
    total = load_like(high, 0, total) + load_like(low, 0, total)
    total = total + four_on(total, total)
    total = total + two_on(total, total)
    total = total + one_on(total, total)
    store_each(spare, 0, finish(summand, total, at_x, at_y, spread(count)))


@kernel
def settle_rows(summand, x, y, width, least, high, low, spare, rows, out):
    """Do those windows again in which the shift of :func:`window_sums` does not lie.

    The shift is the last observation before the border of two blocks, so that windows which start behind
    it have none, unless there is no observation at all before the border. Few of them in a row are done here;
    others are left to those who share work among them: they are written to `rows` as far as it has room,
    and their number is returned. Windows with fewer than `least` observations stay as they are.
    """
    series = series_of(summand, x, y)
    step = 8 * (width // 8)
    windows = out.shape[1]
    left = 0
    for border in range(step, windows + step, step):
        first = border
        while first > border - step and not is_observed(series, first - 1):
            first -= 1
        if first == border - step:
            continue
        last = min(border, windows)
        count = numbers_among(series, border, first + width - 1) if first < last else 0
        for row in range(first, last):
            count += is_observed(series, row + width - 1)
            if count < least:
                continue
            if last - first > GROUP:
                if left < len(rows):
                    rows[left] = row
                left += 1
                continue
            _one_window(summand, x, y, row, width, count, high, low, spare)
            for k in range(len(out)):
                out[k, row] = spare[k, 0]
    return left
