"""Two stacks: the right elements in the right order, and the promised number of combinations."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from rollstat.kernels.aggregate import two_stacks
from rollstat.kernels.aggregate.ring_queue import END, FRONT
from tests.kernels.aggregate.growing_queue import GrowingQueue, push
from tests.spans import STATE, counting_operator


def run(steps, capacity=4):
    """Push (0) and pop (n > 0) in the order of `steps`, asserting every state; return the totals."""
    operator, counter = counting_operator()
    queue = GrowingQueue(two_stacks, *two_stacks.create(STATE, capacity))
    header, pushes, queries = queue.header, 0, 0
    for number in steps:
        before = counter[0]
        if number == 0:
            queue.push(operator, pushes)
            pushes += 1
            assert counter[0] - before <= 1
        else:
            size = header[END] - header[FRONT]
            assert two_stacks.pop(operator, header, queue.cells, number) == (number <= size)
        assert two_stacks.check(header, queue.cells)
        if header[FRONT] < header[END]:
            before = counter[0]
            state = two_stacks.query(operator, header, queue.cells)
            assert tuple(state) == (header[FRONT], header[END] - 1, True)
            assert counter[0] - before <= 1
            queries += 1
        assert counter[0] <= 2 * pushes + queries


@given(st.lists(st.sampled_from([0, 0, 0, 1, 1, 2, 5]), max_size=120))
def test_any_steps(steps):
    run(steps)


def test_fixed_window():
    run([0] * 10 + [0, 1] * 200)


def test_growing_window_moves_every_state():
    run([0, 0, 1] * 100 + [30, 0, 1, 1] * 2)


def test_ring_grows_and_shrinks():
    run([0] * 1500 + [1450] + [0] * 100 + [0, 1] * 100 + [100] + [0] * 90)


def test_full_ring_takes_nothing():
    operator, _ = counting_operator()
    header, cells = two_stacks.create(STATE, 2)
    assert push(two_stacks, operator, header, cells, 0)
    assert push(two_stacks, operator, header, cells, 1)
    kept = header.copy(), cells.copy()
    assert not push(two_stacks, operator, header, cells, 2)
    np.testing.assert_array_equal(header, kept[0])
    np.testing.assert_array_equal(cells, kept[1])


def test_check_sees_disorder():
    header, cells = two_stacks.create(STATE, 4)
    header[FRONT] = 1
    assert not two_stacks.check(header, cells)
