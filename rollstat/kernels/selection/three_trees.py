"""The k-th smallest of the last m rows in O(log k) steps, worst case, by three trees.

::

    rows     . . . . |. . . . . . .|. . . . . .|. . . > next
                 [ left  |  middle block   | right ]       the window, m rows
                   k      k smallest of it   k             each part has a tree of its k smallest
    ring     [ right, then left | middle ]                 two blocks, floor(m/2) and ceil(m/2), are m rows

The blocks alternate in length, so the block being filled is as long as the block that leaves, and takes over
its places in a ring of m. The right tree gains each new row and drops its largest. The middle tree does not
change. While the right block fills, a *preparing* tree takes the rows of the middle block from last to first
and notes for each row which node dropped out of the k smallest when the row was added. When the block leaves,
first row first, these notes undo the additions: put the dropped node back, remove the row. Filling a short
block prepares two rows in its first update. Only the first max(0, block - k) rows of a block can have a note.

k counts from the smallest if positive and from the largest if negative. Where ``abs(k) > m / 2`` everything
runs in the reverse order with ``m - abs(k) + 1`` nodes a tree, and the rank there is ``c - abs(k) + 1`` for c
observations in the window; there is no answer while ``c < abs(k)``. A missing value takes a row of the window
and is in no tree. A window of one row has no blocks, just its row.

Trees of k nodes answer every rank below k. So for a quantile, whose rank moves with the number of
observations, they hold as many nodes as its rank in a full window needs, counted from the nearer end.

State: ``header``, int64, the fields below and then the work space of the trees; ``links``, shape
(2, RECORD * (m + 4)): the three trees and, in the second row, the preparing tree, sharing nodes with the
middle one; ``values``, shape (m + 4,): the window's values by node; ``values[0]`` is the result where there
is no answer. Node FIRST + i is place i of the ring.

Invariant: after every push the left, middle and right trees hold the k smallest observations of their part of
the window, and the preparing tree holds the k smallest of the middle block's prepared rows.

Cost: at most 4 changes and 2 look-ups of trees with at most k nodes, 5 changes in the two-row update of an
odd m: O(log k) a push, worst case, counted in ``header[STEPS]``; nothing is copied or cleared between blocks.
Memory O(m), allocated once.

Source: Raykov, An Optimal Algorithm for Sliding Window Order Statistics, ICDT 2023, Algorithm 1 and
Appendix A, doi:10.4230/LIPIcs.ICDT.2023.5. The blocks of odd windows, missing values, the reversed ranks and
ranks that move go beyond the paper.
"""

import numpy as np

from rollstat.compile.jit import INDEX, kernel
from rollstat.kernels.selection.two_heaps import is_older
from rollstat.kernels.selection.weight_balanced_tree import (
    BEFORE,
    LEFT,
    NOTE,
    RECORD,
    RIGHT,
    WORK,
    add,
    admit,
    empty,
    find_rank,
    remove,
)

# Fields of the header. POSITION is the row of the latest answer, or -1; rows count from the first row pushed,
# which is row ORIGIN.
PUSHED, COUNT, POSITION, ROWS, CAPACITY, RANK, FLIPPED, REVERSE, MINIMUM, ORIGIN = range(10)
LEFT_TREE, MIDDLE_TREE, RIGHT_TREE, PREPARED, PREPARE_END, STEPS = range(10, 16)

_PREPARING = 1
FIRST = 4
_MISSING = -1


def allocate(capacity, m, reverse, dtype):
    """Return the state of an empty window of `m` rows with `capacity` nodes a tree, in order or reversed."""
    header = np.zeros(STEPS + WORK, np.int64)
    header[POSITION] = -1
    header[ROWS] = m
    header[CAPACITY] = capacity
    header[REVERSE] = reverse
    header[LEFT_TREE : RIGHT_TREE + 1] = 1, 2, 3
    links = np.zeros((2, RECORD * (m + FIRST)), np.int32 if m + FIRST < 2**31 else np.int64)
    return header, links, np.zeros(m + FIRST, dtype)


