"""Order statistics of windows of five, the commonest filter: a network in registers over shifted views.

::

    values   a b c d e f g h ...
    views    a b c d ...     one    |
             b c d e ...     two    |   every step sorts, as far as wanted, several
             c d e f ...     three  |   neighbouring windows, one a vector lane
             d e f g ...     four   |
             e f g h ...     five   v

State: none. Invariant: none carried from row to row. NaN are looked for on the way, a strip of rows at a
time: memory is the limit here, and a search of its own would cost half as much as all else. Cost: at most 18
minima and maxima a row, less where the wanted rank does not depend on them (the compiler drops those), all of
them vector instructions; the worst case is the average.

Source: the insertion of a fifth value after Batcher's network for four, doi:10.1145/1468075.1468121.
"""

import numpy as np

from rollstat._jit import kernel
from rollstat.kernels.selection.quantiles import between

__all__ = ["point_of_five"]

_STRIP = 32768


@kernel
def _order(one, two):
    return (one if one < two else two), (two if one < two else one)


@kernel
def _sort_five(one, two, three, four, five):
    one, two = _order(one, two)
    three, four = _order(three, four)
    one, three = _order(one, three)
    two, four = _order(two, four)
    two, three = _order(two, three)
    one, five = _order(one, five)
    two, five = _order(two, five)
    three, five = _order(three, five)
    four, five = _order(four, five)
    return one, two, three, four, five


@kernel
def _rank(one, two, three, four, five, rank, target):
    """Write the value of a rank in every row; return how many of the oldest values are NaN.

    Each branch is a loop of its own, in which only what its rank depends on is computed.
    """
    missing = 0
    if rank == 0:
        for i in range(len(target)):
            target[i] = _sort_five(one[i], two[i], three[i], four[i], five[i])[0]
            missing += one[i] != one[i]
    elif rank == 1:
        for i in range(len(target)):
            target[i] = _sort_five(one[i], two[i], three[i], four[i], five[i])[1]
            missing += one[i] != one[i]
    elif rank == 2:
        for i in range(len(target)):
            target[i] = _sort_five(one[i], two[i], three[i], four[i], five[i])[2]
            missing += one[i] != one[i]
    elif rank == 3:
        for i in range(len(target)):
            target[i] = _sort_five(one[i], two[i], three[i], four[i], five[i])[3]
            missing += one[i] != one[i]
    else:
        for i in range(len(target)):
            target[i] = _sort_five(one[i], two[i], three[i], four[i], five[i])[4]
            missing += one[i] != one[i]
    return missing


@kernel
def _linear(one, two, three, four, five, rank, fraction, target):
    """Write the point at `fraction` between a rank and the next; return how many of the oldest are NaN."""
    missing = 0
    if rank == 0:
        for i in range(len(target)):
            ranks = _sort_five(one[i], two[i], three[i], four[i], five[i])
            target[i] = between(np.float64(ranks[0]), np.float64(ranks[1]), fraction)
            missing += one[i] != one[i]
    elif rank == 1:
        for i in range(len(target)):
            ranks = _sort_five(one[i], two[i], three[i], four[i], five[i])
            target[i] = between(np.float64(ranks[1]), np.float64(ranks[2]), fraction)
            missing += one[i] != one[i]
    elif rank == 2:
        for i in range(len(target)):
            ranks = _sort_five(one[i], two[i], three[i], four[i], five[i])
            target[i] = between(np.float64(ranks[2]), np.float64(ranks[3]), fraction)
            missing += one[i] != one[i]
    else:
        for i in range(len(target)):
            ranks = _sort_five(one[i], two[i], three[i], four[i], five[i])
            target[i] = between(np.float64(ranks[3]), np.float64(ranks[4]), fraction)
            missing += one[i] != one[i]
    return missing


@kernel
def point_of_five(values, rank, fraction, target):
    """Write the point at `fraction` between the values of a rank and of the next one, for every window.

    Parameters
    ----------
    values : ndarray, shape (rows + 4,)
    rank : int
        From 0 to 4; to 3 if there is a fraction.
    fraction : float
        From 0, for the value of the rank itself, to 1.
    target : ndarray, shape (rows,)
        Receives the points.

    Returns
    -------
    bool
        Whether no value is NaN; otherwise what is written is worth nothing.
    """
    for first in range(0, len(target), _STRIP):
        part = target[first : first + _STRIP]
        n = len(part)
        one, two, three = values[first : first + n], values[first + 1 :][:n], values[first + 2 :][:n]
        four, five = values[first + 3 :][:n], values[first + 4 :][:n]
        if fraction > 0:
            missing = _linear(one, two, three, four, five, rank, fraction, part)
        else:
            missing = _rank(one, two, three, four, five, rank, part)
        if missing > 0:
            return False
    missing = 0
    for value in values[len(target) :]:
        missing += value != value
    return missing == 0
