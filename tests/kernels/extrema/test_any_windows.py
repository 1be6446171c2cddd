"""Extrema of any windows in one call, compared with each window alone."""

import numpy as np
import pytest

from rollstat.kernels.extrema.any_windows import extremes_of_windows


@pytest.mark.parametrize("sign", [1.0, -1.0])
@pytest.mark.parametrize("last", [False, True])
@pytest.mark.parametrize("share", [0.0, 0.3])
def test_extremes_and_their_rows(sign, last, share, rng):
    values = rng.integers(0, 5, 60) * 1.0
    values[rng.random(60) < share] = np.nan
    start = np.sort(rng.integers(0, 61, 80))
    end = np.maximum.accumulate(np.minimum(start + rng.integers(0, 9, 80), 60))
    for array in (values, start, end):
        array.flags.writeable = False
    value, position = np.empty((2, 80))
    extremes_of_windows(values, start, end, sign, last, 2, np.empty(60, np.int64), -1.0, value, position)
    for i in range(80):
        rows = [k for k in range(start[i], end[i]) if values[k] == values[k]]
        if len(rows) < 2:
            assert value[i] == position[i] == -1
            continue
        best = min(sign * values[k] for k in rows)
        tied = [k for k in rows if sign * values[k] == best]
        assert (value[i], position[i]) == (values[tied[0]], tied[-1 if last else 0])
