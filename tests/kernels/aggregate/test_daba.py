"""DABA Lite: the right elements in the right order, and a bounded number of combinations in every step."""

from hypothesis import given
from hypothesis import strategies as st

from rollstat.kernels.aggregate import daba
from rollstat.kernels.aggregate.ring_queue import END, FRONT
from tests.kernels.aggregate.growing_queue import GrowingQueue, push
from tests.spans import STATE, counting_operator


def run(steps, capacity=4):
    """Push (True) and pop (False) in the order of `steps`, asserting every state and every step's count."""
    operator, counter = counting_operator()
    queue = GrowingQueue(daba, *daba.create(STATE, capacity))
    header, pushes = queue.header, 0
    for pushed in steps:
        before = counter[0]
        if pushed:
            queue.push(operator, pushes)
            pushes += 1
            assert counter[0] - before <= 3
        else:
            size = header[END] - header[FRONT]
            assert daba.pop(operator, header, queue.cells, 1) == (size > 0)
            assert counter[0] - before <= 2
        assert daba.check(header, queue.cells)
        if header[FRONT] < header[END]:
            before = counter[0]
            state = daba.query(operator, header, queue.cells)
            assert tuple(state) == (header[FRONT], header[END] - 1, True)
            assert counter[0] - before <= 1


@given(st.lists(st.booleans(), max_size=150))
def test_any_steps(steps):
    run(steps)


def test_all_short_sequences():
    for bits in range(1 << 10):
        run([bits >> i & 1 == 1 for i in range(10)])


def test_fixed_window():
    run([True] * 10 + [True, False] * 200)


def test_filled_then_emptied():
    run([True] * 100 + [False] * 101 + [True] * 7)


def test_ring_grows_and_shrinks():
    run([True] * 1500 + [False] * 1450 + [True] * 100 + [True, False] * 100 + [False] * 100 + [True] * 90)


def test_pop_of_several_is_as_many_pops():
    operator, _ = counting_operator()
    header, cells = daba.create(STATE, 16)
    for i in range(13):
        push(daba, operator, header, cells, i)
    assert not daba.pop(operator, header, cells, 14)
    assert daba.pop(operator, header, cells, 9)
    assert daba.check(header, cells)
    assert tuple(daba.query(operator, header, cells)) == (9, 12, True)


def test_check_sees_imbalance():
    header, cells = daba.create(STATE, 4)
    header[END] = 3
    assert not daba.check(header, cells)
