"""Windows of free size: what a single push costs while they grow and shrink, and what they hold."""

import numpy as np
import pytest

import rollstat
from rollstat.kernels.aggregate.ring_queue import MASK
from rollstat.streaming.representations import HeapWindow, SortedWindow, WedgeWindow
from tests.spans import counting_operator

MANY = 20_000
FLOAT = np.dtype(np.float64)


@pytest.mark.parametrize("algorithm", ["daba", "two_stacks"])
def test_growth_of_an_aggregate_makes_no_combinations(algorithm):
    """Each push makes at most the combinations of the algorithm, and memory follows the observations."""
    operator, counter = counting_operator()
    stream = rollstat.SlidingAggregate(operator, dtype=np.int64, algorithm=algorithm, check=False)
    window, rings = stream._window.states, set()
    most = 3 if algorithm == "daba" else 1
    for i in range(MANY):
        combined = int(counter[0])
        stream.push(i)
        rings.add(int(window.header[MASK]) + 1)
        assert counter[0] - combined <= most + 1
    assert rings == {2**i for i in range(6, 16)}
    assert stream.value[:2] == (0, MANY - 1)
    assert stream.value[2]
    assert stream.pop(MANY - 10)[:2] == (MANY - 10, MANY - 1)
    for i in range(MANY, MANY + 30):
        assert tuple(stream.push(i)) == (MANY - 10, i, True)
    assert window.header[MASK] + 1 == 64


WINDOWS = {
    "heaps": lambda: HeapWindow(0, FLOAT, q=0.5, min_periods=1, ties=False),
    "wedge": lambda: WedgeWindow(0, FLOAT, "any"),
    "sorted": lambda: SortedWindow(0, FLOAT),
}


@pytest.mark.parametrize("make", WINDOWS.values(), ids=WINDOWS)
def test_a_window_of_order_doubles(make, rng):
    window, loads = make(), []
    load = window.load
    window.load = lambda *arguments: (loads.append(arguments[-1]), load(*arguments))[1]
    values = rng.integers(0, 1000, MANY).astype(float)
    for i, x in enumerate(values.tolist()):
        window.push(x, False)
        assert window.capacity <= 2 * (i + 1) or window.capacity == 64
    assert loads == [2**i for i in range(7, 16)]
    held, missing = window.contents()
    np.testing.assert_array_equal(held, values)
    assert not missing.any()
    window.pop(MANY - 5)
    for x in values[:50].tolist():
        window.push(x, False)
    for x in values[50:1000].tolist():
        window.push(x, False)
        window.pop(1)
    assert window.capacity == 64
    assert len(loads) == 10
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