def create(k, m, dtype, min_periods=0):
    """Return the state of an empty window of `m` rows that answers its k-th smallest, or -k-th largest.

    If there are fewer than `min_periods` or |k| observations, a push returns NaN for floating values and zero
    for others.
    """
    if not 1 <= abs(k) <= m:
        raise ValueError(f"k must be in 1..{m} or -{m}..-1, the window being {m} rows, but is {k}")
    flipped = 2 * abs(k) > m
    state = allocate(m - abs(k) + 1 if flipped else abs(k), m, (k < 0) != flipped, dtype)
    header, _, values = state
    header[RANK] = abs(k)
    header[FLIPPED] = flipped
    header[MINIMUM] = max(abs(k), min_periods)
    values[0] = np.nan if values.dtype.kind == "f" else 0
    return state


def create_for_quantile(q, m, dtype, min_periods=0):
    """Return the state of an empty window of `m` rows for :func:`push_quantile`, with the same `q`.

    There is no answer, NaN for floating values and zero for others, with fewer than `min_periods`
    observations or none.
    """
    rank = int(q * (m - 1))
    # With fewer observations the rank is never greater. From the largest it can be greater by one, because
    # the product is rounded.
    forward, backward = min(rank + 2, m), min(m - rank + 1, m)
    state = allocate(min(forward, backward), m, backward < forward, dtype)
    header, _, values = state
    header[MINIMUM] = max(min_periods, 1)
    values[0] = np.nan if values.dtype.kind == "f" else 0
    return state


@kernel(inline="always")
def precedes(values, node, other, newest, reverse):
    """Whether `node` is before `other` in the order (value, row), or after it if `reverse`."""
    value, bound = values[node], values[other]
    if value == bound:
        return is_older(node, other, newest) != reverse
    return (value < bound) != reverse


@kernel(forceinline=True)
def _root(links, link):
    """Return the root of the subtree below a link, and the number of nodes before the root."""
    root = np.int64(links[link]) & INDEX
    return root, np.int64(links[RECORD * root + BEFORE])


@kernel(forceinline=True)
def _in_order(values, first, second, newest, reverse):
    """Return two roots in order; 0 is no root and comes last."""
    other, root = first[0], second[0]
    if root != 0 and (other == 0 or precedes(values, root, other, newest, reverse)):
        return second, first
    return first, second


@kernel
def find_rank_three_trees(links, values, work, trees, rank, newest, reverse):
    """Return the node of that rank, from 0, among all nodes of three trees.

    Each step either cuts the right part off the subtree with the largest root, or the left part off the one
    with the smallest root. `low`, `central` and `high` are the remaining roots, in order; 0 is no root.
    """
    low, central = _root(links, RECORD * trees[0] + LEFT), _root(links, RECORD * trees[1] + LEFT)
    low, central = _in_order(values, low, central, newest, reverse)
    central, high = _in_order(values, central, _root(links, RECORD * trees[2] + LEFT), newest, reverse)
    low, central = _in_order(values, low, central, newest, reverse)
    steps = 1
    while central[0] != 0:
        steps += 1
        # At least this many nodes come before the last root: if more than `rank`, the root is past the rank.
        if high[0] != 0 and low[1] + central[1] + high[1] + 2 > rank:
            high = _root(links, RECORD * high[0] + LEFT)
            central, high = _in_order(values, central, high, newest, reverse)
            low, central = _in_order(values, low, central, newest, reverse)
        elif high[0] == 0 and low[1] + central[1] + 1 > rank:
            central = _root(links, RECORD * central[0] + LEFT)
            low, central = _in_order(values, low, central, newest, reverse)
        else:
            rank -= low[1] + 1
            low = _root(links, RECORD * low[0] + RIGHT)
            low, central = _in_order(values, low, central, newest, reverse)
            central, high = _in_order(values, central, high, newest, reverse)
    work[0] += steps
    return find_rank(links, work, low[0], rank)


