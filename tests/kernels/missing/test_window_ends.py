"""Counts and ends of any windows in one call, compared with each window alone."""

import numpy as np
import pytest

from rollstat.kernels.missing.window_ends import ALL, ANY, COUNT, NEWEST, OLDEST, ends_of_windows

KINDS = {
    COUNT: (len, 0),
    OLDEST: (lambda x: x[0], 1),
    NEWEST: (lambda x: x[-1], 1),
    ANY: (any, 0),
    ALL: (all, 0),
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("share", [0.0, 0.4])
def test_ends_agree_with_each_window_alone(kind, share, rng):
    values = rng.integers(0, 3, 60) * 1.0
    values[rng.random(60) < share] = np.nan
    start = np.sort(rng.integers(0, 61, 80))
    end = np.maximum.accumulate(np.minimum(start + rng.integers(0, 6, 80), 60))
    for array in (values, start, end):
        array.flags.writeable = False
    expected, required = KINDS[kind]
    for least in {required, 2}:
        result = np.empty(80)
        ends_of_windows(values, start, end, kind, least, -7.0, result)
        for i in range(80):
            seen = [x for x in values[start[i] : end[i]] if x == x]
            assert result[i] == (expected(seen) if len(seen) >= least else -7)
