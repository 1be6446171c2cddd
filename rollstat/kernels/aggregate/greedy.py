r"""The fewest combinations for any monotone windows: the greedy algorithm of Basin, Klaedtke and Zalinescu.

::

    window [1, 5):  1..4           then [2, 6):  2..5      The tree is cut along the path to 2, the
                   /    \                       /    \     new element 5 put behind it, and the pieces
                  1     2..4                 2..4     5    joined from the right: here one combination,
                       /    \               /    \         cell 2 = cell 2 then cell 5.
                      2     3..4           2     3..4
                           /    \               /    \
                          3      4             3      4

The trees live in two arrays. Every boundary between two neighbouring elements of a tree is the split of
just one inner node, so a node is named by its split, the position at which its right child starts.
`below[split]` names its left child, and `top[position]` the highest node that starts at a position; LEAF
stands for a single element. A right child is always the highest node at its position, so it is found
through `top`; and only highest nodes have values, so a position's cell holds the value of its highest node.
A combination overwrites the cell of its older operand, which is never needed again: the plan of a window
is a list of pairs of cells, and depends on the bounds alone.

State: `header` int64 (HEADER slots); `top` and `below`, rings with one slot a position, as many as a power
of two that is at least twice the width of every window, because the old and the new window together are
in them; the cells, a ring of half that size.
Invariant: the tree spans [left, right); following the splits from top[left] reaches every boundary between
once; the cells of highest nodes hold all positions from their own to the end of their node combined, so at
most right - left values are alive. Cost: the least possible number of combinations; at most
width - 1 of one window and 4 n - 2 in total; nothing for a repeated or an empty window; O(width) steps for
one window, O(n) in total for pairwise different windows.

Source: Basin, Klaedtke, Zalinescu, "Greedily computing associative aggregations on sliding windows",
Information Processing Letters 115 (2015), doi:10.1016/j.ipl.2014.09.009. (In the list of reusable pieces
of section 2, the piece kept beside the descent is the right child, as in the appendices.)
"""

import numpy as np

from rollstat._jit import kernel
from rollstat.kernels.aggregate.operator_calls import combine, emit, lift, load, save
from rollstat.kernels.aggregate.ring_queue import ring_size

__all__ = ["check", "create", "fold_windows", "grow", "plan_window", "plan_windows", "replace", "slide"]

LEFT, RIGHT, MASK, STEPS = range(4)
HEADER = 4
LEAF = -1


def create(width):
    """State before the first window, for windows of up to `width` elements: (header, top, below)."""
    size = ring_size(width)
    header = np.zeros(HEADER, np.int64)
    header[MASK] = size - 1
    return header, np.full(2 * size, LEAF), np.full(2 * size, LEAF)


def replace(ring, first, grown):
    """Copy a ring of positions from `first` on into the larger ring `grown`, and return that."""
    positions = np.arange(first, first + len(ring))
    grown[positions & (len(grown) - 1)] = ring[positions & (len(ring) - 1)]
    return grown


def grow(header, top, below):
    """Return rings `top` and `below` for windows twice as wide; `header` is updated."""
    larger = create(2 * (int(header[MASK]) + 1))
    header[MASK] = larger[0][MASK]
    left = int(header[LEFT])
    return replace(top, left, larger[1]), replace(below, left, larger[2])


@kernel(forceinline=True)
def _join(header, top, below, piece, joined, older, newer, count):
    """Put the tree at `joined` behind the highest one at `piece`, and write the combination into the plan."""
    mask, wide = header[MASK], len(top) - 1
    older[count], newer[count] = piece & mask, joined & mask
    below[joined & wide] = top[piece & wide]
    top[piece & wide] = joined
    return count + 1


@kernel(forceinline=True)
def plan_window(header, top, below, left, right, older, newer, first):
    """Write the combinations for the window [left, right) into `older` and `newer` from slot `first` on.

    Each says: cell `older` becomes cell `older` combined with cell `newer`. In the end the cell of `left`
    holds the window. Neither bound may be smaller than the last window's; the cells of positions that are
    new must hold their elements. At most right - left - 1 slots are written; returns the one after the last.
    """
    wide = len(top) - 1
    count, joined = first, right
    for position in range(right - 1, max(left, header[RIGHT]) - 1, -1):
        top[position & wide] = LEAF
        if joined < right:
            count = _join(header, top, below, position, joined, older, newer, count)
        joined = position
    if left < header[RIGHT]:
        margin = header[LEFT]
        split = top[margin & wide]
        while margin != left:
            header[STEPS] += 1
            if left >= split:
                margin = split
                split = top[margin & wide]
            else:
                piece = split
                split = below[piece & wide]
                if joined < right:
                    count = _join(header, top, below, piece, joined, older, newer, count)
                joined = piece
        if joined < right:
            count = _join(header, top, below, left, joined, older, newer, count)
    header[LEFT], header[RIGHT] = left, right
    return count


@kernel
def plan_windows(header, top, below, start, end, row, older, newer, stop):
    """Plan the windows from `row` on, as many as fit into the plan, which must have room for the widest.

    `stop[i]` receives the slot after the last combination of window i. Returns the first row not planned.
    """
    count = 0
    while row < len(start) and count + end[row] - start[row] <= len(older):
        count = plan_window(header, top, below, start[row], end[row], older, newer, count)
        stop[row] = count
        row += 1
    return row


@kernel(forceinline=True)
def slide(operator, header, top, below, cells, older, newer, left, right):
    """Plan the window [left, right), for which `older` and `newer` must have room, and carry out the plan."""
    count = plan_window(header, top, below, left, right, older, newer, 0)
    for k in range(count):
        i = older[k]
        save(cells, i, combine(operator, cells, load(cells, i), load(cells, newer[k])))
    return count


@kernel
def fold_windows(operator, header, top, below, cells, older, newer, values, start, end, out, failed):
    """Write the value of each window that is not empty into its row of `out`."""
    mask = header[MASK]
    for i in range(len(start)):
        left, right = start[i], end[i]
        for position in range(max(left, header[RIGHT]), right):
            save(cells, position & mask, lift(operator, cells, values, position))
        slide(operator, header, top, below, cells, older, newer, left, right)
        if left < right:
            emit(operator, load(cells, left & mask), out, i, failed)


def check(header, top, below):
    """Whether the tree has each boundary between neighbours for a split once, children within parents."""
    left, right, wide = int(header[LEFT]), int(header[RIGHT]), len(top) - 1
    if not (0 <= left <= right <= left + header[MASK] + 1 and len(below) == len(top) == 2 * header[MASK] + 2):
        return False
    if left == right:
        return True
    seen = set()
    waiting = [(left, right, int(top[left & wide]))]
    while waiting:
        low, high, split = waiting.pop()
        if split == LEAF:
            if high - low != 1:
                return False
            continue
        if not low < split < high or split in seen:
            return False
        seen.add(split)
        waiting.append((low, split, int(below[split & wide])))
        waiting.append((split, high, int(top[split & wide])))
    return len(seen) == right - left - 1
