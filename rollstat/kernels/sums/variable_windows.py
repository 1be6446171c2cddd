"""Sums over any monotone windows, with missing values, without drift.

::

                 start          border         end
                 v              v              v
    x x x x x x [x x x x x x x x|x x x x x x x]x x x
                 <-- suffix[start]  prefix -->

    start passes the border  ->  the rows [start, end) become the new block: its border is just after its last
                                 observation, its suffixes are computed, the prefix is empty

A window is a suffix of the block before the border and a prefix of the rows after it; nothing is subtracted.
The terms are those of :mod:`rollstat.kernels.sums.moment_formulas`. The shifts are the values in the row
before the border, which are in every window that reads a suffix.

State: `suffix`, the sums from every row of the block to the border, and for each channel in `sums` the sum
of at most GROUP terms (row 0) and that of all earlier terms as an unevaluated pair (rows 1 and 2).
Invariant: the row before the border is an observation, and every window that starts before the border ends
after it.

Error: at most ``(GROUP + 5) u * sum(abs(x)) + O(m u**2)``, ``u = 2**-53``. Cost: every row enters one
suffix and one prefix, so O(K) amortised and O(K m) worst case per row for K channels.
Source: two stacks, as surveyed in section 3 of Tangwongsan, Hirzel and Schneider,
doi:10.1145/3093742.3093925; two-sum: Knuth, The Art of Computer Programming 2, section 4.2.2.
"""

from rollstat._jit import kernel
from rollstat.kernels.simd.float64x8_math import LANES
from rollstat.kernels.simd.vectors import broadcast, load, load_2d, store_2d, zeros_like
from rollstat.kernels.sums.moment_formulas import finish, lift

__all__ = ["finish_windows", "sum_variable_windows"]

GROUP = 16


@kernel
def _close_group(sums):
    """Add the sums of the group (row 0) to the unevaluated pairs (rows 1 and 2)."""
    for k in range(sums.shape[1]):
        old = sums[1, k]
        term = sums[0, k]
        new = old + term
        part = new - old
        error = (old - (new - part)) + (term - part)
        sums[0, k] = 0.0
        sums[1, k] = new
        if error == error:  # it is NaN if the sum is not finite
            sums[2, k] += error


@kernel
def _add(summand, sums, x, y, shift_x, shift_y, grouped):
    """Add one observation to a group of `grouped` terms; return how many the group has then."""
    terms = lift(summand, x, y, shift_x, shift_y)
    for k in range(sums.shape[1]):
        sums[0, k] += terms[k]
    if grouped + 1 < GROUP:
        return grouped + 1
    _close_group(sums)
    return 0


@kernel
def _write_suffixes(summand, x, y, first, border, sums, suffix):
    """Write the sums from every row of ``[first, border)`` to the border."""
    sums[:] = 0.0
    shift_x = x[border - 1]
    shift_y = y[border - 1]
    grouped = 0
    for i in range(border - 1, first - 1, -1):
        if x[i] == x[i] and y[i] == y[i]:
            grouped = _add(summand, sums, x[i], y[i], shift_x, shift_y, grouped)
        for k in range(sums.shape[1]):
            suffix[k, i - first] = sums[0, k] + (sums[1, k] + sums[2, k])


@kernel
def sum_variable_windows(summand, x, y, start, end, suffix, sums, out, shift_x, shift_y):
    """Write the sums of each window, and the shifts that they are about.

    Rows in which `x` or `y` is NaN add nothing. `suffix` has a column for each row of the longest window,
    `sums` three rows; the other axis of all three two-dimensional arrays counts channels.
    """
    channels = sums.shape[1]
    first = border = position = grouped = 0
    last = -1
    for i in range(len(start)):
        for j in range(max(position, start[i]), end[i]):
            if x[j] == x[j] and y[j] == y[j]:
                last = j
                if start[i] < border:
                    grouped = _add(summand, sums, x[j], y[j], x[border - 1], y[border - 1], grouped)
        position = end[i]
        if start[i] >= border and last >= start[i]:
            first = start[i]
            border = last + 1
            _write_suffixes(summand, x, y, first, border, sums, suffix)
            sums[:] = 0.0
            grouped = 0
        if start[i] >= border:  # no observation in the window
            for k in range(channels):
                out[k, i] = 0.0
            shift_x[i] = 0.0
            shift_y[i] = 0.0
        else:
            for k in range(channels):
                out[k, i] = suffix[k, start[i] - first] + (sums[0, k] + (sums[1, k] + sums[2, k]))
            shift_x[i] = x[border - 1]
            shift_y[i] = y[border - 1]


@kernel
def finish_windows(summand, sums, shift_x, shift_y, count, out):
    """Write the outputs of `summand` from the sums of each window; their number is a multiple of 8."""
    zero = broadcast(0.0)
    model = zeros_like(lift(summand, zero, zero, zero, zero))
    for i in range(0, out.shape[1], LANES):
        total = load_2d(sums, i, model)
        outputs = finish(summand, total, load(shift_x, i), load(shift_y, i), load(count, i))
        store_2d(outputs, out, i)
