"""Searches of bounds against the definition."""

import numpy as np

from rollstat.kernels.bounds import first_from


def test_first_from_by_definition(rng):
    for length in (1, 2, 7, 40):
        bound = np.sort(rng.integers(0, 12, length))
        for row in range(length):
            for limit in range(bound[row], 14):
                later = np.flatnonzero(bound[row + 1 :] >= limit)
                wanted = row + 1 + later[0] if len(later) else length
                assert first_from(bound, row, limit) == wanted
