"""Extrema of any monotone windows against brute force: gaps, empty windows, NaN, masks."""

import numpy as np

from rollstat.blocks import Block
from rollstat.statistics.extrema.drivers import Extrema, block_scan


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
            block_scan(block, Extrema(minimum=low, maximum=high))
            for i, (first, last) in enumerate(zip(start, end)):
                observed = values[first:last][~missing[first:last]]
                assert low[i] == observed.min(initial=np.inf)
                assert high[i] == observed.max(initial=-np.inf)
