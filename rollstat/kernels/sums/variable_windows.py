"""Sums over any monotone windows, with missing values, without drift.

::

                 start          border         end
                 v              v              v
    x x x x x x [x x x x x x x x|x x x x x x x]x x x
                 <-- suffix[start]  prefix -->

    start passes the border  ->  border = just after the last observation before `end`,
                                 suffixes of the new stretch are summed anew, the prefix is empty

A window is a suffix of the stretch before the border and a prefix of what follows; nothing is subtracted.
The channels are those of :mod:`rollstat.kernels.sums.moment_formulas`: one holds the sums of x; two or four
those of x - c, (x - c)**2, ...; three or five those of x - c, y - d and their products. The
shifts c and d are the values just before the border, which are in every window that reads the suffix.

State: `suffix`, the sums from every row of the stretch on, and in `sums` for each channel that of at most
GROUP terms (row 0) and that of all earlier ones as an unevaluated pair (rows 1 and 2). Invariant: the row
before the border is an observation, and every window that starts before the border ends behind it.

Error: at most ``(GROUP + 5) u * sum(abs(x)) + O(m u**2)``, ``u = 2**-53``. Cost: every row enters one
suffix and one prefix, so O(K) amortised and O(K m) in the worst case.
Source: two stacks, as surveyed in section 3 of Tangwongsan, Hirzel and Schneider,
doi:10.1145/3093742.3093925; two-sum: Knuth, The Art of Computer Programming 2, section 4.2.2.
"""

from rollstat._jit import kernel
from rollstat.kernels.simd.float64x8 import load, load_each, spread, store_each, zeros_like
from rollstat.kernels.sums.moment_formulas import finish, lift

__all__ = ["finish_rows", "stretch_sums"]

GROUP = 16


@kernel
def _close_group(sums):
    """Add the open groups (row 0) to the unevaluated sums (rows 1 and 2)."""
    for k in range(sums.shape[1]):
        old = sums[1, k]
        term = sums[0, k]
        new = old + term
        part = new - old
        error = (old - (new - part)) + (term - part)
        sums[0, k] = 0.0
        sums[1, k] = new
        if error == error:  # none is known of a sum that is not finite
            sums[2, k] += error


@kernel
def _add(sums, x, y, shift_x, shift_y):
    """Add one observation to the open groups."""
    channels = sums.shape[1]
    if channels == 1:
        sums[0, 0] += x
        return
    across = x - shift_x
    square = across * across
    sums[0, 0] += across
    if channels == 3:
        along = y - shift_y
        sums[0, 1] += along
        sums[0, 2] += across * along
        return
    if channels == 5:
        along = y - shift_y
        sums[0, 1] += along
        sums[0, 2] += square
        sums[0, 3] += across * along
        sums[0, 4] += along * along
        return
    sums[0, 1] += square
    if channels == 4:
        sums[0, 2] += square * across
        sums[0, 3] += square * square


@kernel
def _fill_suffix(x, y, first, border, sums, suffix):
    """Write the sums from every row of a stretch to the border."""
    sums[:] = 0.0
    shift_x = x[border - 1]
    shift_y = y[border - 1]
    waiting = 0
    for i in range(border - 1, first - 1, -1):
        if x[i] == x[i] and y[i] == y[i]:
            _add(sums, x[i], y[i], shift_x, shift_y)
            waiting += 1
            if waiting == GROUP:
                _close_group(sums)
                waiting = 0
        for k in range(sums.shape[1]):
            suffix[k, i - first] = sums[0, k] + (sums[1, k] + sums[2, k])


@kernel
def stretch_sums(x, y, start, end, suffix, sums, out, shift_x, shift_y):
    """Write the channel sums of each window, and the shifts that they are about.

    Rows where `x` or `y` is NaN count as nothing. `suffix` has a column for each row of the longest
    window, `sums` three rows; all three two-dimensional arrays count channels along the other axis.
    """
    channels = sums.shape[1]
    first = border = position = waiting = 0
    last = -1
    for i in range(len(start)):
        for j in range(max(position, start[i]), end[i]):
            if x[j] == x[j] and y[j] == y[j]:
                last = j
                if start[i] < border:
                    _add(sums, x[j], y[j], x[border - 1], y[border - 1])
                    waiting += 1
                    if waiting == GROUP:
                        _close_group(sums)
                        waiting = 0
        position = end[i]
        if start[i] >= border and last >= start[i]:
            first = start[i]
            border = last + 1
            _fill_suffix(x, y, first, border, sums, suffix)
            sums[:] = 0.0
            waiting = 0
        if start[i] >= border:
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
def finish_rows(summand, sums, shift_x, shift_y, count, out):
    """Write the outputs of `summand` from the channel sums of each window; rows are a multiple of 8."""
    zero = spread(0.0)
    model = zeros_like(lift(summand, zero, zero, zero, zero))
    for i in range(0, out.shape[1], 8):
        total = load_each(sums, i, model)
        observed = load(count, i)
        outputs = finish(summand, total, load(shift_x, i), load(shift_y, i), observed)
        store_each(out, i, outputs)
