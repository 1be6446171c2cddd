"""Base intervals: states in the right order, and the promised number of combinations."""

from bisect import bisect_right
from typing import Any, NamedTuple

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from rollstat.kernels.aggregate import base_intervals
from rollstat.kernels.aggregate.ring_queue import END, FRONT


class Ordered(NamedTuple):
    """State ``(first, last, number, ordered)`` of stamps; it counts combinations."""

    combinations: Any

    def lift(self, x):
        return x, x, 1, True

    def combine(self, older, newer):
        self.combinations[0] += 1
        ordered = older[3] and newer[3] and older[1] <= newer[0]
        return older[0], newer[1], older[2] + newer[2], ordered


STATE = np.dtype([(f"item{i}", np.int64) for i in range(3)] + [("item3", np.bool_)], align=True)
CAPACITY = 64


def run(steps):
    """Insert a stamp so far before the newest (0 and more) or pop (less than 0), and check each state."""
    counter = np.zeros(1, np.int64)
    operator, held, newest = Ordered(counter), [], 0
    header, cells = base_intervals.create(STATE, CAPACITY)
    stamps = np.zeros(CAPACITY, np.int64)
    in_order = 0
    for step in steps:
        counter[0] = 0
        if step < 0:
            assert base_intervals.pop(operator, header, cells, -step) == (-step <= len(held))
            held = held[-step:] if -step <= len(held) else held
            assert counter[0] == 0
        elif len(held) == CAPACITY:
            assert not base_intervals.insert(operator, header, cells, stamps, newest, newest)
        else:
            newest += step == 0
            stamp = newest - step
            place = bisect_right(held, stamp)
            assert base_intervals.insert(operator, header, cells, stamps, stamp, np.int64(stamp))
            later = len(held) - place
            held.insert(place, stamp)
            assert counter[0] <= later + np.log2(CAPACITY)
            in_order += later == 0
        assert base_intervals.check(header, cells)
        assert header[END] - header[FRONT] == len(held)
        if held:
            counter[0] = 0
            state = tuple(base_intervals.query(operator, header, cells))
            assert state == (held[0], held[-1], len(held), True)
            assert counter[0] <= 2 * np.log2(CAPACITY)


@given(st.lists(st.sampled_from([0, 0, 0, 0, 1, 2, 5, 30, -1, -1, -7]), max_size=150))
def test_any_steps(steps):
    run(steps)


def test_a_full_ring():
    run([0] * 70 + [-1, 3] * 100)


def test_pushes_take_one_combination_amortised():
    counter = np.zeros(1, np.int64)
    header, cells = base_intervals.create(STATE, CAPACITY)
    for stamp in range(1000):
        if header[END] - header[FRONT] == 50:
            base_intervals.pop(Ordered(counter), header, cells, 1)
        base_intervals.push_state(Ordered(counter), header, cells, (stamp, stamp, 1, True))
    assert counter[0] < 1000
