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
split of its left child, and `top[position]` is the split of the highest node that starts at a position; LEAF
stands for a single element. A right child is always the highest node at its position, so `top` finds it. Only
highest nodes have values, so the cell of a position holds the value of its highest node. A combination
overwrites the cell of its older operand, because that operand is never needed again. So the plan of a window
is a list of pairs of cells and depends on the bounds alone.

Online, rows arrive one by one and a window is requested by its rows. Rows may be missing::

    rows          6   7   8   9  10          8 is missing
    ordinals      5   6   7   7   8          observations before each row
    cells         s   s       s   s          rows [7, 10) are the observations [6, 8)
                  ^ FIRST              ^ ROWS

If the operator raises during a move, the state must not be used afterwards.

State: `header` int64 (HEADER slots); `top` and `below`, rings with one slot a position. Their size is a power
of two and at least twice the width of every window, because they contain the old and the new window at once;
`cells`, a ring of half that size. A plan is two arrays, `older` and `newer`. Online also `arrival` int64
(ARRIVAL slots): FIRST, the row where the last window starts, ROWS, the number of rows that have arrived,
OBSERVED, the number of observations among them, and LAST, the end of the last window; and `ordinals`, a ring
as large as the cells.
Invariant: the tree spans [LEFT, RIGHT); the splits reachable from top[LEFT] are all boundaries between LEFT
and RIGHT, each once; the cell of a highest node holds all its positions combined, so at most RIGHT - LEFT
values are alive. Online, rows from FIRST on have an ordinal. A row that is before FIRST when it arrives is
in no later window and is only counted.
Cost: the least possible number of combinations; at most width - 1 for one window and 4 n - 2 in total; none
for a repeated or an empty window; O(width) steps for one window, O(n) in total for pairwise different
windows.
Online O(1) for an element. Only the growing functions allocate.

