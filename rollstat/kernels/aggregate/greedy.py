r"""The fewest combinations for any monotone windows: the greedy algorithm of Basin, Klaedtke and Zalinescu.

::

    window [1, 5):  1..4           then [2, 6):  2..5      The tree is cut along the path to 2, the new
                   /    \                       /    \     element 5 is appended, and the subtrees are
                  1     2..4                 2..4     5    combined from the right: here one combination,
                       /    \               /    \         cell 2 = cell 2 then cell 5.
                      2     3..4           2     3..4
                           /    \               /    \
                          3      4             3      4

A tree lives in two arrays. Every boundary between two neighbouring elements is the split of exactly one inner
node, so a node is identified by its split, the position where its right child starts. `below[split]` is the
split of its left child, and `top[position]` that of the highest node which starts at a position; LEAF stands
for a single element. A right child is always the highest node at its position, so `top` finds it. Only
highest nodes have values, so the cell of a position holds the value of its highest node. A combination
overwrites the cell of its older operand, which is never needed again. So the plan of a window is a list of
pairs of cells, which depends on the bounds alone.

Online, rows arrive one by one and a window is requested by its rows, some of which may be missing::

    rows          6   7   8   9  10          8 is missing
    ordinals      5   6   7   7   8          observations before each row
    cells         s   s       s   s          rows [7, 10) are the observations [6, 8)
                  ^ FIRST              ^ ROWS

State: `header` int64 (HEADER slots); `top` and `below`, rings with one slot a position, whose size is a power
of two that is at least twice the width of every window, because they contain the old and the new window at
once; `cells`, a ring of half that size. A plan is two arrays, `older` and `newer`. Online also `arrival`
int64 (ARRIVAL slots): FIRST, the row where the last window starts, ROWS, the number of rows that have
arrived, OBSERVED, the number of observations among them, and LAST, the end of the last window; and
`ordinals`, a ring as large as the cells.
Invariant: the tree spans [LEFT, RIGHT); the splits reachable from top[LEFT] are all boundaries in between,
each once; the cell of a highest node holds all its positions combined, so at most RIGHT - LEFT values are
alive. Online, rows from FIRST on have an ordinal. A row before FIRST when it arrives is in no later window
and is only counted.
Cost: the least possible number of combinations; at most width - 1 for one window and 4 n - 2 in total; none
for a repeated or an empty window; O(width) steps for one window, O(n) in total for pairwise different
windows.
Online O(1) for an element. Only the growing functions allocate.

Source: Basin, Klaedtke, Zalinescu, "Greedily computing associative aggregations on sliding windows",
Information Processing Letters 115 (2015), doi:10.1016/j.ipl.2014.09.009; online: its section 6. (In the list
of reusable subtrees of section 2, the subtree kept beside the descent is the right child, as in the
appendices.)
"""

import numpy as np

from rollstat._jit import kernel
from rollstat.kernels.aggregate.operator_calls import combine, emit, lift, lift_element, load, save
from rollstat.kernels.aggregate.ring_queue import ring_size

__all__ = [
    "append",
    "check",
    "create",
    "create_online",
    "evaluate",
    "fold_windows",
    "grow",
    "grow_online",
    "move",
    "plan_window",
    "plan_windows",
]

LEFT, RIGHT, MASK, STEPS = range(4)
HEADER = 4
LEAF = -1
FIRST, ROWS, OBSERVED, LAST = range(4)
ARRIVAL = 4


def create(width):
    """Return (header, top, below) before the first window, for windows of up to `width` elements."""
    size = ring_size(width)
    header = np.zeros(HEADER, np.int64)
    header[MASK] = size - 1
    return header, np.full(2 * size, LEAF), np.full(2 * size, LEAF)


def _copy_ring(ring, first, larger):
    """Copy a ring of the positions from `first` on into the ring `larger`; return `larger`."""
    positions = np.arange(first, first + len(ring))
    larger[positions & (len(larger) - 1)] = ring[positions & (len(ring) - 1)]
    return larger


def grow(header, top, below):
    """Return rings `top` and `below` for windows twice as wide; `header` is updated."""
    larger = create(2 * (int(header[MASK]) + 1))
    header[MASK] = larger[0][MASK]
    left = int(header[LEFT])
    return _copy_ring(top, left, larger[1]), _copy_ring(below, left, larger[2])


@kernel(forceinline=True)
def _combine_trees(header, top, below, left, right, older, newer, count):
    """Make the highest nodes at positions `left` and `right` children of a new node; plan its combination."""
    mask, wide = header[MASK], len(top) - 1
    older[count], newer[count] = left & mask, right & mask
    below[right & wide] = top[left & wide]
    top[left & wide] = right
    return count + 1


