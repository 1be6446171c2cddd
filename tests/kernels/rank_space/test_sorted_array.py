"""The sorted array against a sorted list."""

import bisect

import numpy as np

from rollstat.kernels.rank_space.sorted_array import advance, check, insert, remove, replace


def test_values_that_are_inserted_removed_and_replaced(rng):
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


def test_irregular_windows_and_missing_values(rng):
    values = rng.integers(0, 30, 300) * 1.0
    for missing in (np.zeros(0, np.bool_), rng.random(300) < 0.2):
        start = np.sort(rng.integers(0, 300, 200))
        end = np.maximum(start, np.sort(rng.integers(0, 301, 200)))
        window, count, left, right = np.zeros(301), 0, 0, 0
        for i in range(200):
            count = advance(values, missing, window, count, left, right, start[i], end[i])
            left, right = start[i], end[i]
            seen = values[left:right][~missing[left:right]] if len(missing) else values[left:right]
            assert window[:count].tolist() == sorted(seen)