@kernel
def _start_block(header, links, place):
    """Make the middle block the left one and the right block the middle one; start an empty right block."""
    left = header[LEFT_TREE]
    header[LEFT_TREE] = header[MIDDLE_TREE]
    header[MIDDLE_TREE] = header[RIGHT_TREE]
    header[RIGHT_TREE] = left
    empty(links[0], left)
    empty(links[1], _PREPARING)
    header[STEPS] += 11
    half = header[ROWS] // 2
    if header[PUSHED] == 0:
        header[PREPARE_END] = header[PREPARED] = FIRST
    elif place == 0:
        header[PREPARE_END], header[PREPARED] = FIRST + half, FIRST + header[ROWS]
    else:
        header[PREPARE_END], header[PREPARED] = FIRST, FIRST + half


@kernel
def _prepare(header, links, values, work, reverse):
    """Prepare the middle block's previous row: note the node that it drops from the k smallest."""
    node = header[PREPARED] - 1
    header[PREPARED] = node
    removed = np.int64(0)
    if links[0, RECORD * node + BEFORE] != _MISSING:
        removed = np.int64(admit(links[1], values, work, _PREPARING, node, header[CAPACITY], reverse))
    links[0, RECORD * node + NOTE] = removed
    work[0] += 2


@kernel
def _remove_oldest(header, links, values, work, node, reverse):
    """Remove the oldest row from the left tree, and put back the node that its addition dropped."""
    if links[0, RECORD * node + BEFORE] == _MISSING:
        return
    header[COUNT] -= 1
    returning = links[0, RECORD * node + NOTE]
    if returning != node:
        if returning != 0:
            add(links[0], values, work, header[LEFT_TREE], returning, reverse)
        remove(links[0], values, work, header[LEFT_TREE], node, reverse)


@kernel
def advance(header, links, values, value, missing):
    """Add a row and remove the one m rows back; return the node of the new row."""
    work = header[STEPS:]
    work[0] = 2
    reverse = header[REVERSE] != 0
    rows, pushed = header[ROWS], header[PUSHED]
    place = pushed % rows
    half = rows // 2
    node = FIRST + place
    if rows == 1:
        empty(links[0], header[RIGHT_TREE])
        header[COUNT] = 0
    elif place == 0 or place == half:
        _start_block(header, links, place)
    if pushed >= rows > 1:
        _remove_oldest(header, links, values, work, node, reverse)
    header[PUSHED] = pushed + 1

    values[node] = value
    if missing:
        links[0, RECORD * node + BEFORE] = _MISSING
    else:
        header[COUNT] += 1
        links[0, RECORD * node + BEFORE] = 0
        admit(links[0], values, work, header[RIGHT_TREE], node, header[CAPACITY], reverse)

    if header[PREPARED] > header[PREPARE_END]:
        _prepare(header, links, values, work, reverse)
        if place == 0 and rows > 2 * half:
            _prepare(header, links, values, work, reverse)
    return node


@kernel(inline="always")
def find(header, links, values, newest, rank):
    """Return the node of a rank, from 0 in the order of the trees; `newest` is the node of the last row."""
    return np.int64(
        find_rank_three_trees(
            links[0],
            values,
            header[STEPS:],
            header[LEFT_TREE : RIGHT_TREE + 1],
            rank,
            newest,
            header[REVERSE] != 0,
        )
    )


@kernel
def push(header, links, values, value, missing):
    """Add a row, remove the one m rows back, and return the k-th smallest observation."""
    newest = advance(header, links, values, value, missing)
    count = header[COUNT]
    if count < header[MINIMUM]:
        header[POSITION] = -1
        return values[0]
    rank = count - header[RANK] if header[FLIPPED] else header[RANK] - 1
    found = find(header, links, values, newest, rank)
    newest_row = header[ORIGIN] + header[PUSHED] - 1
    header[POSITION] = newest_row + found - newest - (header[ROWS] if found > newest else 0)
    return values[found]


