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
def size(links, tree):
    """Return the number of nodes of a tree."""
    return links[RECORD * tree + BEFORE]


@kernel
def comes_after(values, node, other, reverse):
    """Whether `node` comes after `other` in the order (value, node), or in its exact reverse."""
    value, bound = values[node], values[other]
    return (value > bound or (value == bound and node > other)) != reverse


@kernel
def _rotate(links, link, total):
    """Rotate the subtree of `total` nodes below `link`, one of whose sides is too heavy; return the steps."""
    node = links[link]
    before = links[RECORD * node + BEFORE]
    if 2 * before >= total:
        child = links[RECORD * node + LEFT]
        outer = links[RECORD * child + BEFORE]
        inner = before - outer - 1
        if inner + 1 < 2 * (outer + 1):
            links[RECORD * node + LEFT] = links[RECORD * child + RIGHT]
            links[RECORD * node + BEFORE] = inner
            links[RECORD * child + RIGHT] = node
            links[link] = child
            return 6
        top = links[RECORD * child + RIGHT]
        middle = links[RECORD * top + BEFORE]
        links[RECORD * child + RIGHT] = links[RECORD * top + LEFT]
        links[RECORD * node + LEFT] = links[RECORD * top + RIGHT]
        links[RECORD * node + BEFORE] = inner - middle - 1
        links[RECORD * top + LEFT] = child
        links[RECORD * top + RIGHT] = node
        links[RECORD * top + BEFORE] = outer + 1 + middle
    else:
        child = links[RECORD * node + RIGHT]
        inner = links[RECORD * child + BEFORE]
        outer = total - before - inner - 2
        if inner + 1 < 2 * (outer + 1):
            links[RECORD * node + RIGHT] = links[RECORD * child + LEFT]
            links[RECORD * child + LEFT] = node
            links[RECORD * child + BEFORE] = before + 1 + inner
            links[link] = child
            return 6
        top = links[RECORD * child + LEFT]
        middle = links[RECORD * top + BEFORE]
        links[RECORD * child + LEFT] = links[RECORD * top + RIGHT]
        links[RECORD * child + BEFORE] = inner - middle - 1
        links[RECORD * node + RIGHT] = links[RECORD * top + LEFT]
        links[RECORD * top + RIGHT] = child
        links[RECORD * top + LEFT] = node
        links[RECORD * top + BEFORE] = before + 1 + middle
    links[link] = top
    return 9


@kernel
def _balance(links, work, noted):
    """Rotate at the noted links, each with the size of its subtree, the deepest first."""
    while noted > 1:
        noted -= 2
        work[0] += _rotate(links, work[noted], work[noted + 1])


@kernel
def add(links, values, work, tree, node, reverse):
    """Add `node`, which is in no tree, to a tree."""
    links[RECORD * node + LEFT] = 0
    links[RECORD * node + RIGHT] = 0
    links[RECORD * node + BEFORE] = 0
    total = links[RECORD * tree + BEFORE]
    links[RECORD * tree + BEFORE] = total + 1
    link = RECORD * tree + LEFT
    noted = 1
    steps = 1
    here = np.int64(links[link]) & INDEX
    while here != 0:
        before = links[RECORD * here + BEFORE]
        rest = total - before
        after = np.int64(comes_after(values, node, here, reverse))
        links[RECORD * here + BEFORE] = before + 1 - after
        growing, other = (rest + 1, before + 1) if after else (before + 2, rest)
        if growing > 3 * other:
            work[noted] = link
            work[noted + 1] = total + 1
            noted += 2
        link = RECORD * here + after
        total = growing - 2
        here = np.int64(links[link]) & INDEX
        steps += 1
    links[link] = node
    work[0] += steps + 4
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
        if before + 1 > 3 * (total - before - 1):
            work[noted] = link
            work[noted + 1] = total - 1
            noted += 2
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
    total = links[RECORD * tree + BEFORE]
    links[RECORD * tree + BEFORE] = total - 1
    link = RECORD * tree + LEFT
    noted = 1
    steps = 1
    here = np.int64(links[link]) & INDEX
    while here != node:
        before = links[RECORD * here + BEFORE]
        rest = total - before
        after = np.int64(comes_after(values, node, here, reverse))
        links[RECORD * here + BEFORE] = before - 1 + after
        shrinking, other = (rest - 1, before + 1) if after else (before, rest)
        if other > 3 * shrinking:
            work[noted] = link
            work[noted + 1] = total - 1
            noted += 2
        link = RECORD * here + after
        total = shrinking
        here = np.int64(links[link]) & INDEX
        steps += 1
    work[0] += steps + 4
    if links[RECORD * node + LEFT] == 0:
        links[link] = links[RECORD * node + RIGHT]
    elif links[RECORD * node + RIGHT] == 0:
        links[link] = links[RECORD * node + LEFT]
    else:
        before = links[RECORD * node + BEFORE]
        if total - before > 3 * before:
            work[noted] = link
            work[noted + 1] = total - 1
            noted += 2
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
    """Return the node of a rank, from 0, in the subtree of `root`, which must have it."""
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