@kernel(forceinline=True)
def plan_window(header, top, below, left, right, older, newer, first):
    """Write the combinations for the window [left, right) into `older` and `newer` from slot `first` on.

    Each means: cell `older` becomes cell `older` combined with cell `newer`. After them the cell of `left`
    holds the window. Neither bound may be smaller than that of the last window; the cells of new positions
    must hold their elements. Writes at most right - left - 1 slots; returns the slot after the last.
    """
    wide = len(top) - 1
    # `combined` is the position where the tree starts that has been combined so far, from the right.
    count, combined = first, right
    for position in range(right - 1, max(left, header[RIGHT]) - 1, -1):
        top[position & wide] = LEAF
        if combined < right:
            count = _combine_trees(header, top, below, position, combined, older, newer, count)
        combined = position
    if left < header[RIGHT]:
        # Descend to the node that starts at `left`; the right children beside the path are reusable.
        margin = header[LEFT]
        split = top[margin & wide]
        while margin != left:
            header[STEPS] += 1
            if left >= split:
                margin = split
                split = top[margin & wide]
            else:
                start = split
                split = below[start & wide]
                if combined < right:
                    count = _combine_trees(header, top, below, start, combined, older, newer, count)
                combined = start
        if combined < right:
            count = _combine_trees(header, top, below, left, combined, older, newer, count)
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
def _combine_window(operator, header, top, below, cells, older, newer, left, right):
    """Plan the window [left, right), for which `older` and `newer` must have room, and execute the plan."""
    count = plan_window(header, top, below, left, right, older, newer, 0)
    for k in range(count):
        i = older[k]
        save(cells, i, combine(operator, cells, load(cells, i), load(cells, newer[k])))


@kernel
def fold_windows(operator, header, top, below, cells, older, newer, values, start, end, out, failed):
    """Write the result of each window that is not empty into its row of `out`."""
    mask = header[MASK]
    for i in range(len(start)):
        left, right = start[i], end[i]
        for position in range(max(left, header[RIGHT]), right):
            save(cells, position & mask, lift(operator, cells, values, position))
        _combine_window(operator, header, top, below, cells, older, newer, left, right)
        if left < right:
            emit(operator, load(cells, left & mask), out, i, failed)


def create_online(dtype, capacity):
    """Return (header, arrival, ordinals, top, below, cells, older, newer) before the first element."""
    header, top, below = create(capacity)
    size = int(header[MASK]) + 1
    ordinals, older, newer = (np.zeros(size, np.int64) for _ in range(3))
    return header, np.zeros(ARRIVAL, np.int64), ordinals, top, below, np.zeros(size, dtype), older, newer


def grow_online(header, arrival, ordinals, top, below, cells, older, newer):
    """Return the state with rings of twice the size; `header` is updated."""
    size = 2 * len(cells)
    cells = _copy_ring(cells, int(header[LEFT]), np.zeros((size, *cells.shape[1:]), cells.dtype))
    ordinals = _copy_ring(ordinals, int(arrival[FIRST]), np.zeros(size, np.int64))
    rings = grow(header, top, below)
    return header, arrival, ordinals, *rings, cells, np.zeros(size, np.int64), np.zeros(size, np.int64)


@kernel
def append(operator, header, arrival, ordinals, cells, element, observed):
    """Add a row; return False, and change nothing, if the ring is full."""
    row, mask = arrival[ROWS], header[MASK]
    if row >= arrival[FIRST]:
        if row - arrival[FIRST] > mask:
            return False
        ordinals[row & mask] = arrival[OBSERVED]
        if observed:
            save(cells, arrival[OBSERVED] & mask, lift_element(operator, cells, element))
            arrival[OBSERVED] += 1
    arrival[ROWS] = row + 1
    return True


@kernel
def _ordinal(header, arrival, ordinals, row):
    """Number of observations before a row."""
    return ordinals[row & header[MASK]] if row < arrival[ROWS] else arrival[OBSERVED]


@kernel
def move(operator, header, arrival, ordinals, top, below, cells, older, newer, left, right):
    """Move to the window of rows [left, right), which has arrived or is empty; return its observations.

    Neither bound may be smaller than that of the last window.
    """
    low = _ordinal(header, arrival, ordinals, left)
    high = _ordinal(header, arrival, ordinals, right) if left < right else low
    _combine_window(operator, header, top, below, cells, older, newer, low, high)
    arrival[FIRST], arrival[LAST] = left, right
    return high - low


@kernel
def evaluate(operator, header, cells, out, failed):
    """Write the result of the window, which must have observations, into slot 0 of `out`."""
    emit(operator, load(cells, header[LEFT] & header[MASK]), out, 0, failed)


def check(header, top, below):
    """Whether each boundary between neighbours is a split of the tree once, and children lie in parents."""
    left, right, wide = int(header[LEFT]), int(header[RIGHT]), len(top) - 1
    if not (0 <= left <= right <= left + header[MASK] + 1 and len(below) == len(top) == 2 * header[MASK] + 2):
        return False
    if left == right:
        return True
    seen = set()
    pending = [(left, right, int(top[left & wide]))]
    while pending:
        low, high, split = pending.pop()
        if split == LEAF:
            if high - low != 1:
                return False
            continue
        if not low < split < high or split in seen:
            return False
        seen.add(split)
        pending.append((low, split, int(below[split & wide])))
        pending.append((split, high, int(top[split & wide])))
    return len(seen) == right - left - 1
