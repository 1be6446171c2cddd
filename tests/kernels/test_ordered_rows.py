"""Rows in a ring and their observations in order."""

import numpy as np

from rollstat.kernels import ordered_rows
from rollstat.kernels.stream_steps import distance


def test_rows_come_and_go(rng):
    state = ordered_rows.create(8, np.float64)
    window = []
    for _ in range(300):
        if rng.random() < 0.3 and window:
            number = int(rng.integers(1, len(window) + 1))
            ordered_rows.pop(*state, number)
            del window[:number]
        x, missing = float(rng.integers(0, 5)), bool(rng.random() < 0.2)
        ordered_rows.push(*state, x, missing)
        window = [*window, None if missing else x][-8:]
        assert ordered_rows.check(*state)
        held = sorted(v for v in window if v is not None)
        assert state[3][: len(held)].tolist() == held
        assert state[0][ordered_rows.DISTINCT] == len(set(held))
        if held:
            most = max(sorted(set(held)), key=held.count)
            assert held[ordered_rows.mode(state[3], len(held))] == most
            found = np.zeros(3, np.int64)
            ordered_rows.rank(state[3], len(held), held[0], False, found)
            assert found.tolist() == [0, held.count(held[0]), len(held)]


def test_equal_infinities_are_no_distance_apart():
    assert distance(np.inf, np.inf) == 0.0
    assert distance(-np.inf, np.inf) == np.inf