@kernel
def neighbours(header, links, values, newest, q):
    """Return the order statistics at or next below quantile `q` and next above; the same twice at `q` itself.

    `newest` is the node of the last row. The window has an observation.
    """
    count = header[COUNT]
    position = q * (count - 1)
    rank = np.int64(position)
    backward = header[REVERSE] != 0
    below = values[find(header, links, values, newest, count - 1 - rank if backward else rank)]
    if position == rank:
        return below, below
    return below, values[find(header, links, values, newest, count - 2 - rank if backward else rank + 1)]


@kernel
def push_quantile(header, links, values, value, missing, q):
    """Add a row, remove the one m rows back, and return the :func:`neighbours` of quantile `q`."""
    newest = advance(header, links, values, value, missing)
    if header[COUNT] < header[MINIMUM]:
        return values[0], values[0]
    return neighbours(header, links, values, newest, q)


@kernel
def extend(header, links, values, new, missing, out, position):
    """Push all of `new`; write the answers to `out` and their rows to `position`, unless these are empty.

    `missing` marks the missing values, or is empty where there are none.
    """
    for i in range(len(new)):
        answer = push(header, links, values, new[i], len(missing) > 0 and missing[i])
        if len(out) > 0:
            out[i] = answer
        if len(position) > 0:
            position[i] = header[POSITION]


@kernel
def load(header, links, values, new, missing):
    """Push all of `new` without answers; `missing` marks the missing values."""
    for i in range(len(new)):
        advance(header, links, values, new[i], missing[i])


@kernel(noinline=True)
def _push_missing(header, links, values, number):
    """Push missing rows, so that the oldest rows leave; return the node of the last one."""
    newest = np.int64(0)
    for _ in range(number):
        newest = advance(header, links, values, values[0], True)
    return newest


@kernel
def select(header, links, values, new, missing, backward, start, end, rank, lower, upper, position):
    """Write observations of any ranks that the trees hold, for windows of m rows or fewer at both ends.

    Parameters
    ----------
    header, links, values : ndarray
        State of an empty window, of m rows and k nodes a tree.
    new : ndarray, shape (n,)
        The values.
    missing : ndarray of bool
        Marks the missing values, or is empty where there are none.
    backward : bool
        Whether the trees have the reverse order: they then hold ranks from ``count - k``, not below k.
    start, end : ndarray of int64, shape (rows,)
        Bounds that never decrease. In each run of overlapping windows, the windows of fewer than m rows begin
        with the first row of the run or end with the last one.
    rank : ndarray of int64, shape (requests, rows)
        Ranks among the observations, from 0 in the order (value, row); negative where nothing is wanted.
    lower, upper : ndarray, shape (requests, rows)
        Receive the value of that rank and of the next one, if there is one, unless `upper` is empty.
    position : ndarray of int64, shape (requests, rows)
        Receives the indices into `new` of `lower`, unless empty.

    Returns
    -------
    bool
        False if there are windows of another kind.
    """
    begin = first = start[0]  # the first row of a run, and the row of the first push
    m, newest = header[ROWS], np.int64(FIRST)
    for i in range(len(start)):
        if i > 0 and start[i] >= end[i - 1]:
            _push_missing(header, links, values, m)
            begin, first = start[i], start[i] - header[PUSHED]
        elif i > 0 and end[i] > end[i - 1] and first + header[PUSHED] > end[i - 1]:
            return False
        for j in range(first + header[PUSHED], end[i]):
            newest = advance(header, links, values, new[j], len(missing) > 0 and missing[j])
        if start[i] > begin and first + header[PUSHED] - m < start[i]:
            newest = _push_missing(header, links, values, start[i] + m - first - header[PUSHED])
        count = header[COUNT]
        for r in range(len(rank)):
            wanted = rank[r, i]
            if wanted < 0:
                continue
            found = find(header, links, values, newest, count - 1 - wanted if backward else wanted)
            lower[r, i] = values[found]
            if position.size > 0:
                newest_row = first + header[PUSHED] - 1
                position[r, i] = newest_row + found - newest - (m if found > newest else 0)
            if upper.size > 0 and wanted + 1 < count:
                upper[r, i] = values[
                    find(header, links, values, newest, count - 2 - wanted if backward else wanted + 1)
                ]
    return True
