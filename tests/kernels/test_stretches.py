"""Elements taken in at once: suffixes and totals of the right ones in the right order, few combinations."""

import numpy as np
import pytest

from rollstat.kernels import daba, two_stacks
from rollstat.kernels.state_queue import END, FRONT, MASK, fetch
from rollstat.kernels.stretches import lift_suffixes, lift_total
from rollstat.kernels.window_stream import Daba, TwoStacks, begin
from tests.spans import STATE, counting_operator

SIZES = [*range(1, 14), 40, 63]


def room(algorithm, number, first):
    """A ring of 64 cells with room for the elements from `first` on, and these."""
    operator, counter = counting_operator()
    header, cells = algorithm.create(STATE, 64)
    header[FRONT], header[END] = first, first + number
    return operator, counter, header, cells, np.arange(first, first + number)


@pytest.mark.parametrize("number", SIZES)
def test_suffixes_and_total(number):
    operator, counter, header, cells, elements = room(daba, number, 50)
    counters = 50, 50 + number, header[MASK]
    assert tuple(lift_total(operator, cells, elements, 0, *counters)) == (50, 49 + number, True)
    assert counter[0] == number - 1
    for i in elements:
        assert tuple(fetch(cells, i, header[MASK])) == (i, i, True)
    lift_suffixes(operator, cells, elements, *counters)
    for i in elements:
        assert tuple(fetch(cells, i, header[MASK])) == (i, 49 + number, True)
    assert counter[0] <= 2.5 * number


@pytest.mark.parametrize("algorithm", [two_stacks, daba])
@pytest.mark.parametrize("number", [0, *SIZES])
def test_elements_become_a_window(algorithm, number):
    operator, counter, header, cells, elements = room(algorithm, number, 50)
    algorithm.arrange(operator, header, cells, elements)
    assert counter[0] <= 1.25 * number
    for i in range(300):
        assert algorithm.check(header, cells)
        if header[FRONT] < header[END]:
            state = algorithm.query(operator, header, cells)
            assert tuple(state) == (header[FRONT], header[END] - 1, True)
        before = int(counter[0])
        if i % 3 == 0 and header[FRONT] < header[END]:
            algorithm.pop(operator, header, cells, 1)
        elif header[END] - header[FRONT] < 64:
            algorithm.push(operator, header, cells, int(header[END]))
        assert algorithm is two_stacks or counter[0] - before <= 3


@pytest.mark.parametrize("algorithm", [TwoStacks(), Daba()], ids=["two_stacks", "daba"])
def test_rows_that_reach_back_leave_the_window_as_it_is(algorithm, rng):
    operator, counter = counting_operator()
    header, cells = algorithm.create(STATE, 64)
    stamps = np.arange(64)
    rows, span = 60, 40
    for _ in range(300):
        if rng.random() < 0.55 and header[END] - header[FRONT] < 64:
            stamps[header[END] & 63] = header[END]
            algorithm.push(operator, header, cells, int(header[END]))
        else:
            algorithm.pop(operator, header, cells, 1)
        first, end = header[FRONT], header[END]
        if first == end:
            continue
        times, missing = np.arange(end, end + rows), rng.random(rows) < 0.2
        out = tuple(np.zeros(rows, STATE[name]) for name in STATE.names)
        lacking, failed = np.zeros((2, rows), bool)
        elements = end + np.cumsum(~missing) - 1  # as if none of them were missing
        suffixes, before = np.empty(end - first, STATE), int(counter[0])
        arguments = span, times, elements, missing, 1, suffixes, out, lacking, failed
        begin(algorithm, operator, header, cells, stamps, *arguments)
        assert counter[0] - before <= 2 * (end - first) + 3 * rows
        for i in np.flatnonzero(~lacking):
            oldest = max(first, times[i] - span + 1)
            # States that are held leave by their stamps, new ones never do within so few rows.
            assert (out[0][i], out[1][i], out[2][i]) == (min(oldest, end), elements[i], True)
        assert algorithm.check(header, cells)
        assert tuple(algorithm.query(operator, header, cells)) == (first, end - 1, True)
