"""Order statistics of windows of five: a sorting network in registers over shifted views.

::

    values   a b c d e f g h ...
    views    a b c d ...     one    |
             b c d e ...     two    |   every step sorts several neighbouring windows, as
             c d e f ...     three  |   far as needed, one in each vector lane
             d e f g ...     four   |
             e f g h ...     five   v

State: none. Invariant: nothing is carried from row to row. The same loops count NaN: memory bandwidth is the
limit here, and a separate search would cost half as much as all else. Cost: at most 18 minima and maxima a
row, all vector instructions; the compiler drops those on which the wanted rank does not depend. The worst
case is the average.

Source: the insertion of a fifth value after Batcher's network for four, doi:10.1145/1468075.1468121.
"""

import numpy as np

from rollstat.compile.jit import kernel
from rollstat.kernels.selection.quantiles import point_between

__all__ = ["point_of_five"]

_PART = 32768  # rows between two chances to stop at a NaN


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


# The rank is a literal in every call of `_write`: each call is compiled to a loop of its own, which computes
# only the minima and maxima that its rank depends on.
@kernel(forceinline=True)
def _write(one, two, three, four, five, rank, fraction, target):
    """Write the point at `fraction` between two ranks; return how many of the oldest values are NaN."""
    missing = 0
    for i in range(len(target)):
        ranks = _sort_five(one[i], two[i], three[i], four[i], five[i])
        if fraction is None:
            target[i] = ranks[rank]
        else:
            target[i] = point_between(np.float64(ranks[rank]), np.float64(ranks[rank + 1]), fraction, False)
        missing += one[i] != one[i]
    return missing


@kernel
def _rank(one, two, three, four, five, rank, target):
    """Write the value of a rank in every row; return how many of the oldest values are NaN."""
    if rank == 0:
        return _write(one, two, three, four, five, 0, None, target)
    if rank == 1:
        return _write(one, two, three, four, five, 1, None, target)
    if rank == 2:
        return _write(one, two, three, four, five, 2, None, target)
    if rank == 3:
        return _write(one, two, three, four, five, 3, None, target)
    return _write(one, two, three, four, five, 4, None, target)


@kernel
def _linear(one, two, three, four, five, rank, fraction, target):
    """Write the point at `fraction` between two ranks; return how many of the oldest values are NaN."""
    if rank == 0:
        return _write(one, two, three, four, five, 0, fraction, target)
    if rank == 1:
        return _write(one, two, three, four, five, 1, fraction, target)
    if rank == 2:
        return _write(one, two, three, four, five, 2, fraction, target)
    return _write(one, two, three, four, five, 3, fraction, target)


@kernel
def point_of_five(values, rank, fraction, target):
    """Write the point at `fraction` between the values of a rank and of the next one, for every window.

    Parameters
    ----------
    values : ndarray, shape (rows + 4,)
    rank : int
        From 0 to 4, or to 3 if `fraction` is positive.
    fraction : float
        From 0, for the value of the rank itself, to 1.
    target : ndarray, shape (rows,)
        Receives the points.

    Returns
    -------
    bool
        Whether no value is NaN; otherwise the points are meaningless.
    """
    for first in range(0, len(target), _PART):
        part = target[first : first + _PART]
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
