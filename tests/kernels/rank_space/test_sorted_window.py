"""Rows in a ring and their observations in order."""

import numpy as np

from rollstat.kernels.rank_space import sorted_window
from rollstat.kernels.rank_space.sorted_windows import mode_of_sorted
from rollstat.kernels.steps import distance


def test_rows_come_and_go(rng):
    state = sorted_window.create(8, np.float64)
    window = []
    for _ in range(300):
        if rng.random() < 0.3 and window:
            number = int(rng.integers(1, len(window) + 1))
            sorted_window.pop(*state, number)
            del window[:number]
        x, missing = float(rng.integers(0, 5)), bool(rng.random() < 0.2)
        sorted_window.push(*state, x, missing)
        window = [*window, None if missing else x][-8:]
        assert sorted_window.check(*state)
        held = sorted(v for v in window if v is not None)
        assert state[3][: len(held)].tolist() == held
        assert state[0][sorted_window.DISTINCT] == len(set(held))
        if held:
            most = max(sorted(set(held)), key=held.count)
            assert mode_of_sorted(state[3], len(held)) == most
            counts = 0, held.count(held[0]), len(held)
            assert sorted_window.rank(state[3], len(held), held[0], False) == counts
            assert sorted_window.rank(state[3], len(held), most, True) == (
                sorted(set(held)).index(most),
                1,
                len(set(held)),
            )


def test_equal_infinities_are_no_distance_apart():
    assert distance(np.inf, np.inf) == 0.0
    assert distance(-np.inf, np.inf) == np.inf
