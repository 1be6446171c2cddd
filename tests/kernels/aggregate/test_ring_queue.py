"""Elements taken in at once: suffixes and totals of the right ones in the right order, few combinations."""

import numpy as np
import pytest

from rollstat.kernels.aggregate import daba, two_stacks
from rollstat.kernels.aggregate.ring_queue import END, FRONT, MASK, fetch, lift_suffixes, lift_total
from tests.kernels.aggregate.growing_queue import push
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
    algorithm.load_elements(operator, header, cells, elements)
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
            push(algorithm, operator, header, cells, int(header[END]))
        assert algorithm is two_stacks or counter[0] - before <= 3
