r"""Sum of values that are added and removed, without drift: a tree of sums with eight children a node.

::

    sums                      s                   sums[0]: of all
             s       s       ...       s          node i has the children 8i + 1, ..., 8i + 8
          v v . v  . v v v          . . v .       leaves: the value of a rank, or 0

State: ``sums``, float64, all inner nodes and as many leaves as there are ranks, in groups of eight.

Invariant: every inner node is ``((a + b) + (c + d)) + ((e + f) + (g + h))`` of its children. Nothing is ever
subtracted: after a value is removed no node depends on it, even if it was 1e300, infinite or NaN.

Cost: a change takes log8 n nodes of seven additions each in the worst case; the sum of all takes O(1). Error:
a value passes three additions on each of the ``d = ceil(log8 n)`` levels, so the error of the sum is at most
``3 d u`` times the sum of absolute values, u = 2**-53, to first order.

Source: pairwise summation, Higham, The accuracy of floating point summation, SIAM J. Sci. Comput. 14 (1993),
doi:10.1137/0914050, updated in a complete tree.
"""

import numpy as np

from rollstat.compile.jit import kernel

__all__ = ["assign", "check", "create"]


def create(ranks):
    """Return an empty tree for ranks below `ranks`, as the tuple ``(sums, base)``; leaves start at `base`."""
    leaves = 8
    while leaves < ranks:
        leaves *= 8
    base = (leaves - 1) // 7
    return np.zeros(base + 8 * max(-(-ranks // 8), 1)), base


@kernel
def _sum_of_children(sums, node):
    children = sums[8 * node + 1 : 8 * node + 9]
    first = (children[0] + children[1]) + (children[2] + children[3])
    return first + ((children[4] + children[5]) + (children[6] + children[7]))


@kernel
def assign(sums, base, rank, value):
    """Set the value of a rank; 0 removes it."""
    node = base + rank
    sums[node] = value
    while node > 0:
        node = (node - 1) >> 3
        sums[node] = _sum_of_children(sums, node)


@kernel
def check(sums, base):
    """Return whether every inner node that has children is their sum; NaN counts as equal."""
    right = True
    for node in range(base):
        if 8 * node + 8 < len(sums):
            total = _sum_of_children(sums, node)
            right &= total == sums[node] or (total != total and sums[node] != sums[node])
    return np.bool_(right)
