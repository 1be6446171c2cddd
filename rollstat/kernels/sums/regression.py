r"""Least squares of one series on several, over any windows.

::

    rows     . . a b c d | e f g . .        the windows [a..e], [b..f], [c..g] all contain the pivot |
                 a..d b..d c..d d           suffixes up to the pivot: a row is added at a time, backward
                         | e e..f e..g      the prefix after the pivot, a row at a time
    window [c..g] = suffix c..d merged with prefix e..g ---> Cholesky factor ---> coefficients and errors

State of some rows: weight, means less the row before the pivot, and the matrix of centred products, of the
response (0) and the regressors (1..k). Rows are added by the formula of Welford and West, and two states
merged by the formula of Chan, Golub and LeVeque. So no product is ever subtracted: nothing cancels, and a row
that has left the window leaves no trace. The factors are ``L D L'``; their rounding does not depend on units.
The diagonal of the inverse times the products gives the variance inflation factors, ``1 / (1 - R²)`` of each
regressor on the others. If the regressors are scaled to variance 1, the sum of these factors is between the
inverse of the smallest eigenvalue and k times this inverse.

Invariant: while windows of one pivot are computed, suffix[i] is the state of the rows from the start of their
first window + i to the pivot, and the prefix the state of the rows from the pivot to the end of the window.
Cost: O(k²) per row of the data and O(k³) per window.

Source: M. van Herk, doi:10.1016/0167-8655(92)90069-C; D. H. D. West, doi:10.1145/359146.359153; T. F. Chan,
G. H. Golub and R. J. LeVeque, doi:10.1080/00031305.1983.10483115.
"""

import math

from rollstat.compile.jit import kernel

# Arrays of one window lie in one memory at fixed places, so that the compiler keeps them in registers: the
# row before the pivot, deviations, the states of the prefix and of the window, factors, inverse, results.
_PLACES = 7
# A smaller part of the variance than this is rounding.
_ROUNDING = 2.0**-48


@kernel(forceinline=True)
def _place(p, k):
    """Return where array `k` of the memory begins."""
    return k * state_size(p)


@kernel(forceinline=True)
def state_size(p):
    """Return the numbers in a state of `p` series."""
    return 1 + p + p * p


def memory_size(p):
    """Return the size of the memory for `p` series."""
    return _PLACES * (1 + p + p * p)


@kernel(forceinline=True)
def _add_row(sizes, data, i, weight, memory):
    """Add a row to the state of the prefix."""
    p = len(sizes)
    anchor, delta, mean = _place(p, 0), _place(p, 1), _place(p, 2) + 1
    products, old = mean + p, memory[mean - 1]
    total = old + weight
    if total > 0.0:
        part = weight / total
        memory[mean - 1] = total
        for j in range(p):
            memory[delta + j] = (data[i, j] - memory[anchor + j]) - memory[mean + j]
        for j in range(p):
            memory[mean + j] += memory[delta + j] * part
            step = memory[delta + j] * (old * part)
            for k in range(j + 1):
                memory[products + j * p + k] += step * memory[delta + k]


@kernel(forceinline=True)
def _merge(sizes, suffix, i, memory):
    """Write the state of the rows of suffix `i` and the prefix."""
    p = len(sizes)
    delta, newer, state = _place(p, 1), _place(p, 2), _place(p, 3)
    total = suffix[i, 0] + memory[newer]
    part = memory[newer] / total if total > 0.0 else 0.0
    factor = suffix[i, 0] * part
    memory[state] = total
    for j in range(p):
        memory[delta + j] = memory[newer + 1 + j] - suffix[i, 1 + j]
        memory[state + 1 + j] = suffix[i, 1 + j] + memory[delta + j] * part
    for j in range(p):
        step = memory[delta + j] * factor
        for k in range(j + 1):
            at = 1 + p + j * p + k
            memory[state + at] = suffix[i, at] + memory[newer + at] + step * memory[delta + k]


@kernel(forceinline=True)
def _about_zero(sizes, memory):
    """Turn the centred products of the window into products."""
    p = len(sizes)
    anchor, mean = _place(p, 0), _place(p, 3) + 1
    for j in range(p):
        step = memory[mean - 1] * (memory[mean + j] + memory[anchor + j])
        for k in range(j + 1):
            memory[mean + p + j * p + k] += step * (memory[mean + k] + memory[anchor + k])


@kernel(forceinline=True)
def _factor(sizes, memory):
    """Write the factors of the products of the regressors, ``L D L'``, and the inverse of L.

    The first column of the factors holds 1 / D. Return the largest variance inflation factor: inf if rounding
    hides it, NaN where a regressor is constant or has no finite products.
    """
    p = len(sizes)
    products, lower, inverse = _place(p, 3) + 1 + p, _place(p, 4), _place(p, 5)
    irregular = 0.0
    for j in range(1, p):
        rest = memory[products + j * p + j]
        for k in range(1, j):
            found = memory[products + j * p + k]
            for q in range(1, k):
                found -= memory[lower + k * p + q] * memory[inverse + q]
            memory[inverse + k] = found  # the first row of the inverse is free
            memory[lower + j * p + k] = found * memory[lower + k * p]
            rest -= found * memory[lower + j * p + k]
        if not rest > 0.0:
            irregular += math.inf if rest <= 0.0 < memory[products + j * p + j] else math.nan
        memory[lower + j * p] = 1.0 / rest
        for k in range(1, j):
            found = memory[lower + j * p + k]
            for q in range(k + 1, j):
                found += memory[lower + j * p + q] * memory[inverse + q * p + k]
            memory[inverse + j * p + k] = -found
    largest = 0.0
    for k in range(1, p):
        found = memory[lower + k * p]
        for j in range(k + 1, p):
            found += memory[inverse + j * p + k] * memory[inverse + j * p + k] * memory[lower + j * p]
        memory[inverse + k * p + k] = found  # in place of the ones
        largest = max(largest, found * memory[products + k * p + k])
    return largest if irregular == 0.0 else irregular


