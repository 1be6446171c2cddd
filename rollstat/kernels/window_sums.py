"""Sums over windows of a fixed width, and all that follows from sums, without drift.

::

    rows of 8 values        a window that starts in column 3, width 8q + r

    row     0  |. . . [x x x x x|      leaf of (row, column): the 8 values from there on
            1  |x x x x x x x x |      the window = q leaves of column 3, one below the other,
            2  |x x x x x x x x |               + the r values that follow: the rest
            3  |x x x|r r] . . .|

    column 3 of the leaves, blocks of q rows, groups of GROUP rows within a block:

      block b                         block b + 1
      [ group | group | group   ]     [ group | group | group   ]
              .  s s s|# # # # #  +    # # # #|p p p  .              q rows
             suffix of   whole          whole   prefix of
             a group     groups         groups  a group

Eight windows, one a lane, are computed at once (:mod:`rollstat.kernels.bundles`), and each is the sum of six
disjoint parts: a suffix of a group, the whole groups after it, the whole groups of the next block, a
prefix of a group there, and the rest. Nothing is ever subtracted, so nothing that left a window can be
seen in it. A group is summed row by row, the groups of a block by compensated addition.

State: `suffix` holds a suffix of its group for every row of the last block; `high` and `low`, for every
group, the sum of the groups after it, and at the end of them that of the groups of this block so far,
as unevaluated pairs. Invariant: before row j of block b + 1 is emitted, ``suffix[j]`` is of block b.

Sums of powers are about a shift, the value in the last row and lane of the block in which the window
starts: it is in every one of these windows. So a row is lifted twice, for the windows that end in its
block and for those that start there. Among missing values the shift is the last observation of the block;
windows that start behind it have no shift of their own, and are summed one by one elsewhere.

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
from rollstat.kernels.bundles import (
    load,
    load_like,
    nan_to_zero,
    spread,
    store,
    store_each,
    zeros_like,
)
from rollstat.kernels.narrow_sums import (
    CHUNK,
    copy_padded,
    has_gaps,
    leaf_rows,
    narrow_windows,
    observed,
    revise_rows,
)
from rollstat.kernels.summands import (
    channel_count,
    finish,
    is_shifted,
    lift,
    revises,
)

__all__ = ["GROUP", "SHORTEST_SHIFTED", "unsettled_rows", "window_sums"]

# Rows that are summed one by one. More cost accuracy, fewer cost time.
GROUP = 16
# Values of the shortest shifted window that blocks serve.
SHORTEST_SHIFTED = 16


@kernel(references=False)
def _add_exactly(high, low, at, value):
    """Add lanes to the unevaluated sum ``high + low``."""
    old = load_like(high, at, value)
    new = old + value
    part = new - old
    error = (old - (new - part)) + (value - part)
    # No error is known of a sum that is not finite; that sum itself says it all.
    store(high, at, new)
    store(low, at, load_like(low, at, value) + nan_to_zero(error))


@kernel(references=False)
def _last_observed(values, i, room):
    """Index of the last value up to `i` that is not NaN, of at most `room`; else `i`."""
    for j in range(i, max(i - room, -1), -1):
        if values[j] == values[j]:
            return j
    return i


@kernel(inline="always", references=False)
def _outer_sums(high, low, at, running, model):
    """Sum of the whole groups of a window: those after its first one, and those before its last one."""
    before = load_like(high, running, model)
    after = load_like(high, at, model)
    both = before + after
    part = both - before
    error = (before - (both - part)) + (after - part)
    return both + (nan_to_zero(error) + (load_like(low, running, model) + load_like(low, at, model)))


@kernel(inline="always", references=False)
def _emit_group(
    summand,
    width,
    counts,
    window,
    leaf,
    rest,
    place,
    rows,
    remainder,
    suffix,
    at,
    outer,
    at_x,
    at_y,
    out,
    to,
):
    """Write the results of the rows of one group; return the sum of its leaves."""
    size = 8 * channel_count(summand)
    prefix = zeros_like(outer)
    for j in range(rows):
        total = load_like(suffix, at + size * j, outer) + prefix
        if remainder:
            total = total + (outer + load_like(rest, place + size * j, outer))
        else:
            total = total + outer
        count = observed(counts, width, window + 8 * j)
        store_each(out, to + 8 * j, finish(summand, total, at_x, at_y, count))
        prefix = prefix + load_like(leaf, place + size * j, outer)
    return prefix


@kernel(inline="always", references=False)
def _suffix_group(size, leaf, place, rows, suffix, at, model):
    """Write the suffix sums of one group."""
    total = zeros_like(model)
    for j in range(size * (rows - 1), -size, -size):
        total = total + load_like(leaf, place + j, model)
        store(suffix, at + j, total)


@kernel(references=False)
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
    store(high, running, zero)
    store(low, running, zero)


@kernel(references=False)
def _scan_chunk(
    summand,
    x,
    y,
    near_x,
    near_y,
    near,
    row,
    rows,
    width,
    counts,
    suffix,
    high,
    low,
    leaf,
    rest,
    out,
    to,
):
    """Emit the windows that end in these rows, and keep the suffixes of those that start there.

    `near_x` and `near_y` hold the rows from index `near` on; results go to `out` from index `to` on.
    Returns 1 where a value was missing.
    """
    q = width // 8
    remainder = width % 8
    length = len(x)
    size = 8 * channel_count(summand)
    shifted = is_shifted(summand)
    groups = (q + GROUP - 1) // GROUP
    running = size * groups
    model = lift(summand, load(near_x, near), load(near_y, near), spread(0.0), spread(0.0))
    outer = zeros_like(model)
    seen = 0
    step = min(q, GROUP)
    for first in range(0, rows, step):
        count = min(step, rows - first)
        block = (row + first) // q
        phase = row + first - block * q
        for starting in range(2):
            if not starting and block == 0:
                continue  # no window ends here
            if starting and 8 * block * q > length - width:
                continue  # no window starts here
            if shifted:
                place = 0
                shift = min(8 * (block + starting) * q, length) - 1
                if has_gaps(counts):
                    shift = _last_observed(x, shift, 8 * q)
                seen |= leaf_rows(
                    summand,
                    near_x,
                    near_y,
                    counts,
                    near + 8 * first,
                    count,
                    0 if starting else remainder,
                    x[shift],
                    y[shift],
                    leaf,
                    rest,
                )
            else:
                place = size * first
                shift = 0
                if first == 0 and (block == 0 or not starting):
                    seen |= leaf_rows(
                        summand, near_x, near_y, counts, near, rows, remainder, x[0], y[0], leaf, rest
                    )
            if starting:
                _suffix_group(size, leaf, place, count, suffix, size * phase, outer)
                continue
            if groups > 1:
                outer = _outer_sums(high, low, size * (phase // GROUP), running, outer)
            at_x = spread(x[shift])
            at_y = spread(y[shift])
            emitted = to + 8 * first
            total = _emit_group(
                summand,
                width,
                counts,
                8 * (row + first - q),
                leaf,
                rest,
                place,
                count,
                remainder,
                suffix,
                size * phase,
                outer,
                at_x,
                at_y,
                out,
                emitted,
            )
            if groups > 1:
                _add_exactly(high, low, running, total)
    if row >= q and revises(summand):
        revise_rows(summand, width, counts, 8 * (row - q), rows, out, to)
    if groups > 1 and (row + rows) % q == 0:
        _close_block(size, groups, suffix, high, low, outer)
    return seen


@kernel(references=False)
def _wide_windows(summand, x, y, width, counts, suffix, high, low, leaf, rest, tails, spare, out):
    """Windows of at least one row: blocks of rows."""
    q = width // 8
    windows = out.shape[1]
    total_rows = (windows + 7) // 8 + q
    groups = (q + GROUP - 1) // GROUP
    seen = 0
    row = np.int64(0)  # a literal would be compiled apart
    while row < total_rows and not (seen and (is_shifted(summand) or revises(summand))):
        if groups > 1:
            rows = min(CHUNK, q - row % q)
        elif row == 0:
            rows = q
        else:
            rows = CHUNK // q * q
        rows = min(rows, total_rows - row)
        first = 8 * row
        to = first - 8 * q
        near = first
        near_x = x
        near_y = y
        if first + 8 * rows + 8 > len(x):
            copy_padded(x, first, tails[0])
            copy_padded(y, first, tails[1])
            near = 0
            near_x = tails[0]
            near_y = tails[1]
        target = out
        at = to
        if to + 8 * rows > windows:
            target = spare
            at = 0
        seen |= _scan_chunk(
            summand,
            x,
            y,
            near_x,
            near_y,
            near,
            row,
            rows,
            width,
            counts,
            suffix,
            high,
            low,
            leaf,
            rest,
            target,
            at,
        )
        for i in range(max(to, 0), windows if to + 8 * rows > windows else 0):
            for k in range(len(out)):
                out[k, i] = spare[k, i - to]
        row += rows
    return seen


@kernel(references=False)
def window_sums(summand, x, y, width, counts, suffix, high, low, leaf, rest, tails, spare, out):
    """Write the outputs of `summand` for every window of `width` values; return 1 if a value was missing.

    Where a value is missing, a plain sum counts it as nothing, and all other results are worthless: the
    scan then stops. Unless `counts` holds the observations of each window, and 8 numbers more: then what
    is missing is NaN in `x` and `y`, adds nothing, and 0 is returned. Of shifted sums those are left
    to do again that :func:`unsettled_rows` names.
    """
    if width < (SHORTEST_SHIFTED if is_shifted(summand) else 32):
        return narrow_windows(summand, x, y, width, counts, leaf, rest, tails, spare, out)
    return _wide_windows(summand, x, y, width, counts, suffix, high, low, leaf, rest, tails, spare, out)


@kernel
def unsettled_rows(missing, width, windows, rows):
    """Write the rows of which no shift of :func:`window_sums` lies in the window; return their number.

    The shift is the last observation before the border of two blocks, so that windows which start behind
    it have none. `rows` has room for every window.
    """
    step = 8 * (width // 8)
    found = 0
    for border in range(step, windows + step, step):
        first = border
        while first > border - step and missing[first - 1]:
            first -= 1
        for row in range(first, min(border, windows)):
            rows[found] = row
            found += 1
    return found
