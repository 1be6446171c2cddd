"""Invariants of the states of the selection kernels."""

import numpy as np

from rollstat.compile.jit import kernel
from rollstat.kernels.selection import three_trees, two_heaps
from rollstat.kernels.selection.radix_sort import row_mask
from rollstat.kernels.selection.two_heaps import CAPACITY, HIGH, LOW, NEWEST, TIES, comes_above
from rollstat.kernels.selection.weight_balanced_tree import BEFORE, LEFT, RECORD, RIGHT, WORK, comes_after

_COUNT, _ROWS, _OLDEST = two_heaps.COUNT, two_heaps.ROWS, two_heaps.OLDEST
_FIRST = three_trees.FIRST
_MISSING = -1
_PREPARING = 1


@kernel
def sorted_records(records, values, row_bits):
    """Whether `records` are in the order (value, row)."""
    mask = row_mask(row_bits)
    for i in range(1, len(records)):
        older, newer = np.int64(records[i - 1] & mask), np.int64(records[i] & mask)
        if values[older] > values[newer] or (values[older] == values[newer] and older >= newer):
            return False
    return True


@kernel
def ordered_heaps(header, keys, links):
    """Whether both heaps are in order and no key of the low one comes after one of the high one."""
    capacity, newest, ties = header[CAPACITY], header[NEWEST], header[TIES] != 0
    low_size, high_size = header[LOW], header[HIGH]
    for base, size in ((0, low_size), (capacity, high_size)):
        for i in range(1, size):
            here, parent = base + i, base + ((i - 1) >> 2)
            if comes_above(keys[here], links[here], keys[parent], links[parent], base == 0, newest, ties):
                return False
    return (
        low_size == 0
        or high_size == 0
        or not comes_above(keys[0], links[0], keys[capacity], links[capacity], True, newest, ties)
    )


@kernel
def linked_heaps(header, keys, links):
    """Whether both heaps keep their invariant and link to the ring."""
    capacity, low_size, high_size = header[CAPACITY], header[LOW], header[HIGH]
    observed = 0
    for i in range(header[_ROWS]):
        slot = (header[_OLDEST] + i) % capacity
        place = links[2 * capacity + slot]
        if place != _MISSING:
            observed += 1
            if links[place] != slot:
                return False
            if place - (capacity if place >= capacity else 0) >= (
                low_size if place < capacity else high_size
            ):
                return False
    if not observed == header[_COUNT] == low_size + high_size:
        return False
    return ordered_heaps(header, keys, links)


@kernel
def balanced_tree(links, values, work, tree, reverse):
    """Whether the order, the sizes and the balance of a tree are right."""
    here = links[RECORD * tree + LEFT]
    total = links[RECORD * tree + BEFORE]
    last = 0
    depth = 1
    while here != 0 or depth > 1:
        if here == 0:
            depth -= 2
            here, total = work[depth], work[depth + 1]
            before = links[RECORD * here + BEFORE]
            if last != 0 and not comes_after(values, here, last, reverse):
                return False
            last = here
            total -= before + 1
            here = links[RECORD * here + RIGHT]
        else:
            before = links[RECORD * here + BEFORE]
            after = total - before - 1
            if before < 0 or after < 0 or depth + 2 > WORK:
                return False
            if before + 1 > 3 * (after + 1) or after + 1 > 3 * (before + 1):
                return False
            work[depth], work[depth + 1] = here, total
            depth += 2
            total = before
            here = links[RECORD * here + LEFT]
        if (here == 0) != (total == 0):
            return False
    return total == 0


@kernel
def _smallest_only(links, values, tree, first, last, capacity, newest, reverse):
    """Whether a tree holds the smallest of the observations in places `first` to `last`."""
    largest = np.int64(links[RECORD * tree + LEFT])
    while links[RECORD * largest + RIGHT] != 0:
        largest = np.int64(links[RECORD * largest + RIGHT])
    observed = not_after = 0
    for node in range(_FIRST + first, _FIRST + last):
        if links[RECORD * node + BEFORE] != _MISSING:
            observed += 1
            not_after += node == largest or (
                largest != 0 and three_trees.precedes(values, node, largest, newest, reverse)
            )
    expected = min(observed, capacity)
    return links[RECORD * tree + BEFORE] == expected and not_after == expected


@kernel
def smallest_in_trees(header, links, values):
    """Whether every tree is in order and holds the k smallest observations of its part of the window."""
    work = header[three_trees.STEPS :]
    reverse = header[three_trees.REVERSE] != 0
    rows, pushed, capacity = (
        header[three_trees.ROWS],
        header[three_trees.PUSHED],
        header[three_trees.CAPACITY],
    )
    if pushed == 0:
        return header[three_trees.COUNT] == 0
    for tree in range(1, _FIRST):
        if not balanced_tree(links[0], values, work, tree, reverse):
            return False
    if not balanced_tree(links[1], values, work, _PREPARING, reverse):
        return False
    half = rows // 2
    place = (pushed - 1) % rows
    start, stop = (0, half) if place < half else (half, rows)
    other_start, other_stop = (half, rows) if place < half else (0, half)
    newest = _FIRST + place
    left, middle, right = (
        header[three_trees.LEFT_TREE],
        header[three_trees.MIDDLE_TREE],
        header[three_trees.RIGHT_TREE],
    )
    observed = 0
    for node in range(_FIRST, _FIRST + min(pushed, rows)):
        observed += links[0, RECORD * node + BEFORE] != _MISSING
    return (
        observed == header[three_trees.COUNT]
        and _smallest_only(links[0], values, right, start, place + 1, capacity, newest, reverse)
        and (
            pushed <= half
            or _smallest_only(links[0], values, middle, other_start, other_stop, capacity, newest, reverse)
        )
        and (
            pushed < rows
            or _smallest_only(links[0], values, left, place + 1, stop, capacity, newest, reverse)
        )
    )
