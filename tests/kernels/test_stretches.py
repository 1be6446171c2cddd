"""States loaded at once: suffixes and totals of the right elements in the right order, few combinations."""

import pytest

from rollstat.kernels import daba, two_stacks
from rollstat.kernels.state_queue import END, FRONT, MASK, fetch
from rollstat.kernels.states import lift_element, save
from rollstat.kernels.stretches import make_suffixes, total
from tests.spans import STATE, counting_operator

SIZES = [*range(1, 14), 40, 63]
both = pytest.mark.parametrize("algorithm", [two_stacks, daba])


def singles(algorithm, number, first):
    """A ring of 64 cells with the elements from `first` on as states alone."""
    operator, counter = counting_operator()
    header, cells = algorithm.create(STATE, 64)
    header[FRONT], header[END] = first, first + number
    for i in range(first, first + number):
        save(cells, i & header[MASK], lift_element(operator, cells, i))
    return operator, counter, header, cells


@pytest.mark.parametrize("number", SIZES)
def test_suffixes_and_total(number):
    operator, counter, header, cells = singles(daba, number, 50)
    assert tuple(total(operator, cells, 50, 50 + number, header[MASK])) == (50, 49 + number, True)
    assert counter[0] == number - 1
    make_suffixes(operator, cells, 50, 50 + number, header[MASK])
    for i in range(50, 50 + number):
        assert tuple(fetch(cells, i, header[MASK])) == (i, 49 + number, True)
    assert counter[0] <= 3 * number


@both
@pytest.mark.parametrize("number", [0, *SIZES])
def test_states_alone_become_a_window(algorithm, number):
    operator, counter, header, cells = singles(algorithm, number, 50)
    algorithm.arrange(operator, header, cells)
    assert counter[0] <= 2 * number
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


@both
def test_a_window_unfolded_is_that_window_in_suffixes(algorithm, rng):
    operator, counter = counting_operator()
    header, cells = algorithm.create(STATE, 64)
    for _ in range(400):
        if rng.random() < 0.55 and header[END] - header[FRONT] < 64:
            algorithm.push(operator, header, cells, int(header[END]))
        else:
            algorithm.pop(operator, header, cells, 1)
        kept = header.copy(), cells.copy()
        before = int(counter[0])
        algorithm.unfold(operator, *kept)
        assert counter[0] - before <= 3 * (header[END] - header[FRONT])
        assert algorithm.check(*kept)
        for i in range(header[FRONT], header[END]):
            assert tuple(fetch(kept[1], i, header[MASK])) == (i, header[END] - 1, True)
