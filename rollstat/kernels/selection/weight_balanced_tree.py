r"""Ordered sets of rows that know their ranks: weight-balanced search trees in preallocated arrays.

::

    head of a tree        size = 6, the whole tree is its left subtree
       |
       d                  before(d) = 3
      / \
     b   e                before(b) = 1, before(e) = 0
    / \   \
   a   c   f              in order: a b c d e f, by (value, node), or exactly the reverse

State: ``links``, shape (4 x nodes,), int32 or int64: four adjacent entries per node, so that a visit touches
one cache line: the left child, the right child, ``before`` (the size of the left subtree) and a note for the
caller. Node 0 is no node. A tree is identified by its *head*, a node whose left child is the root and whose
``before`` is therefore the size of the tree; the right child of a head is the last node if known, else 0.
Many trees can share one ``links``; a node is in at most one of them. ``values[node]`` is what is compared.
``work``, shape (WORK,), int64: a counter of steps (one for a node visited, one for an array element moved),
then room for the path.

Invariant: with w = size + 1, neither child of any node has w larger than three times the other's, so
the height is at most 2.41 log2(size + 1). The size of a subtree is known on the way down, and with it which
nodes will need a rotation, without visiting their children; the way back up visits only these.

Cost: add, remove, largest and find_rank take O(log size), worst case; size and empty O(1). Memory: four
integers a node.

Source: Nievergelt and Reingold, Binary search trees of bounded balance, SIAM J. Comput. 2 (1973),
doi:10.1137/0202005; the proof that the weights (3, 2) keep the balance: Hirai and Yamamoto, Balancing
weight-balanced trees, J. Funct. Program. 21 (2011), doi:10.1017/S0956796811000104.
"""

import numpy as np

from rollstat.compile.jit import INDEX, kernel

LEFT, RIGHT, BEFORE, NOTE, RECORD = 0, 1, 2, 3, 4

# The counter, and two entries for each level of a tree of 2**62 nodes.
WORK = 1 + 2 * 152


@kernel
def empty(links, tree):
    """Remove all nodes of a tree, in one step."""
    links[RECORD * tree + LEFT] = 0
    links[RECORD * tree + RIGHT] = 0
    links[RECORD * tree + BEFORE] = 0


@kernel
def comes_after(values, node, other, reverse):
    """Whether `node` comes after `other` in the order (value, node), or in its exact reverse."""
    value, bound = values[node], values[other]
    return (value > bound or (value == bound and node > other)) != reverse


@kernel(forceinline=True)
def _turn(links, node, side):
    """Put the child of `node` on one side in its place, with `node` below on the other; return the child."""
    child, other = links[RECORD * node + side], RIGHT - side
    links[RECORD * node + side] = links[RECORD * child + other]
    links[RECORD * child + other] = node
    if side == LEFT:
        links[RECORD * node + BEFORE] -= links[RECORD * child + BEFORE] + 1
    else:
        links[RECORD * child + BEFORE] += links[RECORD * node + BEFORE] + 1
    return child


@kernel
def _rotate(links, link, total):
    """Rotate the subtree of `total` nodes below `link`, one of whose sides is too heavy; return the steps."""
    node = links[link]
    before = links[RECORD * node + BEFORE]
    side = LEFT if 2 * before >= total else RIGHT
    child = links[RECORD * node + side]
    left = links[RECORD * child + BEFORE]
    right = (before if side == LEFT else total - before - 1) - left - 1
    outer, inner = (left, right) if side == LEFT else (right, left)
    steps = 6
    if inner + 1 >= 2 * (outer + 1):
        links[RECORD * node + side] = _turn(links, child, RIGHT - side)
        steps = 9
    links[link] = _turn(links, node, side)
    return steps


@kernel
def _balance(links, work, noted):
    """Rotate at the noted links, each with the size of its subtree, the deepest first."""
    while noted > 1:
        noted -= 2
        work[0] += _rotate(links, work[noted], work[noted + 1])


@kernel(forceinline=True)
def _note(work, noted, link, total, heavy, light):
    """Note a link and the size of its subtree if one side is too heavy for the other; return the end."""
    if heavy > 3 * light:
        work[noted] = link
        work[noted + 1] = total
        noted += 2
    return noted


