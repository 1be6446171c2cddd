"""Extrema of any monotone windows against brute force: gaps, empty windows, NaN, masks."""

import numpy as np
import pytest

from rollstat.blocks import Block
from rollstat.kernels.comparator import Arg, Greatest, Least, Newest, Oldest
from rollstat.kernels.extrema.any_windows import extremes_of_windows, growing
from rollstat.statistics.extrema.drivers import Extremum, block_scan
from tests.arrays import read_only


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


def test_scan_by_definition(rng):
    for length, widest in ((1, 1), (30, 4), (30, 40), (300, 25)):
        for missing_share in (0.0, 0.4):
            values = rng.integers(-9, 9, length).astype(np.float64)
            missing = rng.random(length) < missing_share
            values[missing] = np.nan
            end = np.sort(rng.integers(0, length + 1, length))
            start = np.maximum.accumulate(np.maximum(end - rng.integers(0, widest + 1, length), 0))
            start = np.minimum(start, end)
            low, high = np.empty((2, length))
            block = Block(values, missing if missing.any() else None, start, end)
            block_scan(block, [Extremum(Least(), low), Extremum(Greatest(), high)])
            for i, (first, last) in enumerate(zip(start, end)):
                observed = values[first:last][~missing[first:last]]
                assert low[i] == observed.min(initial=np.inf)
                assert high[i] == observed.max(initial=-np.inf)


@pytest.mark.parametrize("share", [0.0, 0.5, 1.0])
def test_windows_that_begin_with_the_data(share, rng):
    values = rng.integers(0, 9, 50) * 1.0
    values[values == 8] = np.inf
    values[rng.random(50) < share] = np.nan
    for rows in (1, 20, 50):
        best, first, last = np.empty(rows), *np.empty((2, rows), np.int64)
        assert growing(Least(), read_only(values), best) == (share > 0)
        growing(Arg(Least(), Oldest()), read_only(values), first)
        growing(Arg(Greatest(), Newest()), read_only(values), last)
        for i in range(rows):
            observed = [j for j in range(51 - rows + i) if values[j] == values[j]]
            assert best[i] == min((values[j] for j in observed), default=np.inf)
            assert first[i] == min(observed, key=lambda j: (values[j], j), default=-1)
            assert last[i] == max(observed, key=lambda j: (values[j], j), default=-1)