@kernel(forceinline=True)
def _solve(sizes, own, i, count, intercept, memory, out):
    """Write the results of row `i` from the factors."""
    p = len(sizes)
    first = 1 if intercept else 0
    anchor, mean, lower, inverse = _place(p, 0), _place(p, 3) + 1, _place(p, 4), _place(p, 5)
    products, z = mean + p, _place(p, 6)
    squares, leverage = 0.0, 1.0 / memory[mean - 1]
    for j in range(1, p):
        found = memory[products + j * p]
        level = memory[mean + j] + memory[anchor + j]
        for k in range(1, j):
            found += memory[inverse + j * p + k] * memory[products + k * p]
            level += memory[inverse + j * p + k] * (memory[mean + k] + memory[anchor + k])
        scaled = found * memory[lower + j * p]
        memory[z + j] = scaled
        squares += found * scaled
        leverage += level * level * memory[lower + j * p]
    total, left = memory[products], count - (p - 1) - first
    rest = total - squares if total - squares > total * _ROUNDING else 0.0
    variance = rest / left if left > 0 else math.nan
    height, predicted = memory[mean] + memory[anchor], 0.0
    coefficients = p - 1 + first
    for k in range(1, p):
        found = memory[z + k]
        for j in range(k + 1, p):
            found += memory[inverse + j * p + k] * memory[z + j]
        out[k - 1 + first, i] = found
        out[coefficients + k - 1 + first, i] = math.sqrt(variance * memory[inverse + k * p + k])
        height -= found * (memory[mean + k] + memory[anchor + k])
        if intercept:
            predicted += found * ((own[i, k] - memory[anchor + k]) - memory[mean + k])
        else:
            predicted += found * own[i, k]
    if intercept:
        out[0, i] = height
        out[coefficients, i] = math.sqrt(variance * leverage)
        predicted += memory[mean] + memory[anchor]
    out[2 * coefficients, i] = 1.0 - rest / total
    out[2 * coefficients + 1, i] = math.sqrt(variance)
    out[2 * coefficients + 2, i] = predicted


@kernel(forceinline=True)
def _no_result(i, out):
    for j in range(len(out)):
        out[j, i] = math.nan


@kernel
def regress_windows(sizes, data, weights, own, start, end, intercept, limit, suffix, memory, out):
    """Write the results of each window; return the number of windows whose results rounding would decide.

    Parameters
    ----------
    sizes : tuple
        As many items as there are series.
    data, own : ndarray of float64, shape (n, p) and (rows, p)
        Response and regressors, and their values in the row of each window.
    weights : ndarray of float64, shape (n,) or (0,)
        Weights of the rows; all are 1 if there are none.
    start, end : ndarray of int64, shape (rows,)
        Bounds of the windows.
    intercept : bool
        Whether the line need not pass through zero.
    limit : float
        Largest variance inflation factor for which there is a result.
    suffix : ndarray of float64, shape (longest, state_size(p))
    memory : ndarray of float64, shape (memory_size(p),)
    out : ndarray of float64, shape (outputs, rows)
        Receives coefficients, their errors, R², deviation of the residuals, and predictions.
    """
    p, rows, i, beyond = len(sizes), len(start), 0, 0
    prefix, size, weighted = _place(p, 2), state_size(p), len(weights) > 0
    least = p if intercept else p - 1
    while i < rows:
        first, pivot = start[i], end[i]
        if first == pivot:
            _no_result(i, out)
            i += 1
            continue
        for j in range(p):
            memory[j] = data[pivot - 1, j]
        for j in range(size):
            memory[prefix + j] = 0.0
        for row in range(pivot - 1, first - 1, -1):
            _add_row(sizes, data, row, weights[row] if weighted else 1.0, memory)
            for j in range(size):
                suffix[row - first, j] = memory[prefix + j]
        for j in range(size):
            memory[prefix + j] = 0.0
        right = pivot
        while i < rows and start[i] < pivot:
            while right < end[i]:
                _add_row(sizes, data, right, weights[right] if weighted else 1.0, memory)
                right += 1
            _merge(sizes, suffix, start[i] - first, memory)
            if not intercept:
                _about_zero(sizes, memory)
            inflation = _factor(sizes, memory)
            count = end[i] - start[i]
            if inflation <= limit and count >= least:
                _solve(sizes, own, i, count, intercept, memory, out)
            else:
                _no_result(i, out)
                beyond += inflation > limit and count >= least
            i += 1
    return beyond
