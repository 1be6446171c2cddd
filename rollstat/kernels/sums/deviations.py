"""Deviations from the means of windows: distances of one value a row, and sums of all distances.

::

    window      3   1   .   8        reference 3, mean 4 = reference + offset 1
    distances   1 + 3     + 4        abs((x - reference) - offset)

Means are given as offsets from a reference, one observation of each window, so that a large common offset of
the values costs no digits.

State: ``lanes``, float64 (8,), the partial sums of one window. Invariant: every window is summed afresh.

Cost: O(1) a row for one value; O(m) for the sum, in vector code. When the mean moves, the distances do not
follow from the distances of the window before, and a difference of sums over ranks would cancel where the
mean is large. Source: the definition.
"""

from rollstat.compile.jit import kernel
from rollstat.compile.simd.float64x8_math import negative_to_zero
from rollstat.compile.simd.vectors import broadcast, load, replace_nan, store
from rollstat.kernels.numbers import difference


@kernel
def standardize(own, reference, offset, deviation, result):
    """Write the distance of the `own` value of each row from the mean, in deviations."""
    for i in range(len(own)):
        result[i] = (difference(own[i], reference[i]) - offset[i]) / deviation[i]


@kernel(forceinline=True)
def _distances(lanes, reference, offset, zero):
    """Return the distances of eight values, 0 for NaN."""
    deviation = (lanes - reference) - offset
    return replace_nan(negative_to_zero(deviation) + negative_to_zero(zero - deviation), zero)


@kernel
def sum_of_distances(values, reference, offset, start, end, lanes, result):
    """Write the sum of the distances of the observations of every window from their mean.

    Parameters
    ----------
    values : ndarray of float64, shape (n,)
        The series; NaN is missing.
    reference, offset : ndarray of float64, shape (rows,)
        One observation of each window, and the mean less this observation; the sum is NaN if the
        offset is not finite.
    start, end : ndarray of int64, shape (rows,)
        Bounds of any windows.
    lanes : ndarray of float64, shape (8,)
        Scratch memory.
    result : ndarray of float64, shape (rows,)
        Receives the sums.
    """
    zero = broadcast(0.0)
    for i in range(len(start)):
        shift, mean, first, second, j = broadcast(reference[i]), broadcast(offset[i]), zero, zero, start[i]
        while j + 16 <= end[i]:
            first = first + _distances(load(values, j), shift, mean, zero)
            second = second + _distances(load(values, j + 8), shift, mean, zero)
            j += 16
        store(first + second, lanes, 0)
        total = (lanes[0] + lanes[1]) + (lanes[2] + lanes[3])
        total += (lanes[4] + lanes[5]) + (lanes[6] + lanes[7])
        while j < end[i]:
            distance = abs((values[j] - reference[i]) - offset[i])
            total += distance if distance == distance else 0.0
            j += 1
        result[i] = total + (offset[i] - offset[i])


@kernel
def sum_of_integer_distances(values, missing, reference, offset, start, end, result):
    """As :func:`sum_of_distances`, for integers that float64 may round; `missing` is empty if none is."""
    for i in range(len(start)):
        total = 0.0
        for j in range(start[i], end[i]):
            if len(missing) == 0 or not missing[j]:
                total += abs(difference(values[j], reference[i]) - offset[i])
        result[i] = total
