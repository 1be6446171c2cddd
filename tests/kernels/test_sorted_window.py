"""The sorted array against sorting, and its distances against those of the set of ranks."""

import bisect

import numpy as np

from rollstat.kernels.sorted_window import check, follow_small_deviation, insert, remove, replace
from tests.kernels.test_deviation import follow, series


def test_values_that_come_and_go(rng):
    window, expected = np.zeros(40), []
    for _ in range(500):
        value = float(rng.integers(0, 20))
        if expected and (len(expected) == 40 or rng.random() < 0.4):
            old = expected.pop(int(rng.integers(len(expected))))
            if rng.random() < 0.5:
                replace(window, len(expected) + 1, old, value)
                bisect.insort(expected, value)
            else:
                remove(window, len(expected) + 1, old)
        else:
            insert(window, len(expected), value)
            bisect.insort(expected, value)
        assert check(window, len(expected))
        assert window[: len(expected)].tolist() == expected


def test_distances_are_those_of_the_set_of_ranks(rng):
    nothing = np.zeros(0, np.bool_)
    for values in series(rng, 200):
        for m in (1, 4, 17):
            start = np.arange(200 - m + 1)
            found = [np.zeros(len(start)) for _ in range(4)]
            follow_small_deviation(values, nothing, start, start + m, np.zeros(m + 1), *found)
            assert np.array_equal(found, follow(values, start, start + m)[0])
        missing = rng.random(200) < 0.2
        start = np.sort(rng.integers(0, 200, 90))
        end = np.maximum(start, np.minimum(np.sort(rng.integers(0, 201, 90)), start + 40))
        end = np.maximum.accumulate(end)
        found = [np.zeros(90) for _ in range(4)]
        window = np.zeros(int((end - start).max()) + 1)
        follow_small_deviation(values, missing, start, end, window, *found)
        assert np.array_equal(found, follow(values, start, end, missing)[0])
