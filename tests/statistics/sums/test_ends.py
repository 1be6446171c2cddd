"""Counts, first and last observations, any and all, against plain Python."""

import numpy as np
import pytest

from rollstat.blocks import UNKNOWN, Block
from rollstat.kernels.missing.counting import ALL, ANY, COUNT, NEWEST, OLDEST
from rollstat.statistics.sums.ends import write_ends


@pytest.mark.parametrize("fixed", [True, False])
@pytest.mark.parametrize("gaps", [0.0, 0.3, 0.9])
@pytest.mark.parametrize("width", [1, 2, 7, 60])
def test_agrees_with_plain_python(width, gaps, fixed, rng):
    values = rng.integers(-1, 2, 200).astype(np.float64)
    values[rng.random(200) < gaps] = np.nan
    start = np.arange(200 - width + 1)
    if fixed:
        block = Block.regular(values, UNKNOWN, width)
    else:
        block = Block(values, UNKNOWN, start, start + width)
    windows = [[x for x in values[i : i + width].tolist() if x == x] for i in start]
    expected = {
        COUNT: len,
        ANY: any,
        ALL: all,
        OLDEST: lambda window: window[0] if window else 9.0,
        NEWEST: lambda window: window[-1] if window else 9.0,
    }
    for statistic, plain in expected.items():
        out = np.full(len(windows), 5.0)
        write_ends(block, statistic, out)
        if statistic in (OLDEST, NEWEST):
            out[block.count == 0] = 9.0
        assert out.tolist() == [float(plain(window)) for window in windows]


@pytest.mark.parametrize("statistic", [OLDEST, NEWEST, COUNT])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("width", [1, 8, 3000])
@pytest.mark.parametrize("at", [(), (0,), (5000,), (9999,), (0, 9999), (4990, 4991, 7000)])
def test_a_missing_value_is_found_in_any_row(statistic, dtype, width, at, rng):
    values = rng.standard_normal(10_000).astype(dtype)
    values[list(at)] = np.nan
    missing = np.isnan(values)
    out, expected = np.empty((2, len(values) - width + 1), dtype)
    block = Block.regular(values, UNKNOWN, width)
    write_ends(block, statistic, out)
    write_ends(Block.regular(values, missing if at else None, width), statistic, expected)
    observed = block.count > 0
    assert np.array_equal(block.missing if at else np.zeros_like(missing), missing)
    assert np.array_equal(out[observed], expected[observed])
