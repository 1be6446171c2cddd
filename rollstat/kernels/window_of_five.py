"""Order statistics of windows of five, the commonest filter: a network in registers over shifted views.

::

    values   a b c d e f g h ...
    views    a b c d ...     one    |
             b c d e ...     two    |   every step sorts, as far as wanted, several
             c d e f ...     three  |   neighbouring windows, one a vector lane
             d e f g ...     four   |
             e f g h ...     five   v

State: none. Invariant: none carried from row to row. Cost: at most 18 minima and maxima a row, less where
the wanted rank does not depend on them (the compiler drops those), all of them vector instructions; the
worst case is the average. Source: the insertion of a fifth value after Batcher's network for four,
doi:10.1145/1468075.1468121.
"""

import numpy as np

from rollstat._jit import kernel
from rollstat.kernels.quantiles import between

__all__ = ["linear_of_five", "rank_of_five"]


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
def rank_of_five(one, two, three, four, five, rank, target):
    """Write the value of a rank in every row of five views of the values.

    Each branch is a loop of its own, in which only what its rank depends on is computed.
    """
    if rank == 0:
        for i in range(len(target)):
            target[i] = _sort_five(one[i], two[i], three[i], four[i], five[i])[0]
    elif rank == 1:
        for i in range(len(target)):
            target[i] = _sort_five(one[i], two[i], three[i], four[i], five[i])[1]
    elif rank == 2:
        for i in range(len(target)):
            target[i] = _sort_five(one[i], two[i], three[i], four[i], five[i])[2]
    elif rank == 3:
        for i in range(len(target)):
            target[i] = _sort_five(one[i], two[i], three[i], four[i], five[i])[3]
    else:
        for i in range(len(target)):
            target[i] = _sort_five(one[i], two[i], three[i], four[i], five[i])[4]


@kernel
def linear_of_five(one, two, three, four, five, rank, fraction, target):
    """Write the point at `fraction` between the values of a rank and of the next one, in every row."""
    if rank == 0:
        for i in range(len(target)):
            ranks = _sort_five(one[i], two[i], three[i], four[i], five[i])
            target[i] = between(np.float64(ranks[0]), np.float64(ranks[1]), fraction)
    elif rank == 1:
        for i in range(len(target)):
            ranks = _sort_five(one[i], two[i], three[i], four[i], five[i])
            target[i] = between(np.float64(ranks[1]), np.float64(ranks[2]), fraction)
    elif rank == 2:
        for i in range(len(target)):
            ranks = _sort_five(one[i], two[i], three[i], four[i], five[i])
            target[i] = between(np.float64(ranks[2]), np.float64(ranks[3]), fraction)
    else:
        for i in range(len(target)):
            ranks = _sort_five(one[i], two[i], three[i], four[i], five[i])
            target[i] = between(np.float64(ranks[3]), np.float64(ranks[4]), fraction)