Source: Basin, Klaedtke, Zalinescu, "Greedily computing associative aggregations on sliding windows",
Information Processing Letters 115 (2015), doi:10.1016/j.ipl.2014.09.009; online: its section 6. (In the list
of reusable subtrees of section 2, the subtree kept beside the descent is the right child, as in the
appendices.)
"""

from typing import Any, NamedTuple

import numpy as np

from rollstat.compile.jit import kernel
from rollstat.kernels.aggregate.operator_calls import combine, emit, lift, lift_element, load, save
from rollstat.kernels.rings import resized_ring, ring_size

LEFT, RIGHT, MASK, STEPS = range(4)
HEADER = 4
LEAF = -1
FIRST, ROWS, OBSERVED, LAST = range(4)
ARRIVAL = 4
# Values in place of a row's cell: the state is in no later window, or the ring is full.
OUTSIDE, FULL = -1, -2
# Rows that are too many for a stream.
_MOST = 2**62


class Online(NamedTuple):
    """The arrays of windows online, see the docstring of this module."""

    header: Any
    arrival: Any
    ordinals: Any
    top: Any
    below: Any
    cells: Any
    older: Any
    newer: Any


class Windows(NamedTuple):
    """Bounds of windows, and the observations (>= 1) with which a window has a result."""

    start: Any
    end: Any
    least: int


def create(width):
    """Return (header, top, below) before the first window, for windows of up to `width` elements."""
    size = ring_size(width)
    header = np.zeros(HEADER, np.int64)
    header[MASK] = size - 1
    return header, np.full(2 * size, LEAF), np.full(2 * size, LEAF)


def resize(header, top, below, size):
    """Return rings `top` and `below` for up to `size` elements, a power of two; update `header`."""
    header[MASK] = size - 1
    return [resized_ring(ring, int(header[LEFT]), 2 * size) for ring in (top, below)]


@kernel(forceinline=True)
def _add_pair(older, newer, count, left, right):
    older[count], newer[count] = left, right
    return count + 1


@kernel(forceinline=True)
def _list_combinations(header, top, below, left, right, older, newer, first):
    """Write the combinations for the window [left, right) into `older` and `newer` from slot `first` on.

    They are pairs of positions. The newer operand of each pair but the first is the result of the pair
    before. The tree does not change. Writes at most right - left - 1 slots; returns the slot after the last.
    """
    wide = len(top) - 1
    # `combined` is the start of the tree that has been combined so far, from the right.
    count, combined = first, right
    for position in range(right - 1, max(left, header[RIGHT]) - 1, -1):
        top[position & wide] = LEAF
        if combined < right:
            count = _add_pair(older, newer, count, position, combined)
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
                    count = _add_pair(older, newer, count, start, combined)
                combined = start
        if combined < right:
            count = _add_pair(older, newer, count, left, combined)
    return count


@kernel(forceinline=True)
def plan_window(header, top, below, left, right, older, newer, first):
    """Move to the window [left, right), and write its combinations from slot `first` of the plan on.

    A combination replaces cell `older` by cell `older` combined with cell `newer`. After all of them the cell
    of `left` holds the window. Neither bound may be smaller than the last window's; the cells of new
    positions must hold their elements. Returns the slot after the last written one.
    """
    mask, wide = header[MASK], len(top) - 1
    stop = _list_combinations(header, top, below, left, right, older, newer, first)
    for k in range(first, stop):
        # The highest nodes at both positions become the children of a new node.
        i, split = older[k], newer[k]
        below[split & wide] = top[i & wide]
        top[i & wide] = split
        older[k], newer[k] = i & mask, split & mask
    header[LEFT], header[RIGHT] = left, right
    return stop


@kernel
def plan_windows(header, top, below, start, end, row, older, newer, stop):
    """Plan windows from `row` on, as many as fit; the plan must have room for the widest one.

    `stop[i]` receives the slot after the last combination of window i. Returns the first row not planned.
    """
    count = 0
    while row < len(start) and count + end[row] - start[row] <= len(older):
        count = plan_window(header, top, below, start[row], end[row], older, newer, count)
        stop[row] = count
        row += 1
    return row


@kernel(forceinline=True)
def _execute(operator, cells, older, newer, count):
    """Make the first `count` combinations of a plan."""
    for k in range(count):
        i = older[k]
        save(cells, i, combine(operator, cells, load(cells, i), load(cells, newer[k])))


@kernel
def fold_windows(operator, header, top, below, cells, older, newer, values, windows, out, failed):
    """Write the result of each window with the `least` observations into its row of `out`."""
    mask = header[MASK]
    for i in range(len(windows.start)):
        left, right = windows.start[i], windows.end[i]
        if right - left < windows.least:
            continue
        for position in range(max(left, header[RIGHT]), right):
            save(cells, position & mask, lift(operator, cells, values, position))
        count = plan_window(header, top, below, left, right, older, newer, 0)
        _execute(operator, cells, older, newer, count)
        emit(operator, load(cells, left & mask), out, i, failed)


def create_online(dtype, capacity):
    """Return the state before the first element."""
    header, top, below = create(capacity)
    size = int(header[MASK]) + 1
    ordinals, older, newer = (np.zeros(size, np.int64) for _ in range(3))
    arrival = np.zeros(ARRIVAL, np.int64)
    return Online(header, arrival, ordinals, top, below, np.zeros(size, dtype), older, newer)


def resize_online(state, size):
    """Return the state with rings of another size, for at least that many rows; its header is updated."""
    header, arrival, ordinals, top, below, cells, _, _ = state
    cells = resized_ring(cells, int(header[LEFT]), size)
    ordinals = resized_ring(ordinals, int(arrival[FIRST]), size)
    rings = resize(header, top, below, size)
    plan = np.zeros(size, np.int64), np.zeros(size, np.int64)
    return Online(header, arrival, ordinals, *rings, cells, *plan)


@kernel(forceinline=True)
def append_row(header, arrival, ordinals, observed):
    """Count a row.

    Returns the cell for the row's state, OUTSIDE if it needs none, or FULL; FULL means that nothing has
    changed.
    """
    row, mask, cell = arrival[ROWS], header[MASK], OUTSIDE
    if row >= arrival[FIRST]:
        if row - arrival[FIRST] > mask:
            return FULL
        ordinals[row & mask] = arrival[OBSERVED]
        if observed:
            cell = arrival[OBSERVED] & mask
            arrival[OBSERVED] += 1
    arrival[ROWS] = row + 1
    return cell


@kernel
def append(operator, state, element, observed):
    """Add a row; return False, and change nothing, if the ring is full."""
    header, arrival, cells, mask = state.header, state.arrival, state.cells, state.header[MASK]
    # The row is counted after its state is there, because the operator may raise.
    if observed and 0 <= arrival[ROWS] - arrival[FIRST] <= mask:
        save(cells, arrival[OBSERVED] & mask, lift_element(operator, cells, element))
    return append_row(header, arrival, state.ordinals, observed) != FULL


@kernel(forceinline=True)
def _ordinal(header, arrival, ordinals, row):
    """Number of observations before a row."""
    return ordinals[row & header[MASK]] if row < arrival[ROWS] else arrival[OBSERVED]


@kernel(forceinline=True)
def plan_move(header, arrival, ordinals, top, below, older, newer, left, right):
    """Move to the window of rows [left, right) and write its combinations.

    The rows have arrived, or the window is empty. Neither bound may be smaller than the last window's.
    Returns the number of combinations; see :func:`plan_window`.
    """
    low = _ordinal(header, arrival, ordinals, left)
    high = _ordinal(header, arrival, ordinals, right) if left < right else low
    arrival[FIRST], arrival[LAST] = left, right
    return plan_window(header, top, below, low, high, older, newer, 0)


@kernel
def evaluate(operator, header, cells, out, failed):
    """Write the result of the window into slot 0 of `out`; the window must have observations."""
    emit(operator, load(cells, header[LEFT] & header[MASK]), out, 0, failed)


@kernel
def move(operator, state, left, right, min_periods, out, failed):
    """Move to the window of rows [left, right), see :func:`plan_move`; return its observations.

    Writes the result into slot 0 of `out` if there are `min_periods` (>= 1) observations.
    """
    header, arrival, ordinals, top, below, cells, older, newer = state
    count = plan_move(header, arrival, ordinals, top, below, older, newer, left, right)
    _execute(operator, cells, older, newer, count)
    size = header[RIGHT] - header[LEFT]
    if size >= min_periods:
        evaluate(operator, header, cells, out, failed)
    return size


def check(header, top, below):
    """Whether each boundary between neighbours is a split of the tree once, and children lie in parents."""
    left, right, size, wide = int(header[LEFT]), int(header[RIGHT]), int(header[MASK]) + 1, len(top) - 1
    if not (size > 0 == size & (size - 1) and len(below) == len(top) == 2 * size):
        return False
    if not 0 <= left <= right <= left + size:
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


def check_online(state):
    """Whether the tree is one, and rows and ordinals fit to the tree and the rings; dtypes are as created."""
    header, arrival, ordinals, top, below, cells, older, newer = state
    if len(header) != HEADER or len(arrival) != ARRIVAL or not check(header, top, below):
        return False
    size = int(header[MASK]) + 1
    if not all(len(ring) == size for ring in (ordinals, cells, older, newer)):
        return False
    first, rows, observed, last = arrival.tolist()
    left, right = header[[LEFT, RIGHT]].tolist()
    if not (0 <= first <= last < _MOST and 0 <= observed <= rows < _MOST and rows - first <= size):
        return False
    if first < last and last > rows:
        return False
    kept = np.arange(first, max(rows, first))
    # The number of observations before each row from FIRST on, and before the next row to arrive.
    before = np.append(ordinals[kept & (size - 1)], observed)
    steps = before[1:] - before[:-1]
    end = before[last - first] if first < last else before[0]
    return bool(((steps == 0) | (steps == 1)).all() and before[0] == left and end == right)