@kernel(forceinline=True)
def _descend(links, values, work, tree, node, stop, change, reverse):
    """Follow the path to where `node` belongs, as far as `stop`, and add `change` to the sizes on the path.

    Return the link to `stop`, the size of the subtree below it before the change, and the end of the notes.
    """
    total = links[RECORD * tree + BEFORE]
    links[RECORD * tree + BEFORE] = total + change
    link = RECORD * tree + LEFT
    noted = steps = 1
    here = np.int64(links[link]) & INDEX
    while here != stop:
        before = links[RECORD * here + BEFORE]
        rest = total - before
        after = np.int64(comes_after(values, node, here, reverse))
        links[RECORD * here + BEFORE] = before + change * (1 - after)
        size, other = (rest - 1, before + 1) if after else (before, rest)
        heavy, light = (size + 2, other) if change > 0 else (other, size)
        noted = _note(work, noted, link, total + change, heavy, light)
        link = RECORD * here + after
        total = size
        here = np.int64(links[link]) & INDEX
        steps += 1
    work[0] += steps + 4
    return link, total, noted


@kernel
def add(links, values, work, tree, node, reverse):
    """Add `node` to a tree; the node must not be in any tree yet."""
    links[RECORD * node + LEFT] = 0
    links[RECORD * node + RIGHT] = 0
    links[RECORD * node + BEFORE] = 0
    link, _, noted = _descend(links, values, work, tree, node, 0, 1, reverse)
    links[link] = node
    _balance(links, work, noted)


@kernel
def _take_last(links, work, link, total, noted):
    """Unlink the last of the `total` nodes below `link`; return it and the end of the notes.

    Its left subtree, at most two nodes, takes its place. The links to balance are noted.
    """
    here = np.int64(links[link]) & INDEX
    steps = 1
    while links[RECORD * here + RIGHT] != 0:
        before = links[RECORD * here + BEFORE]
        noted = _note(work, noted, link, total - 1, before + 1, total - before - 1)
        total -= before + 1
        link = RECORD * here + RIGHT
        here = np.int64(links[link]) & INDEX
        steps += 1
    links[link] = links[RECORD * here + LEFT]
    work[0] += steps + 1
    return here, noted


@kernel
def remove(links, values, work, tree, node, reverse):
    """Remove `node` from the tree that it is in."""
    link, total, noted = _descend(links, values, work, tree, node, node, -1, reverse)
    if links[RECORD * node + LEFT] == 0:
        links[link] = links[RECORD * node + RIGHT]
    elif links[RECORD * node + RIGHT] == 0:
        links[link] = links[RECORD * node + LEFT]
    else:
        before = links[RECORD * node + BEFORE]
        noted = _note(work, noted, link, total - 1, total - before, before)
        below = noted
        heir, noted = _take_last(links, work, RECORD * node + LEFT, before, noted)
        if noted > below and work[below] == RECORD * node + LEFT:
            work[below] = RECORD * heir + LEFT
        links[RECORD * heir + LEFT] = links[RECORD * node + LEFT]
        links[RECORD * heir + RIGHT] = links[RECORD * node + RIGHT]
        links[RECORD * heir + BEFORE] = before - 1
        links[link] = heir
    _balance(links, work, noted)


@kernel
def remove_largest(links, work, tree):
    """Remove the last node of a tree that is not empty, and return it."""
    total = links[RECORD * tree + BEFORE]
    last, noted = _take_last(links, work, RECORD * tree + LEFT, total, 1)
    links[RECORD * tree + BEFORE] = total - 1
    _balance(links, work, noted)
    return last


@kernel
def largest(links, work, tree):
    """Return the last node of a tree, or 0 if it is empty."""
    last = links[RECORD * tree + LEFT]
    steps = 1
    while links[RECORD * last + RIGHT] != 0:
        last = links[RECORD * last + RIGHT]
        steps += 1
    work[0] += steps
    return last


@kernel
def admit(links, values, work, tree, node, capacity, reverse):
    """Add `node`, then remove the last node if there are more than `capacity`; return what is removed, or 0.

    A node that would come last in a full tree is rejected in one step, by comparing it with the last node
    that the head remembers. This is right for trees that only `empty` and `admit` change.
    """
    if links[RECORD * tree + BEFORE] < capacity:
        add(links, values, work, tree, node, reverse)
        return 0
    work[0] += 1
    last = links[RECORD * tree + RIGHT]
    if last == 0:
        last = largest(links, work, tree)
        links[RECORD * tree + RIGHT] = last
    if comes_after(values, node, last, reverse):
        return node
    remove_largest(links, work, tree)
    add(links, values, work, tree, node, reverse)
    links[RECORD * tree + RIGHT] = largest(links, work, tree)
    return last


@kernel
def find_rank(links, work, root, rank):
    """Return the node of a rank, from 0, in the subtree of `root`; the subtree must contain it."""
    here = root
    steps = 1
    before = links[RECORD * here + BEFORE]
    while rank != before:
        if rank < before:
            here = links[RECORD * here + LEFT]
        else:
            rank -= before + 1
            here = links[RECORD * here + RIGHT]
        before = links[RECORD * here + BEFORE]
        steps += 1
    work[0] += steps
    return here
