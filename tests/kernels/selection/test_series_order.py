"""Direction of a series against the definition."""

import itertools

import numpy as np
import pytest

from rollstat.kernels.selection.series_order import direction


def test_every_short_series():
    for length in range(1, 6):
        for values in itertools.product((-np.inf, 0.0, 1.0), repeat=length):
            steps = list(itertools.pairwise(values))
            rises = all(before <= after for before, after in steps)
            falls = all(before >= after for before, after in steps)
            assert direction(np.array(values)) == (1 if rises else -1 if falls else 0)


@pytest.mark.parametrize("at", [0, 254, 255, 256, 257, 511, 998])
def test_one_step_the_other_way(at):
    values = np.arange(1000.0)
    values[at], values[at + 1] = values[at + 1], values[at]
    assert direction(values) == 0
    assert direction(-values) == 0
    assert direction(np.sort(values)) == 1
    assert direction(-np.sort(values)) == -1
