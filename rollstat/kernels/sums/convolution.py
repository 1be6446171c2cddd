"""Weighted sums of windows, with weights by position.

::

    values     x0  x1  x2  x3  x4        window of x3 with weights a, b, c:   a x1 + b x2 + c x3
    weights        a   b   c             the last weight belongs to the last row

State: none. Invariant: every window is summed afresh, from its oldest row to its newest.

Cost: O(m) a row; for windows of one width over complete data in vector code, 32 windows at a time, so that
each weight is loaded once for all 32. Source: the definition.
"""

from rollstat.compile.jit import kernel
from rollstat.compile.simd.float64x8_math import subtract_product
from rollstat.compile.simd.vectors import broadcast, contains_nan, load, store


@kernel
def convolve_fixed(values, negated, out):
    """Write the weighted sum of every window as long as the weights; the weights come negated.

    Return whether all sums are finite.
    """
    zero, i = broadcast(0.0), 0
    check = zero
    while i + 32 <= len(out):
        a, b, c, d = zero, zero, zero, zero
        for j in range(len(negated)):
            weight = broadcast(negated[j])
            a = subtract_product(a, weight, load(values, i + j))
            b = subtract_product(b, weight, load(values, i + j + 8))
            c = subtract_product(c, weight, load(values, i + j + 16))
            d = subtract_product(d, weight, load(values, i + j + 24))
        store(a, out, i)
        store(b, out, i + 8)
        store(c, out, i + 16)
        store(d, out, i + 24)
        check = check + ((a - a) + (b - b)) + ((c - c) + (d - d))
        i += 32
    finite = not contains_nan(check)
    while i < len(out):
        total = 0.0
        for j in range(len(negated)):
            total -= negated[j] * values[i + j]
        out[i] = total
        finite &= total - total == 0.0
        i += 1
    return finite


@kernel
def convolve_windows(values, weights, start, end, last, total, share):
    """Write the weighted sum of the observations of any windows, and the sum of their weights.

    Parameters
    ----------
    values : ndarray of float64, shape (n,)
        The series; NaN is missing.
    weights : ndarray of float64, shape (m,)
        Older rows of a window have no weight.
    start, end, last : ndarray of int64, shape (rows,)
        Bounds of the windows, and the row that the last weight belongs to.
    total, share : ndarray of float64, shape (rows,)
        Receive the sums.
    """
    for i in range(len(start)):
        first = last[i] + 1 - len(weights)
        total[i] = share[i] = 0.0
        for j in range(max(start[i], first), min(end[i], last[i] + 1)):
            if values[j] == values[j]:
                total[i] += weights[j - first] * values[j]
                share[i] += weights[j - first]


@kernel
def spread_of_windows(values, weights, start, end, last, mean, spread):
    """Write the weighted sum of the squared distances from the `mean` of each window."""
    for i in range(len(start)):
        first = last[i] + 1 - len(weights)
        spread[i] = 0.0
        for j in range(max(start[i], first), min(end[i], last[i] + 1)):
            if values[j] == values[j]:
                spread[i] += weights[j - first] * (values[j] - mean[i]) ** 2
