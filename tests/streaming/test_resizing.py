"""Windows of free size: what moves in a single push while they grow and shrink, and what they hold."""

import numpy as np
import pytest

import rollstat
from rollstat.kernels.aggregate.ring_queue import FRONT, MASK, MOVED, STOP
from rollstat.streaming.linked_queue import LinkedQueue
from rollstat.streaming.resizing import ResizingWindow
from rollstat.streaming.windows.extrema import WedgeWindow
from rollstat.streaming.windows.heaps import HeapWindow
from tests.spans import counting_operator

MANY = 100_000


@pytest.mark.parametrize("algorithm", ["daba", "two_stacks"])
def test_an_aggregate_moves_two_states_a_push(algorithm):
    """Growth to many elements: at most two states move, and the algorithm's own combinations are made."""
    operator, counter = counting_operator()
    stream = rollstat.SlidingAggregate(operator, dtype=np.int64, algorithm=algorithm)
    window, rings = stream._window.states, set()
    most = 3 if algorithm == "daba" else 1
    for i in range(MANY):
        moving, before, combined = window.cells[2], int(window.cells[2][MOVED]), int(counter[0])
        stream.push(i)
        if window.cells[2] is not moving:  # another ring
            moving = window.cells[2]
            before = int(window.header[FRONT])
            rings.add(int(window.header[MASK]) + 1)
        assert moving[MOVED] - before <= 2
        assert counter[0] - combined <= most + 1
    assert rings == {2**i for i in range(7, 18)}
    assert stream.value[:2] == (0, MANY - 1)
    assert stream.value[2]
    assert stream.pop(MANY - 10)[:2] == (MANY - 10, MANY - 1)
    for i in range(MANY, MANY + 30):
        assert tuple(stream.push(i)) == (MANY - 10, i, True)
    assert window.header[MASK] + 1 <= 256


@pytest.mark.parametrize("algorithm", ["daba", "two_stacks"])
def test_an_aggregate_in_the_middle_of_a_move_is_copied_and_saved(algorithm, rng):
    stream = rollstat.TimeAggregate(rollstat.operators.Sum(), 1000, algorithm=algorithm)
    values = rng.normal(size=3000)
    moved = 0
    for i, x in enumerate(values[:1500].tolist()):
        stream.push(x, 10.0 * i if i > 1200 else float(i))
        moving = stream._window.states.cells[2]
        if moving[STOP] - moving[MOVED] > 0 and i % 7 == 0:
            moved += 1
            twins = stream.copy(), rollstat.restore(stream.snapshot())
            assert [twin.value for twin in twins] == [stream.value] * 2
            assert [twin.push(1.0, 20_000.0) for twin in twins] == [1.0, 1.0]
    assert moved >= 4  # a snapshot ends the move


class Counted:
    """A window that counts the rows pushed into it."""

    rows_pushed = 0

    def __init__(self, window):
        self._window = window

    def __getattr__(self, name):
        return getattr(self._window, name)

    def push(self, value, missing):
        Counted.rows_pushed += 1
        self._window.push(value, missing)

    def push_all(self, values, missing):
        Counted.rows_pushed += len(values)
        self._window.push_all(values, missing)


def heaps(capacity):
    return Counted(HeapWindow(capacity, np.dtype(np.float64), q=0.5, min_periods=1, ties=False))


def wedges(capacity):
    return Counted(WedgeWindow(capacity, np.dtype(np.float64), "any"))


@pytest.mark.parametrize("make", [heaps, wedges])
def test_a_window_of_order_takes_few_rows_a_push(make, rng):
    window = ResizingWindow(make)
    values = rng.integers(0, 1000, MANY).astype(float)
    for i, x in enumerate(values.tolist()):
        before = Counted.rows_pushed
        window.push(x, False)
        assert Counted.rows_pushed - before <= 25
        assert window._capacity <= 4 * (i + 1) or window._capacity == 128
    held, missing = window.contents()
    np.testing.assert_array_equal(held, values)
    assert not missing.any()
    window.pop(MANY - 5)
    for x in values[:50].tolist():
        before = Counted.rows_pushed
        window.push(x, False)
        assert Counted.rows_pushed - before <= 25
    for x in values[50:1000].tolist():
        window.push(x, False)
        window.pop(1)
    assert window._capacity <= 512
    assert window.rows == 55
    assert window.pushed == MANY + 1000
    np.testing.assert_array_equal(window.contents()[0], values[945:1000])


@pytest.mark.parametrize("cls", [rollstat.RollingMedian, rollstat.RollingArgmin, rollstat.RollingIqr])
def test_every_size_on_the_way(cls, rng):
    """Pops of any number at any moment of a move, and rows that are missing, with restarts between."""
    values = rng.integers(0, 40, 2500).astype(float)
    values[rng.random(2500) < 0.1] = np.nan
    stream, first = cls(None), 0
    for i, x in enumerate(values.tolist()):
        stream.push(x)
        if i % 11 == 3:
            number = int(rng.integers(0, i + 2 - first)) if i % 5 == 0 else int(rng.integers(0, 4))
            number = min(number, i + 1 - first) // (1 if i % 3 else 2)
            got, first = stream.pop(number), first + number
            window = values[first : i + 1]
            kept = window[~np.isnan(window)]
            if cls is rollstat.RollingArgmin:
                wanted = -1 if len(kept) == 0 else first + int(np.nanargmin(window))
            elif len(kept) == 0:
                wanted = np.nan
            elif cls is rollstat.RollingMedian:
                wanted = np.median(kept)
            else:
                wanted = np.subtract(*np.quantile(kept, [0.75, 0.25]))
            np.testing.assert_array_equal(got, wanted)
            assert len(stream) == i + 1 - first
        if i % 250 == 60:
            stream = stream.copy() if i % 500 == 60 else rollstat.restore(stream.snapshot())


def test_chunks_are_a_queue(rng):
    chunks, expected = LinkedQueue(np.int64), []
    last = 0
    for step in range(3000):
        last += int(rng.integers(0, 3))
        kept = [id(chunk) for chunk in chunks._chunks]
        chunks.append(last)
        expected.append(last)
        # What is held stays in the chunk where it was written.
        assert [id(chunk) for chunk in chunks._chunks][: len(kept)] == kept
        if step % 5 == 0:
            limit = last - int(rng.integers(0, 4000))
            gone = chunks.up_to(limit)
            assert gone == sum(number <= limit for number in expected)
            chunks.drop(gone)
            del expected[:gone]
        assert len(chunks) == len(expected)
        assert len(chunks._chunks) <= len(expected) // 512 + 2
        if expected:
            assert chunks.newest == expected[-1]
    assert chunks.numbers.tolist() == expected
    twin = chunks.copy()
    chunks.drop(len(chunks))
    assert chunks.numbers.tolist() == []
    assert chunks.up_to(10**9) == 0
    twin.load(np.arange(1300))
    twin.append(1300)
    assert twin.numbers.tolist() == list(range(1301))
    assert twin.up_to(1299) == 1300
