"""The weight-balanced tree against a sorted list, one operation at a time."""

from bisect import insort
from math import log2

import numpy as np
import pytest

from rollstat.kernels.selection import weight_balanced_tree
from tests.kernels.selection.invariants import balanced_tree

HEAD, OTHER = 1, 2


def forest(values):
    """Links and work space for the nodes of `values`, all of its trees empty."""
    return np.zeros(weight_balanced_tree.RECORD * len(values), np.int32), np.zeros(
        weight_balanced_tree.WORK, np.int64
    )


def contents(links, head):
    """Nodes of a tree, in order."""

    def below(node):
        if node == 0:
            return []
        left, right = (
            links[weight_balanced_tree.RECORD * node + weight_balanced_tree.LEFT],
            links[weight_balanced_tree.RECORD * node + weight_balanced_tree.RIGHT],
        )
        return [*below(left), int(node), *below(right)]

    return below(links[weight_balanced_tree.RECORD * head + weight_balanced_tree.LEFT])


def height(links, head):
    """Number of levels of a tree."""
    level = links[[weight_balanced_tree.RECORD * head + weight_balanced_tree.LEFT]]
    levels = 0
    while level.any():
        level = level[level > 0].astype(np.int64) * weight_balanced_tree.RECORD
        level = np.concatenate(
            [links[level + weight_balanced_tree.LEFT], links[level + weight_balanced_tree.RIGHT]]
        )
        levels += 1
    return levels


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("different", [3, 1000])
def test_random_operations(rng, reverse, different):
    values = rng.integers(0, different, 120).astype(float)
    links, work = forest(values)
    expected = []
    outside = list(range(3, len(values)))
    for step in range(1500):
        growing = (step // 200) % 2 == 0
        if outside and (not expected or rng.random() < (0.7 if growing else 0.3)):
            node = outside.pop(rng.integers(len(outside)))
            weight_balanced_tree.add(links, values, work, HEAD, node, reverse)
            insort(expected, (values[node], node))
        elif rng.random() < 0.2:
            node = (expected.pop(0) if reverse else expected.pop())[1]
            assert weight_balanced_tree.remove_largest(links, work, HEAD) == node
            outside.append(node)
        else:
            _, node = expected.pop(rng.integers(len(expected)))
            weight_balanced_tree.remove(links, values, work, HEAD, node, reverse)
            outside.append(node)
        assert balanced_tree(links, values, work, HEAD, reverse)
        nodes = [node for _, node in (reversed(expected) if reverse else expected)]
        assert contents(links, HEAD) == nodes
        assert links[weight_balanced_tree.RECORD * HEAD + weight_balanced_tree.BEFORE] == len(nodes)
        assert weight_balanced_tree.largest(links, work, HEAD) == (nodes[-1] if nodes else 0)
        if nodes:
            rank = int(rng.integers(len(nodes)))
            assert (
                weight_balanced_tree.find_rank(
                    links, work, links[weight_balanced_tree.RECORD * HEAD + weight_balanced_tree.LEFT], rank
                )
                == nodes[rank]
            )


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("capacity", [1, 2, 7])
def test_admit_keeps_the_smallest(rng, capacity, reverse):
    values = rng.integers(0, 9, 200).astype(float)
    links, work = forest(values)
    for first, last in ((3, 100), (100, 200)):
        weight_balanced_tree.empty(links, HEAD)
        expected = []
        for node in range(first, last):
            expected = sorted([*expected, (values[node], node)], reverse=reverse)
            removed = expected.pop()[1] if len(expected) > capacity else 0
            assert weight_balanced_tree.admit(links, values, work, HEAD, node, capacity, reverse) == removed
            assert balanced_tree(links, values, work, HEAD, reverse)
            assert contents(links, HEAD) == [node for _, node in expected]


def test_trees_share_links_and_are_emptied_in_one_step():
    values = np.arange(40.0)
    links, work = forest(values)
    for node in range(3, 40):
        weight_balanced_tree.add(links, values, work, HEAD if node % 2 else OTHER, node, False)
    before = links.copy()
    weight_balanced_tree.empty(links, HEAD)
    assert np.count_nonzero(links != before) <= 3
    assert contents(links, HEAD) == []
    assert contents(links, OTHER) == list(range(4, 40, 2))
    for node in range(3, 40, 2):
        weight_balanced_tree.add(links, values, work, HEAD, node, False)
    assert contents(links, HEAD) == list(range(3, 40, 2))
    assert balanced_tree(links, values, work, HEAD, False)
    assert balanced_tree(links, values, work, OTHER, False)


@pytest.mark.slow
@pytest.mark.parametrize("order", ["sorted", "reversed", "random"])
def test_height_and_steps_are_logarithmic(rng, order):
    n = 20_000
    values = np.arange(n + 3.0)
    nodes = np.arange(3, n + 3)
    nodes = {"sorted": nodes, "reversed": nodes[::-1], "random": rng.permutation(nodes)}[order]
    links, work = forest(values)

    def limit(size):
        return 2.41 * log2(size + 2) + 1

    for size, node in enumerate(nodes):
        work[0] = 0
        weight_balanced_tree.add(links, values, work, HEAD, node, False)
        assert work[0] <= 10 * limit(size)
    assert balanced_tree(links, values, work, HEAD, False)
    assert height(links, HEAD) <= limit(n)
    for size, node in zip(range(n, 0, -1), nodes):
        work[0] = 0
        weight_balanced_tree.remove(links, values, work, HEAD, node, False)
        assert work[0] <= 10 * limit(size)
    assert links[weight_balanced_tree.RECORD * HEAD + weight_balanced_tree.BEFORE] == 0


def test_check_sees_damage():
    values = np.arange(20.0)
    links, work = forest(values)
    for node in range(3, 20):
        weight_balanced_tree.add(links, values, work, HEAD, node, False)
    assert balanced_tree(links, values, work, HEAD, False)
    assert not balanced_tree(links, values, work, HEAD, True)
    root = links[weight_balanced_tree.RECORD * HEAD + weight_balanced_tree.LEFT]
    for place, change in (
        (weight_balanced_tree.RECORD * HEAD + weight_balanced_tree.BEFORE, 1),
        (weight_balanced_tree.RECORD * root + weight_balanced_tree.BEFORE, -1),
        (
            weight_balanced_tree.RECORD * root + weight_balanced_tree.RIGHT,
            -links[weight_balanced_tree.RECORD * root + weight_balanced_tree.RIGHT],
        ),
    ):
        links[place] += change
        assert not balanced_tree(links, values, work, HEAD, False)
        links[place] -= change
    values[10] = 100.0
    assert not balanced_tree(links, values, work, HEAD, False)
